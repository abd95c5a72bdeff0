// Package plan says what a run measures, in which order, and how it keeps its budget. A Plan is data: built in or a
// YAML file. A Schedule is made of it once, when the network has been looked at: experiments laid out over the hosts,
// and made to fit the budget. Pace keeps the budget while the run goes on, and Steering ends it when the numbers of
// record are narrow enough.
//
// docs/explanation/measuring.md, "Where the time goes", has all the rules on one page.
package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/bench"
	"calib/bench/pattern"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/units"
)

// ErrPlan reports a plan that cannot be run as it stands.
var ErrPlan = errors.New("plan")

// maxRounds bounds a plan, so that one digit too many in it does not measure for a year.
const maxRounds = 10_000

// unboundedRounds end a run that nothing else ends: a simulated network takes no time.
const unboundedRounds = 30

// A segment is at least 500 bytes: over IPv4 every host takes 536, with options (RFC 9293, section 3.7.1). It is less
// than an IP packet.
const (
	minSegment = 500
	maxSegment = 65_535
)

type Rounds struct {
	Min int `yaml:"min" json:"min"` // before the run may end
	// Max ends the run. 0 is no bound beside the budget, or, where no time bounds the run, unboundedRounds.
	Max int `yaml:"max" json:"max"`
}

// Plan says what to measure and when to stop. It is data: a built-in plan or a file, changed by flags, kept in
// run.json.
type Plan struct {
	Name        string   `yaml:"name" json:"name"`
	Experiments []string `yaml:"experiments" json:"experiments,omitempty"` // by name; none means all
	// Chosen says that a user named the experiments: a short budget then gives them fewer rounds, and leaves none out.
	Chosen bool `yaml:"-" json:"chosen,omitempty"`
	// Limits bound the designs. New sets Hosts and Seed. A Segment of 0 is replaced by what the hosts report.
	bench.Limits `yaml:",inline"`
	Rounds       Rounds `yaml:"rounds" json:"rounds"`
	// Target is the half-width of a 95% interval, relative to its value, at which a number of record is narrow enough. 0
	// means each number's own (run/targets.go).
	Target float64 `yaml:"target" json:"target"`
	// Budget is the measuring time after which the run ends; 0 leaves Rounds.Max as the only bound.
	Budget units.Nanos `yaml:"-" json:"-"`
	// Isolate gives each team a slot of its own, where disjoint teams disturb each other.
	Isolate bool `yaml:"isolate" json:"isolate"`
	// Permute gives the places of a layout to other hosts each time: see Places.
	Permute bool `yaml:"permute" json:"permute"`
	// KeepConnections keeps data connections for the whole run. Otherwise every round opens its own, from other ports,
	// so that other paths (ECMP) and receive queues (RSS) serve them.
	KeepConnections bool   `yaml:"keep_connections" json:"keep_connections"`
	Seed            uint64 `yaml:"seed" json:"seed"`
}

// Built-in plans. A plan asks for six rounds: each gives a median, and five medians have no 95% interval.
const (
	Quick    = "quick"    // a first look, well under a minute
	Standard = "standard" // parameters to compute with
	Full     = "full"     // every experiment, every pair of hosts, tighter intervals
)

// What the smaller plans measure. Only the full plan remaps all to all, broadcasts, computes while messages are under
// way, and tunes Nagle's algorithm.
var (
	quickExperiments = []string{names.Clock, names.Pingpong, names.Wakeup, names.Paired, names.Overhead, names.Gap,
		names.Gather, names.Flood, names.Fragment, names.Buffer}
	standardExperiments = []string{names.Clock, names.Pingpong, names.Wakeup, names.Paired, names.Overhead, names.Gap,
		names.Gather, names.Load, names.PRTT, names.Copy, names.Pattern, names.Flood, names.Fragment, names.Buffer}
)

func BuiltinNames() []string { return []string{Quick, Standard, Full} }

