package fit

import (
	"math"
	"slices"

	"calib/internal/dataset"
	"calib/internal/stats"
)

// addBursts adds two times of each repetition of a burst:
//
//   - last, the longest of the n times from a sender's own start to its delivery: every message is bounded by the last
//     (rule 3, eq. 12);
//   - gap, from the first to the last of the n deliveries, both in common time: a message's delivery in common time is its
//     time plus its sender's start (phase "burst-start", zero where there is none).
func (p *pairedData) addBursts(t *table, bursts, starts []batch) {
	points := p.burstPoints(t, bursts)
	byID := map[batchID]*batch{}
	for i := range starts {
		byID[starts[i].id] = &starts[i]
	}
	for i := range bursts {
		b := &bursts[i]
		reps := len(b.lines[0].NS)
		last, lo, hi := filled(reps, math.Inf(-1)), filled(reps, math.Inf(1)), filled(reps, math.Inf(-1))
		for _, l := range b.lines {
			start := startOf(byID[b.id], l)
			for k, v := range seconds(l.NS) {
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
		q := points[burstKey{b.point["pairs"], b.point["bytes"]}]
		t.add(q.last, b.dir, b.round, b.timings(), last...)
		t.add(q.gap, b.dir, b.round, b.timings(), hi...)
	}
}

func filled(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

// startOf returns the starts [ns] of one line's sender, nil where they were not recorded for every repetition.
func startOf(starts *batch, l *dataset.Sample) []int64 {
	if starts == nil {
		return nil
	}
	for _, s := range starts.lines {
		if slices.Equal(s.Ranks, l.Ranks) && len(s.NS) == len(l.NS) {
			return s.NS
		}
	}
	return nil
}

type burstKey struct{ n, bytes int64 }

// burstPoints makes the points of every n and size, ascending.
func (p *pairedData) burstPoints(t *table, bursts []batch) map[burstKey]burstPoint {
	points := map[burstKey]burstPoint{}
	var keys []burstKey
	for i := range bursts {
		k := burstKey{bursts[i].point["pairs"], bursts[i].point["bytes"]}
		if _, seen := points[k]; !seen {
			points[k] = burstPoint{}
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b burstKey) int {
		if a.n != b.n {
			return int(a.n - b.n)
		}
		return int(a.bytes - b.bytes)
	})
	for i, k := range keys {
		q := burstPoint{float64(k.bytes), t.at(float64(2 * i)), t.at(float64(2*i + 1))}
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
func clockUncertainty(bursts []batch) uncertainty {
	least := burstKey{math.MaxInt64, math.MaxInt64}
	for i := range bursts {
		least.n, least.bytes = min(least.n, bursts[i].point["pairs"]), min(least.bytes, bursts[i].point["bytes"])
	}
	var bound, offset, jitter []float64
	for i := range bursts {
		for _, l := range bursts[i].lines {
			if v := l.Aux["offset_bound_ns"]; v > 0 && finite(v) {
				bound = append(bound, v*1e-9)
			}
			if v := l.Aux["offset_spread_ns"]; v > 0 && finite(v) {
				offset = append(offset, v*1e-9)
			}
			if (burstKey{bursts[i].point["pairs"], bursts[i].point["bytes"]}) == least {
				jitter = append(jitter, stats.MAD(seconds(l.NS)))
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
