package bench_test

import (
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/plane"
)

// moving is a group whose thread is on another CPU each time that it looks.
type moving struct {
	bench.Group
	cpus []int
}

func (g *moving) Place() plane.Place {
	p := g.Group.Place()
	p.On, g.cpus = g.cpus[0], g.cpus[1:]
	return p
}

// Every line says which host timed it, and where its thread was before and after. A simulation has no CPUs.
func TestThreadOfLines(t *testing.T) {
	e := &bench.Experiment{Run: func(x bench.Team) {
		if x.Rank() == 1 {
			x.Add(bench.Batch{})
			x.Add(bench.Batch{})
		}
	}}
	for _, c := range []struct {
		cpus []int // at the beginning of each of two points and at its lines
		want []dataset.Thread
	}{
		{cpus: []int{3, 3, 0, 5, 4, 4},
			want: []dataset.Thread{{Host: 6, CPU: 3, Before: 3}, {Host: 6, CPU: 0, Before: 3}, {Host: 6, CPU: 4, Before: 5},
				{Host: 6, CPU: 4, Before: 4}}},
		{},
	} {
		slot := bench.Slot{Teams: [][]int{{2, 6}}, Points: []bench.Point{{}, {"bytes": 1}}}
		wrap := func(g bench.Group) bench.Group {
			if c.cpus == nil || g.Rank() == 0 {
				return g
			}
			return &moving{g, c.cpus}
		}
		lines := benchtest.MustRun(t, e, benchtest.Net(benchtest.Spec(8)), slot, 1, wrap)[0]
		if len(lines) != 4 {
			t.Fatalf("%d lines", len(lines))
		}
		for i, l := range lines {
			if (l.Thread != nil) != (c.want != nil) || l.Thread != nil && *l.Thread != c.want[i] {
				t.Errorf("line %d: %+v, want that of %+v", i, l.Thread, c.want)
			}
		}
	}
}
