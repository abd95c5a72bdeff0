package sim

import (
	"math"

	"calib/internal/netspec"
)

// fabric knows which hosts sent a packet lately. Hosts of other groups are in simulations of their own.
type fabric struct {
	spec   *netspec.Fabric
	window instant
	recent fifo[sighting]
	seen   []int32 // per rank: how often it is in recent
	active int
}

type sighting struct {
	at   instant
	rank int32
}

func newFabric(spec *netspec.Fabric, ranks int) *fabric {
	return &fabric{spec: spec, window: instant(math.Round(spec.Active() * perSecond)), seen: make([]int32, ranks)}
}

// delay notes that pk's host sends it now, lost or not, and returns what the fabric delays it.
func (f *fabric) delay(w *world, pk packet) instant {
	src := pk.c.src
	for f.recent.n > 0 && f.recent.peek().at < w.now-f.window {
		id := f.recent.pop().rank
		if f.seen[id]--; f.seen[id] == 0 {
			f.active--
		}
	}
	f.recent.push(sighting{w.now, int32(src.id)})
	if f.seen[src.id]++; f.seen[src.id] == 1 {
		f.active++
	}
	gs := w.net.spec.Service(src.block, int(pk.n))
	return instant(math.Round(f.spec.Delay(int(pk.n), f.active, gs) * perSecond))
}
