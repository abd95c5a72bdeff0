package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// ShareCI returns Wilson's 95% interval of the probability behind hits among n independent trials, n > 0. Unlike that
// of the normal approximation it is right for shares near 0: of none it reaches from 0 to about 3.8/n. Source: Wilson
// 1927, JASA 22, 209–212.
func ShareCI(hits, n float64) Interval {
	z := distuv.UnitNormal.Quantile((1 + Level) / 2)
	p := hits / n
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	out := Interval{Lo: math.Max(0, mid-half), Hi: math.Min(1, mid+half)}
	if hits == 0 {
		out.Lo = 0
	}
	if hits == n {
		out.Hi = 1
	}
	return out
}
