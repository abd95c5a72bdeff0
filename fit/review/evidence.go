package review

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
)

// Limits of the misfit of a model on its own data, above which its numbers are provisional. The papers' own models miss
// what they predict by 10 to 17% on average, and their worst case by 35%. What may be noise does not count.
const (
	meanMisfit  = 0.1  // mean relative error at the points of the model
	worstMisfit = 0.5  // largest one
	leftOut     = 0.25 // mean error at sizes that the fit has not seen
)

// threePairs is the number of hosts that makes three numbers of pairs: 1, 2 and 3.
const threePairs = 6

// smallest is the size [B] up to which the limit of small messages is compared with the times measured.
const smallest = 64

// readOff are numbers that were read or counted rather than estimated, and choices from a table: they need no interval.
var readOff = []string{
	"packet", "send_buffer", "timer_resolution", "best_fragment_", "smallest_buffer_", "nagle_costly",
}

// imported begins the name of the plan of a run that was made of another tool's output.
const imported = "imported:"

// evidence makes provisional what has too little of it: no interval, too few rounds, no data beyond the number of
// unknowns, a model that misses its own data, another tool's figures.
func (r *review) evidence() {
	r.eachParameter(func(name string, q params.Parameter) {
		reasons := []string{r.foreign()}
		if listed(readOff, name) {
			if q.CI95 == nil {
				q.Why = "read or chosen, not estimated: it needs no interval"
				r.Parameters[name] = q
			}
		} else if v, known := q.Raw(); known && v == 0 && q.CI95 == nil && listed(signed, name) {
			q.Why = "the best choice is the one that it is compared with: it needs no interval"
			r.Parameters[name] = q
		} else {
			reasons = append(reasons, r.missing(), r.lossy(q.Model), r.imprecise(q), r.tooFewRounds(q.Model),
				r.noFreedom(name, q), r.misfit(name, q.Model), r.short(name))
		}
		r.provisional(name, reasons...)
	})
	r.eachFunction(func(name string, f params.Function) {
		none := ""
		if len(f.CI95) == 0 && f.Status != params.StatusProvisional {
			none = r.noInterval(f.Model)
		}
		r.provisionalFunction(name, none, r.wide(f), r.missing(), r.lossy(f.Model), r.tooFewRounds(f.Model),
			r.noFreedomFunction(name, f), r.misfit(name, f.Model), r.foreign())
	})
}

const oneRound = "one round only"

func (r *review) noInterval(model string) string {
	if r.tooFewRounds(model) == oneRound { // which is a reason of its own
		return "no interval"
	}
	return "no interval: all rounds gave the same value"
}

// wide is the reason of a function of packets that is too uncertain at the largest of them, unless it is too small to
// matter.
func (r *review) wide(f params.Function) string {
	m, p := f.Domain["m"][1], f.Domain["p"][1]
	v, err := f.At(m, p, r.Functions)
	half, _ := f.HalfWidthAt(m, p)
	if err != nil || m == 0 || half <= params.Useful*v || half <= params.Material*r.reference(f.Unit) {
		return ""
	}
	return fmt.Sprintf("its 95%% interval at %v is wider than ± %.0f%%", units.Bytes(m), 100*params.Useful)
}

// imprecise is the reason of a number that is too uncertain to be of use, unless it is too small to matter. Where
// rounds alone leave it so wide, it says how much longer a run has to be, otherwise what makes it uncertain and what
// would tell.
func (r *review) imprecise(q params.Parameter) string {
	if q.CI95 == nil {
		return r.noInterval(q.Model)
	}
	v, lo, hi, _ := q.Ends()
	half := (hi - lo) / 2
	if q.Unit == "1" || half <= params.Useful*math.Abs(v) || half <= params.Material*r.reference(q.Unit) {
		return ""
	}
	squares, most := 0.0, params.Term{}
	for _, t := range q.Budget {
		squares += t.U * t.U
		if t.U > most.U {
			most = t
		}
	}
	wider := fmt.Sprintf(" wider than ± %.0f%%: ", 100*params.Useful)
	if most.U == 0 || most.Type == params.TypeA {
		if squares > 0 {
			half *= most.U / math.Sqrt(squares)
		}
		longer := math.Max(2, math.Ceil(math.Pow(half/(params.Useful*v), 2)-1e-6))
		if longer > 100 { // which nobody waits for
			return "the interval is" + wider + "rounds differ too much for a longer run to narrow it; use idle hosts"
		}
		return fmt.Sprintf("its interval is%sa run about %.0f times as long narrows it", wider, longer)
	}
	return fmt.Sprintf("%s makes it%s%s; %s", most.Name, wider, most.Why,
		cmp.Or(remedies[most.Name], "more rounds do not narrow it"))
}

