package sim_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"calib/internal/dataset"
	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport/sim"
)

// All return when the last has come; buffers are as asked for, doubled, and counters go on.
func TestReopen(t *testing.T) {
	play(t, spec(3), sim.Options{SendBuffer: 5000, Window: 6000}, func(rank int, g *sim.Group) error {
		b := make([]byte, 2500)
		peer := (rank + 1) % 3
		var last dataset.TCP
		for i, c := range []struct {
			socket plane.Socket
			snd    int64
			rcv    int64
		}{
			{plane.Socket{}, 5000, 6000},
			{plane.Socket{SndBuf: 4096, RcvBuf: 8192}, 8192, 16_384},
			{plane.Socket{NoEOR: true}, 5000, 6000},
		} {
			if err := g.Send(peer, b); err != nil {
				return err
			}
			if err := g.Recv((rank+2)%3, b); err != nil {
				return err
			}
			at := units.Nanos(i+1) * units.Second
			if err := g.WaitUntil(at + units.Nanos(rank)*units.Millisecond); err != nil {
				return err
			}
			if err := g.Reopen(c.socket); err != nil {
				return err
			}
			if now := g.Now(); now != at+2*units.Millisecond {
				return fmt.Errorf("reopened at %v, want when the last came, at %v", now, at+2*units.Millisecond)
			}
			tcp, err := g.Counters(peer)
			if err != nil {
				return err
			}
			if d := tcp.Sub(last); tcp.SndBuf != c.snd || tcp.RcvBuf != c.rcv || d.DataSegsOut != 3 {
				return fmt.Errorf("after %+v: %+v, %d segments more", c.socket, tcp, d.DataSegsOut)
			}
			last = tcp
		}
		return nil
	})
}

func TestReopenErrors(t *testing.T) {
	play(t, spec(3), sim.Options{Deadline: units.Second}, func(rank int, g *sim.Group) error {
		if err := g.Reopen(plane.Socket{Nagle: rank == 1}); err == nil {
			t.Errorf("rank %d of a team that does not agree: no error", rank)
		}
		if err := g.WaitUntil(units.Second); err != nil {
			return err
		}
		if rank == 0 { // the others give up at 2 s
			if err := g.WaitUntil(5 * units.Second / 2); err != nil {
				return err
			}
		} else if err := g.Reopen(plane.Socket{}); !errors.Is(err, sim.ErrTimeout) {
			t.Errorf("rank %d waits in vain: %v, want a timeout", rank, err)
		}
		if err := g.Reopen(plane.Socket{}); err != nil {
			t.Errorf("rank %d, all together again: %v", rank, err)
		}
		if rank == 2 {
			return g.WaitUntil(3 * units.Second)
		}
		if err := g.Reopen(plane.Socket{}); !errors.Is(err, sim.ErrPeer) {
			t.Errorf("rank %d, when rank 2 has left: %v", rank, err)
		}
		return nil
	})
}

// What was under way is lost with its connection, and disturbs the new one no more.
func TestReopenDiscards(t *testing.T) {
	play(t, spec(2), sim.Options{}, func(rank int, g *sim.Group) error {
		b := slices.Repeat([]byte{1}, 20_000)
		if rank == 0 {
			if err := g.Send(1, b); err != nil {
				return err
			}
		}
		if err := g.Reopen(plane.Socket{Nagle: true}); err != nil {
			return err
		}
		for i := range b {
			b[i] = 2
		}
		if rank == 0 {
			return errors.Join(g.Send(1, b), g.Send(1, b))
		}
		for range 2 {
			if err := g.Recv(0, b); err != nil {
				return err
			}
			if slices.Contains(b, 1) {
				return errors.New("received bytes of the old connection")
			}
		}
		return nil
	})
}

// Messages kept apart are one segment each; merged, the first goes alone and those that wait meanwhile go together.
func TestMerge(t *testing.T) {
	for _, c := range []struct {
		socket plane.Socket
		x      int
		count  int
		want   int64 // segments
		bytes  int   // of the first reception
	}{
		{plane.Socket{}, 100, 41, 41, 100},
		{plane.Socket{NoEOR: true}, 100, 41, 1 + 4, 100}, // 100 B, then 4000 in full packets
		{plane.Socket{NoEOR: true}, 600, 10, 1 + 6, 600}, // 600, then 5400: five full ones and 400
		{plane.Socket{NoEOR: true}, 1500, 4, 6, 1000},
		{plane.Socket{}, 1500, 4, 8, 1000},
		{plane.Socket{NoEOR: true, RcvBuf: 1000}, 600, 10, 1 + 6, 600}, // a window of 2000
		{plane.Socket{NoEOR: true, SndBuf: 300}, 300, 10, 1 + 9, 300},  // room for one that waits beside one in the block
	} {
		s := spec(2)
		play(t, s, sim.Options{}, func(rank int, g *sim.Group) error {
			if err := g.Reopen(c.socket); err != nil {
				return err
			}
			b := make([]byte, c.x*c.count)
			if rank == 0 {
				for i := range c.count {
					if err := g.Send(1, b[i*c.x:][:c.x]); err != nil {
						return err
					}
				}
				if err := g.WaitUntil(units.Second); err != nil {
					return err
				}
				tcp, err := g.Counters(1)
				if tcp.DataSegsOut != c.want {
					t.Errorf("%+v: %d segments, want %d", c, tcp.DataSegsOut, c.want)
				}
				return err
			}
			_, n, _, err := g.RecvAny(b)
			if n != c.bytes {
				t.Errorf("%+v: first %d bytes, want %d", c, n, c.bytes)
			}
			if err != nil {
				return err
			}
			return g.Recv(0, b[n:])
		})
	}
}

