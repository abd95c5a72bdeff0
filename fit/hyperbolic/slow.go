package hyperbolic

import (
	"maps"
	"slices"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/params"
)

// withoutSlow takes the slow hosts and pairs out of the batches. A number of pairs counts as measured without them only
// if all its sizes were: a'(n) of other sizes than the rest is another quantity.
func (p *paired) withoutSlow(in []fit.Batch) []fit.Batch {
	slow := func(b *fit.Batch) bool { return slices.ContainsFunc(b.Lines, p.slow.Line) }
	points, clean := map[int64]map[string]bool{}, map[int64]int{}
	for i := range in {
		n, key := in[i].Point[names.FactorPairs], in[i].Point.Key()
		if points[n] == nil {
			points[n] = map[string]bool{}
		}
		without := !slow(&in[i])
		if without && !points[n][key] {
			clean[n]++
		}
		points[n][key] = points[n][key] || without
	}
	maps.DeleteFunc(clean, func(n int64, covered int) bool { return covered < len(points[n]) })
	if len(clean) >= 2 {
		return p.fit.Without(in, fit.WhySlowHost, func(b *fit.Batch) bool {
			return slow(b) || clean[b.Point[names.FactorPairs]] == 0
		})
	}
	return p.withoutSlowPairs(in)
}

// withoutSlowPairs drops the slow hosts' lines from their batches, and keeps a batch whole that has no other.
func (p *paired) withoutSlowPairs(in []fit.Batch) []fit.Batch {
	slow := p.slow.Line
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
		p.fit.Count(cut, "batches", func(n int) params.Finding {
			return params.Warnf(params.SlowPairsCut, "%d batches hold a slow host, and too few are without one. Their times are those of the "+
				"other pairs, which met n or n−1 messages on the network: a_c and b_c may be low by one part in n", n)
		})
	}
	return out
}