// remedies say what narrows a number that a term leaves wide.
var remedies = map[string]string{
	"smallest size": "measure a smaller size, such as 1 B (--sizes)",
	"misfit":        "use the points of the curve (points.json), or measure more sizes (--sizes)",
	params.TermClockOffset: "experiments that average both directions need no offset; a time service that all hosts " +
		"share (chrony, PTP) makes it smaller",
	"unsteady streams": "what else uses the network or the hosts has to stop",
	"start skew":       "use idle hosts: they start closer together",
	"slow pairs":       "leave the slow hosts out",
}

// foreign is the reason of another tool's figures.
func (r *review) foreign() string {
	if strings.HasPrefix(r.Run.Plan, imported) {
		return "another tool's figures: what it averaged and left out is not known"
	}
	return ""
}

// missing is the reason of a run that lacks most of what it planned.
func (r *review) missing() string {
	if r.Run.Missing > params.MaxMissing {
		return fmt.Sprintf("%.0f%% of the planned slots were not measured, more than %.0f%%",
			100*r.Run.Missing, 100*params.MaxMissing)
	}
	return ""
}

// lossy is the reason of a model that lost many of its timings: those without loss are a choice of them.
func (r *review) lossy(model string) string {
	if f := r.fits[model]; f != nil && params.Discarded(f) > params.MaxDiscarded {
		return fmt.Sprintf("%.0f%% of its timings were lost to retransmissions and timeouts, more than %.0f%%",
			100*params.Discarded(f), 100*params.MaxDiscarded)
	}
	return ""
}

// short is the reason of beta and r_inf where no long message was measured: the bytes of the longest one take less time
// than alpha.
func (r *review) short(name string) string {
	alpha, known := r.Parameters["alpha"].Raw()
	beta, ok := r.Parameters["beta"].Raw()
	f := r.fits["hockney"]
	if f == nil || !known || !ok || name != "beta" && name != "r_inf" {
		return ""
	}
	if _, longest, some := params.Span(f.Of(params.Time)...); some && beta*longest < alpha {
		return fmt.Sprintf("the longest message was %v, whose bytes take less time than alpha: "+
			"measure longer ones", units.Bytes(longest))
	}
	return ""
}

// tooFewRounds is the reason of a model with one or two rounds; files without the number of rounds of a fit have that
// of the run.
func (r *review) tooFewRounds(model string) string {
	n := r.Run.Rounds
	if f := r.fits[model]; f != nil && f.Rounds > 0 {
		n = f.Rounds
	}
	switch n {
	case 1:
		return oneRound
	case 2:
		return "two rounds only: their spread is one difference"
	}
	return ""
}

// shares lists, for parameters that two of them take from the points of a series, the other and the series.
var shares = map[string]struct {
	other    string
	quantity params.Quantity
}{
	"a": {"a_c", params.FixedTime}, "a_c": {"a", params.FixedTime},
	"b": {"b_c", params.TimePerByte}, "b_c": {"b", params.TimePerByte},
}

// noFreedom is the reason of parameters that have no more points than unknowns, where the hosts would give more. Fewer
// hosts than threePairs give two numbers of pairs in any run.
func (r *review) noFreedom(name string, q params.Parameter) string {
	s, ok := shares[name]
	f := r.fits[q.Model]
	if !ok || f == nil || len(r.Run.Hosts) < threePairs {
		return ""
	}
	if _, estimated := f.Parameters[s.other].Raw(); !estimated {
		return ""
	}
	for _, series := range f.Of(s.quantity) {
		if n := len(series.Points); n > 0 && n <= 2 {
			return fmt.Sprintf("%d numbers of pairs for 2 parameters: the fit cannot be checked", n)
		}
	}
	return ""
}

// noFreedomFunction is the reason of a function with no more points than coefficients. Segments have three points each
// by construction, or hold what lines from size to size miss sizes left out by.
func (r *review) noFreedomFunction(name string, f params.Function) string {
	fit := r.fits[f.Model]
	if fit == nil || f.Form == params.Pieces {
		return ""
	}
	n := 0
	for _, s := range fit.Series {
		if s.Symbol == name {
			n += len(s.Points)
		}
	}
	k := len(f.Coeff)
	if hosts, ok := f.Domain["p"]; ok && hosts[0] == hosts[1] {
		k-- // l1 is not fitted
	}
	if n > 0 && n <= k {
		return fmt.Sprintf("%d points for %d coefficients: the fit cannot be checked", n, k)
	}
	return ""
}

