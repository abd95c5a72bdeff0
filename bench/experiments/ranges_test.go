package experiments

import (
	"maps"
	"testing"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// What any design asks for is within the ranges that an agent checks.
func TestDesignsAreInRange(t *testing.T) {
	own := []units.Bytes{1, 1000, 64 * units.KiB, 16 * units.MiB}
	forEach(t, func(t *testing.T, e *bench.Experiment) {
		for _, hosts := range []int{1, 2, 3, 4, 9, 64, 1000} {
			for _, l := range []bench.Limits{{}, {Effort: 0.1}, {Sizes: own}, {Segment: 8948}} {
				l.Hosts, l.Seed = hosts, 42
				for _, p := range e.Design(l) {
					if err := e.Ranges.Check(p); err != nil {
						t.Fatalf("%d hosts, %+v: %v", hosts, l, err)
					}
				}
			}
		}
	})
}

// A factor beyond its range is refused, and so is one that the experiment does not have, whichever it is.
func TestRangesRefuse(t *testing.T) {
	forEach(t, func(t *testing.T, e *bench.Experiment) {
		design := e.Design(confLimits(4))
		for name, r := range e.Ranges {
			if r.Least > r.Most {
				t.Errorf("%s: %d to %d", name, r.Least, r.Most)
			}
			for _, v := range []int64{r.Least - 1, r.Most + 1, 1 << 62, -1 << 62} {
				p := with(design[0], name, v)
				if e.Ranges.Check(p) == nil {
					t.Errorf("%s=%d is let through", name, v)
				}
			}
		}
		if e.Ranges.Check(with(design[0], "nosuch", 1)) == nil {
			t.Error("an unknown factor is let through")
		}
	})
	flood := bench.Point{names.FactorBytes: 64, names.FactorPackets: 268435456, names.FactorSenders: 1}
	if e, _ := Lookup(names.Flood); e.Ranges.Check(flood) == nil {
		t.Error("a flood of 268,435,456 datagrams is let through")
	}
}

// with is a point with another value of a factor.
func with(p bench.Point, name string, v int64) bench.Point {
	p = maps.Clone(p)
	p[name] = v
	return p
}
