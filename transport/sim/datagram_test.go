package sim_test

import (
	"errors"
	"fmt"
	"testing"

	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// burst has each rank from 1 send its share of k datagrams of x bytes to rank 0, all from time 0, and returns when they
// came, how many of them rank 0 had no room for, and how long the sending took.
func burst(t *testing.T, s netspec.Spec, opt sim.Options, k, x int) (at []units.Nanos, dropped int64,
	sending units.Nanos) {
	t.Helper()
	play(t, s, opt, func(rank int, g *sim.Group) error {
		b := make([]byte, x)
		if rank > 0 {
			for range k / (g.Size() - 1) {
				b[0]++
				if err := g.SendDatagram(0, b); err != nil {
					return err
				}
			}
			sending = max(sending, g.Now())
			return nil
		}
		var last [100]byte
		for {
			d, err := g.RecvDatagram(b, 10*units.Second)
			if err != nil {
				return err
			}
			dropped = d.Dropped
			if !d.Got {
				if now := g.Now(); now != 10*units.Second {
					return fmt.Errorf("waited until %v", now)
				}
				return nil
			}
			if d.Bytes != x || b[0] <= last[d.From] && k < 256 {
				return fmt.Errorf("datagram %d of rank %d after %d, %d bytes", b[0], d.From, last[d.From], d.Bytes)
			}
			last[d.From] = b[0]
			at = append(at, d.At)
		}
	})
	return at, dropped, sending
}

// Tam and Wang, eq. 3: of k datagrams that come faster than the port serves them, those arrive that the port served
// until the last came, and the B it then holds.
func TestBurst(t *testing.T) {
	const buffer = 20
	gap := units.Nanos(3000) // of the port, for 500 B
	for _, c := range []struct {
		senders, k int
		gs         units.Nanos
	}{
		{1, 10, 1000}, {1, 20, 1000}, {1, 29, 1000}, {1, 30, 1000}, {1, 200, 1000}, {1, 201, 1100},
		{4, 80, 1000}, {3, 240, 3100}, {1, 200, 3000}, {1, 200, 7000},
	} {
		s := spec(c.senders+1, func(s *netspec.Spec) {
			s.Host, s.Receive = netspec.Block{A: float64(c.gs) * 1e-9, B: 1e-12 * float64(c.gs)}, &netspec.Block{}
			s.Medium, s.Buffer = netspec.Block{A: 2000e-9, B: 4e-9}, buffer
		})
		at, _, _ := burst(t, s, sim.Options{}, c.k, 500)
		// The last comes (k/p' − 1)·g_s after the first; each time all senders' datagrams come at once.
		served := int((units.Nanos(c.k/c.senders) - 1) * c.gs / gap)
		want := min(c.k, buffer+served)
		if c.senders == 1 && c.gs >= gap {
			want = c.k
		}
		if len(at) != want {
			t.Errorf("%+v: %d arrived, want %d", c, len(at), want)
		}
		for i := 1; i < len(at); i++ {
			if d := at[i] - at[i-1]; d != max(gap, c.gs) && c.senders == 1 || d != gap && c.senders > 1 {
				t.Errorf("%+v: gap %v before datagram %d", c, d, i)
				break
			}
		}
		if first := c.gs + gap; at[0] != first {
			t.Errorf("%+v: the first arrived after %v, want %v", c, at[0], first)
		}
	}
}

// Datagrams wait for room on their own host, and then leave at its block's pace.
func TestDatagramRoom(t *testing.T) {
	s := spec(2, func(s *netspec.Spec) { s.Host, s.Medium = netspec.Block{A: 10 * us, B: 0.01 * us}, netspec.Block{} })
	at, _, sending := burst(t, s, sim.Options{SendBuffer: 2500}, 12, 1000)
	// Two fit; the third is taken when the first has left after 10 µs, and so on: the twelfth after the tenth.
	if len(at) != 12 || sending != 100*units.Microsecond {
		t.Errorf("%d arrived, sending took %v; want 12 and 100 µs", len(at), sending)
	}
	// One that is larger than the room goes when it has the room for itself.
	if _, _, sending = burst(t, s, sim.Options{SendBuffer: 500}, 12, 1000); sending != 110*units.Microsecond {
		t.Errorf("without room for two, sending took %v, want 110 µs", sending)
	}
}

// What the receiver's own socket has no room for is counted, and is no loss of the network.
func TestDatagramInbox(t *testing.T) {
	s := spec(3)
	play(t, s, sim.Options{DatagramBuffer: 3, Cost: costs}, func(rank int, g *sim.Group) error {
		b := make([]byte, 100)
		if rank == 1 {
			for range 5 {
				if err := g.SendDatagram(0, b); err != nil {
					return err
				}
			}
		}
		if rank > 0 {
			return nil
		}
		if err := g.WaitUntil(units.Second); err != nil {
			return err
		}
		var last units.Nanos
		for i := range 4 {
			start := g.Now()
			d, err := g.RecvDatagram(b[:50], start)
			if err != nil || d.Got != (i < 3) || d.Dropped != 2 {
				return fmt.Errorf("datagram %d: %+v, %w", i, d, err)
			}
			if !d.Got {
				continue
			}
			took := g.Now() - start
			if d.From != 1 || d.Bytes != 50 || d.At <= last || d.At > units.Second/2 || took != recvCost(50) {
				return fmt.Errorf("datagram %d: %+v took %v", i, d, took)
			}
			last = d.At
		}
		return nil
	})
}

// Datagrams and segments share the port, and its drops; only segments come again.
func TestDatagramsCompete(t *testing.T) {
	s := spec(3, func(s *netspec.Spec) {
		s.Host, s.Receive = netspec.Block{A: 1 * us, B: 0.001 * us}, &netspec.Block{}
		s.Medium, s.Buffer = netspec.Block{A: 10 * us, B: 0.01 * us}, 4
	})
	play(t, s, sim.Options{RTO: units.Millisecond}, func(rank int, g *sim.Group) error {
		b := make([]byte, 1000)
		switch rank {
		case 0:
			for i := range 4 {
				at, err := g.RecvAt(1, b)
				// Four packets find room, two of each rank. The others come again after the timeout.
				if want := []units.Nanos{11_000, 31_000, 1_014_000, 1_024_000}[i]; err != nil || at != want {
					return fmt.Errorf("segment %d at %v, want %v, %w", i, at, want, err)
				}
			}
			for i := range 3 {
				d, err := g.RecvDatagram(b, 2*units.Second)
				if want := []units.Nanos{21_000, 41_000, 0}[i]; err != nil || d.At != want || d.Got != (i < 2) {
					return fmt.Errorf("datagram %d: %+v, want it at %v, %w", i, d, want, err)
				}
			}
			return nil
		case 1:
			for range 4 {
				if err := g.Send(0, b); err != nil {
					return err
				}
			}
			if err := g.WaitUntil(units.Second); err != nil {
				return err
			}
			c, err := g.Counters(0)
			if c.Retrans != 2 || c.DataSegsOut != 6 {
				return fmt.Errorf("%+v, %w: want 2 retransmissions", c, err)
			}
			return err
		}
		for range 4 {
			if err := g.SendDatagram(0, b); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestDatagramErrors(t *testing.T) {
	play(t, spec(2), sim.Options{}, func(rank int, g *sim.Group) error {
		if rank == 1 {
			return nil
		}
		for _, n := range []int{0, 1400} {
			if g.SendDatagram(1, make([]byte, n)) == nil {
				t.Errorf("a datagram of %d bytes: no error", n)
			}
		}
		if err := g.SendDatagram(0, []byte{1}); !errors.Is(err, sim.ErrRank) {
			t.Errorf("to itself: %v", err)
		}
		if err := g.WaitUntil(units.Second); err != nil {
			return err
		}
		return g.SendDatagram(1, []byte{1}) // which has left: nobody hears it
	})
}
