package fit

import (
	"maps"
	"slices"

	"calib/internal/dataset"
)

// pairedData is what paired measured, resampled: the last delivery of n pairs by size, and the time per byte of n streams.
type pairedData struct {
	fit    *Fit
	pairs  []int // values of n that have bursts, ascending
	bursts map[int][]burstPoint
	stream map[int]int // n → point
	times  *sampled
	packet float64
	clocks uncertainty
	cut    bool // some bursts lack the pairs of slow hosts
}

// burstPoint is one size of the bursts of one n, and its points in the table.
type burstPoint struct {
	bytes float64
	last  int // from the last sender's own start to the last delivery
	gap   int // from the first to the last delivery
}

// phases of paired.
const (
	phaseBurst  = "burst-pair"
	phaseStart  = "burst-start"
	phaseStream = "stream"
)

// loadPaired gathers the bursts and streams of complete batches. Batches with a slow host are left out where those
// without cover two values of n; otherwise only the slow host's pairs are. It returns ErrNeeds with neither bursts nor streams.
func loadPaired(d *dataset.Dataset, s Settings, model, source string) (*pairedData, error) {
	f := newFit(model, "paired", source)
	slow := findSlow(d)
	f.Warnings = append(f.Warnings, slow.said...)
	bursts := f.paired(f.batchesOf(d, phaseBurst, slow)) // no clock offset bears on a stream
	streams := f.batchesOf(d, phaseStream, slow)
	if len(bursts)+len(streams) == 0 {
		return nil, needs(model, "no complete burst or stream without loss")
	}
	p := &pairedData{fit: f, bursts: map[int][]burstPoint{}, stream: map[int]int{}}
	p.cut = slices.ContainsFunc(bursts, func(b batch) bool { return len(b.lines) < int(b.point["pairs"]) })
	t := &table{}
	p.addBursts(t, bursts, batches(d, "paired", phaseStart))
	p.addStreams(t, streams)
	f.account(d, bursts, streams)
	var known bool
	if p.packet, known = packetBytes(bursts, streams); !known {
		f.note("the kernel did not report the segment size: a packet is taken to hold %g bytes", p.packet)
	}
	p.clocks = clockUncertainty(bursts)
	for _, q := range t.points {
		if q.oneSided() {
			f.warn("some points were measured in one direction only: the clock offset does not cancel in their times")
			break
		}
	}
	var err error
	if p.times, err = t.resample(s.replicates(), s.seed(d, model)); err != nil {
		return nil, err
	}
	f.sayRounds(p.times.rounds)
	seen := slices.Sorted(maps.Keys(p.stream))
	if len(p.pairs) > 0 {
		seen = p.pairs
	}
	f.Domain["pairs"] = [2]float64{float64(seen[0]), float64(seen[len(seen)-1])}
	return p, nil
}

// batchesOf returns the usable batches of one phase.
func (f *Fit) batchesOf(d *dataset.Dataset, phase string, slow slowHosts) []batch {
	var whole []batch
	all := batches(d, "paired", phase)
	for i := range all {
		if complete(&all[i], phase == phaseBurst) {
			whole = append(whole, all[i])
		} else {
			f.leaveOut(&all[i], whyIncomplete)
		}
	}
	return f.apart(f.usable(whole), slow)
}

// complete reports whether every pair's line is there and, for bursts, has every repetition.
func complete(b *batch, sameLength bool) bool {
	n := int(b.point["pairs"])
	if n < 1 || len(b.lines) != n {
		return false
	}
	for _, l := range b.lines {
		if len(l.Ranks) != 2 || len(l.NS) == 0 || sameLength && len(l.NS) != len(b.lines[0].NS) {
			return false
		}
		if !sameLength && (slices.Min(l.NS) < 0 || slices.Max(l.NS) == 0) {
			return false // no rate
		}
	}
	return true
}

