package hyperbolic

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/params"
	"calib/fit/resample"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/stats"
)

// paired is what paired measured, resampled: the last delivery of n pairs by size, and the time per byte of n streams.
type paired struct {
	fit    *fit.Result
	pairs  []int // values of n that have bursts, ascending
	bursts map[int][]burstPoint
	stream map[int]int // n → point
	times  *resample.Estimates
	packet float64
	clocks uncertainty
	slow   map[int]bool
	cut    bool // some bursts lack the pairs of slow hosts

	windows    []fit.Batch // streams whose bytes were counted, complete
	counted    []fit.Batch // those of them that are usable, of all numbers of connections
	messages   []fit.Batch // streams of messages of one size
	unsteady   float64     // typical relative error of streams whose rate changed; 0 where others are used
	oneMachine bool        // hosts of a pair share a machine
}

// burstPoint is one size of the bursts of one n, and its points in the table.
type burstPoint struct {
	bytes float64
	last  int // from the last sender's own start to the last delivery
	gap   int // from the first to the last delivery
}

// key is a point of the table: the last delivery or the gap of a burst, or a stream.
type key struct {
	what     byte // 'l', 'g' or 's'
	n, bytes int64
}

// load gathers the bursts and streams of complete batches. Batches with a slow host are left out where the others
// cover two values of n. Otherwise only the slow host's pairs are left out. It returns fit.ErrNeeds with neither bursts nor streams.
func load(prepared *fit.Prepared, model, source string) (*paired, error) {
	p := &paired{fit: prepared.New(model, names.Paired, source), slow: prepared.Slow().Hosts,
		bursts: map[int][]burstPoint{}, stream: map[int]int{}}
	bursts := p.fit.BothDirections(p.batches(prepared, names.PhaseBurst))
	streams := p.loadStreams(prepared) // no clock offset is in their times
	p.cut = slices.ContainsFunc(bursts, func(b fit.Batch) bool { return len(b.Lines) < int(b.Point[names.FactorPairs]) })
	t := &resample.Table[key]{}
	p.addBursts(t, bursts, prepared.Batches(names.Paired, names.PhaseBurstStart))
	p.addStreams(t, streams)
	p.fit.Account(bursts, streams, p.messages, slices.DeleteFunc(slices.Clone(p.counted), func(b fit.Batch) bool { return connectionsOf(&b) == 1 }))
	p.oneMachine = slices.ContainsFunc(streams, func(b fit.Batch) bool { return prepared.OneMachine(b.Lines[0].Ranks) })
	p.packet = p.fit.Packet(bursts, streams)
	p.clocks = clockUncertainty(bursts)
	if t.OneSided() {
		p.fit.Warn(params.OneDirection, "some points were measured in one direction only: the clock offset does not cancel in their times")
	}
	var err error
	if p.times, err = fit.Resample(p.fit, t, "no complete burst or stream without loss"); err != nil {
		return nil, err
	}
	seen := slices.Sorted(maps.Keys(p.stream))
	if len(p.pairs) > 0 {
		seen = p.pairs
	}
	p.fit.Domain["pairs"] = [2]float64{float64(seen[0]), float64(seen[len(seen)-1])}
	return p, nil
}

// batches returns the usable batches of one phase.
func (p *paired) batches(prepared *fit.Prepared, phase string) []fit.Batch {
	return p.withoutSlow(p.fit.Usable(p.fit.Complete(prepared.Batches(names.Paired, phase), phase == names.PhaseBurst)))
}

// withoutSlow takes the slow hosts out of the batches.
func (p *paired) withoutSlow(in []fit.Batch) []fit.Batch {
	slow := func(b *fit.Batch) bool { return b.HasAny(p.slow) }
	clean := map[int64]bool{}
	for i := range in {
		if !slow(&in[i]) {
			clean[in[i].Point[names.FactorPairs]] = true
		}
	}
	if len(clean) >= 2 {
		return p.fit.Without(in, fit.WhySlowHost, slow)
	}
	return p.withoutSlowPairs(in)
}

