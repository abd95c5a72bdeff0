package paired

import (
	"maps"
	"slices"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

// Steers implements bench.Steered: pairs share the medium in any order, so that only the last delivery and the total rate
// settle, not each pair's own.
func (Experiment) Steers(phase string) bool {
	return phase == names.StopLastDelivery || phase == names.StopAllStreams
}

// Derive implements bench.Derived: for every direction of every point the last of the n deliveries of each repetition, or
// the time of n megabytes at the rate of all pairs together.
func (Experiment) Derive(slot []dataset.Sample) []dataset.Sample {
	var out []dataset.Sample
	for i := range slot {
		if slot[i].Phase != names.PhaseBurst && slot[i].Phase != names.PhaseStream && slot[i].Phase != names.PhaseMessages || !first(slot, i) {
			continue
		}
		d := slot[i]
		d.Ranks = nil
		var rate float64 // bytes per ns, all pairs
		last := slices.Clone(slot[i].NS)
		for j := i; j < len(slot); j++ {
			if !sameBatch(&slot[i], &slot[j]) {
				continue
			}
			d.Ranks = append(d.Ranks, slot[j].Ranks...)
			d.Flags = append(d.Flags, slot[j].Flags...)
			rate += byteRate(&slot[j])
			for k := range min(len(last), len(slot[j].NS)) {
				last[k] = max(last[k], slot[j].NS[k])
			}
		}
		slices.Sort(d.Ranks) // the same for both directions: a clock offset cancels between them
		d.Phase, d.NS = names.StopLastDelivery, last
		if slot[i].Phase != names.PhaseBurst {
			if rate == 0 {
				continue
			}
			d.Phase, d.NS = names.StopAllStreams, []int64{int64(1e6 * float64(d.Point[names.FactorPairs]) / rate)}
		}
		out = append(out, d)
	}
	return out
}

// first reports whether no earlier line of the slot is of the same batch.
func first(slot []dataset.Sample, i int) bool {
	return !slices.ContainsFunc(slot[:i], func(s dataset.Sample) bool { return sameBatch(&s, &slot[i]) })
}

// sameBatch reports whether two lines of a slot are the same direction of the same point.
func sameBatch(a, b *dataset.Sample) bool {
	return a.Phase == b.Phase && a.Aux[names.AuxDirection] == b.Aux[names.AuxDirection] && maps.Equal(a.Point, b.Point)
}

// byteRate is the rate of one pair's stream in its window [B/ns].
func byteRate(s *dataset.Sample) float64 {
	if s.Aux[names.AuxWindow] == 0 {
		return 0
	}
	return s.Aux[names.AuxChunk] * s.Aux[names.AuxWindowChunks] / s.Aux[names.AuxWindow]
}
