package remap

import (
	"slices"

	"calib/bench"
)

// arrivals is what came to a rank, piece by piece: when [ns], and how many bytes had come by then. When it is full,
// later pieces are taken to have come with the last.
type arrivals struct{ at, sum []int64 }

// pieceBytes is about how much of a message comes at a time, at least.
const pieceBytes = 1400

func newArrivals(r *bench.Recorder, pieces int) arrivals {
	return arrivals{r.Buffer(pieces)[:0], r.Buffer(pieces)[:0]}
}

// add notes n bytes.
func (a *arrivals) add(at, n int64) {
	last := len(a.at) - 1
	switch {
	case len(a.at) < cap(a.at):
		sum := n
		if last >= 0 {
			sum += a.sum[last]
		}
		a.at, a.sum = append(a.at, at), append(a.sum, sum)
	case last >= 0:
		a.at[last], a.sum[last] = at, a.sum[last]+n
	}
}

// by is how many bytes had come at a time.
func (a *arrivals) by(t int64) int64 {
	i, _ := slices.BinarySearch(a.at, t+1)
	if i == 0 {
		return 0
	}
	return a.sum[i-1]
}

// between is how many bytes came after lo, until hi.
func (a *arrivals) between(lo, hi int64) int64 { return max(0, a.by(hi)-a.by(lo)) }
