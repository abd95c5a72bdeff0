package sim_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport/sim"
)

// Ranks that have bytes waiting are served in turn, and no call reads bytes of two.
func TestRecvAnyInTurn(t *testing.T) {
	play(t, spec(4), sim.Options{}, func(rank int, g *sim.Group) error {
		b := make([]byte, 300)
		for i := range b {
			b[i] = byte(rank)
		}
		if rank > 0 {
			return errors.Join(g.Send(0, b[:100*rank]), g.WaitUntil(2*units.Second))
		}
		if err := g.WaitUntil(units.Second); err != nil {
			return err
		}
		for i, want := range [][2]int{{1, 80}, {2, 80}, {3, 80}, {1, 20}, {2, 80}, {3, 80}, {2, 40}, {3, 80}, {3, 60}} {
			from, n, at, err := g.RecvAny(b[:80])
			if err != nil || from != want[0] || n != want[1] || at != g.Now() ||
				slices.Max(b[:n]) != byte(from) || slices.Min(b[:n]) != byte(from) {
				return fmt.Errorf("call %d: %d bytes of rank %d at %v, %w; want %v", i, n, from, at, err, want)
			}
		}
		return nil
	})
}

// A rank that has left ends RecvAny once all it sent was received, before others send more; and so does the deadline.
func TestRecvAnyEnds(t *testing.T) {
	play(t, spec(3), sim.Options{Deadline: units.Second}, func(rank int, g *sim.Group) error {
		b := make([]byte, 100)
		switch rank {
		case 1:
			return errors.Join(g.WaitUntil(2*units.Second), g.Send(0, b))
		case 2:
			return errors.Join(g.WaitUntil(3*units.Second), g.Send(0, b), g.WaitUntil(4*units.Second))
		}
		if _, _, _, err := g.RecvAny(b); !errors.Is(err, sim.ErrTimeout) || g.Now() != units.Second {
			return fmt.Errorf("nothing comes: %w at %v", err, g.Now())
		}
		if err := g.WaitUntil(3 * units.Second / 2); err != nil {
			return err
		}
		if from, n, _, err := g.RecvAny(b); from != 1 || n != 100 || err != nil {
			return fmt.Errorf("%d bytes of rank %d, %w", n, from, err)
		}
		if _, _, _, err := g.RecvAny(b); !errors.Is(err, sim.ErrPeer) {
			return fmt.Errorf("rank 1 has left: %w", err)
		}
		if err := g.WaitUntil(7 * units.Second / 2); err != nil {
			return err
		}
		if from, n, _, err := g.RecvAny(b); from != 2 || n != 100 || err != nil {
			return fmt.Errorf("rank 2 has sent, but: %d bytes of rank %d, %w", n, from, err)
		}
		return nil
	})
	// One that leaves ends a wait under way.
	play(t, spec(3), sim.Options{}, func(rank int, g *sim.Group) error {
		if rank > 0 {
			return g.WaitUntil(units.Nanos(rank) * units.Second)
		}
		if _, _, _, err := g.RecvAny(make([]byte, 1)); !errors.Is(err, sim.ErrPeer) || g.Now() != units.Second {
			return fmt.Errorf("%w at %v, want an error at 1 s", err, g.Now())
		}
		return nil
	})
	err := sim.New(spec(2), sim.Options{}).Run(seq(2), func(_ int, g *sim.Group) error {
		_, _, _, err := g.RecvAny(make([]byte, 1))
		return err
	})
	if !errors.Is(err, sim.ErrDeadlock) {
		t.Errorf("all wait for any: %v, want a deadlock", err)
	}
}

