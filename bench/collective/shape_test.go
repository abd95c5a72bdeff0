package collective

import (
	"testing"

	"calib/bench/pattern"
)

// A shape is that of the whole schedule.
func TestShape(t *testing.T) {
	for _, p := range pattern.All {
		for _, hosts := range []int{2, 5, 8} {
			if !p.Defined(hosts) {
				continue
			}
			whole, err := pattern.Of(p, hosts, 3000)
			if err != nil {
				t.Fatal(err)
			}
			s, err := shapeOf(p, hosts, 3000)
			if want, _ := pattern.ExtentOf(p, hosts, 3000); err != nil || s.Extent != want || s.depth() != whole.Depth() {
				t.Errorf("%s on %d hosts: %+v, %d and %v; want %+v, %d", p.Name(), hosts, s.Extent, s.depth(), err, want,
					whole.Depth())
			}
			own, err := pattern.Rank(p, hosts-1, hosts, 3000, &pattern.Scratch{})
			if err != nil || len(own) != len(whole[hosts-1]) {
				t.Errorf("%s on %d hosts: the last rank has %d steps, want %d (%v)", p.Name(), hosts, len(own), len(whole[hosts-1]),
					err)
			}
		}
	}
}

// Few hosts run every pattern; of a thousand no pattern sends more messages than a schedule can hold.
func TestFitting(t *testing.T) {
	shrunk := 0
	for _, p := range pattern.All {
		if n := fitting(p, 64); n != 64 {
			t.Errorf("%s: %d of 64 hosts", p.Name(), n)
		}
		n := fitting(p, 1000)
		if n < 1000 {
			shrunk++
		}
		if !p.Defined(n) {
			continue // it takes its least number
		}
		all, err := pattern.ExtentOf(p, n, int(patternMost))
		if err != nil || n < 60 || all.Messages > maxMessages {
			t.Errorf("%s: %d of 1,000 hosts, %d messages (%v)", p.Name(), n, all.Messages, err)
		}
	}
	if shrunk == 0 || shrunk == len(pattern.All) {
		t.Errorf("%d of %d patterns run on fewer than 1,000 hosts", shrunk, len(pattern.All))
	}
}