// ofEnds are parameters that describe one end of the sizes only, and are judged there: eq. 3 and 16 are smooth curves
// where a network has a step at each packet, and miss the sizes around one packet whatever their parameters.
var ofEnds = map[string]struct {
	quantity params.Quantity
	large    bool
}{
	"a_prime_limits": {params.Time, false}, "b_prime_limits": {params.Time, true}, "r_inf": {params.Time, true},
	"a": {params.BurstTime, false}, "a_c": {params.BurstTime, false}, "a_prime": {params.BurstTime, false},
}

// restOn are the points that numbers are taken from. Functions that are not named here are taken from the points with
// their symbol. Other numbers are counted, or computed from single points, which no curve can miss.
var restOn = []struct {
	points params.Quantity
	names  []string
}{
	{params.Time, []string{"alpha", "beta", "T", "gamma_h", "i_cs"}},
	{params.FixedTime, []string{"a", "a_c", "a_prime"}},
	{params.TimePerByte, []string{"b", "b_c"}},
	{params.Gap, []string{"g", "G"}},
	{params.HidingGain, []string{"f_", "hiding_overhead_", "Omega_", "gain_max_", "gamma_peak_", "work_peak_"}},
}

// misfit is the reason of a number whose model misses the points that the number is taken from.
func (r *review) misfit(name, model string) string {
	f := r.fits[model]
	if f == nil {
		return ""
	}
	if at, ok := ofEnds[name]; ok {
		if mean, _ := r.misses(endOf(f.Of(at.quantity), at.large)); mean > meanMisfit {
			end := map[bool]string{false: "smallest", true: "largest"}[at.large]
			return fmt.Sprintf("the model misses the %s messages by %.0f%%, more than %.0f%%",
				end, 100*mean, 100*meanMisfit)
		}
	}
	own := lists.Where(f.Series, func(s params.Series) bool { return s.Symbol == name })
	for _, q := range restOn {
		if listed(q.names, name) {
			own = append(own, f.Of(q.points)...)
		}
	}
	mean, worst := r.misses(own...)
	switch {
	case mean > meanMisfit:
		return fmt.Sprintf("%s misses %s by %.0f%% on average, limit %.0f%%",
			model, own[0].Name, 100*mean, 100*meanMisfit)
	case worst > worstMisfit:
		return fmt.Sprintf("%s misses %s by %.0f%% at one point, limit %.0f%%",
			model, own[0].Name, 100*worst, 100*worstMisfit)
	case len(own) == 1 && own[0].Quantity == params.Time && f.Quality != nil && f.Quality.LeaveOneOut != nil &&
		*f.Quality.LeaveOneOut > math.Max(leftOut, noise(own[0])):
		return fmt.Sprintf("error of %s on sizes left out of the fit %.0f%% on average, limit %.0f%%",
			model, 100**f.Quality.LeaveOneOut, 100*leftOut)
	}
	return ""
}

// misses is the mean and the largest relative misfit of some points. One that is within the noise of a point, or does
// not matter, counts as none.
func (r *review) misses(series ...params.Series) (mean, worst float64) {
	for i, s := range series {
		series[i].Points = slices.Clone(s.Points)
		for k, at := range s.Points {
			if at.Lo <= at.Fitted && at.Fitted <= at.Hi ||
				math.Abs(at.Fitted-at.Measured) <= params.Material*r.reference(cmp.Or(s.Unit, "s")) {
				series[i].Points[k].Fitted = at.Measured
			}
		}
	}
	mean, worst, _ = params.Misfit(series...)
	return mean, worst
}

// noise is the mean relative half-width of the intervals of points.
func noise(s params.Series) (mean float64) {
	for _, at := range s.Points {
		mean += (at.Hi - at.Lo) / 2 / at.Measured / float64(len(s.Points))
	}
	return mean
}

// endOf are the points at one end of the sizes: up to 64 B and at the smallest in any case, or at the largest, where
// the time per byte is nearly all of the time.
func endOf(series []params.Series, large bool) (end params.Series) {
	lo, hi, _ := params.Span(series...)
	for _, s := range series {
		for _, at := range s.Points {
			if large && at.X >= hi || !large && at.X <= math.Max(smallest, lo) {
				end.Points = append(end.Points, at)
			}
		}
	}
	return end
}
