package sim_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// A lost packet comes again after the timeout, is counted, and what overtook it waits.
func TestFullPortDrops(t *testing.T) {
	s := spec(2, func(s *netspec.Spec) {
		s.Host, s.Medium, s.Buffer = netspec.Block{A: 10 * us, B: 0.01 * us}, netspec.Block{A: 1000 * us, B: 1 * us}, 2
	})
	var at units.Nanos
	var retrans int64
	err := sim.New(s, sim.Options{RTO: 100 * units.Millisecond}).Run([]int{0, 1}, func(rank int, g *sim.Group) error {
		b := make([]byte, 4000) // four packets 10 µs apart into room for two
		if rank == 0 {
			for i := range b {
				b[i] = byte(i % 251)
			}
			if err := g.Send(1, b); err != nil {
				return err
			}
			if err := g.Recv(1, b[:1]); err != nil {
				return err
			}
			c, err := g.Counters(1)
			retrans = c.Retrans
			return err
		}
		if err := g.Recv(0, b); err != nil {
			return err
		}
		at = g.Now()
		for i := range b {
			if b[i] != byte(i%251) {
				return fmt.Errorf("byte %d is %d", i, b[i])
			}
		}
		return g.Send(0, b[:1])
	})
	if err != nil {
		t.Fatal(err)
	}
	// Packets 2 and 3 are dropped at 30 and 40 µs; they leave again from 100.030 ms: block, two services, block.
	if want := 100_030*units.Microsecond + 10_000 + 2*units.Millisecond + 10_000; at != want || retrans != 2 {
		t.Errorf("delivered after %d ns with %d retransmissions, want %d and 2", at, retrans, want)
	}
}

