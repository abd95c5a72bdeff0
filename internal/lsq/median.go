package lsq

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// MedianResampler draws the median of a bootstrap resample (m draws with replacement from m values) without drawing the
// resample.
//
// A draw with replacement is sorted[⌊m·U⌋] with U uniform on (0, 1), which is monotone in U, so that the k-th order
// statistic of the resample is sorted[⌊m·V⌋] with V the k-th order statistic of m uniforms. With independent A ~
// Gamma(k), E ~ Gamma(1), C ~ Gamma(m−k) and S = A + E + C, order statistics k and k+1 are jointly A/S and (A + E)/S.
// For odd m the median is the k-th with k = (m+1)/2, where E + C may be one Gamma(k) variate; for even m it is the mean
// of both with k = m/2 = m−k. Exact, in time that does not depend on m. Source: David and Nagaraja (2003), Order
// Statistics, §2.1 and §6.4; Devroye (1986), Non-Uniform Random Variate Generation, §V.3.
type MedianResampler struct {
	sorted []float64
	half   gamma // A, and C or E + C: shape ⌊(m+1)/2⌋
}

// NewMedianResampler sorts a copy of the sample. ErrShort when it is empty, ErrNotFinite when it holds NaN or infinity.
func NewMedianResampler(sample []float64) (*MedianResampler, error) {
	return ownMedianResampler(slices.Clone(sample))
}

// ownMedianResampler is NewMedianResampler of a sample that it may sort and keep.
func ownMedianResampler(s []float64) (*MedianResampler, error) {
	if len(s) == 0 {
		return nil, fmt.Errorf("median of no samples: %w", ErrShort)
	}
	if err := allFinite("sample", s); err != nil {
		return nil, err
	}
	slices.Sort(s)
	return &MedianResampler{sorted: s, half: newGamma(float64((len(s) + 1) / 2))}, nil
}

// Median is the median of the sample itself.
func (m *MedianResampler) Median() float64 { return medianSorted(m.sorted) }

// Len is the size of the sample.
func (m *MedianResampler) Len() int { return len(m.sorted) }

// Draw returns the median of one resample.
func (m *MedianResampler) Draw(rng *rand.Rand) float64 {
	n := len(m.sorted)
	if n == 1 {
		return m.sorted[0]
	}
	a, c := m.half.draw(rng), m.half.draw(rng)
	if n%2 == 1 {
		return m.at(a / (a + c))
	}
	e := rng.ExpFloat64()
	low, high := m.at(a/(a+e+c)), m.at((a+e)/(a+e+c))
	return low + (high-low)/2
}

// at is the sample quantile function sorted[⌊n·v⌋].
func (m *MedianResampler) at(v float64) float64 {
	n := len(m.sorted)
	return m.sorted[min(int(v*float64(n)), n-1)]
}

// gamma draws Gamma(shape, 1) variates for shape ≥ 1 by squeezing a cubed normal. Source: Marsaglia and Tsang (2000), A
// simple method for generating gamma variables, ACM TOMS 26(3), 363-372.
type gamma struct{ d, c float64 }

// newGamma prepares for the given shape, at least 1.
func newGamma(shape float64) gamma {
	d := shape - 1.0/3
	return gamma{d: d, c: 1 / math.Sqrt(9*d)}
}

// draw returns one variate.
func (g gamma) draw(rng *rand.Rand) float64 {
	for {
		x := rng.NormFloat64()
		v := 1 + g.c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := 1 - rng.Float64()
		if u < 1-0.0331*x*x*x*x || math.Log(u) < x*x/2+g.d*(1-v+math.Log(v)) {
			return g.d * v
		}
	}
}
