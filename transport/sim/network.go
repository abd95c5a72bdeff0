package sim

import (
	"math"

	"calib/internal/netspec"
)

// transmit puts a packet into its host's sending block.
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
	if l := w.path.Link(pk.c.src.owner, pk.c.dst.owner); l < 0 {
		w.cross(pk)
	} else if left, why := w.path.Pass(w.now, l, int(pk.n)); why != netspec.Kept {
		w.drop(pk)
	} else {
		pk.from = left
		w.links[l].add(w, left, pk)
	}
	switch {
	case pk.datagram != nil:
		pk.c.src.datagramLeft(w, int(pk.n))
	case !pk.again:
		pk.c.left(int(pk.n))
	}
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

// drop loses a packet: a connection sends it again, a datagram is gone.
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
