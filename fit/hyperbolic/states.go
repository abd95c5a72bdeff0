package hyperbolic

import (
	"cmp"
	"fmt"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

const (
	// minApart is how much longer messages take in the slower of two states, at least, and emptyPart the part of the
	// distance of the states in which no batch lies. Of 8 batches that scatter normally 1 run in 100 shows as much, of 20
	// one in 1,000.
	minApart  = 1.05
	emptyPart = 0.7
	// minOfState is how many batches a state has at least.
	minOfState = 4
)

// states parts batches that fall into two groups: the place in ascending times from which the slower state begins. ok
// is false where there is one group.
func states(times []float64) (at int, ok bool) {
	gap := 0.0
	for i := minOfState; i <= len(times)-minOfState; i++ {
		if d := times[i] - times[i-1]; d > gap {
			at, gap = i, d
		}
	}
	if at == 0 {
		return 0, false
	}
	fast, slow := stats.SortedQuantile(times[:at], 0.5), stats.SortedQuantile(times[at:], 0.5)
	return at, slow > minApart*fast && gap > emptyPart*(slow-fast)
}

// addStates says where the messages of the smallest size take one of two times: alpha_fast and alpha_slow [s], medians
// of the batches in each state. Hosts have states where, for example, a hypervisor moves their CPUs, or a receiver is
// woken on another CPU. That pairs differ is no state: one pair must have been in both.
func addStates(r *fit.Result, q *fit.Pingpong) {
	type batch struct {
		team string
		time float64
	}
	var all []batch
	for _, b := range r.Prepared.LineBatches(names.Pingpong, "") {
		if !b.Spoiled() && b.Timings() > 0 && float64(b.Point[names.FactorBytes]) == q.Sizes[0] {
			all = append(all, batch{b.Team(), stats.Median(fit.HalfTrips(b.Lines[0]))})
		}
	}
	slices.SortFunc(all, func(a, b batch) int { return cmp.Compare(a.time, b.time) })
	times := lists.Map(all, func(b batch) float64 { return b.time })
	at, ok := states(times)
	if !ok || !slices.ContainsFunc(all[:at], func(a batch) bool {
		return slices.ContainsFunc(all[at:], func(b batch) bool { return a.team == b.team })
	}) {
		return
	}
	var of [2]float64
	for i, s := range []struct {
		name, label string
		times       []float64
	}{
		{"alpha_fast", "latency of the smallest message in the hosts' faster state", times[:at]},
		{"alpha_slow", "latency of the smallest message in the hosts' slower state", times[at:]},
	} {
		of[i] = stats.SortedQuantile(s.times, 0.5)
		if ci, ok := resample.SortedQuantileCI(s.times, 0.5, len(s.times)); ok {
			r.Found(s.name, "s", s.label, of[i], ci)
		} else {
			r.Unknown(s.name, "s", s.label, s.times[0], s.times[len(s.times)-1],
				fmt.Sprintf("%d batches are too few for an interval", len(s.times)))
		}
	}
	share := float64(len(times)-at) / float64(len(times))
	r.Add(params.Notef(params.TwoStates, "the hosts were in one of two states: a message of %g B takes %s in %.0f%% of "+
		"%d batches, and %s in the others. T(x), alpha and a are a mixture, which differs from run to run",
		q.Sizes[0], units.Format(of[0], "s"), 100*(1-share), len(times), units.Format(of[1], "s")).
		With("share", share).Of("alpha_slow"))
}
