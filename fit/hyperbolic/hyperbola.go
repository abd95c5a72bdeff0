package hyperbolic

import (
	"fmt"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lsq"
	"calib/internal/plot"
	"calib/internal/units"
	"calib/params"
)

// Hyperbola is the service time of one message on an idle path,
//
//	T(x) = a'²/(a' + b'·x) + b'·x,  x in bytes, a' [s], b' [s/B],
//
// fitted to the half round trips of pingpong by its limits (eq. 17): a_prime_limits is the time of a message of one
// packet extrapolated to no payload, b_prime_limits the slope of the large sizes, and r_inf = 1/b' [B/s] the rate that
// long messages approach. A line through all sizes, such as Hockney's, has another slope. Source: Stoica, Sultan, Keyes
// 1994, eq. 3, 16, 17.
var Hyperbola = fit.Model{Name: "hyperbola", Needs: []string{names.Pingpong}, Fit: fitHyperbola, Draw: hyperbolaPlots}

const (
	// flatShare is by how much T may exceed its value at the smallest size for a size to count as small.
	flatShare = 0.1
	// minSmall and minLarge are the fewest sizes an intercept and a slope are taken from, where there are as many.
	minSmall, minLarge = 2, 3
	// largeSpan is the smallest ratio of the ends of the range a slope is taken from.
	largeSpan = 4
)

// fitHyperbola returns fit.ErrNeeds for fewer than four sizes.
func fitHyperbola(p *fit.Prepared) (*params.Fit, error) {
	q, err := p.Pingpong("hyperbola", 4)
	if err != nil {
		return nil, err
	}
	r := q.New(p, "hyperbola", "Stoica, Sultan, Keyes 1994 eq. 3, 17")
	small := startOf(q)
	large := largeSizes(q.Sizes, q.Times.Values, q.Breaks, q.Packet)
	limits, err := q.Times.Derive(func(y []float64) ([]float64, error) {
		return limitsOf(q.Sizes, y, small, large, q.Packet)
	})
	if err != nil {
		return nil, fmt.Errorf("model hyperbola, limits: %w", err)
	}
	l := limits.Values
	n := small.Distinct
	sizes, from := effective(q.Sizes, q.Times.Values, large, q.Packet)
	more := 0
	if from == large {
		more = 1
	}
	_, slope := fit.LineMisfit(lsq.Segment{}, sizes[large:], q.Times.Values[large:], more, limits.Point(0),
		limits.Point(1))
	if from < 0 {
		slope = append(slope, lastPackets(q.Sizes[large:], q.Times.Values[large:], q.Packet, l[1])...)
	}
	r.Found("a_prime_limits", "s", "fixed time of a message, limit of small sizes", l[0], limits.Point(0),
		slices.Concat(p.ClockReading(1), small.misfit, smallestSize(small.doubt*q.Sizes[0]))...)
	r.Found("b_prime_limits", "s/B", "time per byte, limit of large sizes", l[1], limits.Point(1), slope...)
	if l[1] > 0 {
		rate := slices.Clone(slope)
		for i := range rate {
			rate[i].U /= l[1] * l[1]
		}
		ofRate := resample.IntervalOf(limits, 1/l[1], limits.Replicates, func(l []float64) float64 { return 1 / l[1] })
		r.Found("r_inf", "B/s", "rate that long messages approach", 1/l[1], ofRate, rate...)
	}
	r.Together([]string{"a_prime_limits", "b_prime_limits"}, limits.Replicates)
	r.Note("limits-used", "a' is the %s over sizes of %.0f to %.0f B, b' the slope over %.0f to %.0f B",
		small.how, q.Sizes[0], q.Sizes[n-1], q.Sizes[large], q.Sizes[len(q.Sizes)-1])
	if q.Sizes[n-1] > q.Packet {
		r.Warn("no-one-packet-size", "no size fits in one packet of %g B: a' is that of the smallest sizes", q.Packet)
	}
	q.Finish(r, 2, math.NaN(), func(x float64) float64 { return params.ServiceTime(x, l[0], l[1]) })
	r.LeaveOneOut(lsq.LeaveOneOut(q.Sizes, q.Times.Values, func(x, y []float64) (lsq.Func, error) {
		few := small
		few.Distinct = smallSizes(x, y, q.Packet)
		l, err := limitsOf(x, y, few, largeSizes(x, y, q.Breaks, q.Packet), q.Packet)
		return func(x float64) float64 { return params.ServiceTime(x, l[0], l[1]) }, err
	}))
	return r.Fit, nil
}