// withoutSlowPairs drops the slow hosts' lines from their batches, and keeps a batch whole that has no other.
func (p *paired) withoutSlowPairs(in []fit.Batch) []fit.Batch {
	slow := func(l *dataset.Sample) bool { return p.slow[l.Ranks[0]] || p.slow[l.Ranks[1]] }
	var out []fit.Batch
	cut := 0
	for _, b := range in {
		kept := b
		kept.Lines = slices.DeleteFunc(slices.Clone(b.Lines), slow)
		switch {
		case len(kept.Lines) == len(b.Lines):
			out = append(out, b)
		case len(kept.Lines) == 0:
			p.fit.LeaveOut(&b, fit.WhySlowHost)
		default:
			gone := fit.Batch{Lines: slices.DeleteFunc(slices.Clone(b.Lines), func(l *dataset.Sample) bool {
				return !slow(l)
			})}
			p.fit.LeaveOut(&gone, fit.WhySlowHost)
			cut++
			out = append(out, kept)
		}
	}
	if len(out) == 0 && len(in) > 0 {
		p.fit.Warn(params.SlowHostsOnly, "every batch holds a slow host only: the times are those of the slow host")
		for i := range in {
			p.fit.LeftOut -= in[i].Timings()
			p.fit.LeftOutWhy[fit.WhySlowHost] -= in[i].Timings()
		}
		if p.fit.LeftOutWhy[fit.WhySlowHost] == 0 {
			delete(p.fit.LeftOutWhy, fit.WhySlowHost)
		}
		return in
	}
	if cut > 0 {
		p.fit.Warn(params.SlowPairsCut, "%d batches hold a slow host, and too few are without one. Their times are those of the other pairs, "+
			"which met n or n−1 messages on the network: a_c and b_c may be low by one part in n", cut)
	}
	return out
}

// addStreams adds the time per byte that each pair sees while n stream at once,
//
//	b'(n) = n/Σ rate_i,  rate_i = bytes of pair i/time, over the window that all pairs share.
//
// The intervals of one stream add up to its window, so that a batch is one value and not many.
func (p *paired) addStreams(t *resample.Table[key], streams []fit.Batch) {
	slices.SortStableFunc(streams, func(a, b fit.Batch) int { return cmp.Compare(a.Point[names.FactorPairs], b.Point[names.FactorPairs]) })
	for i := range streams {
		b := &streams[i]
		n := b.Point[names.FactorPairs]
		p.stream[int(n)] = t.Duration(key{what: 's', n: n})
		rate := 0.0
		for _, l := range b.Lines {
			rate += streamRate(l, float64(b.Point[names.FactorBytes]))
		}
		t.Add(p.stream[int(n)], b.Dir, b.Round, b.Timings(), float64(len(b.Lines))/rate)
	}
}

// streamRate is one pair's rate [B/s]: the chunks of the common window over its length (aux window_chunks and
// window_ns), or, where the sample has no window, chunk over mean interval. A chunk is aux chunk_bytes, else bytes.
func streamRate(l *dataset.Sample, bytes float64) float64 {
	if c, ok := l.Aux[names.AuxChunk]; ok {
		bytes = c
	}
	if ns := l.Aux[names.AuxWindow]; ns > 0 {
		return bytes * l.Aux[names.AuxWindowChunks] / (ns * 1e-9)
	}
	total := 0.0
	for _, v := range fit.Seconds(l.NS) {
		total += v
	}
	return bytes * float64(len(l.NS)) / total
}

