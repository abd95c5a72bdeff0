package sim_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

func TestClocks(t *testing.T) {
	n := sim.New(spec(3), sim.Options{ClockOffset: 2 * units.Second, ClockDrift: 100, ClockStep: 7, Seed: 3})
	err := n.Run(seq(3), func(rank int, g *sim.Group) error {
		offset, ppm := n.Clock(rank)
		for _, d := range []units.Nanos{0, 1, 1_000_000, 3_600_000_000_000} {
			target := offset + units.Nanos(rank) + d
			if err := g.WaitUntil(target); err != nil {
				return err
			}
			now := g.Now()
			if now < target || now > target+14 || now%7 != 0 {
				return fmt.Errorf("host %d, %g ppm: waited until %d, woke at %d", rank, ppm, target, now)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	a, _ := n.Clock(0)
	b, _ := n.Clock(1)
	if a == b {
		t.Error("two hosts have the same offset")
	}
}

// Costs, noise, losses and clocks give the same nanoseconds on one processor as on many.
func TestDeterministic(t *testing.T) {
	opt := sim.Options{
		Seed: 9, ClockOffset: units.Second, ClockDrift: 20, Cost: sim.Cost{Send: 500, Recv: 700, Now: 30},
		Noise: sim.Noise{Jitter: 0.02, Delay: 800, Round: 0.05},
	}
	run := func(procs int) []units.Nanos {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		s := spec(6, shared, func(s *netspec.Spec) { s.Loss = 0.01 })
		at := make([]units.Nanos, 6)
		err := sim.New(s, opt).RunTeams([][]int{{0, 1, 2}, {5, 4, 3}}, func(team, rank int, g *sim.Group) error {
			b := make([]byte, 3000)
			for range 20 {
				if err := g.Send((rank+1)%3, b); err != nil {
					return err
				}
				if err := g.Recv((rank+2)%3, b); err != nil {
					return err
				}
			}
			at[3*team+rank] = g.Now()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	want := run(1)
	for range 5 {
		if got := run(4); !slices.Equal(got, want) {
			t.Fatalf("on 4 processors %v, on 1 %v", got, want)
		}
	}
}

// The median of one-packet times under symmetric jitter is the noiseless time; the round factor moves whole runs.
func TestNoise(t *testing.T) {
	s := spec(2)
	times := func(n *sim.Net, count int) []float64 {
		at := make([]float64, count)
		err := n.Run([]int{0, 1}, func(rank int, g *sim.Group) error {
			b := make([]byte, 1000)
			for i := range at {
				start := g.Now()
				if rank == 0 {
					if err := g.Send(1, b); err != nil {
						return err
					}
					if err := g.Recv(1, b[:0]); err != nil {
						return err
					}
					if err := g.WaitUntil(start + 5*units.Millisecond); err != nil {
						return err
					}
					continue
				}
				if err := g.Recv(0, b); err != nil {
					return err
				}
				at[i] = float64(g.Now() - start)
				if err := g.WaitUntil(start + 5*units.Millisecond); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(at)
		return at
	}
	at := times(sim.New(s, sim.Options{Seed: 4, Noise: sim.Noise{Jitter: 0.05}}), 2001)
	if m := at[1000]; math.Abs(m/800_000-1) > 0.005 || at[0] == at[2000] {
		t.Errorf("median %g ns under 5%% jitter (from %g to %g), want about 800000", m, at[0], at[2000])
	}
	n := sim.New(s, sim.Options{Seed: 4, Noise: sim.Noise{Round: 0.1}})
	a, b := times(n, 3), times(n, 3)
	if a[0] != a[2] || b[0] != b[2] || a[0] == b[0] {
		t.Errorf("rounds %v and %v: want one time each, and different", a, b)
	}
}