// Both ranks send more than buffers and windows hold: each gives up a patience after the last packet found room, and
// both streams can be finished.
func TestSendSomeDeadlock(t *testing.T) {
	const x, patience = 40_000, 300 * units.Millisecond
	play(t, spec(2), sim.Options{}, func(rank int, g *sim.Group) error {
		if err := g.Reopen(plane.Socket{SndBuf: 5000, RcvBuf: 6000}); err != nil {
			return err
		}
		out, in := make([]byte, x), make([]byte, x)
		for i := range out {
			out[i] = byte(i%251 + rank)
		}
		n, err := g.SendSome(1-rank, out, patience)
		if err != nil {
			return err
		}
		// 12 packets are in flight when the window is full, the last of them leaving the block after 12·300 µs; 10
		// wait.
		if now := g.Now(); n != 22_000 || now != 12*300*units.Microsecond+patience {
			return fmt.Errorf("sent %d bytes, gave up at %v", n, now)
		}
		if k, err := g.SendSome(1-rank, out[n:], 0); k != 0 || err != nil {
			return fmt.Errorf("without patience %d bytes more, %w", k, err)
		}
		for got := 0; got < x; { // read what is there, send what fits
			k, err := g.Pending(1 - rank)
			if err != nil {
				return err
			}
			if err := g.Recv(1-rank, in[got:got+k]); err != nil {
				return err
			}
			got += k
			k, err = g.SendSome(1-rank, out[n:], 0)
			if err != nil {
				return err
			}
			n += k
			if err := g.WaitUntil(g.Now() + 10*units.Microsecond); err != nil {
				return err
			}
		}
		if n != x {
			return fmt.Errorf("received all, sent %d", n)
		}
		for i := range in {
			if in[i] != byte(i%251+1-rank) {
				return fmt.Errorf("byte %d is %d", i, in[i])
			}
		}
		return nil
	})
}

// Patience counts from the last progress, so that a slow receiver is no stalled one; and what fits costs O_s.
func TestSendSomePatience(t *testing.T) {
	opt := sim.Options{SendBuffer: 2000, Window: 2000, Cost: sim.Cost{Send: 1000, SendByte: 1}}
	play(t, spec(2), opt, func(rank int, g *sim.Group) error {
		b := make([]byte, 8000)
		if rank == 1 {
			for i := range units.Nanos(8) {
				if err := g.WaitUntil((i + 1) * 10 * units.Millisecond); err != nil {
					return err
				}
				if err := g.Recv(0, b[:1000]); err != nil {
					return err
				}
			}
			return nil
		}
		n, err := g.SendSome(1, b, 11*units.Millisecond)
		if n != 8000 || err != nil {
			return fmt.Errorf("sent %d, %w", n, err)
		}
		start := g.Now()
		if n, err = g.SendSome(1, b, 0); n != 0 || err != nil || g.Now() != start+1000 {
			return fmt.Errorf("a full buffer takes %d bytes in %v, %w", n, g.Now()-start, err)
		}
		if err := g.WaitUntil(units.Second); err != nil {
			return err
		}
		if _, err := g.SendSome(1, b, units.Second); !errors.Is(err, sim.ErrPeer) {
			return fmt.Errorf("the peer has left: %w", err)
		}
		return nil
	})
}

// Everything at once gives the same nanoseconds on one processor as on many.
func TestDeterministicPlane(t *testing.T) {
	run := func(procs int) []units.Nanos {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		s := spec(5, cutThrough, func(s *netspec.Spec) {
			s.Buffer, s.Loss, s.L = 6, 0.01, 40*us
			s.Fabric = &netspec.Fabric{PerHost: 3 * us, Tau: 0.01 * us, Rate: 2e6}
		})
		opt := sim.Options{
			Seed: 5, Noise: sim.Noise{Jitter: 0.02, Delay: 500}, Cost: costs, RTO: 3 * units.Millisecond,
			ClockOffset: units.Second, ClockDrift: 20, DatagramBuffer: 9, DelayedAck: units.Millisecond,
		}
		at := make([]units.Nanos, 5)
		play(t, s, opt, func(rank int, g *sim.Group) error {
			defer func() { at[rank] = g.Now() }()
			if err := g.Reopen(plane.Socket{SndBuf: 4000, RcvBuf: 4000, NoEOR: true, Nagle: true}); err != nil {
				return err
			}
			b := make([]byte, 1000)
			if rank > 0 {
				for i := range 30 {
					if err := errors.Join(g.Send(0, b[:10*i+1]), g.SendDatagram(0, b)); err != nil {
						return err
					}
					if _, err := g.Machine().Compute(int64(1000 * rank)); err != nil {
						return err
					}
				}
				return g.Recv(0, b[:1])
			}
			for left := 4 * (30 + 10*29*30/2); left > 0; {
				_, n, _, err := g.RecvAny(b)
				if err != nil {
					return err
				}
				left -= n
				if _, err := g.RecvDatagram(b, g.Now()); err != nil {
					return err
				}
			}
			for k := 1; k < 5; k++ {
				if err := g.Send(k, b[:1]); err != nil {
					return err
				}
			}
			return nil
		})
		return at
	}
	want := run(1)
	for range 5 {
		if got := run(4); !slices.Equal(got, want) {
			t.Fatalf("on 4 processors %v, on 1 %v", got, want)
		}
	}
}