func TestLossIsSeeded(t *testing.T) {
	s := spec(2, func(s *netspec.Spec) { s.Loss = 0.2 })
	run := func(seed uint64) (retrans int64) {
		err := sim.New(s, sim.Options{Seed: seed}).Run([]int{0, 1}, func(rank int, g *sim.Group) error {
			b := make([]byte, 200_000)
			if rank == 1 {
				return g.Recv(0, b)
			}
			if err := g.Send(1, b); err != nil {
				return err
			}
			c, err := g.Counters(1)
			retrans = c.Retrans
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return retrans
	}
	if a, b := run(1), run(1); a != b || a < 10 {
		t.Errorf("seed 1 lost %d, then %d of 200 packets; want the same and about 40", a, b)
	}
	if a, b := run(1), run(2); a == b {
		t.Errorf("seeds 1 and 2 both lost %d packets", a)
	}
}

func TestErrors(t *testing.T) {
	n := sim.New(spec(4), sim.Options{})
	if err := n.Run([]int{0, 4}, nil); err == nil {
		t.Error("host 4 of 4: no error")
	}
	if err := n.Run([]int{0, 0}, nil); err == nil {
		t.Error("host twice: no error")
	}
	if err := sim.New(netspec.Spec{}, sim.Options{}).Run([]int{0, 1}, nil); err == nil {
		t.Error("empty specification: no error")
	}
	var got [3]error
	err := n.Run([]int{0, 1, 2}, func(rank int, g *sim.Group) error {
		got[rank] = g.Recv((rank+1)%3, make([]byte, 1))
		return got[rank]
	})
	for rank, e := range got {
		if !errors.Is(e, sim.ErrDeadlock) {
			t.Errorf("rank %d in a circle: %v, want a deadlock", rank, e)
		}
	}
	if !errors.Is(err, sim.ErrDeadlock) {
		t.Errorf("Run: %v, want a deadlock", err)
	}
	limited := sim.New(spec(2), sim.Options{Deadline: units.Second})
	err = limited.Run([]int{0, 1}, func(rank int, g *sim.Group) error {
		if rank == 0 {
			return g.WaitUntil(10 * units.Second)
		}
		err := g.Recv(0, make([]byte, 1))
		if g.Now() != units.Second {
			t.Errorf("the deadline of 1 s ended at %v", g.Now())
		}
		return err
	})
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Run: %v, want a timeout", err)
	}
}

// A group that is cancelled while its team is incomplete leaves the key usable.
func TestRendezvousCancelled(t *testing.T) {
	n := sim.New(spec(2), sim.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := n.Group(ctx, "k", []int{0, 1}, 0); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want cancelled", err)
	}
	done := make(chan error)
	for rank := range 2 {
		go func() {
			g, err := n.Group(context.Background(), "k", []int{1, 0}, rank)
			if err == nil {
				err = g.Close()
			}
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Two both-ways messages larger than send buffer and window block each other for ever, as on TCP.
func TestBothWaysDeadlock(t *testing.T) {
	run := func(x int) error {
		return sim.New(spec(2), sim.Options{SendBuffer: 16_000, Window: 16_000}).Run([]int{0, 1},
			func(rank int, g *sim.Group) error {
				if err := g.Send(1-rank, make([]byte, x)); err != nil {
					return err
				}
				return g.Recv(1-rank, make([]byte, x))
			})
	}
	if err := run(32_000); err != nil {
		t.Errorf("32 kB both ways: %v", err)
	}
	if err := run(34_000); !errors.Is(err, sim.ErrDeadlock) {
		t.Errorf("34 kB both ways: %v, want a deadlock", err)
	}
}

// A packet that overtook a lost one waits for it: bytes arrive in the order they were sent.
func TestOrderAfterLoss(t *testing.T) {
	s := spec(2, func(s *netspec.Spec) {
		s.Host, s.Medium, s.Buffer = netspec.Block{}, netspec.Block{A: 1000 * us, B: 1 * us}, 2
	})
	var at [4]units.Nanos
	err := sim.New(s, sim.Options{}).Run([]int{0, 1}, func(rank int, g *sim.Group) error {
		for i := range at { // the third finds the port full, the fourth, 5 ms later, empty
			b := []byte{byte(i)}
			if rank == 0 {
				if err := g.WaitUntil(units.Nanos(i/3) * 5 * units.Millisecond); err != nil {
					return err
				}
				if err := g.Send(1, b); err != nil {
					return err
				}
				continue
			}
			if err := g.Recv(0, b); err != nil {
				return err
			}
			if at[i] = g.Now(); b[0] != byte(i) {
				return fmt.Errorf("message %d came as %d", b[0], i)
			}
		}
		return nil
	})
	ms := units.Millisecond
	if want := [4]units.Nanos{ms, 2 * ms, 201 * ms, 201 * ms}; err != nil || at != want {
		t.Errorf("arrivals %v, %v; want %v", at, err, want)
	}
}

// A reception that timed out is over: what comes later is for the next one.
func TestAfterTimeout(t *testing.T) {
	n := sim.New(spec(2), sim.Options{Deadline: units.Second})
	err := n.Run([]int{0, 1}, func(rank int, g *sim.Group) error {
		b := []byte("late")
		if rank == 0 {
			return errors.Join(g.WaitUntil(3*units.Second/2), g.Send(1, b))
		}
		clear(b)
		if err := g.Recv(0, b); !errors.Is(err, sim.ErrTimeout) {
			return fmt.Errorf("got %v, want a timeout", err)
		}
		if err := g.WaitUntil(3 * units.Second); err != nil || g.Now() != 3*units.Second || b[0] != 0 {
			return fmt.Errorf("%w; woke at %v with %q", err, g.Now(), b)
		}
		if err := g.Recv(0, b); err != nil || string(b) != "late" {
			return fmt.Errorf("%w; received %q", err, b)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Close ends a call that another goroutine waits in, wherever it waits.
func TestCloseFromOutside(t *testing.T) {
	for _, parked := range []bool{false, true} {
		groups := join(t, sim.New(spec(2), sim.Options{}), 2)
		got := make(chan error)
		go func() { got <- groups[1].Recv(0, make([]byte, 1)) }()
		if parked { // rank 0 sleeps, which lets rank 1 run into its reception
			if err := groups[0].WaitUntil(units.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		if err := groups[1].Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-got; !errors.Is(err, sim.ErrClosed) {
			t.Errorf("parked %t: %v, want closed", parked, err)
		}
		if err := groups[0].Recv(1, make([]byte, 1)); !errors.Is(err, sim.ErrPeer) {
			t.Errorf("the peer: %v, want left", err)
		}
		if err := groups[0].Close(); err != nil {
			t.Fatal(err)
		}
	}
}
