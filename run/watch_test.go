package run

import (
	"io"
	"testing"
	"time"

	"calib/fit/fault"
	"calib/internal/progress"
	"calib/internal/units"
	"calib/run/coord"
)

// sentinel is one of a network on which pairs look one after the other.
func sentinel(t *testing.T, where Where) *Sentinel {
	t.Helper()
	list, err := where.Hosts(func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	s := &Sentinel{Config: Config{Where: where, Hosts: list}}
	s.Show = progress.New(io.Discard, progress.Quiet, time.Now)
	return s
}

// A look ends within a round when its time is over, and the next one goes on there: every pair has its turn.
func TestLookEndsWithinRound(t *testing.T) {
	const hosts, most = 9, 300 * time.Millisecond
	s := sentinel(t, Where{Sim: "sparc1994:9"})
	seen := map[[2]int]int{}
	looks, pairs, alone := 0, 0, false
	for ; pairs < 3*hosts*(hosts-1)/2; looks++ {
		out, err := s.Look(t.Context(), looks, &alone, nil, func(took time.Duration) bool { return took < most })
		if err != nil {
			t.Fatal(err)
		}
		if s.looks > 1 && (out.Took > most+time.Duration(s.slowest) || len(out.Seen) == 0) {
			t.Fatalf("look %d took %v for %d pairs", looks, out.Took, len(out.Seen))
		}
		for _, o := range out.Seen {
			if pairs++; o.Failed {
				t.Errorf("%+v", o)
			}
			seen[fault.Pair(o.From, o.To)]++
		}
	}
	for p, n := range seen {
		if n < 2 || n > 4 || len(seen) != hosts*(hosts-1)/2 {
			t.Errorf("pair %v was seen %d times, and %d pairs in all, in %d looks", p, n, len(seen), looks)
		}
	}
	if looks < 6 {
		t.Errorf("%d looks: none of them was cut off", looks)
	}
}

// Whether pairs look together is asked once. It then stays, also where the network would say another thing.
func TestLookStaysTogether(t *testing.T) {
	s, no := sentinel(t, Where{Sim: "switch:4"}), false
	for number, c := range []struct {
		asked *bool
		want  bool
	}{{nil, true}, {&no, false}} {
		out, err := s.Look(t.Context(), number, c.asked, nil, func(time.Duration) bool { return true })
		if err != nil || out.Together == nil || *out.Together != c.want {
			t.Errorf("look %d: %v, %v, want %t", number, out.Together, err, c.want)
		}
	}
}

// Pairs that are observed one after the other end with their time, within a round.
func TestObserveEndsWithinRound(t *testing.T) {
	s := sentinel(t, Where{Sim: "sparc1994:12"})
	r := newRun(s.Config, "test-")
	f, err := r.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if err := r.claim(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	screen := fault.New(len(f.agents), 0.05)
	var slowest units.Nanos
	var pairs []int
	const most = time.Second
	took, err := r.observe(t.Context(), f, screen, false, [2]time.Duration{0, most}, func(o coord.Observed) error {
		slowest, pairs = max(slowest, o.Slowest), append(pairs, len(o.Seen))
		return nil
	})
	if n := len(pairs); err != nil || n == 0 || pairs[n-1] >= 6 || took < most || took > most+time.Duration(slowest) {
		t.Errorf("took %v, the slowest pair %v, rounds of %d pairs: %v", took, time.Duration(slowest), pairs, err)
	}
}