// A merged stream keeps its host's block busy: full packets at its pace.
func TestMergedPace(t *testing.T) {
	var at units.Nanos
	play(t, spec(2), sim.Options{}, func(rank int, g *sim.Group) error {
		if err := g.Reopen(plane.Socket{NoEOR: true}); err != nil {
			return err
		}
		const x, count = 50, 20*20 + 1
		b := make([]byte, x*count)
		if rank == 1 {
			err := g.Recv(0, b)
			at = g.Now()
			return err
		}
		for range count {
			if err := g.Send(1, b[:x]); err != nil {
				return err
			}
		}
		return nil
	})
	// 50 B take 100 + 0.2·50 = 110 µs, 20 full packets 300 each, the last of them 200 in the port and 300 at the
	// receiver.
	if want := units.Nanos(110_000 + 20*300_000 + 500_000); at != want {
		t.Errorf("arrived at %v, want %v", at, want)
	}
}

// A header and a rest, as two messages: with Nagle's algorithm the rest waits for the acknowledgement of the header,
// and with delayed acknowledgements for their delay, unless the receiver has something to say.
func TestNagle(t *testing.T) {
	const header, rest = 16, 184
	s := spec(2, func(s *netspec.Spec) {
		s.L, s.Links = 30*us, []netspec.Link{{Between: [][]int{{0}, {1}}, L: 20 * us}}
	})
	one := func(n int) units.Nanos { return deliveries(t, sim.New(s, sim.Options{}), 1, n)[0] }
	both := nanos(s.Service(s.Host, header)) + one(rest) // the rest finds every block empty again but the first
	ms := units.Millisecond
	for _, c := range []struct {
		socket plane.Socket
		ack    units.Nanos
		want   units.Nanos // half a round trip
	}{
		{plane.Socket{}, 0, both},
		{plane.Socket{Nagle: true}, 0, one(header) + 50_000 + one(rest)},
		{plane.Socket{Nagle: true}, 40 * ms, one(header) + 40*ms + 50_000 + one(rest)},
		{plane.Socket{Nagle: true, NoEOR: true}, 40 * ms, one(header) + 40*ms + 50_000 + one(rest)},
	} {
		play(t, s, sim.Options{DelayedAck: c.ack}, func(rank int, g *sim.Group) error {
			if err := g.Reopen(c.socket); err != nil {
				return err
			}
			b := make([]byte, header+rest)
			send := func() error { return errors.Join(g.Send(1-rank, b[:header]), g.Send(1-rank, b[header:])) }
			start := g.Now()
			for range 3 { // each answer acknowledges what it answers
				if rank == 0 {
					if err := send(); err != nil {
						return err
					}
				}
				if err := g.Recv(1-rank, b); err != nil {
					return err
				}
				if rank == 1 {
					if err := send(); err != nil {
						return err
					}
				}
			}
			if half := (g.Now() - start) / 6; rank == 0 && max(half-c.want, c.want-half) > 3 {
				t.Errorf("%+v: half a round trip of %v, want %v", c, half, c.want)
			}
			if rank == 1 {
				return g.WaitUntil(units.Second)
			}
			return nil
		})
	}
}

// Nagle's algorithm and merging together: what waits for an acknowledgement goes in one packet, and a full one at once.
func TestNagleMerges(t *testing.T) {
	play(t, spec(2), sim.Options{DelayedAck: units.Millisecond}, func(rank int, g *sim.Group) error {
		if err := g.Reopen(plane.Socket{Nagle: true, NoEOR: true}); err != nil {
			return err
		}
		b := make([]byte, 2300)
		if rank == 1 {
			return g.Recv(0, b)
		}
		for i := range 23 {
			if err := g.Send(1, b[100*i:][:100]); err != nil {
				return err
			}
		}
		if err := g.WaitUntil(units.Second); err != nil {
			return err
		}
		// 100, then two full ones, of which the first is the second packet and so acknowledged with it; then 200.
		c, err := g.Counters(1)
		if c.DataSegsOut != 4 {
			t.Errorf("%d segments, want 4", c.DataSegsOut)
		}
		return err
	})
}
