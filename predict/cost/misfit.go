package cost

import (
	"math"
	"slices"

	"calib/bench/pattern"
	"calib/fit/params"
	"calib/internal/stats"
)

// mostMeasured bounds the sizes of Measured [B].
const mostMeasured = 1 << 20

// Measured are the times of messages between two hosts that the run of p measured, of 1 B to 1 MiB.
func Measured(p *params.Params) []params.Residual {
	return slices.DeleteFunc(p.Times(), func(r params.Residual) bool { return r.X < 1 || r.X > mostMeasured })
}

// Misfit is the root of the mean squared relative error of m on those times; 0 where there are none.
func Misfit(m Model, p *params.Params) float64 {
	one, err := pattern.Find("p2p", "direct")
	if err != nil {
		return 0
	}
	var squares []float64
	for _, r := range Measured(p) {
		if t, err := m.Time(one, 2, int(r.X)); err == nil {
			e := (t - r.Measured) / r.Measured
			squares = append(squares, e*e)
		}
	}
	if len(squares) == 0 {
		return 0
	}
	return math.Sqrt(stats.Mean(squares))
}
