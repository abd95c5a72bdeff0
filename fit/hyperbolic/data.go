package hyperbolic

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/stats"
	"calib/params"
)

// paired is what paired measured, resampled: the last delivery of n pairs by size, and the time per byte of n streams.
type paired struct {
	fit    *fit.Result
	pairs  []int // values of n that have bursts, ascending
	bursts map[int][]*burstPoint
	stream map[int]int // n → point
	times  *resample.Estimates
	packet float64
	clocks uncertainty
	starts skew
	slow   *fit.SlowHosts
	// cutBursts and cutStreams say that some bursts, or streams, lack slow pairs.
	cutBursts, cutStreams bool

	windows    []*fit.Batch // complete streams
	counted    []*fit.Batch // those of them that are usable, of all numbers of connections
	unsteady   float64      // typical relative error of streams whose rate changed; 0 where others are used
	sharedCPUs bool         // hosts of a pair share a machine
	level      bool         // T(x) is level up to the smallest message (start)
	doubt      float64      // of a', because nothing is known of T(x) below that [s]
	woken      float64      // standard uncertainty of what was added to deliveries for waking up [s]
}

// burstPoint is one size of the bursts of one n, and its points in the table.
type burstPoint struct {
	bytes float64
	last  int // from the last sender's own start to the last delivery
	gap   int // from the first to the last delivery
	mean  int // from a sender's own start to its delivery, mean of the n

	kept, dropped int       // repetitions of the gap
	uneven        []float64 // by which the first gap of those kept is shorter than the others are on average [s]
}

// key is a point of the table: the last delivery, the gap or the mean delivery of a burst, or a stream.
type key struct {
	what     byte // 'l', 'g', 'm' or 's'
	n, bytes int64
}

