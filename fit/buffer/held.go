package buffer

import (
	"cmp"
	"math"
	"slices"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/params"
)

// whyNotKept is a batch in which the port was not kept full.
const whyNotKept = "port not kept full"

const (
	// minBeside is how many datagrams beside a loss a batch must have, and keptFull by how much the middle half of
	// what the port held at them may vary, relative, or in packets where that is more: more means that the port was
	// full now and then.
	minBeside   = 10
	keptFull    = 0.1
	keptPackets = 2
	// minFull is the number of batches that a size must have.
	minFull = 2
)

// heldGroup is what the full port held of datagrams of one size.
type heldGroup struct {
	bytes     int64
	point     int
	low, high float64 // quartiles, means over batches
	idle      float64 // excess of the idle one-way times [intervals of the port], mean over batches
	batches   int
}

// loadHeld adds what the full port held to the table and returns the batches used.
func (p *floodData) loadHeld() []*fit.Batch {
	var used []*fit.Batch
	groups := map[int64]*heldGroup{}
	for _, b := range p.fit.Prepared.LineBatches(names.Flood, names.PhaseFull) {
		l := b.Lines[0]
		held, service := l.Aux[names.AuxHeld], l.Aux[names.AuxService]
		if why := b.Flagged(floodSpoiling...); why != "" {
			p.fit.LeaveOut(b, why)
			continue
		}
		if !(held > 0 && service > 0) || l.Aux[names.AuxLosses] < minBeside || !steady(l) {
			p.fit.LeaveOut(b, whyNotKept)
			continue
		}
		m := l.Point[names.FactorBytes]
		g := groups[m]
		if g == nil {
			g = &heldGroup{bytes: m, point: p.table.Duration(floodKey{what: floodHeld, bytes: m})}
			groups[m] = g
			p.held = append(p.held, g)
		}
		g.low, g.high = g.low+l.Aux[names.AuxHeldLow], g.high+l.Aux[names.AuxHeldHigh]
		g.idle += l.Aux[names.AuxIdleExcess] / service
		g.batches++
		p.table.Add(g.point, 0, b.Round, int(l.Aux[names.AuxLosses]), held)
		used = append(used, b)
	}
	slices.SortFunc(p.held, func(a, b *heldGroup) int { return cmp.Compare(a.bytes, b.bytes) })
	return used
}

// steady reports whether the port held about as much at every loss.
func steady(l *dataset.Sample) bool {
	return l.Aux[names.AuxHeldHigh]-l.Aux[names.AuxHeldLow] <= math.Max(keptFull*l.Aux[names.AuxHeld], keptPackets)
}

// heldSizes are the buffer in packets by size, ascending, of the sizes that kept the port full in enough batches. A
// datagram beside a loss saw h datagrams leave until it had left itself. Its idle one-way time, which was taken off
// before, holds its own service where the port serves even a single datagram at its rate, so that the port holds h + 1;
// it does not where a token bucket lets it pass, and the port holds h. B is taken as h + ½, ± ½.
func (p *floodData) heldSizes() []sizeEstimate {
	var out []sizeEstimate
	for _, g := range p.held {
		if g.batches < minFull {
			continue
		}
		n := float64(g.batches)
		e := estimate{value: p.times.Values[g.point] + 0.5, half: wholePacket, reps: make([]float64, len(p.times.Replicates))}
		for i, r := range p.times.Replicates {
			e.reps[i] = r[g.point] + 0.5
		}
		e.terms = []params.Term{
			fit.Uniform("own service", 0.5, "whether the idle one-way time holds the service of the datagram itself"),
			{Name: "idle one-way time", Type: params.TypeA, U: g.idle / n, Why: "spread of the idle one-way times, in intervals of the port"},
			fit.Uniform("level of the full port", (g.high-g.low)/n/2, "half the distance of the quartiles of what the port held at losses"),
		}
		out = append(out, sizeEstimate{float64(g.bytes), e})
	}
	return out
}

// whole is the interval of e with its terms.
func (p *floodData) whole(e estimate) [2]float64 { return fit.Widen(e.value, p.interval(e), e.terms) }
