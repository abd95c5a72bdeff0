package sim

import (
	"fmt"
	"math"

	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/internal/units"
)

func (w *world) transmit(pk packet) {
	p := pk.c.src.node
	if pk.datagram == nil {
		pk.c.sent++
		pk.c.carryAck(&pk)
	}
	left, from := w.path.Send(w.now, p.owner, int(pk.n))
	pk.from = from
	p.tx.add(w, left, pk)
}

// leaveHost moves a packet from its host's sending block on to a link or the medium. That makes room in the send
// buffer.
func (w *world) leaveHost(pk packet) {
	w.onward(pk, -1)
	switch {
	case pk.datagram != nil:
		pk.c.src.datagramLeft(w, int(pk.n))
	case !pk.again:
		pk.c.left(int(pk.n))
	}
}

// onward takes a packet behind a link's server, or −1, to the next, or to the medium.
func (w *world) onward(pk packet, after int) {
	l := w.path.Link(pk.c.src.owner, pk.c.dst.owner, after)
	if l < 0 {
		w.cross(pk)
		return
	}
	left, why := w.path.Pass(w.now, l, int(pk.n))
	if why != netspec.Kept {
		w.drop(pk)
		return
	}
	pk.from += left - w.now
	w.links[l].add(w, left, pk)
}

// cross takes a packet over the medium to the receiving block and the receiver's kernel, or drops it.
func (w *world) cross(pk packet) {
	d := pk.c.dst.node
	left, why := w.path.Cross(w.now, pk.from, pk.c.src.owner, d.owner, int(pk.n))
	if why != netspec.Kept {
		w.drop(pk)
		return
	}
	d.kernelFree = max(d.kernelFree, left) + w.opt.Cost.arrive(int(pk.n))
	d.rx.add(w, d.kernelFree, pk)
}

func (w *world) drop(pk packet) {
	if pk.datagram != nil {
		w.gone = append(w.gone, pk.datagram)
		return
	}
	pk.c.retrans++
	pk.again = true
	w.lost.add(w, w.now+fromNanos(w.opt.RTO), pk)
}

// deliver gives a packet that its host has handled to who waits for it.
func (w *world) deliver(pk packet) {
	pk.c.dst.kernelTime += w.opt.Cost.arrive(int(pk.n))
	switch {
	case pk.datagram != nil:
		w.datagramArrives(pk.c.dst, pk)
	case pk.c.dst.state != dead:
		pk.c.arrive(pk)
	}
}

// service draws the time b takes for a packet of n bytes.
func (w *world) service(b netspec.Block, n int) instant {
	d := w.net.spec.Service(b, n) * perSecond
	if noise := &w.opt.Noise; *noise != (Noise{}) {
		d = max(0, d*w.factor*max(0, 1+noise.Jitter*w.rng.NormFloat64()))
		d += w.rng.ExpFloat64() * float64(fromNanos(noise.Delay))
	}
	return instant(math.Round(d))
}

const maxDatagram = 1400 // bytes, exclusive

type datagram struct {
	at   instant // when it arrived
	from int     // rank
	data []byte
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
		for p.sending > 0 && p.sending+len(b) > int(w.opt.SendBuffer) {
			if err := w.wait(p, wait{kind: waitRoom, deadline: limit}); err != nil {
				return err
			}
		}
		p.sending += len(b)
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
	p.sending -= n
	w.wake(p, waitRoom)
}

// datagramArrives keeps a datagram for p, if there is room.
func (w *world) datagramArrives(p *proc, pk packet) {
	limit := w.opt.DatagramBuffer
	if p.state == dead || limit > 0 && p.datagrams.Len() >= limit {
		p.dropped++
		w.gone = append(w.gone, pk.datagram)
		return
	}
	pk.datagram.at = w.now
	p.datagrams.Push(pk.datagram)
	w.wake(p, waitDatagram)
}

// RecvDatagram returns the datagrams for this host in the order they arrived, and when they did. What is longer than b
// is cut.
func (g *Group) RecvDatagram(b []byte, until units.Nanos) (d plane.Datagram, err error) {
	err = g.alone("receive a datagram", func() error {
		w, p := g.w, g.self
		if end := p.clock.when(until); p.datagrams.Len() == 0 && end > w.now {
			if err := w.wait(p, wait{kind: waitDatagram, deadline: end}); err != nil {
				return err
			}
		}
		if d.Dropped = p.dropped; p.datagrams.Len() == 0 {
			return nil
		}
		m := p.datagrams.Pop()
		d.Got, d.From, d.Bytes, d.At = true, m.from, copy(b, m.data), p.clock.read(m.at)
		w.gone = append(w.gone, m)
		return w.sleep(p, w.now+w.opt.Cost.recv(d.Bytes))
	})
	return d, err
}
