package bench

import (
	"slices"

	"calib/internal/dataset"
)

// Phases that Derive makes of a slot's raw lines.
const (
	phaseLast   = "burst"        // the last of the n deliveries, a repetition
	phaseStream = "stream-total" // n chunks over the rate of all pairs together, a batch
)

// Steers implements Steered: pairs share the medium in any order, so that only the last delivery and the total rate
// settle, not each pair's own.
func (Paired) Steers(phase string) bool { return phase == phaseLast || phase == phaseStream }

// Derive implements Derived.
func (Paired) Derive(slot []dataset.Sample) []dataset.Sample {
	var out []dataset.Sample
	for i := range slot {
		if slot[i].Phase != "burst-pair" && slot[i].Phase != "stream" || !first(slot, i) {
			continue
		}
		d := slot[i]
		d.Ranks = nil
		var rate float64 // chunks per ns, all pairs
		last := slices.Clone(slot[i].NS)
		for j := i; j < len(slot); j++ {
			if !sameBatch(&slot[i], &slot[j]) {
				continue
			}
			d.Ranks = append(d.Ranks, slot[j].Ranks...)
			d.Flags = append(d.Flags, slot[j].Flags...)
			rate += chunkRate(slot[j].NS)
			for k := range min(len(last), len(slot[j].NS)) {
				last[k] = max(last[k], slot[j].NS[k])
			}
		}
		slices.Sort(d.Ranks) // one series for both directions: a clock offset cancels between them
		d.Phase, d.NS = phaseLast, last
		if slot[i].Phase == "stream" {
			if rate == 0 {
				continue
			}
			d.Phase, d.NS = phaseStream, []int64{int64(float64(d.Point["pairs"]) / rate)}
		}
		out = append(out, d)
	}
	return out
}

// first reports whether no earlier line of the slot is of the same batch.
func first(slot []dataset.Sample, i int) bool {
	for j := range i {
		if sameBatch(&slot[i], &slot[j]) {
			return false
		}
	}
	return true
}

// sameBatch reports whether two lines of a slot are the same direction of the same point.
func sameBatch(a, b *dataset.Sample) bool {
	return a.Phase == b.Phase && a.Aux["dir"] == b.Aux["dir"] && a.Point.Key() == b.Point.Key()
}

func chunkRate(ns []int64) float64 {
	var sum int64
	for _, t := range ns {
		sum += t
	}
	if sum == 0 {
		return 0
	}
	return float64(len(ns)) / float64(sum)
}
