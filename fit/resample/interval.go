package resample

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"calib/internal/lists"
	"calib/internal/stats"
)

// Interval returns the 95% interval of component j of replicates about the estimate v: the distances of the 2.5% and
// 97.5% quantiles from the median of the replicates, on the log scale where all are positive, widened for the small
// number of rounds and their serial correlation ρ by
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
	if !(v > 0) || slices.ContainsFunc(replicates, func(r Row) bool { return of(r) <= 0 }) {
		return DifferenceOf(s, v, replicates, of)
	}
	ci := DifferenceOf(s, 0, replicates, func(r Row) float64 { return math.Log(of(r) / v) })
	return [2]float64{v * math.Exp(ci[0]), v * math.Exp(ci[1])}
}

// DifferenceOf is IntervalOf for a number that may be zero, as what is left of a time: on a plain scale, which tells.
func DifferenceOf[Row any](s *Estimates, v float64, replicates []Row, of func(Row) float64) [2]float64 {
	if s.Rounds < 2 {
		return [2]float64{v, v}
	}
	return Scatter(s, v, replicates, of)
}

// Of returns a number that is made of the values of points and may be zero, with its 95% interval.
func (s *Estimates) Of(of func(values []float64) float64) (v float64, ci [2]float64) {
	v = of(s.Values)
	return v, DifferenceOf(s, v, s.Replicates, of)
}

// Scatter is DifferenceOf that also gives the scatter within a single round. It is for tests whether an effect stands
// out of the noise, and no interval of its size.
func Scatter[Row any](s *Estimates, v float64, replicates []Row, of func(Row) float64) [2]float64 {
	x := slices.DeleteFunc(lists.Map(replicates, of), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(x) == 0 {
		return [2]float64{v, v}
	}
	slices.Sort(x)
	mid, k := stats.SortedQuantile(x, 0.5), widening(s.Rounds, s.Serial)
	return [2]float64{v - k*(mid-stats.SortedQuantile(x, 0.025)), v + k*(stats.SortedQuantile(x, 0.975)-mid)}
}

// Point returns the 95% interval of point i.
func (s *Estimates) Point(i int) [2]float64 { return s.Interval(s.Values[i], s.Replicates, i) }

func (s *Estimates) PointScatter(i int) [2]float64 {
	return Scatter(s, s.Values[i], s.Replicates, func(r []float64) float64 { return r[i] })
}

// widening is that of Interval for rounds of correlation ρ.
func widening(rounds int, rho float64) float64 {
	return smallSample(rounds) * math.Sqrt((1+rho)/(1-rho))
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

// Widen adds a half-width in quadrature to both sides of an interval about v; below on the log scale where the interval
// is above zero, since an error that adds to a time makes no time negative.
func Widen(v float64, ci [2]float64, half float64) [2]float64 {
	wide := WidenDifference(v, ci, half)
	if v > 0 && ci[0] > 0 {
		wide[0] = v * math.Exp(-math.Hypot(math.Log(v/ci[0]), half/v))
	}
	return wide
}

// WidenDifference is Widen for a number that may be zero.
func WidenDifference(v float64, ci [2]float64, half float64) [2]float64 {
	return [2]float64{v - math.Hypot(v-ci[0], half), v + math.Hypot(ci[1]-v, half)}
}

const (
	// minSerial is the number of rounds from which their correlation is estimated. Of fewer it is taken to be
	// fewSerial.
	minSerial = 6
	fewSerial = 0.4
	// maxSerial bounds the estimate: above, a run holds fewer than two independent rounds, and no interval would be
	// right.
	maxSerial = 0.8
	// guard is how many standard errors are added to the estimate. An interval suffers more from a ρ that is too small
	// than from one that is too large.
	guard = 0.5
)

// serial estimates the lag-1 correlation of rounds, from n series of values by round, of R rounds each:
//
//	r = Σ d_k·d_k+1 / Σ d_k²,  d_k = value − mean,  the mean of r over all series,
//	ρ = (R·r + 1)/(R − 4),  its standard error √((1 − ρ²)/(n·R))·R/(R − 4),
//
// which takes out the bias −(1 + 4ρ)/R that r has because the mean is estimated too. A negative ρ is none: intervals
// are never made narrower. In simulations of correlation 0.6, 6 to 20 rounds and 1 to 12 series the estimate with its
// guard brings the coverage of a nominal 95% interval from 66 to 72% (without it) to 92 to 97%; where rounds are
// independent intervals are 1.3 to 2.7 times as wide at 6 rounds, and 1.1 to 1.7 times at 10. The guess for fewer
// rounds covers 85 to 90% at 0.6.
// Source: Kendall 1954, Note on bias in the estimation of autocorrelation, Biometrika 41, 403-404; Marriott and Pope
// 1954, Bias in the estimation of autocorrelations, ibid. 390-402.
func serial(byRound [][]float64) float64 {
	sum, rounds, n := 0.0, 0.0, 0.0
	for _, v := range byRound {
		if len(v) < 2 {
			continue
		}
		if r := lagOne(v); !math.IsNaN(r) {
			sum += r
			rounds += float64(len(v))
			n++
		}
	}
	if n == 0 {
		return 0
	}
	r, rounds := sum/n, rounds/n
	if rounds < minSerial {
		return fewSerial
	}
	rho := bounded((rounds*r + 1) / (rounds - 4))
	return bounded(rho + guard*math.Sqrt((1-rho*rho)/(n*rounds))*rounds/(rounds-4))
}

func bounded(rho float64) float64 { return math.Max(0, math.Min(maxSerial, rho)) }

// lagOne is r of one series, NaN where it does not vary.
func lagOne(v []float64) float64 {
	mean := lists.Sum(v, func(x float64) float64 { return x / float64(len(v)) })
	products, squares := 0.0, 0.0
	for k, x := range v {
		squares += (x - mean) * (x - mean)
		if k > 0 {
			products += (x - mean) * (v[k-1] - mean)
		}
	}
	if math.Sqrt(squares/float64(len(v))) <= 1e-12*math.Abs(mean) {
		return math.NaN()
	}
	return products / squares
}

// correlation returns the largest ρ of any kind of point, and for each point the ratio of the widening for its own
// kind, and for its own number of rounds where these are too few for ρ, to the widening for the largest ρ and the
// typical number. A point of one round is taken to have two.
func (m *Medians) correlation() (most float64, ratio []float64) {
	byRound, byKind := make([][]float64, len(m.parts)), map[int][][]float64{}
	for i := range byRound {
		v := m.roundsOf(i, m.medians, nil, false)
		byRound[i] = v
		byKind[m.kinds[i]] = append(byKind[m.kinds[i]], v)
	}
	rho := map[int]float64{}
	for kind, series := range byKind {
		rho[kind] = serial(series)
		most = math.Max(most, rho[kind])
	}
	for i, v := range byRound {
		own := m.Rounds
		if len(v) < min(own, minSerial) {
			own = max(len(v), 2)
		}
		ratio = append(ratio, widening(own, rho[m.kinds[i]])/widening(m.Rounds, most))
	}
	return most, ratio
}
