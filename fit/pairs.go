package fit

import (
	"slices"

	"calib/internal/dataset"
)

// pairMatrix lists every pair that pingpong measured: the half round trip of its smallest size as latency, and the rate
// of its largest size, that size over its half round trip. Values are midmeans of the rounds' medians, intervals are
// Student's over the rounds and absent for a single one. Pairs and hosts that stand out are named in Slow. Lines with
// retransmissions are left out.
func pairMatrix(d *dataset.Dataset) []Pair {
	lines := slices.DeleteFunc(lineBatches(d, "pingpong", ""), func(b batch) bool {
		return b.flag(spoiling[:]) != "" || len(b.lines[0].Ranks) != 2 || b.timings() == 0
	})
	if len(lines) == 0 {
		return nil
	}
	small, large := lines[0].point["bytes"], lines[0].point["bytes"]
	for _, b := range lines {
		small, large = min(small, b.point["bytes"]), max(large, b.point["bytes"])
	}
	at := func(x int64) []pairTime {
		return pairTimes(slices.DeleteFunc(slices.Clone(lines), func(b batch) bool { return b.point["bytes"] != x }))
	}
	slow := findSlow(d)
	index := map[[2]int]int{}
	var out []Pair
	entry := func(hosts [2]int) *Pair {
		i, ok := index[hosts]
		if !ok {
			i = len(out)
			index[hosts] = i
			out = append(out, Pair{From: hostName(d, hosts[0]), To: hostName(d, hosts[1]), Slow: slow.why[hosts]})
		}
		return &out[i]
	}
	for _, p := range at(small) {
		e, v := entry(p.hosts), p.value
		e.Latency = &v
		if p.ci[0] < p.ci[1] {
			ci := p.ci
			e.LatencyCI = &ci
		}
	}
	for _, p := range at(large) {
		e, v := entry(p.hosts), float64(large)/p.value
		e.Rate = &v
		if p.ci[0] > 0 && p.ci[0] < p.ci[1] {
			e.RateCI = &[2]float64{float64(large) / p.ci[1], float64(large) / p.ci[0]}
		}
	}
	return out
}
