package sim

import (
	"math"

	"calib/internal/events"
	"calib/internal/netspec"
)

// port is the medium, or one port of a switch.
type port struct {
	free    instant               // when it has served all it was given
	leaving events.Queue[instant] // of the packets in it, kept where the buffer is finite
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
	w.cross(pk, from)
	switch {
	case pk.datagram != nil:
		pk.c.src.datagramLeft(w, int(pk.n))
	case !pk.again:
		pk.c.left(int(pk.n))
	}
}

// cross takes a packet over the medium to the receiving block and the receiver's kernel, or drops it. It reaches the medium
// now, and takes its place in the medium's buffer. A cut-through medium may have begun with it at from, before now, but does
// not end before now. All packets for a host come over the same medium in the order they leave it, so all times are known
// here, and a fabric that delays some of them more cannot reorder them.
func (w *world) cross(pk packet, from instant) {
	spec, d := &w.net.spec, pk.c.dst.node
	m := &w.medium
	if w.ports != nil {
		m = &w.ports[d.owner]
	}
	delay := w.delay + w.fabricDelay(pk)
	if w.full(m) || spec.Loss > 0 && w.rng.Float64() < spec.Loss {
		if pk.datagram != nil {
			w.gone = append(w.gone, pk.datagram)
			return
		}
		pk.c.retrans++
		pk.again = true
		w.lost.add(w, queueLost, w.now+fromNanos(w.opt.RTO), pk)
		return
	}
	m.free = max(max(m.free, from)+w.service(spec.Medium, int(pk.n)), w.now)
	if spec.Buffer > 0 {
		m.leaving.Push(m.free)
	}
	d.rxFree = max(d.rxFree, m.free+delay) + w.service(d.rxBlock, int(pk.n))
	d.kernelFree = max(d.kernelFree, d.rxFree) + w.opt.Cost.arrive(int(pk.n))
	d.rx.add(w, w.nodeQueue(d, queueRx), d.kernelFree, pk)
}

// full reports whether m has no room for a packet now.
func (w *world) full(m *port) bool {
	if w.net.spec.Buffer == 0 {
		return false
	}
	for m.leaving.Len() > 0 && m.leaving.Peek() <= w.now {
		m.leaving.Pop()
	}
	return m.leaving.Len() >= w.net.spec.Buffer
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

// fabricDelay records that pk's host sends it now, lost or not, and returns by how much the fabric delays it. Hosts of other
// groups are in simulations of their own.
func (w *world) fabricDelay(pk packet) instant {
	if w.active == nil {
		return 0
	}
	src := pk.c.src
	gs := w.net.spec.Service(src.block, int(pk.n))
	return instant(math.Round(w.net.spec.Fabric.Delay(int(pk.n), w.active.Sent(w.now, src.owner), gs) * perSecond))
}
