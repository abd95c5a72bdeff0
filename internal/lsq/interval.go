package lsq

import (
	"fmt"
	"math"
	"slices"
)

// Percentile returns the percentile interval of each component at the level in
// (0, 1): the α/2 and 1−α/2 quantiles of the finite values, α = 1 − level.
// Quantiles interpolate linearly (Hyndman and Fan's type 7). ErrReplicates when a
// component has fewer than two finite values; ErrShape for a bad level.
func (r *Replicates) Percentile(level float64) ([][2]float64, error) {
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("percentile interval at level %g: %w", level, ErrShape)
	}
	out := make([][2]float64, len(r.FailedAt))
	for j := range out {
		s, err := r.component(j)
		if err != nil {
			return nil, fmt.Errorf("percentile interval: %w", err)
		}
		out[j] = [2]float64{quantile(s, (1-level)/2), quantile(s, (1+level)/2)}
	}
	return out, nil
}

// Basic returns the basic interval of each component, [2θ − hi, 2θ − lo] with
// [lo, hi] the percentile interval and θ the estimate from the data themselves.
// Errors are those of Percentile, and ErrShape when estimate has another length.
// Source: Davison and Hinkley (1997), §2.4.
func (r *Replicates) Basic(estimate []float64, level float64) ([][2]float64, error) {
	if len(estimate) != len(r.FailedAt) {
		return nil, fmt.Errorf("basic interval: %d estimates for %d components: %w", len(estimate), len(r.FailedAt), ErrShape)
	}
	out, err := r.Percentile(level)
	for j := range out {
		out[j] = [2]float64{2*estimate[j] - out[j][1], 2*estimate[j] - out[j][0]}
	}
	return out, err
}

// StdErr returns the standard deviation of the finite values of each component.
// ErrReplicates when one has fewer than two.
func (r *Replicates) StdErr() ([]float64, error) {
	out := make([]float64, len(r.FailedAt))
	for j := range out {
		s, err := r.component(j)
		if err != nil {
			return nil, fmt.Errorf("bootstrap standard error: %w", err)
		}
		var mean, sum float64
		for i, v := range s {
			d := v - mean
			mean += d / float64(i+1)
			sum += d * (v - mean)
		}
		out[j] = math.Sqrt(sum / float64(len(s)-1))
	}
	return out, nil
}

// component returns the finite values of component j in ascending order.
func (r *Replicates) component(j int) ([]float64, error) {
	s := make([]float64, 0, len(r.Values))
	for _, v := range r.Values {
		if finite(v[j]) {
			s = append(s, v[j])
		}
	}
	if len(s) < 2 {
		return nil, fmt.Errorf("component %d has %d finite replicates of %d: %w", j, len(s), len(r.Values), ErrReplicates)
	}
	slices.Sort(s)
	return s, nil
}

// quantile is the type-7 quantile of ascending values at 0 ≤ p ≤ 1.
func quantile(s []float64, p float64) float64 {
	h := p * float64(len(s)-1)
	i := min(int(h), len(s)-2)
	return s[i] + (h-float64(i))*(s[i+1]-s[i])
}
