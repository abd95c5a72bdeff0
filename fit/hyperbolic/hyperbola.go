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
	// minLarge is the fewest sizes a slope is taken from, where there are as many.
	minLarge = 3
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
		slope = append(slope, lastPackets(q.Sizes[large:], q.Packet, l[1])...)
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
	what := "intercept"
	if small.level {
		what = "limit"
	} else if small.Flat {
		what = "mean"
	}
	r.Note("limits-used", "a' is the %s over sizes of %.0f to %.0f B, b' the slope over %.0f to %.0f B",
		what, q.Sizes[0], q.Sizes[n-1], q.Sizes[large], q.Sizes[len(q.Sizes)-1])
	if q.Sizes[n-1] > q.Packet {
		r.Warn("no-one-packet-size", "no size fits in one packet of %g B: a' is that of the smallest sizes", q.Packet)
	}
	q.Finish(r, 2, math.NaN(), func(x float64) float64 { return params.ServiceTime(x, l[0], l[1]) })
	r.LeaveOneOut(lsq.LeaveOneOut(q.Sizes, q.Times.Values, func(x, y []float64) (func(float64) float64, error) {
		few := small
		few.Distinct = SmallSizes(x, y, q.Packet)
		l, err := limitsOf(x, y, few, largeSizes(x, y, q.Breaks, q.Packet), q.Packet)
		return func(x float64) float64 { return params.ServiceTime(x, l[0], l[1]) }, err
	}))
	return r.Fit, nil
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
func lastPackets(x []float64, packet, slope float64) []params.Term {
	line, _, err := lsq.FitLine(x, roomOf(x, packet), nil)
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
	l, _, err := lsq.FitLine(x[large:], y[large:], nil)
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
