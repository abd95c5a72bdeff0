package transport

import (
	"testing"

	"calib/internal/units"
)

func TestPacer(t *testing.T) {
	type step struct {
		now  units.Nanos
		n    int
		want units.Nanos
	}
	for _, c := range []struct {
		name  string
		rate  units.Bytes
		steps []step
	}{
		{"1 MB/s back to back", 1e6, []step{{0, 1000, 0}, {0, 500, units.Millisecond}, {0, 1, 1500 * units.Microsecond}}},
		{"time not used is lost", 1e6, []step{{0, 1000, 0}, {10 * units.Millisecond, 1000, 10 * units.Millisecond},
			{10 * units.Millisecond, 1, 11 * units.Millisecond}}},
		{"slow", 1, []step{{0, 1399, 0}, {0, 1, 1399 * units.Second}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pacer{rate: c.rate}
			for i, s := range c.steps {
				if at := p.at(s.now, s.n); at != s.want {
					t.Errorf("step %d: %d bytes at %v may go at %v, want %v", i, s.n, s.now, at, s.want)
				}
			}
		})
	}
}
