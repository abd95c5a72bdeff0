package agent

import (
	"context"
	"testing"
	"time"

	"calib/bench"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport"
)

// closing gives a group the Close of an io.Closer.
type closing struct{ group }

func (c closing) Close() error {
	c.group.Close()
	return nil
}

// LoopbackTeam is one plane and group for each rank, each of which opens its links at the same time as the others.
func LoopbackTeam(t *testing.T, size int, shared bool) []bench.Group {
	t.Helper()
	planes := make([]*meshPlane, size)
	machines := map[bool]string{true: "this machine"}
	s := plane.Session{Run: "conformance"}
	hosts := make([]int, size)
	for i := range planes {
		p, err := newMeshPlane("127.0.0.1:0", transport.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		planes[i], hosts[i] = p, i
		s.Peers = append(s.Peers, plane.Peer{Host: i, Addr: p.Addr(), Consent: p.Consent(), Machine: machines[shared]})
		for j := range i {
			s.Tickets = append(s.Tickets, plane.Ticket{A: j, B: i, Key: [32]byte{1, byte(i), byte(j)}, MaxBytes: units.GiB,
				Expires: time.Now().Add(time.Hour).Unix()})
		}
	}
	type opened struct {
		g   group
		err error
	}
	out := make([]chan opened, size)
	for i, p := range planes {
		own := s
		own.Self, own.Tickets = i, nil
		for _, k := range s.Tickets {
			if k.A == i || k.B == i {
				own.Tickets = append(own.Tickets, k)
			}
		}
		if err := p.Prepare(own); err != nil {
			t.Fatal(err)
		}
		out[i] = make(chan opened, 1)
	}
	for i, p := range planes {
		go func() {
			g, err := p.Group(context.Background(), bench.Task{Team: hosts, Rank: i, Recv: units.Second})
			out[i] <- opened{g, err}
		}()
	}
	groups := make([]bench.Group, size)
	for i := range out {
		o := <-out[i]
		if o.err != nil {
			t.Fatal(o.err)
		}
		groups[i] = closing{o.g}
	}
	return groups
}
