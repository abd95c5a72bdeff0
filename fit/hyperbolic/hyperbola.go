package hyperbolic

import (
	"fmt"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lsq"
	"calib/internal/params"
	"calib/internal/stats"
	"calib/internal/units"
)

// Hyperbola is the service time of one message on an idle path,
//
//	T(x) = a'²/(a' + b'·x) + b'·x,  x in bytes, a' [s], b' [s/B],
//
// fitted to the half round trips of pingpong by two estimators, both reported:
//
//   - limits, the value of record (eq. 17): a_prime_limits is the time of a message of one packet extrapolated to no
//     payload, b_prime_limits the slope of the large sizes;
//   - joint: a_prime_joint and b_prime_joint minimise the relative residuals at all sizes at once (Gauss-Newton).
//
// Residuals and quality are those of eq. 3 with the limits; a note gives the misfit of the joint estimate. Source:
// Stoica, Sultan, Keyes 1994, eq. 3, 16, 17.
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
	small := SmallSizes(q.Sizes, q.Times.Values, q.Packet)
	large := largeSizes(q.Sizes, q.Times.Values, q.Breaks, q.Packet)
	limits, err := q.Times.Derive(func(y []float64) ([]float64, error) { return limitsOf(q.Sizes, y, small, large) })
	if err != nil {
		return nil, fmt.Errorf("model hyperbola, limits: %w", err)
	}
	l := limits.Values
	start := lineMisfit(q.Sizes[:small], q.Times.Values[:small], limits.Point(0), func(l lsq.Line) float64 { return l.C0 })
	slope := append(lastPackets(q.Sizes[large:], q.Packet, l[1]),
		lineMisfit(q.Sizes[large:], q.Times.Values[large:], limits.Point(1), func(l lsq.Line) float64 { return l.C1 })...)
	r.Found("a_prime_limits", "s", "fixed time of a message, limit of small sizes", l[0], limits.Point(0),
		append(p.ClockReading(1), start...)...)
	r.Found("b_prime_limits", "s/B", "time per byte, limit of large sizes", l[1], limits.Point(1), slope...)
	r.Together([]string{"a_prime_limits", "b_prime_limits"}, limits.Replicates)
	r.Note("limits-used", "a' is the intercept of %g to %g B, b' the slope of %g to %g B",
		q.Sizes[0], q.Sizes[small-1], q.Sizes[large], q.Sizes[len(q.Sizes)-1])
	if q.Sizes[small-1] > q.Packet {
		r.Warn("no-one-packet-size", "no size fits in one packet of %g B: a' is that of the smallest sizes", q.Packet)
	}
	condition, err := joint(r, p, q, l)
	if err != nil {
		r.Warn(params.JointEstimate, "joint estimate: %v", err)
	}
	predict := func(x float64) float64 { return params.ServiceTime(x, l[0], l[1]) }
	return q.Finish(r, condition, predict, func(x, y []float64) (func(float64) float64, error) {
		l, err := limitsOf(x, y, SmallSizes(x, y, q.Packet), largeSizes(x, y, q.Breaks, q.Packet))
		return func(x float64) float64 { return params.ServiceTime(x, l[0], l[1]) }, err
	}), nil
}

// lineMisfit is the term of a number of a line, of interval ci, for points that lie off it.
func lineMisfit(x, y []float64, ci [2]float64, of func(lsq.Line) float64) []params.Term {
	line, _, err := lsq.FitLine(x, y, nil)
	if err != nil { // one size
		return nil
	}
	return fit.OfMisfit(y, func(i int) float64 { return line.At(x[i]) }, 2, func(y []float64) ([]float64, error) {
		l, _, err := lsq.FitLine(x, y, nil)
		return []float64{of(l)}, err
	}, ci)[0]
}

// lastPackets is the term of a slope for last packets that are not full. One takes at least the time of its bytes, and at
// most that of a full packet. Any part of the difference is as likely as any other, for all of them alike.
func lastPackets(x []float64, packet, slope float64) []params.Term {
	if packet <= 0 {
		return nil
	}
	room := make([]float64, len(x))
	for i, v := range x {
		room[i] = slope * (math.Ceil(v/packet)*packet - v)
	}
	line, _, err := lsq.FitLine(x, room, nil)
	if err != nil || line.C1 == 0 {
		return nil
	}
	return []params.Term{{Name: "last packets", Type: params.TypeB, U: math.Abs(line.C1) / math.Sqrt(3),
		Why: "last packets are not full, and what a packet takes beside its bytes is not known"}}
}

// limitsOf returns a' from the first small sizes, and b' from those from index large on.
func limitsOf(x, y []float64, small, large int) ([]float64, error) {
	a, err := lsq.Intercept(x[:small], y[:small])
	if err != nil {
		return nil, err
	}
	l, _, err := lsq.FitLine(x[large:], y[large:], nil)
	return []float64{a, l.C1}, err
}

