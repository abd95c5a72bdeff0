package hyperbolic

import (
	"math"
	"slices"

	"calib/fit"
	"calib/internal/lsq"
	"calib/params"
)

const (
	// flatShare is by how much T may exceed its value at the smallest size for a size to count as small.
	flatShare = 0.1
	// minSmall is the fewest sizes an intercept is taken from, where there are as many.
	minSmall = 2
)

// start is how T(x) of ping-pong begins, and so what a' is: the limit of the line of the small sizes. Where T is level
// at its start, as where frames have a least size, no line leads to a': it is T of the smallest size, less half of what
// T grows up to there.
type start struct {
	lsq.Segment
	misfit []params.Term // of the line's limit
	level  bool
	upto   float64 // T is level up to so many bytes
	doubt  float64 // by how much a' may be off for each byte of the smallest size: below it, nothing is known of T [s/B]
}

// startOf says that T is level where it grows less than half as fast at its start as up to a packet, and the line of
// the small sizes misses them by more than noise. A line of two sizes says nothing of what is below them.
func startOf(q *fit.Pingpong) start {
	s, x, y := start{Segment: smallLine(q)}, q.Sizes, q.Times.Values
	n := s.Distinct
	_, ci := q.Times.Of(func(y []float64) float64 { v, _ := s.limit(x, y); return v })
	s.misfit, _ = fit.LineMisfit(s.Segment, x[:n], y[:n], 0, ci, ci)
	slope := func(i int) float64 { return (y[i-1] - y[0]) / (x[i-1] - x[0]) }
	packet, _ := slices.BinarySearch(x, q.Packet+1)
	few, _ := slices.BinarySearch(y[:packet], (1+flatShare/2)*y[0])
	if n == minSmall {
		s.doubt = math.Abs(slope(n))
	} else if len(s.misfit) > 0 && !s.Flat && few > 1 && slope(few) < slope(packet)/2 {
		s.level, s.upto, s.doubt, s.misfit = true, x[few-1], max(0, slope(few)/2), nil
	}
	return s
}

// limit is a' of times y of ascending sizes x.
func (s start) limit(x, y []float64) (float64, error) {
	if s.level {
		return y[0] - s.doubt*x[0], nil
	}
	l, err := s.Refit(x[:s.Distinct], y[:s.Distinct])
	return l.C0, err
}

// smallestSize is the term of a doubt [s]; none where there is no doubt.
func smallestSize(doubt float64) []params.Term {
	if doubt == 0 {
		return nil
	}
	return []params.Term{fit.Uniform("smallest size", doubt, "below it, T may fall as above it, or not at all")}
}

// smallLine is the line that a' is taken from: that of the small sizes, or a constant where T does not grow over them
// significantly. A line of three sizes that scatter says little of a': its misfit has one degree of freedom. Two sizes
// have a line.
func smallLine(q *fit.Pingpong) lsq.Segment {
	n := SmallSizes(q.Sizes, q.Times.Values, q.Packet)
	x := q.Sizes[:n]
	slope, ci := q.Times.Of(func(y []float64) float64 {
		l, _ := lsq.Segment{Flat: n < 2}.Refit(x, y[:n]) // a time of zero has no line, and a slope of zero
		return l.C1
	})
	_, misfit := fit.LineMisfit(lsq.Segment{}, x, q.Times.Values[:n], 0, ci, ci)
	ci = fit.WidenDifference(slope, ci, misfit)
	return lsq.Segment{Distinct: n, Flat: n != 2 && !(ci[0] > 0)}
}

// SmallSizes returns how many of the smallest sizes a' is taken from: those within one packet whose T is within
// flatShare of that of the smallest, never fewer than two within one packet, and one in any case. Eq. 1 is a line up to
// one packet and eq. 3 is flat at its start, so that a line through these sizes meets both at x → 0.
func SmallSizes(sizes, times []float64, packet float64) int {
	n := 1
	for n < len(sizes) && sizes[n] <= packet && (n < minSmall || times[n] <= (1+flatShare)*times[0]) {
		n++
	}
	return n
}
