package sim_test

import (
	"fmt"
	"testing"

	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport/sim"
)

var costs = sim.Cost{Send: 2000, SendByte: 2, Recv: 1000, RecvByte: 1, Arrive: 3000, ArriveByte: 4}

// O_s, U_r and O_r of costs.
func sendCost(m units.Nanos) units.Nanos   { return 2000 + 2*m }
func recvCost(m units.Nanos) units.Nanos   { return 1000 + m }
func arriveCost(m units.Nanos) units.Nanos { return 3000 + 4*m }

// A round trip is 2(O_s + L + O_r + U_r), and its parts are what one sees who times a call.
func TestRoundTrip(t *testing.T) {
	for _, m := range []units.Nanos{1, 40, 701, 1000} {
		s := spec(2, func(s *netspec.Spec) { s.L = 70 * us })
		way := deliveries(t, sim.New(s, sim.Options{}), 1, int(m))[0]
		play(t, s, sim.Options{Cost: costs}, func(rank int, g *sim.Group) error {
			b := make([]byte, m)
			if rank == 1 {
				if err := g.Recv(0, b); err != nil {
					return err
				}
				return g.Send(0, b)
			}
			start := g.Now()
			if err := g.Send(1, b); err != nil {
				return err
			}
			if sent := g.Now(); sent-start != sendCost(m) {
				t.Errorf("sending %d B takes %v, want %v", m, sent-start, sendCost(m))
			}
			if err := g.Recv(1, b); err != nil {
				return err
			}
			// The way is known to the nanosecond below.
			want := 2 * (sendCost(m) + way + arriveCost(m) + recvCost(m))
			if rtt := g.Now() - start; rtt < want || rtt > want+2 {
				t.Errorf("round trip of %d B: %v, want %v", m, rtt, want)
			}
			return nil
		})
	}
}

// Receiving what is there takes U_r, and Pending says when it is.
func TestReceptionOfWhatIsThere(t *testing.T) {
	play(t, spec(2), sim.Options{Cost: costs}, func(rank int, g *sim.Group) error {
		b := make([]byte, 700)
		if rank == 0 {
			return g.Send(1, b)
		}
		if n, err := g.Pending(0); n != 0 || err != nil {
			return fmt.Errorf("at once %d bytes pending, %w", n, err)
		}
		if err := g.WaitUntil(10 * units.Millisecond); err != nil {
			return err
		}
		if n, err := g.Pending(0); n != 700 || err != nil {
			return fmt.Errorf("%d bytes pending, %w", n, err)
		}
		start := g.Now()
		if err := g.Recv(0, b[:300]); err != nil {
			return err
		}
		if d := g.Now() - start; d != recvCost(300) {
			return fmt.Errorf("receiving took %v, want %v", d, recvCost(300))
		}
		if n, err := g.Pending(0); n != 400 || err != nil {
			return fmt.Errorf("then %d bytes pending, %w", n, err)
		}
		return nil
	})
}

// The kernel handles one packet after the other: where it is the slowest, it sets the pace.
func TestKernelSetsThePace(t *testing.T) {
	s := spec(2, func(s *netspec.Spec) { s.Host, s.Medium = netspec.Block{A: 1 * us, B: 0.001 * us}, netspec.Block{} })
	at := arrivals(t, s, sim.Options{Cost: sim.Cost{Arrive: 5000}}, 3, 1000)
	check(t, "arrivals", at, []units.Nanos{7000, 12_000, 17_000})
}

// Compute takes work steps on each CPU, and one of them O_r longer for each message that arrives meanwhile.
func TestCompute(t *testing.T) {
	const work, m, messages = 5_000_000, 100, 7
	opt := sim.Options{Cost: costs, CPUs: 3}
	play(t, spec(2), opt, func(rank int, g *sim.Group) error {
		b := make([]byte, m)
		if rank == 0 {
			for i := range units.Nanos(messages + 1) { // the last comes when the computation is over
				if err := g.WaitUntil(500_000 + i*700_000); err != nil {
					return err
				}
				if err := g.Send(1, b); err != nil {
					return err
				}
			}
			return nil
		}
		before, err := g.Counters(0)
		if err != nil {
			return err
		}
		start := g.Now()
		sum, err := g.Machine().Compute(work)
		if err != nil {
			return err
		}
		took := g.Now() - start
		after, err := g.Counters(0)
		if err != nil {
			return err
		}
		stolen := messages * arriveCost(m)
		if n := after.Sub(before).DataSegsIn; n != messages || took != work+stolen || sum != 3*work+stolen {
			t.Errorf("%d messages, %v of CPUs, %v in all; want %d, %v and %v",
				n, sum, took, messages, 3*work+stolen, work+stolen)
		}
		if sum, err = g.Machine().Compute(0); sum != 0 || err != nil {
			t.Errorf("nothing to compute took %v, %v", sum, err)
		}
		return g.WaitUntil(10 * units.Millisecond)
	})
}

func TestCopy(t *testing.T) {
	play(t, spec(1), sim.Options{}, func(_ int, g *sim.Group) error {
		m := g.Machine()
		if c := m.Caches(); m.CPUs() != 2 || len(c) != 3 || c[0] != 32*units.KiB {
			t.Errorf("%d CPUs, caches %v", m.CPUs(), c)
		}
		for _, c := range []struct {
			copy plane.Copy
			want units.Nanos
		}{
			{plane.Copy{Bytes: 100}, 7 * 25},
			{plane.Copy{Bytes: 100, ColdTo: true}, 7 * 75},
			{plane.Copy{Bytes: 100, ColdTo: true, ColdFrom: true}, 7 * 130},
			{plane.Copy{Bytes: 100, ColdFrom: true}, 7 * 130},
			{plane.Copy{Bytes: 100, Loop: true}, 7 * 40},
			{plane.Copy{}, 7 * 20},
		} {
			start := g.Now()
			got, err := m.Copy(c.copy, 7)
			if err != nil || got != c.want || g.Now()-start != got {
				t.Errorf("%+v: %v, %v, the clock says %v; want %v", c.copy, got, err, g.Now()-start, c.want)
			}
		}
		return nil
	})
}
