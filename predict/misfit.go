package predict

import (
	"slices"

	"calib/bench/pattern"
	"calib/internal/params"
	"calib/internal/stats"
	"calib/predict/cost"
	"calib/predict/network"
)

// maxMeasured bounds the sizes of measured [B].
const maxMeasured = 1 << 20

// measured are the times of messages between two hosts that the run of p measured, of 1 B to 1 MiB.
func measured(p *params.Params) []params.Residual {
	return slices.DeleteFunc(p.Times(), func(r params.Residual) bool { return r.X < 1 || r.X > maxMeasured })
}

// misfit is the root of the mean squared relative error of m on those times; 0 where there are none.
func misfit(m cost.Model, p *params.Params) float64 {
	one, err := pattern.Find("p2p", "direct")
	if err != nil {
		return 0
	}
	return network.Misfit(measured(p), func(x int) (float64, error) { return m.Time(cost.TrafficOf(one, 2, x)) })
}

// scatter is the relative standard deviation of the medians of messages between two hosts: the median over the sizes.
func scatter(p *params.Params) float64 {
	var all []float64
	for _, r := range measured(p) {
		if r.Hi > r.Lo {
			all = append(all, (r.Hi-r.Lo)/2/normal95/r.Measured)
		}
	}
	if len(all) == 0 {
		return 0
	}
	return stats.Median(all)
}
