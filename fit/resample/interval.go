package resample

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"calib/internal/stats"
)

// Interval returns the 95% interval of component j of replicates about the estimate v: the distances of the 2.5% and
// 97.5% quantiles from the median of the replicates, widened for the small number of rounds and their serial
// correlation ρ by
//
//	t(0.975, R−1)/1.96 · √(R/(R−1)) · √((1+ρ)/(1−ρ)),
//
// since the variance that resampling R rounds draws from is (R−1)/R of the true one, and known with R−1 degrees of
// freedom only; and R correlated rounds tell as much as R·(1−ρ)/(1+ρ) independent ones. With one round nothing is known
// of what changes between rounds: there is no interval, and both ends are v. Source: Efron and Tibshirani 1993, An
// Introduction to the Bootstrap, section 12.5 and problem 5.1; Hesterberg 2015, What Teachers Should Know About the
// Bootstrap, section 3.2 (narrowness bias); Bayley and Hammersley 1946, The "effective" number of independent
// observations in an autocorrelated time series, J. R. Stat. Soc. Suppl. 8, 184-197.
func (s *Estimates) Interval(v float64, replicates [][]float64, j int) [2]float64 {
	return IntervalOf(s, v, replicates, func(r []float64) float64 { return r[j] })
}

// IntervalOf is Interval for a number that is made of each replicate.
func IntervalOf[Row any](s *Estimates, v float64, replicates []Row, of func(Row) float64) [2]float64 {
	if s.Rounds < 2 {
		return [2]float64{v, v}
	}
	return Scatter(s, v, replicates, of)
}

// Scatter is IntervalOf that also gives the scatter within a single round. It is for tests whether an effect stands out
// of the noise, and no interval of its size.
func Scatter[Row any](s *Estimates, v float64, replicates []Row, of func(Row) float64) [2]float64 {
	x := make([]float64, 0, len(replicates))
	for _, r := range replicates {
		if y := of(r); !math.IsNaN(y) && !math.IsInf(y, 0) {
			x = append(x, y)
		}
	}
	if len(x) == 0 {
		return [2]float64{v, v}
	}
	slices.Sort(x)
	mid, k := stats.SortedQuantile(x, 0.5), widening(s.Rounds, s.Serial)
	return [2]float64{v - k*(mid-stats.SortedQuantile(x, 0.025)), v + k*(stats.SortedQuantile(x, 0.975)-mid)}
}

// Point returns the 95% interval of point i.
func (s *Estimates) Point(i int) [2]float64 { return s.Interval(s.Values[i], s.Replicates, i) }

// PointScatter returns Scatter of point i.
func (s *Estimates) PointScatter(i int) [2]float64 {
	return Scatter(s, s.Values[i], s.Replicates, func(r []float64) float64 { return r[i] })
}

// widening is that of Interval for rounds of a serial correlation.
func widening(rounds int, serial float64) float64 {
	return smallSample(rounds) * effective(serial)
}

// smallSample is the widening of an interval that was resampled from n independent values.
func smallSample(n int) float64 {
	if n < 2 {
		return 1
	}
	r := float64(n)
	return TQuantile(r-1) / distuv.UnitNormal.Quantile(0.975) * math.Sqrt(r/(r-1))
}

// TQuantile is the 97.5% quantile of Student's distribution.
func TQuantile(df float64) float64 { return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(0.975) }

// HalfWidth is the 95% half-width of a standard uncertainty.
func HalfWidth(u float64) float64 { return distuv.UnitNormal.Quantile(0.975) * u }

// Uncertainty is the standard uncertainty of a 95% interval.
func Uncertainty(ci [2]float64) float64 {
	return (ci[1] - ci[0]) / 2 / distuv.UnitNormal.Quantile(0.975)
}

// Widen adds a half-width in quadrature to both sides of an interval about v.
func Widen(v float64, ci [2]float64, half float64) [2]float64 {
	return [2]float64{v - math.Hypot(v-ci[0], half), v + math.Hypot(ci[1]-v, half)}
}