// start is how T(x) of ping-pong begins, and so what a' is: the limit of the line of the small sizes. Where T is level
// at its start, as where frames have a least size, no line leads to a': it is T of the smallest size, less half of what
// T grows up to there.
type start struct {
	lsq.Segment
	how    string        // a' is found, in a word
	misfit []params.Term // of the line's limit
	level  bool
	upto   float64 // T is level up to so many bytes
	doubt  float64 // by how much a' may be off for each byte of the smallest size: below it, nothing is known of T [s/B]
}

// startOf says that T is level where it grows less than half as fast at its start as up to a packet, and the line of
// the small sizes misses them by more than noise. A line of two sizes says nothing of what is below them.
func startOf(q *fit.Pingpong) start {
	s, x, y := start{Segment: smallLine(q), how: "intercept"}, q.Sizes, q.Times.Values
	n := s.Distinct
	if s.Flat {
		s.how = "mean"
	}
	_, ci := q.Times.Of(func(y []float64) float64 { v, _ := s.limit(x, y); return v })
	s.misfit, _ = fit.LineMisfit(s.Segment, x[:n], y[:n], 0, ci, ci)
	slope := func(i int) float64 { return (y[i-1] - y[0]) / (x[i-1] - x[0]) }
	packet, _ := slices.BinarySearch(x, q.Packet+1)
	few, _ := slices.BinarySearch(y[:packet], (1+flatShare/2)*y[0])
	if n == minSmall {
		s.doubt = math.Abs(slope(n))
	} else if len(s.misfit) > 0 && !s.Flat && few > 1 && slope(few) < slope(packet)/2 {
		s.how, s.level, s.upto, s.doubt, s.misfit = "limit", true, x[few-1], max(0, slope(few)/2), nil
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
	n := smallSizes(q.Sizes, q.Times.Values, q.Packet)
	x := q.Sizes[:n]
	slope, ci := q.Times.Of(func(y []float64) float64 {
		l, _ := lsq.Segment{Flat: n < 2}.Refit(x, y[:n]) // a time of zero has no line, and a slope of zero
		return l.C1
	})
	_, misfit := fit.LineMisfit(lsq.Segment{}, x, q.Times.Values[:n], 0, ci, ci)
	ci = fit.WidenDifference(slope, ci, misfit)
	return lsq.Segment{Distinct: n, Flat: n != 2 && !(ci[0] > 0)}
}

// smallSizes returns how many of the smallest sizes a' is taken from: those within one packet whose T is within
// flatShare of that of the smallest, never fewer than two within one packet, and one in any case. Eq. 1 is a line up to
// one packet and eq. 3 is flat at its start, so that a line through these sizes meets both at x → 0.
func smallSizes(sizes, times []float64, packet float64) int {
	n := 1
	for n < len(sizes) && sizes[n] <= packet && (n < minSmall || times[n] <= (1+flatShare)*times[0]) {
		n++
	}
	return n
}

// effective returns sizes that the times of long messages are a line of: those of the bytes, and a share of the room
// that is left in the last packet. The share is 0 where the room takes no time, and 1 where it takes as long as bytes
// would. Four sizes above a packet or more say which: those from index large on, or else all. Their first index is
// from. Fewer do not: then the sizes are x, and from is −1.
func effective(x, y []float64, large int, packet float64) (at []float64, from int) {
	from = large
	if len(x)-large <= minLarge || x[large] <= packet {
		from, _ = slices.BinarySearch(x, math.Nextafter(packet, math.Inf(1)))
	}
	room := roomOf(x[from:], packet)
	w, err := lsq.OrRelative(y[from:], nil)
	if err != nil || len(room) <= minLarge {
		return x, -1
	}
	rows := make([][]float64, len(room))
	for i, v := range room {
		rows[i] = []float64{1, x[from+i], v}
	}
	sol, err := lsq.Linear(rows, y[from:], w)
	if err != nil || sol.Coef[1] <= 0 { // the same room in every last packet, or none
		return x, -1
	}
	at, share := slices.Clone(x), min(max(0, sol.Coef[2]/sol.Coef[1]), 1)
	for i, v := range room {
		at[from+i] += share * v
	}
	return at, from
}

// roomOf is what the last packets of messages leave free [B].
func roomOf(x []float64, packet float64) []float64 {
	room := make([]float64, len(x))
	for i, v := range x {
		room[i] = math.Ceil(v/packet)*packet - v
	}
	return room
}

// lastPackets is the term of a slope of sizes that do not say what the room in last packets takes. It takes at least
// nothing, and at most what its bytes would. Anything between is as likely, for all of them alike.
func lastPackets(x, y []float64, packet, slope float64) []params.Term {
	w, err := lsq.OrRelative(y, nil) // as the slope is fitted
	if err != nil {
		return nil
	}
	line, err := lsq.FitLine(x, roomOf(x, packet), w)
	if err != nil || line.C1 == 0 {
		return nil
	}
	return []params.Term{{Name: "last packets", Type: params.TypeB, U: math.Abs(slope*line.C1) / math.Sqrt(3),
		Why: "last packets are not full, and what a packet takes beside its bytes is not known"}}
}

// limitsOf returns a' from the first sizes, and b' from those from index large on.
func limitsOf(x, y []float64, small start, large int, packet float64) ([]float64, error) {
	a, err := small.limit(x, y)
	if err != nil {
		return nil, err
	}
	x, _ = effective(x, y, large, packet)
	l, err := lsq.RelativeLine(x[large:], y[large:])
	return []float64{a, l.C1}, err
}

// largeSizes returns the index of the smallest size b' is taken from: the last segment of a segmented fit, where it
// holds at least three sizes over a factor of four, or begins at a break that was given; otherwise the largest decade,
// or what gives three sizes. Sizes within a packet do not count where two are above it: up to a packet T grows faster,
// or not at all.
func largeSizes(sizes, times, breaks []float64, packet float64) int {
	n := len(sizes)
	k := lastSegment(sizes, times, breaks)
	for n-k > 2 && sizes[k] <= packet && sizes[n-2] > packet {
		k++
	}
	return k
}

// lastSegment is largeSizes without regard to the packet.
func lastSegment(sizes, times, breaks []float64) int {
	n := len(sizes)
	if seg, err := lsq.FitSegments(sizes, times, lsq.SegmentOptions{Breaks: breaks}); err == nil {
		last := seg.Segments[len(seg.Segments)-1]
		if last.Distinct >= minLarge && (len(breaks) > 0 || last.Hi >= largeSpan*last.Lo) && !last.Flat {
			return n - last.Distinct
		}
	}
	k := n - 1
	for k > 0 && (sizes[k-1] >= sizes[n-1]/10 || n-k < minLarge) {
		k--
	}
	return k
}

func hyperbolaPlots(f *params.Fit) []plot.Plot {
	x := messageSizes(f)
	curves := fit.TwoParameterCurve(f, "hyperbola", "a_prime_limits", "b_prime_limits", x, params.ServiceTime)
	rate := ""
	if v, ok := f.Parameters["r_inf"].Raw(); ok {
		rate = " (" + units.Format(v, "B/s") + ")"
	}
	return timeBySize(f, "hyperbola", fit.Misses("The hyperbola, "+fit.ValueWords(f, "a_prime_limits")+" for small "+
		"messages and "+fit.ValueWords(f, "b_prime_limits")+rate+" for large ones, is", f.Of(params.Time)...), curves)
}
