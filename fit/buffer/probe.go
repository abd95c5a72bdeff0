package buffer

import (
	"cmp"
	"math"
	"slices"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/params"
)

// probeGroup is the probes of a port that p'−1 streams saturate.
type probeGroup struct {
	senders int64
	point   int
	full    bool // packets were lost: the port overflowed
	paused  bool // the streams left it idle between
	rounds  map[int]bool
}

// probeBatch is the lines of one batch of probes.
type probeBatch struct {
	idle, load, drain []*dataset.Sample
	all               []*fit.Batch
	value             float64 // B_L
	senders           int64
}

// probeQuantile is the quantile of the delays under load that stands for a full port. The queue of a few TCP streams
// swings between some 70% of the buffer and all of it. The median is therefore low by 5 to 20%, and the largest delay
// is high by the jitter of the hosts. In simulations of 1 to 6 streams and buffers of 16 to 200 packets with some 400
// probes, one to 50 packets, the 98% quantile finds the buffer within 5% or one packet; the 90% quantile is low by up
// to 5%, and the largest delay high by up to 25%. A prober that takes more than some 2% of the packets biases a small
// buffer upwards.
const probeQuantile = 0.98

// busyShare is the share of its typical rate that a port must keep up under load for the probes to meet a full one.
const busyShare = 0.6

// buffer estimates B_L [packets] from one batch. A probe that takes the last free place in the port waits for all
// packets before it:
//
//	B = 1 + (delay under load − delay when idle)·(D + R),
//
// D the rate [1/s] of whole segments through the busy port, one over the median interval at the receiver, which hardly
// sees the pauses after a loss; R the rate of the probes among them. It returns false for a batch that lacks a part.
func (b *probeBatch) buffer() (float64, bool) {
	idle, load, segments := allSeconds(b.idle), allSeconds(b.load), allSeconds(b.drain)
	if len(idle) == 0 || len(load) == 0 || len(segments) == 0 {
		return 0, false
	}
	segment := stats.Median(segments)
	if !(segment > 0) {
		return 0, false
	}
	rate := 1 / segment
	if window := b.drain[0].Aux[names.AuxWindow] * 1e-9; window > 0 {
		rate += float64(len(load)) / window // the probes are those of the window
	}
	return 1 + (stats.Quantile(load, probeQuantile)-stats.Median(idle))*rate, true
}

// pauses reports whether the streams left the port idle for a good part of the time: its intervals are then typically
// much shorter than their mean. Single intervals say nothing: after a lost segment has come, all that followed it is
// read at once.
func (b *probeBatch) pauses() bool {
	segments := allSeconds(b.drain)
	return len(segments) > 0 && stats.Median(segments) < busyShare*stats.Mean(segments)
}

// overflowed reports whether the batch lost a packet: a retransmission of the streams, or a probe.
func (b *probeBatch) overflowed() bool {
	again := func(l *dataset.Sample) bool { return l.TCP != nil && l.TCP.Retrans > 0 || l.Has(dataset.FlagRetrans) }
	lost := func(l *dataset.Sample) bool { return l.Aux[names.AuxReceived] < l.Aux[names.AuxSent] }
	return slices.ContainsFunc(b.drain, again) || slices.ContainsFunc(b.load, lost)
}

func allSeconds(lines []*dataset.Sample) []float64 {
	return lists.Flat(lines, func(l *dataset.Sample) []float64 { return fit.Seconds(l.NS) })
}

// loadProbes adds the estimate of every batch of probes to the table and returns the lines used.
func (p *floodData) loadProbes() []*fit.Batch {
	parts := map[fit.BatchID]*probeBatch{}
	var order []*probeBatch
	for _, phase := range []string{names.PhaseProbeIdle, names.PhaseProbe, names.PhaseProbeDrain} {
		for _, b := range p.usable(phase) {
			q := parts[b.ID]
			if q == nil {
				q = &probeBatch{senders: b.Point[names.FactorSenders]}
				parts[b.ID] = q
				order = append(order, q)
			}
			to := map[string]*[]*dataset.Sample{names.PhaseProbeIdle: &q.idle, names.PhaseProbe: &q.load,
				names.PhaseProbeDrain: &q.drain}[phase]
			*to, q.all = append(*to, b.Lines[0]), append(q.all, b)
		}
	}
	var used []*fit.Batch
	full := map[int64]bool{} // by senders
	order = slices.DeleteFunc(order, func(q *probeBatch) (lacks bool) {
		var ok bool
		if q.value, ok = q.buffer(); !ok {
			p.fit.Sift(q.all, func(*fit.Batch) string { return fit.WhyIncomplete })
			return true
		}
		used = append(used, q.all...)
		full[q.senders] = full[q.senders] || q.overflowed()
		return false
	})
	groups := map[int64]*probeGroup{}
	for _, q := range order {
		p.segment = q.drain[0].Aux[names.AuxSegment]
		n := q.senders
		if full[n] && !q.overflowed() { // it says what the port holds at least
			continue
		}
		g := groups[n]
		if g == nil {
			g = &probeGroup{senders: n, point: p.table.Duration(floodKey{what: floodProbe, senders: n}), full: full[n],
				rounds: map[int]bool{}}
			groups[n] = g
			p.probes = append(p.probes, g)
		}
		g.paused = g.paused || q.pauses()
		g.rounds[q.load[0].Round] = true
		p.table.Add(g.point, 0, q.load[0].Round, len(allSeconds(q.load)), q.value)
		p.fit.WidenDomain("senders", float64(n))
	}
	slices.SortFunc(p.probes, func(a, b *probeGroup) int { return cmp.Compare(a.senders, b.senders) })
	return used
}

