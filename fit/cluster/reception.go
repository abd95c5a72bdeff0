package cluster

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/stats"
)

const (
	labelOr = "time of a host to take in a message while it computes"
	// whyNoMessages and whyShared are reasons to leave a computation out: nothing arrived, or the sender's own work
	// slowed it.
	whyNoMessages = "no messages arrived"
	whyShared     = "sender on the same machine"
)

type computation struct {
	slot, round, dir int
	point, ranks     string
}

// addComputations adds, for each rate and size, the time each computation lost to messages [s] and how many there were.
// It returns the batches used.
func (o *overheadData) addComputations() []*fit.Batch {
	idle := o.Lines(names.Overhead, names.PhaseComputeIdle)
	loaded := o.Lines(names.Overhead, names.PhaseCompute)
	key := func(b *fit.Batch) computation {
		return computation{b.Lines[0].Slot, b.Round, b.Dir, b.Point.Key(), fmt.Sprint(b.Lines[0].Ranks)}
	}
	alone := map[computation]*fit.Batch{}
	for i := range idle {
		alone[key(idle[i])] = idle[i]
	}
	var used []*fit.Batch
	shared := func(b *fit.Batch) bool { return o.Prepared.OneMachine(b.Lines[0].Ranks) }
	loaded = o.Prefer(loaded, whyShared, shared)
	o.sharing = len(loaded) > 0 && shared(loaded[0])
	o.Sift(loaded, func(b *fit.Batch) string {
		own, n := alone[key(b)], b.Lines[0].Aux[names.AuxMessages]
		switch {
		case own == nil:
			return fit.WhyIncomplete
		case !(n > 0) || !fit.Finite(n):
			return whyNoMessages
		}
		base := stats.Median(fit.Seconds(own.Lines[0].NS))
		lost := lists.Map(fit.Seconds(b.Lines[0].NS), func(v float64) float64 { return v - base })
		rate, m := b.Point[names.FactorRate], float64(b.Point[names.FactorBytes])
		o.curves.add(callCost{lostTime, rate}, m, b, b.Timings()+own.Timings(), lost...)
		o.curves.add(callCost{arrived, rate}, m, b, b.Timings(), n)
		used = append(used, own, b)
		return ""
	})
	o.rates = resample.Distinct(&o.curves.table, func(k sizeOf[callCost]) (int64, bool) {
		return k.cost.rate, k.cost.what == lostTime
	})
	return used
}

// fitReception fits O_r. It returns nil where the time lost cannot be told from noise, and then records the parameter
// O_r with its bound.
func (o *overheadData) fitReception(est *resample.Estimates) (*costFit, error) {
	unknown := func(lo, hi float64, why string) (*costFit, error) {
		o.Unknown("O_r", "s", labelOr, lo, hi, why)
		return nil, nil
	}
	if len(o.rates) == 0 {
		return unknown(0, math.Inf(1), "no computation was timed with and without messages arriving")
	}
	data := o.perMessage(est)
	if len(data.sizes) == 0 {
		return unknown(0, math.Inf(1), "every message was larger than a packet")
	}
	all := resample.Scatter(est, stats.Mean(data.Values), data.Replicates, stats.Mean)
	top, hidden := 0.0, 0
	for i := range data.sizes {
		ci := data.PointScatter(i)
		top = math.Max(top, ci[1])
		if ci[0] <= 0 {
			hidden++
		}
	}
	switch {
	case o.sharing:
		return unknown(0, math.Max(0, top), "sender and receiver share a machine in every pair, so that the "+
			"sender's own work slows the computation, too")
	case all[1] <= 0:
		return unknown(0, top, "messages that arrive take no time from a computation here")
	case all[0] <= 0:
		return unknown(0, top, fmt.Sprintf("the time lost per message, %.3g to %.3g s, may be zero: measure more "+
			"rounds (--budget)",
			all[0], all[1]))
	case len(data.sizes) < 2:
		return unknown(math.Max(0, data.PointScatter(0)[0]), top,
			fmt.Sprintf("measured at %g B only, and a line needs two sizes", data.sizes[0]))
	case hidden > 0:
		o.Warn("o-r-hidden", "O_r may be zero at %d of %d sizes, each taken alone", hidden, len(data.sizes))
	}
	return fitCost(o.Result, "O_r", labelOr, data, false)
}

// perMessage returns the time lost per message by size: of all rates the least-squares slope of time on messages,
// through the idle host.
func (o *overheadData) perMessage(est *resample.Estimates) *costData {
	lost, messages := map[float64][]int{}, map[float64][]int{} // points by size, of each rate
	for _, rate := range o.rates {
		for _, m := range o.curves.sizes(callCost{lostTime, rate}) {
			if m <= o.packet {
				time, _ := o.curves.point(callCost{lostTime, rate}, m)
				n, _ := o.curves.point(callCost{arrived, rate}, m)
				lost[m], messages[m] = append(lost[m], time), append(messages[m], n)
			}
		}
	}
	sizes := slices.Sorted(maps.Keys(lost))
	times := lists.Map(sizes, func(m float64) []int { return lost[m] })
	return &costData{sizes, est.Made(times, func(v []float64, i int) float64 {
		var num, den float64
		for k, n := range messages[sizes[i]] {
			num += v[n] * v[times[i][k]]
			den += v[n] * v[n]
		}
		return num / den
	})}
}
