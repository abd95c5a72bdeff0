package spend

import (
	"slices"

	"calib/bench"
	"calib/fit"
	"calib/internal/dataset/names"
	"calib/internal/stats"
)

// oneMessage derives α and β from ping-pong: T(x) = α + β·x on relative residuals, as far as no size is off the line. The rate 1/β
// moves as β does.
func (v *view) oneMessage() map[string]influence {
	half := func(b *fit.Batch) float64 { return stats.Median(fit.HalfTrips(b.Lines[0])) }
	sizes := sortBy(trace(names.Pingpong, v.data.LineBatches(names.Pingpong, ""), half), names.FactorBytes)
	if len(sizes) < 2 {
		return nil
	}
	x, y := columns(sizes, names.FactorBytes)
	c0, c1 := line(x, relativeWeights(y))
	return map[string]influence{"alpha": each(c0, sizes), "beta": each(c1, sizes), "r_inf": each(c1, sizes)}
}

// each is Σ by·median.
func each(by []float64, tracks []*track) influence {
	out := make(influence, len(tracks))
	for i, t := range tracks {
		out[i] = part{t, by[i]}
	}
	return out
}

// sendGaps derives g_s(m) = c0 + c1·m.
func (v *view) sendGaps() map[string]influence {
	return v.cost("g_s", isOwnSegment, trace(names.Gap, v.data.LineBatches(names.Gap, names.PhaseGap), interval))
}

// receiveGaps derives g_r(m) = c0 + c1·m.
func (v *view) receiveGaps() map[string]influence {
	return v.cost("g_r", isArrivals, trace(names.Gather, v.data.LineBatches(names.Gather, names.PhaseArrivals), interval))
}

// cost derives c0 and c1 of a function of the size from the sizes above its floor, weighted by smoothed variances.
func (v *view) cost(symbol string, informs func(bench.Point) bool, tracks []*track) map[string]influence {
	fn, ok := v.fits.Functions[symbol]
	if !ok {
		return nil
	}
	corner := 0.0
	if floor, floored := fn.Coeff["floor"]; floored && fn.Coeff["c1"] > 0 {
		corner = (floor - fn.Coeff["c0"]) / fn.Coeff["c1"]
	}
	above := slices.DeleteFunc(sortBy(tracks, names.FactorBytes), func(t *track) bool {
		return !informs(t.point) || t.factor(names.FactorBytes) < corner
	})
	if len(above) < 2 {
		return nil
	}
	alone := make([]influence, len(above))
	for i, t := range above {
		alone[i] = of(t)
	}
	x, y := columns(above, names.FactorBytes)
	c0, c1 := line(x, smoothedWeights(y, variances(alone)))
	return map[string]influence{symbol + ".c0": each(c0, above), symbol + ".c1": each(c1, above)}
}

// interval is the time per message of a stream [s].
func interval(b *fit.Batch) float64 {
	l := b.Lines[0]
	if ns, n := l.Aux[names.AuxWindow], l.Aux[names.AuxWindowMessages]; ns > 0 && n > 0 {
		return ns / n * 1e-9
	}
	return stats.Median(fit.Seconds(l.NS))
}
