package cluster

import (
	"cmp"
	"slices"

	"calib/fit"
	"calib/fit/params"
	"calib/internal/dataset/names"
)

// load gathers all phases by size. A batch counts by one value a phase, so that the parts add up: the mean over the
// same messages, those whose half round trips are the middle half of the batch. Phases of other messages count by their
// own middle halves.
func (h *stampData) load() error {
	var used [][]fit.Batch
	chosen := h.choose()
	for _, phase := range stampPhases {
		lines := h.Lines(names.Stamps, phase)
		if !wholeTrips[phase] {
			lines = h.BothDirections(lines)
		}
		for i := range lines {
			b := &lines[i]
			v := fit.Seconds(b.Lines[0].NS)
			at, same := chosen[stampBatchOf(b)]
			if !same || otherMessages[phase] || len(at.of) != len(v) {
				at = middle(v)
			}
			value := at.mean(v) - clockShare[phase]*b.Lines[0].Aux[names.AuxClock]*1e-9
			m := float64(b.Point[names.FactorBytes])
			if wholeTrips[phase] {
				h.curves.add(phase, m, b, b.Timings(), value)
			} else {
				h.curves.addOneWay(phase, m, b, b.Timings(), value) // both directions of a round count alike
			}
		}
		used = append(used, lines)
	}
	h.missing()
	if len(h.curves.sizes[names.PhaseHalf]) < 2 {
		return fit.Needs(h.Model, "messages with all stamps at fewer than two sizes, without loss (ethtool -T lists what a driver can stamp)")
	}
	h.Account(used...)
	h.packet = h.Packet(used...)
	var err error
	h.est, err = fit.Resample(h.Result, &h.curves.table, "no messages with stamps")
	if err != nil {
		return err
	}
	for _, m := range h.curves.sizes[names.PhaseHalf] {
		if m <= h.packet && !slices.ContainsFunc(stampParts, func(q stampPart) bool { _, ok := h.at(q, m); return !ok }) {
			h.sizes = append(h.sizes, m)
		}
	}
	if len(h.sizes) < 2 {
		return fit.Needs(h.Model, "every part of a message is known at fewer than two sizes")
	}
	return nil
}

// wholeTrips are the phases that hold both directions.
var wholeTrips = map[string]bool{names.PhasePlain: true, names.PhaseHalf: true, names.PhaseNIC: true}

// otherMessages are the phases whose messages are not those of names.PhaseHalf.
var otherMessages = map[string]bool{names.PhasePlain: true, names.PhaseRecv: true, names.PhaseWakePolling: true}

// stampBatch tells the batches of messages with stamps apart.
type stampBatch struct {
	slot, round int
	point, team string
}

func stampBatchOf(b *fit.Batch) stampBatch {
	return stampBatch{b.Lines[0].Slot, b.Round, b.Point.Key(), b.Team()}
}

// choose picks the messages of each batch by their half round trips.
func (h *stampData) choose() map[stampBatch]middleHalf {
	out := map[stampBatch]middleHalf{}
	lines := h.prepared.LineBatches(names.Stamps, names.PhaseHalf)
	for i := range lines {
		out[stampBatchOf(&lines[i])] = middle(fit.Seconds(lines[i].Lines[0].NS))
	}
	return out
}

// middleHalf is a choice of values: of has them all by size, kept are those without the outer quarters
// (resample.Midmean).
type middleHalf struct{ of, kept []int }

func middle(v []float64) middleHalf {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	cut := (len(v) + 1) / 4
	return middleHalf{order, order[cut : len(v)-cut]}
}

// mean of other values of the same messages.
func (q middleHalf) mean(v []float64) float64 {
	sum := 0.0
	for _, i := range q.kept {
		sum += v[i]
	}
	return sum / float64(len(q.kept))
}

// missing says which stamps the hosts did not take.
func (h *stampData) missing() {
	var of, got [3]float64
	for _, s := range h.prepared.Samples(names.Stamps, names.PhaseHalf) {
		n := 2 * float64(len(s.NS))
		for i, name := range []string{names.AuxScheduled, names.AuxSentStamps, names.AuxTaken} {
			of[i] += max(n, s.Aux[name])
			got[i] += s.Aux[name]
		}
	}
	for i, what := range []string{"when it handed them to the device's queue (SCHED)", "when the device's driver took them (SND)",
		"when it took them from the device"} {
		if got[i] == 0 && slices.Max(of[:]) > 0 {
			h.Add(params.Warnf(params.StampsMissing, "the kernel stamped no message %s: ethtool -T lists what the driver can", what))
		}
	}
}

// at returns the points of a part at m bytes.
func (h *stampData) at(q stampPart, m float64) (points []int, ok bool) {
	for _, phase := range []string{q.add, q.less} {
		if phase == "" {
			continue
		}
		i, known := h.curves.point(phase, m)
		if !known {
			return nil, false
		}
		points = append(points, i)
	}
	return points, true
}

// data is a part by size, resampled.
func (h *stampData) data(q stampPart) *costData {
	var sizes []float64
	var points [][]int
	for _, m := range h.sizes {
		if at, ok := h.at(q, m); ok {
			sizes, points = append(sizes, m), append(points, at)
		}
	}
	return newCostData(h.est, sizes, points, less)
}
