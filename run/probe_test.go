package run

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"calib/agent"
	"calib/run/coord"
)

// TestSupposed: a network of which nothing came back in time is planned for as a slow one, any other as if nobody had
// looked.
func TestSupposed(t *testing.T) {
	late, _ := supposed(fmt.Errorf("probe of 1 pair: %w", agent.ErrDeadline))
	if !late.Known() || late.PerByte < 1e4 {
		t.Errorf("after a deadline: %+v", late)
	}
	if other, _ := supposed(errors.New("connection refused")); other.Known() {
		t.Errorf("after another error: %+v", other)
	}
}

// A person reads how much slower pairs are together, also on a machine so loaded that the number says nothing.
func TestProbeText(t *testing.T) {
	for slower, want := range map[float64]string{1.52: "take 1.5 times", 42: "take 42 times", 99.6: "take about 100 times",
		8927: "take about 8,900 times", 3e6: "take about 3,000,000 times"} {
		p := &coord.Probed{AtOnce: 2, Slower: slower, Pairs: 2}
		if got := probeText(p); !strings.Contains(got, "2 pairs at once "+want+" as long, ") {
			t.Errorf("%g: %s", slower, got)
		} else if strings.Contains(got, "the hosts are busy") != (slower > 200) {
			t.Errorf("%g: %s", slower, got)
		}
		if path := p.Path(); path.Sharing(2) > 200 || slower < 200 && path.Slower != slower {
			t.Errorf("%g: planned with %+v", slower, path)
		}
	}
}