// load gathers the bursts and streams of complete batches. Batches with a slow host are left out where the others cover
// two values of n. Otherwise only the slow host's pairs are left out. It returns fit.ErrNeeds with neither bursts nor
// streams.
func load(prepared *fit.Prepared) (*paired, error) {
	p := &paired{slow: prepared.Slow(),
		fit:    prepared.New("hyperbolic-network", names.Paired, "Stoica, Sultan, Keyes 1994 eq. 16, 17"),
		bursts: map[int][]*burstPoint{}, stream: map[int]int{}}
	whole := p.fit.Complete(prepared.Batches(names.Paired, names.PhaseBurst), true)
	bursts := p.fit.BothDirections(p.withoutSlow(p.fit.Usable(whole)))
	streams := p.loadStreams() // no clock offset is in their times
	cut := func(b *fit.Batch) bool { return len(b.Lines) < int(b.Point[names.FactorPairs]) }
	p.cutBursts, p.cutStreams = slices.ContainsFunc(bursts, cut), slices.ContainsFunc(streams, cut)
	t := &resample.Table[key]{Kind: func(k key) int { return int(k.what) }}
	starts := startsBy{}
	for _, b := range prepared.Batches(names.Paired, names.PhaseBurstStart) {
		starts[b.ID] = b
	}
	p.starts = gatherSkew(bursts, starts)
	p.addBursts(t, bursts, starts)
	p.addStreams(t, streams)
	p.fit.Account(bursts, p.counted)
	p.sharedCPUs = slices.ContainsFunc(streams, func(b *fit.Batch) bool { return prepared.OneMachine(b.Lines[0].Ranks) })
	p.packet = p.fit.Packet(bursts, streams)
	p.clocks = clockUncertainty(bursts)
	if !t.OneSided() {
		p.clocks.bound = 0
	} else {
		p.fit.Warn("one-direction", "some points were measured in one direction only: "+
			"the clock offset does not cancel in their times; measure longer (--budget)")
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

// addStreams adds the time per byte that each pair sees while n stream at once,
//
//	b'(n) = n/Σ rate_i,  rate_i = bytes of pair i/time, over the window that all pairs share.
//
// The intervals of one stream add up to its window, so that a batch is one value and not many.
func (p *paired) addStreams(t *resample.Table[key], streams []*fit.Batch) {
	slices.SortStableFunc(streams,
		func(a, b *fit.Batch) int { return cmp.Compare(a.Point[names.FactorPairs], b.Point[names.FactorPairs]) })
	for _, b := range streams {
		n := b.Point[names.FactorPairs]
		p.stream[int(n)] = t.Duration(key{what: 's', n: n})
		t.AddTeam(p.stream[int(n)], b.Team(), b.Dir, b.Round, b.Timings(), timePerByte(b))
	}
}

// addBursts adds three times of the repetitions of a burst:
//
//   - last, the longest of the n times from a sender's own start to its delivery: every message is bounded by the last
//     (rule 3, eq. 12), of the half of the repetitions whose senders started closest together;
//   - gap, from the first to the last of the n deliveries, both in common time: a message's delivery in common time is
//     its time plus its sender's start (phase "burst-start", zero where there is none). Repetitions whose senders
//     started further apart than skewShare of the gap are dropped: of its median in the half that started closest
//     together, because a repetition's own gap would choose the long ones;
//   - mean, of the n times, in all repetitions: the closest half may be the first, which differ. Clock offsets cancel
//     in it between directions, and the last of n deliveries is late by chance, where the mean is not.
//
// The kernel's stamp of a delivery is from before its receiver wakes up: parameter wakeup is added to last and mean.
func (p *paired) addBursts(t *resample.Table[key], bursts []*fit.Batch, starts startsBy) {
	type gapsOf struct {
		*fit.Batch
		gaps []float64
	}
	points, all := p.burstPoints(t, bursts), map[int][]gapsOf{} // by the point of gaps
	for _, b := range bursts {
		skews, wakeup := starts.skews(b), 0.0
		if p.fit.Prepared.Stamped(b) {
			wakeup, p.woken = WakeupTime(p.fit.Prepared)
		}
		last, mean := slices.Repeat([]float64{math.Inf(-1)}, len(skews)), make([]float64, len(skews))
		delivered := make([][]float64, len(skews))
		for _, l := range b.Lines {
			start := starts.of(b, l)
			for k, v := range fit.Seconds(l.NS) {
				last[k] = math.Max(last[k], v+wakeup)
				mean[k] += (v + wakeup) / float64(len(b.Lines))
				if start != nil {
					v += float64(start[k]) * 1e-9
				}
				delivered[k] = append(delivered[k], v)
			}
		}
		q, team := points[keyOf(b)], b.Team()
		var gaps, lasts, closest []float64
		limit := stats.Median(skews) // the half of the repetitions whose senders started closest together
		for k, d := range delivered {
			slices.Sort(d)
			if skews[k] <= limit {
				lasts, closest = append(lasts, last[k]), append(closest, d[len(d)-1]-d[0])
			}
		}
		apart := skewShare * stats.Median(closest)
		for k, d := range delivered {
			if skews[k] > apart {
				continue
			}
			n := len(d)
			gaps = append(gaps, d[n-1]-d[0])
			if n > 2 {
				q.uneven = append(q.uneven, (d[n-1]-d[1])/float64(n-2)-(d[1]-d[0]))
			}
		}
		t.AddTeam(q.last, team, b.Dir, b.Round, b.Timings(), lasts...)
		t.AddTeam(q.mean, team, b.Dir, b.Round, b.Timings(), mean...)
		if len(gaps) > 0 {
			all[q.gap] = append(all[q.gap], gapsOf{b, gaps})
		}
		q.kept, q.dropped = q.kept+len(gaps), q.dropped+len(skews)-len(gaps)
	}
	for _, q := range points {
		if !q.enough() { // a point needs a value; that of this one is not used
			t.Add(q.gap, 0, 0, 0, 0)
			t.Add(q.gap, 1, 0, 0, 0)
			continue
		}
		for _, b := range all[q.gap] {
			t.AddTeam(q.gap, b.Team(), b.Dir, b.Round, b.Timings(), b.gaps...)
		}
	}
}

func keyOf(b *fit.Batch) key {
	return key{n: b.Point[names.FactorPairs], bytes: b.Point[names.FactorBytes]}
}

// burstPoints makes the points of every n and size, ascending.
func (p *paired) burstPoints(t *resample.Table[key], bursts []*fit.Batch) map[key]*burstPoint {
	points := map[key]*burstPoint{}
	for _, b := range bursts {
		points[keyOf(b)] = nil
	}
	for _, k := range slices.SortedFunc(maps.Keys(points), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.bytes, b.bytes))
	}) {
		q := &burstPoint{bytes: float64(k.bytes), last: t.OneWay(key{'l', k.n, k.bytes}),
			gap: t.OneWay(key{'g', k.n, k.bytes}), mean: t.OneWay(key{'m', k.n, k.bytes})}
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
	bound  float64 // standard uncertainty of a one-way time by the clock offset (aux "offset_bound_ns"), 0 if it cancels
	offset float64 // spread of one clock offset (aux "offset_spread_ns")
	jitter float64 // spread of one pair's repetitions at the smallest size and n: no queue changes places there
}