// apart takes the slow hosts out of the batches.
func (f *Fit) apart(in []batch, slow slowHosts) []batch {
	cleanN := map[int64]bool{}
	var clean []batch
	for _, b := range in {
		if !b.hasAny(slow.hosts) {
			clean = append(clean, b)
			cleanN[b.point["pairs"]] = true
		}
	}
	if len(clean) == len(in) {
		return in
	}
	if len(cleanN) >= 2 {
		for i := range in {
			if in[i].hasAny(slow.hosts) {
				f.leaveOut(&in[i], whySlowHost)
			}
		}
		return clean
	}
	return f.withoutSlowPairs(in, slow)
}

// withoutSlowPairs drops the slow hosts' lines from their batches, and keeps a batch whole that has no other.
func (f *Fit) withoutSlowPairs(in []batch, slow slowHosts) []batch {
	var out []batch
	cut := 0
	for _, b := range in {
		kept := b
		kept.lines = slices.DeleteFunc(slices.Clone(b.lines), func(l *dataset.Sample) bool {
			return slow.hosts[l.Ranks[0]] || slow.hosts[l.Ranks[1]]
		})
		switch {
		case len(kept.lines) == len(b.lines):
			out = append(out, b)
		case len(kept.lines) == 0:
			f.leaveOut(&b, whySlowHost)
		default:
			gone := batch{lines: slices.DeleteFunc(slices.Clone(b.lines), func(l *dataset.Sample) bool {
				return slices.Contains(kept.lines, l)
			})}
			f.leaveOut(&gone, whySlowHost)
			cut++
			out = append(out, kept)
		}
	}
	if len(out) == 0 && len(in) > 0 {
		f.warn("every batch holds a slow host only: the times are those of the slow host")
		for i := range in {
			f.LeftOut -= in[i].timings()
			f.LeftOutWhy[whySlowHost] -= in[i].timings()
		}
		if f.LeftOutWhy[whySlowHost] == 0 {
			delete(f.LeftOutWhy, whySlowHost)
		}
		return in
	}
	if cut > 0 {
		f.warn("%d batches hold a slow host and too few do not: their times are those of the other pairs, which met n or "+
			"n−1 messages on the network, so that a_c and b_c may be low by as much", cut)
	}
	return out
}

// addStreams adds the time per byte that each pair sees while n stream at once,
//
//	b'(n) = n/Σ rate_i,  rate_i = bytes of pair i/time, over the window that all pairs share.
//
// The intervals of one stream add up to its window, so that a batch is one value and not many.
func (p *pairedData) addStreams(t *table, streams []batch) {
	var ns []int
	for i := range streams {
		ns = append(ns, int(streams[i].point["pairs"]))
	}
	slices.Sort(ns)
	bursts := len(t.points)
	for i, n := range slices.Compact(ns) {
		p.stream[n] = t.at(float64(bursts + i))
		t.points[p.stream[n]].apart = true
	}
	for i := range streams {
		b := &streams[i]
		rate := 0.0
		for _, l := range b.lines {
			rate += streamRate(l, float64(b.point["bytes"]))
		}
		t.add(p.stream[int(b.point["pairs"])], b.dir, b.round, b.timings(), float64(len(b.lines))/rate)
	}
}

// streamRate is one pair's rate [B/s]: the chunks of the common window over its length (aux "window_chunks" and
// "window_ns"), or, where the sample has no window, chunk over mean interval. A chunk is aux "chunk_bytes", else bytes.
func streamRate(l *dataset.Sample, bytes float64) float64 {
	if c, ok := l.Aux["chunk_bytes"]; ok {
		bytes = c
	}
	if ns := l.Aux["window_ns"]; ns > 0 {
		return bytes * l.Aux["window_chunks"] / (ns * 1e-9)
	}
	total := 0.0
	for _, v := range seconds(l.NS) {
		total += v
	}
	return bytes * float64(len(l.NS)) / total
}
