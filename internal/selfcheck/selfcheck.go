// Package selfcheck judges a copy of a run's network: what was measured on the copy, whose parameters are known,
// against what the copy was given.
//
// Its opinion: the truth is the network that was played (package truth), and stands beside what the run found, so that
// a translation which says something else than the run shows. An interval at 95% misses once in twenty, and a run has
// many parameters: one that is outside is measured a second time, and counts only if it is outside again. What the copy
// does not determine is neither back nor missed. What a run computes of the times of all sizes (alpha, beta, …) is
// given to no network, and not judged.
package selfcheck

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"calib/internal/lists"
	"calib/internal/netspec"
	"calib/params"
)

type Verdict string

const (
	Back         Verdict = "back"         // the truth is in the copy's 95% interval, give or take Row.Lab, or its bound
	Missed       Verdict = "missed"       // it is outside
	Undetermined Verdict = "undetermined" // the copy has no value or no interval
	NotPlayed    Verdict = "not played"   // no parameter of the network played: of the hosts, or not known of the run
)

// Row is one parameter: what the run found, what the copy was given, what was measured there. Numbers of the run are
// slowed.
type Row struct {
	Name      string      `json:"name"`
	Label     string      `json:"label"`
	Unit      string      `json:"unit"`
	Run       *float64    `json:"run,omitempty"`
	RunCI95   *[2]float64 `json:"run_ci95,omitempty"`
	RunStatus string      `json:"run_status,omitempty"`
	Truth     *float64    `json:"truth,omitempty"`
	Copy      *float64    `json:"copy,omitempty"`
	CI95      *[2]float64 `json:"ci95,omitempty"`
	Status    string      `json:"status,omitempty"`
	// Lab is what the lab's own hosts may add: the truth may be so far outside the interval.
	Lab     float64 `json:"lab,omitempty"`
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why,omitempty"`
	// Otherwise: the network that was played says otherwise than the run, by more than the run's interval and a
	// hundredth.
	Otherwise bool `json:"file_says_otherwise,omitempty"`
	// Again: it was outside the interval once, and not in the second measurement.
	Again bool `json:"missed_once,omitempty"`
}

// Judge compares what was measured on a copy with the network that was played and with the run that the copy is of.
// Hosts of the copy are in the order of those of s.
func Judge(s *netspec.Spec, run, copied *params.Params) []Row {
	slowdown := cmp.Or(max(s.Slowdown, 0), 1)
	known := s.TrueParameters()
	maps.Copy(known, s.TrueFunctions())
	for _, name := range derived {
		delete(known, name)
	}
	theirs, mine := numbers(run, slowdown), numbers(copied, 1)
	var out []Row
	for name, q := range lists.ByKey(theirs) {
		r := Row{Name: name, Label: q.Label, Unit: q.Unit, Run: q.Value, RunCI95: q.CI95, RunStatus: q.Status}
		t, stated := known[name]
		switch {
		case stated:
			r.Truth = &t
			r.Otherwise = r.Run != nil && otherwise(*r.Run, r.RunCI95, t)
			r.judge(mine[name], q.Bound != nil)
		case r.Run != nil:
			r.Verdict = NotPlayed
		}
		if r.Verdict != "" {
			out = append(out, r)
		}
	}
	return append(out, structure(s, run, copied)...)
}

// derived are parameters that are computed from times of messages of the sizes that were measured: other sizes give
// other values on the same network, the same sizes the same.
var derived = []string{"alpha", "beta", "a_prime_limits", "b_prime_limits", "r_inf", "g", "G"}

// least is by which share the network may say otherwise than the run before that is worth a word.
const least = 0.01

// otherwise reports whether t is outside a run's interval and more than least from its value.
func otherwise(v float64, ci *[2]float64, t float64) bool {
	lo, hi := v-least*math.Abs(v), v+least*math.Abs(v)
	if ci != nil {
		lo, hi = math.Min(lo, ci[0]), math.Max(hi, ci[1])
	}
	return t < lo || t > hi
}

