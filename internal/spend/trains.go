package spend

import (
	"fmt"
	"slices"

	"calib/fit"
	"calib/internal/dataset/names"
	"calib/internal/stats"
)

// trains derives LogGP's parameters from round trips of n messages, as fit/loggp does: gap(s), o_s(s) and o_r(s) are differences of
// the trips of n messages and of one, over n−1, with a line by size each. The gap is fitted on relative residuals, between the breaks
// that the fit found: g is of its first part and G of its last. L is half the smallest round trip without the overheads.
func (v *view) trains() map[string]influence {
	one, back := v.trips(names.PhasePRTT)
	_, spaced := v.trips(names.PhaseSpaced)
	_, delayed := v.trips(names.PhaseDelayed)
	gaps := differences(one, back)
	if len(gaps) < 2 {
		return nil
	}
	out := map[string]influence{}
	parts := v.segments(gaps)
	if first := parts[0]; len(first) > 0 {
		out["g"] = fitLine(first, relativeWeights(valuesOf(first))).at(1)
	}
	if last := parts[len(parts)-1]; len(last) > 1 {
		out["G"] = fitLine(last, relativeWeights(valuesOf(last))).slope
	}
	smallest := gaps[0].bytes
	latency := influence(nil).plus(0.5, of(one[int64(smallest)]))
	overheads := 0
	for _, o := range []struct {
		name  string
		trips map[int64]*track
	}{{"o_s", spaced}, {"o_r", delayed}} {
		if busy := differences(one, o.trips); len(busy) > 0 {
			f := fitLine(busy, levelWeights(variances(influences(busy))))
			out[o.name] = f.at(1)
			latency = latency.plus(-1, f.at(smallest))
			overheads++
		}
	}
	if overheads == 2 {
		out["L"] = latency
	}
	return out
}

// trips are the round trips of a phase, by size: of one message, and of several.
func (v *view) trips(phase string) (one, many map[int64]*track) {
	one, many = map[int64]*track{}, map[int64]*track{}
	median := func(b *fit.Batch) float64 { return stats.Median(fit.Seconds(b.Lines[0].NS)) }
	for _, t := range trace(names.PRTT, v.data.LineBatches(names.PRTT, phase), median) {
		x, n := t.point[names.FactorBytes], t.point[names.FactorMessages]
		switch before := many[x]; {
		case n == 1:
			one[x] = t
		case before == nil || n > before.point[names.FactorMessages]:
			many[x] = t
		}
	}
	return one, many
}

// difference is (trip of n messages − trip of one)/(n − 1) at one size.
type difference struct {
	bytes, value float64
	influence
}

func differences(one, many map[int64]*track) []difference {
	var out []difference
	for x, t := range many {
		single, n := one[x], t.factor(names.FactorMessages)
		if single == nil || n < 2 {
			continue
		}
		f := influence{{t, 1 / (n - 1)}, {single, -1 / (n - 1)}}
		out = append(out, difference{float64(x), (t.value - single.value) / (n - 1), f})
	}
	slices.SortFunc(out, func(a, b difference) int { return int(a.bytes - b.bytes) })
	return out
}

func valuesOf(d []difference) []float64 {
	out := make([]float64, len(d))
	for i := range d {
		out[i] = d[i].value
	}
	return out
}

func influences(d []difference) []influence {
	out := make([]influence, len(d))
	for i := range d {
		out[i] = d[i].influence
	}
	return out
}

// straight is a line through differences: the influence on its coefficients.
type straight struct{ intercept, slope influence }

func (l *straight) at(bytes float64) influence { return l.intercept.plus(bytes, l.slope) }

func fitLine(d []difference, w []float64) *straight {
	var x []float64
	for i := range d {
		x = append(x, d[i].bytes)
	}
	c0, c1 := line(x, w)
	return &straight{combined(c0, influences(d)), combined(c1, influences(d))}
}

// segments parts the sizes where the fitted gap has breaks.
func (v *view) segments(gaps []difference) [][]difference {
	var out [][]difference
	for i := 1; ; i++ {
		d, ok := v.fits.Functions["gap"].Domain[fmt.Sprintf("bytes_%d", i)]
		if !ok {
			break
		}
		out = append(out, slices.DeleteFunc(slices.Clone(gaps), func(q difference) bool { return q.bytes < d[0] || q.bytes > d[1] }))
	}
	if len(out) == 0 {
		return [][]difference{gaps}
	}
	return out
}