// joint records the estimate from all sizes at once and returns its condition number.
func joint(r *fit.Result, p *fit.Prepared, q *fit.Pingpong, limits []float64) (float64, error) {
	j, condition, err := jointHyperbola(q.Sizes, q.Times.Values, limits)
	if err != nil {
		return math.NaN(), err
	}
	again := func(y []float64) ([]float64, error) {
		l, _, err := jointHyperbola(q.Sizes, y, j)
		return l, err
	}
	at := func(i int) float64 { return params.ServiceTime(q.Sizes[i], j[0], j[1]) }
	_, _, ci, misfit := fit.Uncertain(q.Times, j, resample.Map(q.Times.Replicates, again),
		func(l []float64) []float64 { return l }, at, 2, again)
	r.Found("a_prime_joint", "s", "fixed time of a message, all sizes at once", j[0], ci[0],
		append(p.ClockReading(1), misfit[0]...)...)
	r.Found("b_prime_joint", "s/B", "time per byte, all sizes at once", j[1], ci[1], misfit[1]...)
	errs := make([]float64, len(q.Sizes))
	worst := 0
	for i := range q.Sizes {
		errs[i] = math.Abs(at(i)/q.Times.Values[i] - 1)
		if errs[i] > errs[worst] {
			worst = i
		}
	}
	r.Add(params.Notef(params.JointEstimate, "the joint estimate misses T by %.1f%% on average and by %.1f%% at most, "+
		"at %g B", 100*stats.Mean(errs), 100*errs[worst], q.Sizes[worst]).
		With("mean", stats.Mean(errs)).With("worst", errs[worst]))
	return condition(), nil
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
	if seg, err := lsq.FitSegments(sizes, times, breaks); err == nil {
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

// maxSteps bounds the Gauss-Newton steps of the joint estimate, and how often one is halved. It takes about five.
const maxSteps = 50

// jointHyperbola fits eq. 3 to relative residuals from a start, by Gauss-Newton steps that are halved until they bring
// the curve nearer. It also returns the condition number of the last step's equations.
func jointHyperbola(x, y, start []float64) (l []float64, condition func() float64, err error) {
	w, err := lsq.RelativeWeights(y)
	if err != nil {
		return nil, nil, err
	}
	misses := func(l []float64) (r []float64, squares float64) {
		r = make([]float64, len(x))
		for i, v := range x {
			r[i] = y[i] - params.ServiceTime(v, l[0], l[1])
			squares += w[i] * r[i] * r[i]
		}
		return r, squares
	}
	l = slices.Clone(start)
	r, squares := misses(l)
	rows := make([][]float64, len(x))
	for range maxSteps {
		for i, v := range x {
			a, s := l[0], l[0]+l[1]*v
			rows[i] = []float64{a * (a + 2*l[1]*v) / (s * s), v - a*a*v/(s*s)} // dT/da', dT/db'
		}
		step, err := lsq.Linear(rows, r, w)
		if err != nil {
			return nil, nil, err
		}
		da, db := step.Coef[0], step.Coef[1]
		for range maxSteps {
			next := []float64{l[0] + da, l[1] + db}
			if nextR, s := misses(next); s < squares {
				l, r, squares = next, nextR, s
				break
			}
			da, db = da/2, db/2
		}
		if math.Abs(da) <= 1e-10*math.Abs(l[0]) && math.Abs(db) <= 1e-10*math.Abs(l[1]) {
			return l, step.Cond, nil
		}
	}
	return nil, nil, fmt.Errorf("eq. 3 at all sizes: %d steps: %w", maxSteps, lsq.ErrNoConverge)
}

func hyperbolaPlots(f *params.Fit) []params.Plot {
	x := messageSizes(f)
	curves := fit.TwoParameterCurve(f, "hyperbola", "a_prime_limits", "b_prime_limits", x, params.ServiceTime)
	a, _, _, okA := f.Parameters["a_prime_joint"].Ends()
	if b, _, _, okB := f.Parameters["b_prime_joint"].Ends(); okA && okB {
		joint := func(x float64) float64 { return params.ServiceTime(x, a, b) }
		curves = append(curves, fit.Traced("hyperbola, all sizes at once", x, joint, nil, nil)...)
	}
	rate := ""
	if b, _, _, ok := f.Parameters["b_prime_limits"].Ends(); ok && b > 0 {
		rate = " (" + units.Format(1/b, "B/s") + ")"
	}
	return timeBySize(f, "hyperbola", fit.Misses("The hyperbola, "+fit.ValueWords(f, "a_prime_limits")+" for small "+
		"messages and "+fit.ValueWords(f, "b_prime_limits")+rate+" for large ones, is", f.Of(params.Time)...), curves)
}
