package incast

import (
	"math"
	"slices"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset/names"
	"calib/internal/units"
	"calib/transport/sim"
)

// Ranks that are read one after the other have stamps that do not ascend. What arrived when does not depend on that.
func TestArrivalsOrder(t *testing.T) {
	const base = -5 * units.Second // a clock may read anything
	s := bench.Start{At: base, Period: 1000 * units.Microsecond}
	fill := func(order []int) bench.Batch {
		in := newArrivals(s, 2, 10, 10)
		msg := make([]byte, 10)
		for _, i := range order {
			rank := 1 + i%2
			msg[9] = 0
			if i >= 198 {
				msg[9] = 1
			}
			in.take(rank, msg, base+units.Nanos(i+1)*5500)
		}
		if in.open != 0 || in.interval() != 5500 {
			t.Errorf("%d streams are open, a message every %v", in.open, in.interval())
		}
		n := benchtest.Net(benchtest.Spec(3))
		var b bench.Batch
		if err := n.Run([]int{0}, func(_ int, g *sim.Group) error {
			b = in.batch(team{Team: bench.Team{Group: g}}, "", nil, in.firstEnd)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return b
	}
	var turns, behind []int
	for i := range 200 {
		turns = append(turns, i)
	}
	for block := 0; block < 200; block += 20 { // one rank's ten, then the other's
		for rank := range 2 {
			for i := range 10 {
				behind = append(behind, block+2*i+rank)
			}
		}
	}
	a, b := fill(turns), fill(behind)
	if !slices.Equal(a.NS, b.NS) || a.Aux[names.AuxWindow] != b.Aux[names.AuxWindow] || len(a.Flags) > 0 {
		t.Errorf("%+v\n%+v", a, b)
	}
	if got := a.Aux[names.AuxWindow] / a.Aux[names.AuxWindowMessages]; got != 5500 {
		t.Errorf("a message every %g ns, want 5500", got)
	}
	if got := a.Aux[names.AuxAveraged] * float64(len(a.NS)); math.Abs(got-a.Aux[names.AuxWindowMessages]) > 1e-9 {
		t.Errorf("%d intervals of %g messages are not %g", len(a.NS), a.Aux[names.AuxAveraged],
			a.Aux[names.AuxWindowMessages])
	}
}