func Builtin(name string) (Plan, error) {
	p := Plan{Name: name, Rounds: Rounds{Min: 6}, Permute: true}
	switch name {
	case Quick:
		p.Experiments, p.Budget = quickExperiments, 30*units.Second
		p.Limits = bench.Limits{Effort: 0.25, MaxBytes: 256 * units.KiB}
	case Standard:
		p.Experiments, p.Limits, p.Budget = standardExperiments, bench.Limits{Effort: 1}, 300*units.Second
	case Full:
		p.Limits, p.Budget, p.Target = bench.Limits{Effort: 2, Pairs: bench.AllPairs}, 3600*units.Second, 0.01
		p.Rounds.Min = 10
	default:
		return Plan{}, fmt.Errorf("%w %q: no such plan (have %s)", ErrPlan, name, strings.Join(BuiltinNames(), ", "))
	}
	return p, nil
}

// Validate reports everything wrong with p, each with the values it may have.
func (p Plan) Validate(exps []*bench.Experiment) error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("%w %q: "+format, append([]any{ErrPlan, p.Name}, args...)...))
		}
	}
	listed := func(what string, names, have []string) {
		for i, name := range names {
			check(slices.Contains(have, name), "%ss: no %s %q (have %s)", what, what, name, strings.Join(have, ", "))
			check(!slices.Contains(have, name) || !slices.Contains(names[:i], name), "%ss: %q is listed twice", what, name)
		}
	}
	listed("experiment", p.Experiments, Plan{}.Names(exps))
	r, l, x := p.Rounds, p.Limits, p.Limits.Path
	check(r.Min >= 1 && (r.Max == 0 || r.Max >= r.Min) && max(r.Min, r.Max) <= maxRounds,
		"rounds: min %d, max %d: want 1 ≤ min ≤ max ≤ %d, or a max of 0 for as many as there is time for",
		r.Min, r.Max, maxRounds)
	check(p.Target >= 0 && p.Target < 1,
		"target: %g: want half of an interval as a fraction of the value, such as 0.02", p.Target)
	check(p.Budget >= 0, "budget: %s: want a time such as 5m, or 0 for none", p.Budget)
	check(l.Effort >= 0 && !math.IsInf(float64(l.Effort), 1), "effort: %g: want a factor such as 0.25 or 2",
		float64(l.Effort))
	check(l.MaxBytes >= 0, "max_bytes: %d: want a size such as 1MiB, or 0 for each experiment's own", l.MaxBytes)
	check(!x.Known() || x.Latency > 0 && min(x.PerByte, x.Slower) >= 0 && x.PerByte < 1e9 &&
		min(x.Slot, units.Nanos(x.AtOnce)) >= 0,
		"path: latency %d ns, %g ns/B, slot %d ns, %d pairs at once %g times slower: want a latency above 0, and none "+
			"of the others below", x.Latency, x.PerByte, x.Slot, x.AtOnce, x.Slower)
	check(l.Segment == 0 || l.Segment >= minSegment && l.Segment <= maxSegment,
		"segment: %d: want %d to %d bytes, or 0 for that of the hosts' connections", l.Segment, minSegment, maxSegment)
	check(slices.IsSorted(l.Sizes) && (len(l.Sizes) == 0 || l.Sizes[0] >= 1),
		"sizes: %v: want ascending sizes of at least 1 byte", l.Sizes)
	listed("pattern", l.Patterns, pattern.Names())
	return errors.Join(errs...)
}

// Names lists the experiments of p: those it names, or all.
func (p Plan) Names(all []*bench.Experiment) []string {
	return lists.Map(p.choose(all), func(e *bench.Experiment) string { return e.Name })
}

// choose returns the experiments p names, in p's order, or all of them.
func (p Plan) choose(exps []*bench.Experiment) []*bench.Experiment {
	if len(p.Experiments) == 0 {
		return exps
	}
	return lists.Map(p.Experiments, func(name string) *bench.Experiment {
		e, _ := bench.Find(exps, name) // Validate has found it
		return e
	})
}
