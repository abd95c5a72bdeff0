package hyperbolic

import (
	"math"
	"slices"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/stats"
)

// startsBy finds the lines of phase "burst-start" by the batch they belong to.
type startsBy map[fit.BatchID]*fit.Batch

// of returns the starts [ns] of one line's sender, nil where they were not recorded for every repetition.
func (s startsBy) of(b *fit.Batch, l *dataset.Sample) []int64 {
	starts := s[b.ID]
	if starts == nil {
		return nil
	}
	for _, q := range starts.Lines {
		if slices.Equal(q.Ranks, l.Ranks) && len(q.NS) == len(l.NS) {
			return q.NS
		}
	}
	return nil
}

// skews returns by how much the last sender of each repetition started after the first [s]; zeros without starts.
func (s startsBy) skews(b *fit.Batch) []float64 {
	reps := len(b.Lines[0].NS)
	lo, hi := slices.Repeat([]float64{math.Inf(1)}, reps), slices.Repeat([]float64{math.Inf(-1)}, reps)
	for _, l := range b.Lines {
		start := s.of(b, l)
		if start == nil {
			return make([]float64, reps)
		}
		for k, v := range fit.Seconds(start) {
			lo[k], hi[k] = math.Min(lo[k], v), math.Max(hi[k], v)
		}
	}
	for k := range hi {
		hi[k] -= lo[k]
	}
	return hi
}

// skew is how far apart the senders of bursts started.
type skew struct {
	// spread is that of the first and the last sender at the largest n, median of the closest half of the repetitions [s].
	spread   float64
	interval float64 // the same of all repetitions, over n−1, for the n at which it is largest [s]
}

// gatherSkew takes the medians over the repetitions of each n.
func gatherSkew(bursts []*fit.Batch, starts startsBy) skew {
	all, closest := map[int][]float64{}, map[int][]float64{}
	most := 0
	for _, b := range bursts {
		n, skews := int(b.Point[names.FactorPairs]), starts.skews(b)
		all[n] = append(all[n], skews...)
		limit := stats.Median(skews)
		closest[n] = append(closest[n], slices.DeleteFunc(skews, func(v float64) bool { return v > limit })...)
		most = max(most, n)
	}
	var s skew
	for n, v := range all {
		s.interval = math.Max(s.interval, stats.Median(v)/float64(max(1, n-1)))
	}
	s.spread = stats.Typical(closest[most])
	return s
}

// Deliveries of a repetition tell contention if its senders started within this share of the time between the first and
// the last delivery: later ones may be apart because their senders were.
const skewShare = 0.5

// minKept is the share of repetitions that must be left at every n for a'(n) to be taken from gaps.
const minKept = 0.5

// enough reports whether the gaps are of as many repetitions as it takes to use them.
func (q *burstPoint) enough() bool {
	return q.kept > 0 && float64(q.kept) >= minKept*float64(q.kept+q.dropped)
}
