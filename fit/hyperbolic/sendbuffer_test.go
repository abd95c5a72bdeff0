package hyperbolic

import (
	"testing"

	"calib/fit"
	"calib/internal/dataset"
)

// TestSendBuffer: the largest buffer of each pair and round counts, and the median of these.
func TestSendBuffer(t *testing.T) {
	line := func(round, to int, granted int64) dataset.Sample {
		return dataset.Sample{Exp: "pingpong", Ranks: []int{0, to}, Round: round, TCP: &dataset.TCP{SndBuf: granted},
			NS: []int64{1}}
	}
	d := &dataset.Dataset{Samples: []dataset.Sample{line(0, 1, 100), line(0, 1, 900), line(0, 2, 300), line(1, 1, 500),
		line(1, 1, 400)}}
	p := fit.Prepare(d, fit.Settings{})
	f := p.New("segmented", "pingpong", "test")
	addSendBuffer(f, p)
	if q := f.Parameters["send_buffer"]; q.Value == nil || *q.Value != 500 || q.Unit != "B" {
		t.Errorf("send_buffer %+v, want the median of 900, 300 and 500 B", q)
	}
	p = fit.Prepare(&dataset.Dataset{Samples: []dataset.Sample{{Exp: "pingpong", Ranks: []int{0, 1}}, line(0, 1, 0)}},
		fit.Settings{})
	f = p.New("segmented", "pingpong", "test")
	addSendBuffer(f, p)
	if len(f.Parameters) != 0 {
		t.Errorf("a buffer nobody has seen: %+v", f.Parameters)
	}
}
