package sim

import (
	"fmt"

	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/internal/units"
)

const maxDatagram = 1400 // bytes, exclusive

// datagram is one on its way or in an inbox.
type datagram struct {
	at   instant // when it arrived
	from int     // rank
	data []byte
}

// inbox is what a host has of datagrams: bytes not yet out of its sending block, and datagrams not yet received.
type inbox struct {
	sending   int
	datagrams netspec.Queue[*datagram]
	dropped   int64
}

// OpenDatagrams does nothing: every simulated host takes datagrams.
func (g *Group) OpenDatagrams(units.Nanos) error { return nil }

// SendDatagram gives b to the host's block as one packet and waits before that until the host's datagrams there leave
// it room in the send buffer.
func (g *Group) SendDatagram(to int, b []byte) error {
	if len(b) == 0 || len(b) >= maxDatagram {
		return fmt.Errorf("send a datagram of %d bytes to rank %d: want 1 to %d", len(b), to, maxDatagram-1)
	}
	return g.call(to, "send a datagram of %[1]d bytes to", len(b), func(dst *proc) error {
		w, p := g.w, g.self
		if err := w.sleep(p, w.now+w.opt.Cost.send(len(b))); err != nil {
			return err
		}
		limit := w.limit()
		for p.inbox.sending > 0 && p.inbox.sending+len(b) > int(w.opt.SendBuffer) {
			if err := w.wait(p, wait{kind: waitRoom, deadline: limit}); err != nil {
				return err
			}
		}
		p.inbox.sending += len(b)
		w.transmit(packet{c: w.conn(p, dst), n: int32(len(b)), datagram: w.datagram(p.rank, b)})
		return nil
	})
}

// datagram returns a datagram that holds b, made of one that is gone where there is one: experiments count allocations.
func (w *world) datagram(from int, b []byte) *datagram {
	var d *datagram
	if n := len(w.gone); n > 0 {
		d, w.gone = w.gone[n-1], w.gone[:n-1]
	} else {
		d = &datagram{}
	}
	d.from, d.data = from, append(d.data[:0], b...)
	return d
}

// datagramLeft makes room: a datagram of n bytes has left p's sending block.
func (p *proc) datagramLeft(w *world, n int) {
	p.inbox.sending -= n
	if p.wait.kind == waitRoom && p.state == blocked {
		w.release(p, nil)
	}
}

// datagramArrives puts a datagram into p's inbox, if there is room.
func (w *world) datagramArrives(p *proc, pk packet) {
	limit := w.opt.DatagramBuffer
	if p.state == dead || limit > 0 && p.inbox.datagrams.Len() >= limit {
		p.inbox.dropped++
		w.gone = append(w.gone, pk.datagram)
		return
	}
	pk.datagram.at = w.now
	p.inbox.datagrams.Push(pk.datagram)
	if p.wait.kind == waitDatagram && p.state == blocked {
		w.release(p, nil)
	}
}

// RecvDatagram returns the datagrams for this host in the order they arrived, and when they did. What is longer than b
// is cut.
func (g *Group) RecvDatagram(b []byte, until units.Nanos) (d plane.Datagram, err error) {
	err = g.alone("receive a datagram", func() error {
		w, p := g.w, g.self
		if end := p.clock.when(until); p.inbox.datagrams.Len() == 0 && end > w.now {
			if err := w.wait(p, wait{kind: waitDatagram, deadline: end}); err != nil {
				return err
			}
		}
		if d.Dropped = p.inbox.dropped; p.inbox.datagrams.Len() == 0 {
			return nil
		}
		m := p.inbox.datagrams.Pop()
		d.Got, d.From, d.Bytes, d.At = true, m.from, copy(b, m.data), p.clock.read(m.at)
		w.gone = append(w.gone, m)
		return w.sleep(p, w.now+w.opt.Cost.recv(d.Bytes))
	})
	return d, err
}