// judge compares the copy's number with the truth. bounded: the run has a bound only, so that the copy need have no
// more.
func (r *Row) judge(c params.Parameter, bounded bool) {
	r.Copy, r.CI95, r.Status, r.Verdict, r.Lab = c.Value, c.CI95, c.Status, Undetermined, HostsAdd(r.Name)
	t := *r.Truth
	switch {
	case c.Value == nil && c.Bound != nil && (bounded || c.Status == params.StatusBound):
		r.Verdict = Missed
		if c.Bound[0] <= t && t <= c.Bound[1] {
			r.Verdict = Back
		}
		r.CI95, r.Why = (*[2]float64)(c.Bound), "bound"
	case c.Value == nil:
		r.Why = cmp.Or(c.Why, "the copy's run does not have it")
	case c.CI95 == nil:
		r.Why = cmp.Or(c.Why, "no interval")
	case c.CI95[0]-r.Lab <= t && t <= c.CI95[1]+r.Lab:
		r.Verdict = Back
	default:
		r.Verdict = Missed
	}
}

// HostsAdd is the most that kernel, wake-up and agents of the lab's hosts add to a number, beside the network that the
// lab was given: 30 µs for each message from host to host that is in it [s].
func HostsAdd(name string) float64 {
	switch name {
	case "a":
		return 15e-6
	case "a_prime", "a_prime_limits", "alpha", "L", "L_cluster.l0", "L_cluster.floor":
		return 30e-6
	}
	return 0
}

// numbers lists parameters by name and coefficients of cost functions as "g_s.c1", where all times are slowdown times
// as long.
func numbers(p *params.Params, slowdown float64) map[string]params.Parameter {
	out := map[string]params.Parameter{}
	for name, q := range p.Parameters {
		if q.Value == nil {
			q.CI95 = nil
		}
		out[name] = slowed(q, slowdown)
	}
	for name, fn := range p.Functions {
		for c, v := range fn.Coeff {
			unit := fn.CoeffUnit(c)
			if unit == "" || name == "T" { // the segments of T are others from run to run
				continue
			}
			q := params.Parameter{Label: fn.Label + ", " + c, Unit: unit, Status: fn.Status, Why: fn.Why}
			if fn.Usable() {
				q.Value, q.CI95 = &v, fn.Interval(c)
			}
			out[name+"."+c] = slowed(q, slowdown)
		}
	}
	return out
}

func slowed(q params.Parameter, slowdown float64) params.Parameter {
	f := map[string]float64{"s": slowdown, "s/B": slowdown, "B/s": 1 / slowdown}[q.Unit]
	if f == 0 || f == 1 {
		return q
	}
	if q.Value != nil {
		q.Value = new(*q.Value * f)
	}
	if q.CI95 != nil {
		q.CI95 = &[2]float64{q.CI95[0] * f, q.CI95[1] * f}
	}
	if q.Bound != nil {
		q.Bound = &params.Bound{q.Bound[0] * f, q.Bound[1] * f}
	}
	return q
}

func CountOf(rows []Row) map[Verdict]int {
	c := map[Verdict]int{}
	for _, r := range rows {
		c[r.Verdict]++
	}
	return c
}

// Confirm returns the first measurement's rows, in which those count as missed that the second measurement misses, too.
// What the second does not determine stays missed.
func Confirm(first, second []Row) []Row {
	out := slices.Clone(first)
	for i, r := range out {
		if r.Verdict != Missed {
			continue
		}
		k := slices.IndexFunc(second, func(o Row) bool { return o.Name == r.Name })
		switch {
		case k < 0 && r.Truth == nil || k >= 0 && second[k].Verdict == Back: // a host that was named, and is not named again
			if k >= 0 {
				out[i] = second[k]
			}
			out[i].Verdict, out[i].Again = Back, true
		case k >= 0 && second[k].Verdict == Missed:
			out[i] = second[k]
		}
	}
	return out
}