// estimateAt is a point with something added.
func (p *floodData) estimateAt(point int, plus float64) estimate {
	return estimate{value: p.times.Values[point] + plus, half: wholePacket,
		reps: lists.Map(p.times.Replicates, func(r []float64) float64 { return r[point] + plus })}
}

// fitProbes records B_L_tcp, from the numbers of senders that overflowed the port.
func (p *floodData) fitProbes() {
	var full []estimate
	var most estimate
	rounds := 0
	points := params.Series{Name: "B_L by probe", Quantity: params.ProbedBuffer, XName: "senders", Unit: "packets"}
	for _, g := range p.probes {
		e := p.estimateAt(g.point, 0)
		points.Add(float64(g.senders), e.value, p.interval(e), e.value, p.times.N[g.point])
		if g.full {
			full, rounds = append(full, e), max(rounds, len(g.rounds))
		}
		if e.value > most.value {
			most = e
		}
		if g.paused {
			p.fit.Warn("port-idle", "the streams of %d senders did not keep the port busy: B_L_tcp may be low", g.senders-1)
		}
	}
	switch {
	case len(p.probes) == 0:
		p.fit.Unknown("B_L_tcp", "packets", labelBLTCP, 0, math.Inf(1), "no probe of a saturated port was measured")
		return
	case len(full) == 0:
		p.fit.Bound("B_L_tcp", "packets", labelBLTCP, math.Max(0, most.value), math.Inf(1),
			"the port never overflowed under TCP streams: nothing was retransmitted and no probe was lost")
	default:
		e := p.merge(full)
		p.fit.Found("B_L_tcp", "packets", labelBLTCP, e.value, p.recorded(e, rounds))
		for i := range points.Points {
			points.Points[i].Fitted = e.value
		}
	}
	p.fit.Series = append(p.fit.Series, points)
}

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

// loadHeld adds what the full port held to the table and returns the batches used.
func (p *floodData) loadHeld() []*fit.Batch {
	used := p.fit.Sift(p.usable(names.PhaseFull), func(b *fit.Batch) string {
		l := b.Lines[0]
		held := l.Aux[names.AuxHeld]
		if !(held > 0 && l.Aux[names.AuxService] > 0) || l.Aux[names.AuxLosses] < minBeside || !steady(l) {
			return whyNotKept
		}
		p.table.Add(p.table.Duration(heldOf(b)), 0, b.Round, int(l.Aux[names.AuxLosses]), held)
		return ""
	})
	bySize := slices.Clone(used)
	slices.SortStableFunc(bySize, func(a, b *fit.Batch) int { return cmp.Compare(heldOf(a).bytes, heldOf(b).bytes) })
	p.held = fit.Runs(bySize, func(a, b *fit.Batch) bool { return heldOf(a) == heldOf(b) })
	return used
}

// heldOf is the point of what the full port held of datagrams of the size of a batch.
func heldOf(b *fit.Batch) floodKey {
	return floodKey{what: floodHeld, bytes: b.Point[names.FactorBytes]}
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
	for _, same := range p.held {
		if len(same) < minFull {
			continue
		}
		n, k := float64(len(same)), heldOf(same[0])
		var low, high, idle float64 // quartiles; excess of the idle one-way times [intervals of the port]
		for _, b := range same {
			l := b.Lines[0]
			low, high = low+l.Aux[names.AuxHeldLow], high+l.Aux[names.AuxHeldHigh]
			idle += l.Aux[names.AuxIdleExcess] / l.Aux[names.AuxService]
		}
		e := p.estimateAt(p.table.Index[k], 0.5)
		e.terms = []params.Term{
			fit.Uniform("own service", 0.5, "whether the idle one-way time holds the service of the datagram itself"),
			{Name: "idle one-way time", Type: params.TypeA, U: idle / n,
				Why: "spread of the idle one-way times, in intervals of the port"},
			fit.Uniform("level of the full port", (high-low)/n/2,
				"half the distance of the quartiles of what the port held at losses"),
		}
		out = append(out, sizeEstimate{float64(k.bytes), e})
	}
	return out
}

func (p *floodData) whole(e estimate) [2]float64 { return fit.Widen(e.value, p.interval(e), e.terms) }
