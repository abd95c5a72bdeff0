package spend

import (
	"math"
	"slices"

	"calib/fit"
	"calib/fit/params"
	"calib/fit/pointtopoint"
	"calib/internal/dataset/names"
	"calib/internal/stats"
)

// fixedTimes derives a and a_c from bursts as fit/hyperbolic does: a'(n) is the limit of small sizes, by a line on relative residuals,
// and 2a + n·a_c a line through a'(n), each weighted by its smoothed variance. Where deliveries come one by one, a'(n) is a'(1) and
// the limit of the gaps between the first and the last delivery. Of one number of pairs there is a' alone.
func (v *view) fixedTimes() map[string]influence {
	bursts := v.data.Batches(names.Paired, names.PhaseBurst)
	last := byPairs(trace(names.Paired, bursts, lastDelivery))
	if len(last) == 0 {
		return nil
	}
	gaps := last
	if v.separated(last) {
		gaps = byPairs(trace(names.Paired, bursts, v.deliveryGap()))
		gaps[0] = last[0]
	}
	packet, _ := fit.PacketBytes(bursts)
	var n, values []float64
	var limits []influence
	for i, all := range last {
		sizes, times := columns(all, names.FactorBytes)
		small := pointtopoint.SmallSizes(sizes, times, packet)
		if i >= len(gaps) || len(gaps[i]) < small {
			return nil // gaps are not told at every size
		}
		limit, value := intercept(gaps[i][:small])
		if i > 0 && gaps[i][0] != all[0] {
			limit, value = limit.plus(1, limits[0]), value+values[0]
		}
		n, limits, values = append(n, all[0].factor(names.FactorPairs)), append(limits, limit), append(values, value)
	}
	if len(n) == 1 {
		return map[string]influence{"a_prime": limits[0]}
	}
	c0, c1 := line(n, smoothedWeights(values, variances(limits)))
	return map[string]influence{"a": influence(nil).plus(0.5, combined(c0, limits)), "a_c": combined(c1, limits)}
}

// byPairs parts tracks by their number of pairs, ascending, and sorts each part by size.
func byPairs(tracks []*track) [][]*track {
	sorted := sortBy(sortBy(tracks, names.FactorBytes), names.FactorPairs)
	var out [][]*track
	for part := range fit.Runs(sorted, func(a, b *track) bool { return a.point[names.FactorPairs] == b.point[names.FactorPairs] }) {
		out = append(out, part)
	}
	return out
}

// intercept is the limit of tracks at size 0, by a line on relative residuals, and its value.
func intercept(tracks []*track) (influence, float64) {
	sizes, times := columns(tracks, names.FactorBytes)
	c0, _ := line(sizes, relativeWeights(times))
	var out influence
	value := 0.0
	for i, t := range tracks {
		out, value = out.plus(c0[i], of(t)), value+c0[i]*t.value
	}
	return out, value
}

// separated reports whether the fit read a'(n) from gaps: a_c then has none of the terms that bear on last deliveries.
func (v *view) separated(last [][]*track) bool {
	q, ok := v.fits.Parameters["a_c"]
	return ok && len(last) > 1 && last[0][0].point[names.FactorPairs] == 1 && !slices.ContainsFunc(q.Budget, func(t params.Term) bool {
		return slices.Contains([]string{params.TermClockOffset, params.TermStartSkew, params.TermJitter, params.TermSlowPairs}, t.Name)
	})
}

// lastDelivery is the time to the last of the n deliveries of a burst [s], median of the repetitions.
func lastDelivery(b *fit.Batch) float64 {
	last := deliveries(b, func(int) []int64 { return nil })
	for k := range last {
		last[k] = last[k][len(last[k])-1:]
	}
	return typicalOf(last, func(times []float64) float64 { return times[0] })
}

// deliveryGap returns the time from the first to the last delivery of a burst in common time [s], median of the repetitions.
func (v *view) deliveryGap() func(*fit.Batch) float64 {
	starts := map[fit.BatchID]fit.Batch{}
	for _, b := range v.data.Batches(names.Paired, names.PhaseBurstStart) {
		starts[b.ID] = b
	}
	return func(b *fit.Batch) float64 {
		started := starts[b.ID]
		all := deliveries(b, func(line int) []int64 {
			for _, s := range started.Lines {
				if slices.Equal(s.Ranks, b.Lines[line].Ranks) {
					return s.NS
				}
			}
			return nil
		})
		return typicalOf(all, func(times []float64) float64 { return times[len(times)-1] - times[0] })
	}
}

// deliveries are the times of the n deliveries of each repetition [s], ascending, more by the senders' starts. None where a pair's line
// is missing or shorter than others.
func deliveries(b *fit.Batch, start func(line int) []int64) [][]float64 {
	if len(b.Lines) == 0 || int64(len(b.Lines)) != b.Point[names.FactorPairs] {
		return nil
	}
	out := make([][]float64, len(b.Lines[0].NS))
	for i, l := range b.Lines {
		if len(l.NS) != len(out) {
			return nil
		}
		started := start(i)
		for k, ns := range l.NS {
			if len(started) == len(l.NS) {
				ns += started[k]
			}
			out[k] = append(out[k], float64(ns)*1e-9)
		}
	}
	for _, times := range out {
		slices.Sort(times)
	}
	return out
}

func typicalOf(all [][]float64, of func([]float64) float64) float64 {
	out := make([]float64, len(all))
	for k, times := range all {
		out[k] = of(times)
	}
	return stats.Median(out)
}

// mediumTimes derives b and b_c from streams: b is the mean of b'(n) where it is flat, b_c its slope through the origin where it rises,
// both weighted by smoothed variances. Which n are flat is what the fit found.
func (v *view) mediumTimes() map[string]influence {
	all := trace(names.Paired, v.data.Batches(names.Paired, names.PhaseStream), timePerByte)
	streams := sortBy(slices.DeleteFunc(all, func(t *track) bool { return !isStream(t.point) }), names.FactorPairs)
	if len(streams) == 0 {
		return nil
	}
	b, flat := v.value("b")
	bc, rising := v.value("b_c")
	n, values := columns(streams, names.FactorPairs)
	each := make([]influence, len(streams))
	for i, t := range streams {
		each[i] = of(t)
	}
	w := smoothedWeights(values, variances(each))
	out := map[string]influence{"b_prime": each[0]}
	k := 0 // how many are flat
	for flat && k < len(n) && (!rising || n[k]*bc <= b) {
		k++
	}
	if flat && k > 0 {
		out["b"] = combined(scaled(w[:k], func(int) float64 { return 1 }), each[:k])
	}
	if rising && k < len(n) {
		out["b_c"] = combined(scaled(w[k:], func(i int) float64 { return n[k+i] }), each[k:])
	}
	return out
}

// scaled are the derivatives of the least-squares factor of x: w·x/Σ w·x².
func scaled(w []float64, x func(int) float64) []float64 {
	out, total := make([]float64, len(w)), 0.0
	for i := range w {
		out[i] = w[i] * x(i)
		total += out[i] * x(i)
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

// timePerByte is n over the sum of the pairs' rates [s/B].
func timePerByte(b *fit.Batch) float64 {
	rate := 0.0
	for _, l := range b.Lines {
		bytes, ns := l.Aux[names.AuxChunk]*l.Aux[names.AuxWindowChunks], l.Aux[names.AuxWindow]
		if !(bytes > 0 && ns > 0) {
			return math.NaN()
		}
		rate += bytes / (ns * 1e-9)
	}
	return float64(len(b.Lines)) / rate
}
