package lsq

import (
	"math"
	"slices"

	"calib/internal/lists"
)

const (
	// mostJoined is for how many points lines from point to point are tried: more points have segments.
	mostJoined = 40
	// Lines from point to point are taken if their error at points left out is below this share of that of segments.
	clearer = 0.9
	// fitted is the rounding of a fit: a smaller difference of two errors says nothing.
	fitted = 1e-9
)

// FitCurve fits y > 0 by lines over ranges of the ascending x: segments (FitSegments), or lines from point to point,
// with or without a corner, whichever misses points left out by least. Segments average what scatters; where there are
// few x for each, they pass over changes that the points show. Breaks that are given part segments.
func FitCurve(x, y, breaks []float64, corner float64) (*Segments, error) {
	again := way(func(x, y []float64) (*Segments, error) {
		return FitSegments(x, y, SegmentOptions{Breaks: breaks})
	})
	leftOut := again.leftOut(x, y)
	if least := clearer*leftOut - fitted; len(breaks) == 0 && len(x) <= mostJoined {
		for _, at := range []float64{math.Inf(1), corner} {
			w := joined(at)
			if e := w.leftOut(x, y); e < least {
				again, least, leftOut = w, e, e
			}
		}
	}
	s, err := again(x, y)
	if err == nil {
		s.Again, s.LeftOut = again, leftOut
	}
	return s, err
}

// way fits lines over ranges of x.
type way func(x, y []float64) (*Segments, error)

// leftOut is LeaveOneOut, +Inf where nothing could be left out.
func (w way) leftOut(x, y []float64) float64 {
	if e, ok := LeaveOneOut(x, y, w); ok {
		return e
	}
	return math.Inf(1)
}

// joined makes lines from each point to the next. Values that fall are replaced by their weighted mean (isotonic
// regression, pool adjacent violators: Barlow, Bartholomew, Bremner, Brunk 1972). Up to a corner between two x the line
// of the two points below it goes on, but no further than to the next value: so T grows up to one packet.
func joined(corner float64) way {
	return func(x, y []float64) (*Segments, error) {
		type pool struct {
			v, w float64
			n    int
		}
		var pools []pool
		for _, v := range y {
			p := pool{v, 1 / v / v, 1}
			for n := len(pools) - 1; n >= 0 && pools[n].v > p.v; n-- {
				q := pools[n]
				p = pool{WeightedMean([]float64{q.v, p.v}, []float64{q.w, p.w}), q.w + p.w, q.n + p.n}
				pools = pools[:n]
			}
			pools = append(pools, p)
		}
		y = lists.Flat(pools, func(p pool) []float64 { return slices.Repeat([]float64{p.v}, p.n) })
		if i, on := slices.BinarySearch(x, corner); !on && i > 1 && i < len(x) {
			v := y[i-1] + (y[i-1]-y[i-2])/(x[i-1]-x[i-2])*(corner-x[i-1])
			x, y = slices.Insert(slices.Clone(x), i, corner), slices.Insert(slices.Clone(y), i, min(v, y[i]))
		}
		s := &Segments{Joined: true, Cond: math.NaN(), Breaks: x[1 : len(x)-1]}
		for i, v := range y[1:] {
			slope := (v - y[i]) / (x[i+1] - x[i])
			s.Segments = append(s.Segments, Segment{Lo: x[i], Hi: x[i+1], Line: Line{C0: v - slope*x[i+1], C1: slope}})
		}
		return s, nil
	}
}
