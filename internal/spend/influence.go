package spend

import (
	"math"
	"slices"
)

// influence is how far a number moves with the median of each point: its derivatives.
type influence []part

// part is the derivative by one point.
type part struct {
	at *track
	by float64
}

// of is the influence on the median of a point itself.
func of(t *track) influence { return influence{{t, 1}} }

// plus returns f + by·g.
func (f influence) plus(by float64, g influence) influence {
	out := slices.Clone(f)
	for _, p := range g {
		i := slices.IndexFunc(out, func(q part) bool { return q.at == p.at })
		if i < 0 {
			out, i = append(out, part{at: p.at}), len(out)
		}
		out[i].by += by * p.by
	}
	return out
}

// combined returns Σ by·f.
func combined(by []float64, f []influence) influence {
	var out influence
	for i, g := range f {
		out = out.plus(by[i], g)
	}
	return out
}

// variance is that of the number after the rounds that its points have.
func (f influence) variance() float64 {
	sum := 0.0
	for _, p := range f {
		sum += p.by * p.by * p.at.variance / p.at.rounds
	}
	return sum
}

// variances are those of several numbers.
func variances(f []influence) []float64 {
	out := make([]float64, len(f))
	for i, g := range f {
		out[i] = g.variance()
	}
	return out
}

// line returns the derivatives of the intercept and the slope of a weighted line by the values at x. Of a single x the value is the
// intercept, and there is no slope.
func line(x, w []float64) (intercept, slope []float64) {
	var sum, mean, square float64
	for i, v := range x {
		sum += w[i]
		mean += w[i] * v
	}
	mean /= sum
	for i, v := range x {
		square += w[i] * (v - mean) * (v - mean)
	}
	for i, v := range x {
		s := 0.0
		if square > 0 {
			s = w[i] * (v - mean) / square
		}
		intercept, slope = append(intercept, w[i]/sum-mean*s), append(slope, s)
	}
	return intercept, slope
}

// relativeWeights make residuals relative.
func relativeWeights(y []float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = 1 / (v * v)
	}
	return out
}

// smoothedWeights are those of regress.Weights: 1/variance, the relative variance of each value averaged with the mean of all.
func smoothedWeights(y, variance []float64) []float64 {
	relative, mean := make([]float64, len(y)), 0.0
	for i, v := range y {
		relative[i] = variance[i] / (v * v)
		mean += relative[i] / float64(len(y))
	}
	out := relativeWeights(y)
	for i := range out {
		if mean > 0 {
			out[i] *= 2 * mean / (relative[i] + mean)
		}
	}
	return out
}

// levelWeights are those of busy times in package loggp: 1/(variance + median variance).
func levelWeights(variance []float64) []float64 {
	typical := slices.Sorted(slices.Values(variance))[len(variance)/2]
	out := make([]float64, len(variance))
	for i, v := range variance {
		out[i] = 1
		if typical > 0 {
			out[i] = typical / (v + typical)
		}
	}
	return out
}

// finite reports whether the variance of f is a positive number, so that something can be made of it.
func (f influence) finite() bool {
	v := f.variance()
	return v > 0 && !math.IsInf(v, 0)
}