func clockUncertainty(bursts []*fit.Batch) uncertainty {
	least := key{n: math.MaxInt64, bytes: math.MaxInt64}
	for _, b := range bursts {
		least.n, least.bytes = min(least.n, b.Point[names.FactorPairs]), min(least.bytes, b.Point[names.FactorBytes])
	}
	var bound, offset, jitter []float64
	for _, b := range bursts {
		for _, l := range b.Lines {
			if v := l.Aux[names.AuxOffsetBound]; v > 0 && fit.Finite(v) {
				bound = append(bound, v*1e-9)
			}
			if v := l.Aux[names.AuxOffsetSpread]; v > 0 && fit.Finite(v) {
				offset = append(offset, v*1e-9)
			}
			if keyOf(b) == least {
				jitter = append(jitter, stats.MAD(fit.Seconds(l.NS)))
			}
		}
	}
	return uncertainty{stats.Typical(bound), stats.Typical(offset), stats.Typical(jitter)}
}

// withoutSlow takes the slow hosts and pairs out of the batches. A number of pairs counts as measured without them only
// if all its sizes were: a'(n) of other sizes than the rest is another quantity.
func (p *paired) withoutSlow(in []*fit.Batch) []*fit.Batch {
	slow := func(b *fit.Batch) bool { return slices.ContainsFunc(b.Lines, p.slow.Line) }
	covered, clean := map[string]bool{}, map[int64]bool{}
	for _, b := range in {
		clean[b.Point[names.FactorPairs]] = true
		covered[b.Point.Key()] = covered[b.Point.Key()] || !slow(b)
	}
	for _, b := range in {
		if !covered[b.Point.Key()] && connectionsOf(b) == 1 { // several connections have a point of few batches
			delete(clean, b.Point[names.FactorPairs])
		}
	}
	if len(clean) >= 2 {
		return p.fit.Sift(in, func(b *fit.Batch) string {
			if why := p.slow.OutOf(b); why != "" || clean[b.Point[names.FactorPairs]] {
				return why
			}
			return fit.WhySlowHost
		})
	}
	return p.withoutSlowPairs(in)
}

// withoutSlowPairs drops the slow hosts' lines from their batches. Where no batch has another, all are kept.
func (p *paired) withoutSlowPairs(in []*fit.Batch) []*fit.Batch {
	slow := p.slow.Line
	fast := func(l *dataset.Sample) bool { return !slow(l) }
	if len(in) > 0 && !slices.ContainsFunc(in, func(b *fit.Batch) bool { return slices.ContainsFunc(b.Lines, fast) }) {
		p.fit.Warn("slow-hosts-only", "every batch holds slow hosts only: the times are theirs; take them out of "+
			"the hosts file")
		return in
	}
	var out []*fit.Batch
	cut := 0
	for _, b := range in {
		kept, gone := *b, *b
		kept.Lines = slices.DeleteFunc(slices.Clone(b.Lines), slow)
		gone.Lines = slices.DeleteFunc(slices.Clone(b.Lines), fast)
		if len(gone.Lines) == 0 {
			out = append(out, b)
			continue
		}
		p.fit.LeaveOut(&gone, p.slow.Out(gone.Lines[0]))
		if len(kept.Lines) > 0 {
			cut++
			out = append(out, &kept)
		}
	}
	if cut > 0 {
		p.fit.Count(cut, "batches", func(n int) params.Finding {
			return params.Warnf("slow-pairs-cut", "a slow host took part in %d batches, and too few are without "+
				"one. Its times are left out, but its messages met the others' at times: a_c and b_c may be too "+
				"small by 1/n", n)
		})
	}
	return out
}