// addBursts adds two times of each repetition of a burst:
//
//   - last, the longest of the n times from a sender's own start to its delivery: every message is bounded by the last
//     (rule 3, eq. 12);
//   - gap, from the first to the last of the n deliveries, both in common time: a message's delivery in common time is its
//     time plus its sender's start (phase "burst-start", zero where there is none).
func (p *paired) addBursts(t *resample.Table[key], bursts, starts []fit.Batch) {
	points := p.burstPoints(t, bursts)
	byID := map[fit.BatchID]*fit.Batch{}
	for i := range starts {
		byID[starts[i].ID] = &starts[i]
	}
	for i := range bursts {
		b := &bursts[i]
		reps := len(b.Lines[0].NS)
		last, lo, hi := filled(reps, math.Inf(-1)), filled(reps, math.Inf(1)), filled(reps, math.Inf(-1))
		for _, l := range b.Lines {
			start := startOf(byID[b.ID], l)
			for k, v := range fit.Seconds(l.NS) {
				last[k] = math.Max(last[k], v)
				if start != nil {
					v += float64(start[k]) * 1e-9
				}
				lo[k], hi[k] = math.Min(lo[k], v), math.Max(hi[k], v)
			}
		}
		for k := range hi {
			hi[k] -= lo[k]
		}
		q := points[burstKey{b.Point[names.FactorPairs], b.Point[names.FactorBytes]}]
		t.Add(q.last, b.Dir, b.Round, b.Timings(), last...)
		t.Add(q.gap, b.Dir, b.Round, b.Timings(), hi...)
	}
}

func filled(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

// startOf returns the starts [ns] of one line's sender, nil where they were not recorded for every repetition.
func startOf(starts *fit.Batch, l *dataset.Sample) []int64 {
	if starts == nil {
		return nil
	}
	for _, s := range starts.Lines {
		if slices.Equal(s.Ranks, l.Ranks) && len(s.NS) == len(l.NS) {
			return s.NS
		}
	}
	return nil
}

type burstKey struct{ n, bytes int64 }

// burstPoints makes the points of every n and size, ascending.
func (p *paired) burstPoints(t *resample.Table[key], bursts []fit.Batch) map[burstKey]burstPoint {
	points := map[burstKey]burstPoint{}
	var keys []burstKey
	for i := range bursts {
		k := burstKey{bursts[i].Point[names.FactorPairs], bursts[i].Point[names.FactorBytes]}
		if _, seen := points[k]; !seen {
			points[k] = burstPoint{}
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b burstKey) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.bytes, b.bytes)) })
	for _, k := range keys {
		q := burstPoint{float64(k.bytes), t.OneWay(key{'l', k.n, k.bytes}), t.OneWay(key{'g', k.n, k.bytes})}
		points[k] = q
		n := int(k.n)
		if len(p.bursts[n]) == 0 {
			p.pairs = append(p.pairs, n)
		}
		p.bursts[n] = append(p.bursts[n], q)
	}
	return points
}

// uncertainty is what blurs the deliveries of a burst [s].
type uncertainty struct {
	bound  float64 // standard uncertainty of a one-way time after both directions are averaged (aux "offset_bound_ns")
	offset float64 // spread of one clock offset (aux "offset_spread_ns")
	jitter float64 // spread of one pair's repetitions at the smallest size and n: no queue changes places there
}

// clockUncertainty gathers the typical values of the bursts.
func clockUncertainty(bursts []fit.Batch) uncertainty {
	least := burstKey{math.MaxInt64, math.MaxInt64}
	for i := range bursts {
		least.n, least.bytes = min(least.n, bursts[i].Point[names.FactorPairs]), min(least.bytes, bursts[i].Point[names.FactorBytes])
	}
	var bound, offset, jitter []float64
	for i := range bursts {
		for _, l := range bursts[i].Lines {
			if v := l.Aux[names.AuxOffsetBound]; v > 0 && fit.Finite(v) {
				bound = append(bound, v*1e-9)
			}
			if v := l.Aux[names.AuxOffsetSpread]; v > 0 && fit.Finite(v) {
				offset = append(offset, v*1e-9)
			}
			if (burstKey{bursts[i].Point[names.FactorPairs], bursts[i].Point[names.FactorBytes]}) == least {
				jitter = append(jitter, stats.MAD(fit.Seconds(l.NS)))
			}
		}
	}
	typical := func(v []float64) float64 {
		if len(v) == 0 {
			return 0
		}
		return stats.Median(v)
	}
	return uncertainty{typical(bound), typical(offset), typical(jitter)}
}
