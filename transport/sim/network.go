package sim

import (
	"math"

	"calib/internal/events"
	"calib/internal/netspec"
)

// port is the medium, one port of a switch, or one direction of a link.
type port struct {
	room    int                   // packets; 0 is unlimited
	free    instant               // when it has served all it was given
	leaving events.Queue[instant] // of the packets in it, kept where the room is finite
}

// link is one direction of a link.
type link struct {
	port
	inside line[packet]
}

// full reports whether p has no room for a packet now.
func (p *port) full(now instant) bool {
	if p.room == 0 {
		return false
	}
	for p.leaving.Len() > 0 && p.leaving.Peek() <= now {
		p.leaving.Pop()
	}
	return p.leaving.Len() >= p.room
}

// enter takes in a packet that leaves at that time.
func (p *port) enter(leaves instant) {
	p.free = leaves
	if p.room > 0 {
		p.leaving.Push(leaves)
	}
}

// transmit puts a packet into its host's sending block.
func (w *world) transmit(pk packet) {
	p := pk.c.src.node
	if pk.datagram == nil {
		pk.c.sent++
		pk.c.carryAck(&pk)
	}
	p.txFree = max(p.txFree, w.now) + w.service(p.block, int(pk.n))
	if p.tx.Len() == 0 {
		p.txBegan = w.now
	}
	p.tx.add(w, w.nodeQueue(p, queueTx), p.txFree, pk)
}

// leaveHost moves the head of p's sending block on to the medium, which makes room in the send buffer.
func (w *world) leaveHost(p *node) {
	pk := p.tx.next(w, w.nodeQueue(p, queueTx))
	from := w.now
	if w.net.spec.CutThrough {
		from = p.txBegan
	}
	p.txBegan = w.now
	if l := w.linkOf(pk); l >= 0 {
		w.enterLink(l, pk)
	} else {
		w.cross(pk, from)
	}
	switch {
	case pk.datagram != nil:
		pk.c.src.datagramLeft(w, int(pk.n))
	case !pk.again:
		pk.c.left(int(pk.n))
	}
}

// cross takes a packet over the medium to the receiving block and the receiver's kernel, or drops it. It reaches the
// medium now, and takes its place in the medium's buffer. A cut-through medium may have begun with it at from, before
// now, but does not end before now. All packets for a host come over the same medium in the order they leave it, so all
// times are known here, and a fabric that delays some of them more cannot reorder them.
func (w *world) cross(pk packet, from instant) {
	spec, d := &w.net.spec, pk.c.dst.node
	m := &w.medium
	if w.ports != nil {
		m = &w.ports[d.owner]
	}
	delay := w.delay + w.fabricDelay(pk)
	if m.full(w.now) || spec.Loss > 0 && w.rng.Float64() < spec.Loss {
		w.drop(pk)
		return
	}
	m.enter(max(max(m.free, from)+w.service(spec.Medium, int(pk.n)), w.now))
	d.rxFree = max(d.rxFree, m.free+delay) + w.service(d.rxBlock, int(pk.n))
	d.kernelFree = max(d.kernelFree, d.rxFree) + w.opt.Cost.arrive(int(pk.n))
	d.rx.add(w, w.nodeQueue(d, queueRx), d.kernelFree, pk)
}

// drop loses a packet: a connection sends it again, a datagram is gone.
func (w *world) drop(pk packet) {
	if pk.datagram != nil {
		w.gone = append(w.gone, pk.datagram)
		return
	}
	pk.c.retrans++
	pk.again = true
	w.lost.add(w, queueLost, w.now+fromNanos(w.opt.RTO), pk)
}

// linkOf is the link's server that a packet passes before the medium; −1 is none.
func (w *world) linkOf(pk packet) int {
	if w.route == nil {
		return -1
	}
	return w.route(pk.c.src.host, pk.c.dst.host)
}

// enterLink takes a packet that has left its host into a link, or drops it.
func (w *world) enterLink(i int, pk packet) {
	l := &w.links[i]
	if l.full(w.now) {
		w.drop(pk)
		return
	}
	l.enter(max(l.free, w.now) + w.service(w.net.spec.Links[i/2].Block, int(pk.n)))
	l.inside.add(w, queueLinks-queueID(i), l.free, pk)
}

// leaveLink moves the head of a link on to the medium.
func (w *world) leaveLink(i int) {
	w.cross(w.links[i].inside.next(w, queueLinks-queueID(i)), w.now)
}

// deliver takes the head out of p's receiving block.
func (w *world) deliver(p *node) {
	pk := p.rx.next(w, w.nodeQueue(p, queueRx))
	p.kernelTime += w.opt.Cost.arrive(int(pk.n))
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
		if noise.SpikeProb > 0 && w.rng.Float64() < noise.SpikeProb {
			d += float64(fromNanos(noise.Spike))
		}
	}
	return instant(math.Round(d))
}

// fabricDelay records that pk's host sends it now, lost or not, and returns by how much the fabric delays it. Hosts of
// other groups are in simulations of their own.
func (w *world) fabricDelay(pk packet) instant {
	if w.active == nil {
		return 0
	}
	src := pk.c.src
	gs := w.net.spec.Service(src.block, int(pk.n))
	return instant(math.Round(w.net.spec.Fabric.Delay(int(pk.n), w.active.Sent(w.now, src.owner), gs) * perSecond))
}