func Sentence(rows []Row, slowdown float64) string {
	c := CountOf(rows)
	where := func(some func(Row) bool) string {
		return strings.Join(lists.Map(lists.Where(rows, some), func(r Row) string { return r.Name }), ", ")
	}
	names := func(v Verdict) string { return where(func(r Row) bool { return r.Verdict == v }) }
	judged, of := c[Back]+c[Missed], "the copy"
	if slowdown > 1 {
		of = fmt.Sprintf("the copy, %g times slower,", slowdown)
	}
	var b strings.Builder
	switch {
	case judged == 0:
		b.WriteString("Inconclusive: nothing could be judged.")
	case c[Missed] > 0:
		fmt.Fprintf(&b, "Of %d results of %s %d did not come back: %s.", judged, of, c[Missed], names(Missed))
	case c[Undetermined] > 0:
		fmt.Fprintf(&b, "Inconclusive: %d of %d results of %s came back, the others were not determined.",
			c[Back], judged+c[Undetermined], of)
	default:
		fmt.Fprintf(&b, "All %d results of %s came back: on a network with these parameters calib finds these parameters.",
			c[Back], of)
	}
	if c[Undetermined] > 0 {
		fmt.Fprintf(&b, " Not determined: %s.", names(Undetermined))
	}
	if again := where(func(r Row) bool { return r.Again }); again != "" {
		fmt.Fprintf(&b, " Outside once and back the second time: %s.", again)
	}
	if other := where(func(r Row) bool { return r.Otherwise }); other != "" {
		fmt.Fprintf(&b, " The lab file says otherwise than the run of: %s.", other)
	}
	return b.String()
}

// structure judges what is no number: the kind of the network, and the hosts and pairs that are slow. They come back by
// their names.
func structure(s *netspec.Spec, run, copied *params.Params) []Row {
	var out []Row
	if run.Network != nil && copied.Network != nil {
		played := params.Switch
		if s.Mode == netspec.Shared {
			played = params.Shared
		}
		was, is := run.Network.Packets, copied.Network.Packets
		r := Row{Name: "network", Label: "what the network behaves like", RunStatus: string(was), Verdict: Back,
			Status: string(is), Why: "played as " + string(played), Otherwise: was != played && was != params.Unknown}
		switch is {
		case played:
		case params.Unknown:
			if r.Verdict = Undetermined; was == params.Unknown {
				r.Verdict = NotPlayed
			}
		default:
			r.Verdict = Missed
		}
		out = append(out, r)
	}
	slow, pairs := standingOut(copied)
	played := func(name, label string, named, measured bool) {
		r := Row{Name: name, Label: label, Verdict: Undetermined, Status: "not measured", Why: "played as slow"}
		if named {
			r.Verdict, r.Status = Back, "named"
		} else if measured {
			r.Verdict, r.Status = Missed, "not named"
		}
		out = append(out, r)
	}
	for _, i := range slices.Sorted(maps.Keys(s.Overrides)) {
		played(fmt.Sprintf("host %d", i), "slow host", slow[i], true)
	}
	for _, i := range slices.Sorted(maps.Keys(slow)) {
		if _, ok := s.Overrides[i]; !ok {
			out = append(out, Row{Name: fmt.Sprintf("host %d", i), Label: "slow host", Verdict: Missed, Status: "named",
				Why: "played as fast as the others"})
		}
	}
	for _, l := range s.Links {
		if len(l.Between[0]) > 1 || len(l.Between[1]) > 1 {
			continue // the uplink of a group
		}
		pair := [2]int{min(l.Between[0][0], l.Between[1][0]), max(l.Between[0][0], l.Between[1][0])}
		named, measured := pairs[pair]
		played(fmt.Sprintf("pair %d, %d", pair[0], pair[1]), "slow pair", named, measured)
	}
	return out
}

// standingOut returns the hosts that a run names as slow, by index, and its pairs, with whether they stand out.
func standingOut(p *params.Params) (hosts map[int]bool, pairs map[[2]int]bool) {
	hosts, pairs = map[int]bool{}, map[[2]int]bool{}
	pair := func(a, b string) [2]int {
		i, j := slices.Index(p.Run.Hosts, a), slices.Index(p.Run.Hosts, b)
		return [2]int{min(i, j), max(i, j)}
	}
	for _, q := range p.Pairs {
		k := pair(q.From, q.To)
		pairs[k] = pairs[k] || q.Slow != ""
	}
	for _, f := range p.AllFindings(params.Warning) {
		if f.Code == params.SlowHost && len(f.Hosts) == 1 && slices.Contains(p.Run.Hosts, f.Hosts[0]) {
			hosts[slices.Index(p.Run.Hosts, f.Hosts[0])] = true
		}
	}
	return hosts, pairs
}
