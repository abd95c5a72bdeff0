package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/internal/dataset/names"
	"calib/internal/units"
)

// ErrPlan reports a plan that cannot be run as it stands.
var ErrPlan = errors.New("plan")

// DefaultTarget is the relative half-width of a median's 95% interval at which a point stops.
const DefaultTarget = 0.02

// maxRounds bounds a plan, so that one digit too many in it does not measure for a year.
const maxRounds = 10_000

// A segment is at least what every host takes over IPv4 (RFC 9293, section 3.7.1) without its options, and less than an IP packet.
const (
	leastSegment = 500
	mostSegment  = 65_535
)

// Rounds bound how often every point is measured.
type Rounds struct {
	Min int `yaml:"min" json:"min"` // before a point may stop
	Max int `yaml:"max" json:"max"`
}

// Plan says what to measure and when to stop. It is data: a built-in plan or a file, changed by flags, kept in run.json.
type Plan struct {
	Name        string
	Experiments []string // by name; none means all
	// Chosen says that a user named the experiments: a short budget then gives them fewer rounds, and leaves none out.
	Chosen bool
	// Targeted says that a user named the intervals at which the run ends: its least rounds then leave half of the budget to the rounds after
	// them, which measure what these intervals need, where that costs no more than repetitions and some of the largest messages.
	Targeted bool
	// Limits bound the designs. Limits.Hosts and Limits.Seed are set by NewSchedule, Limits.Segment, where it
	// is 0, when the hosts have said what theirs is.
	Limits Limits
	Rounds Rounds
	// Target is the relative half-width of the median's 95% interval at which a point stops; 0 means DefaultTarget.
	Target float64
	// Budget is the measuring time after which every point stops; 0 leaves Rounds.Max as the only bound.
	Budget units.Nanos
	// Isolate gives each team a slot of its own, where disjoint teams disturb each other.
	Isolate bool
	// Permute gives the places of a layout to other hosts in every round: see Places.
	Permute bool
	// KeepConnections keeps data connections for the whole run. Otherwise every round opens its own, from other ports, so
	// that other paths (ECMP) and receive queues (RSS) serve them.
	KeepConnections bool
	Seed            uint64
}

// Built-in plans. At least six rounds stand behind every interval: five medians have no 95% interval.
const (
	PlanQuick    = "quick"    // a first look, well under a minute on a fast network
	PlanStandard = "standard" // parameters to compute with
	PlanFull     = "full"     // every experiment, every pair of hosts, tighter intervals
)

// What the smaller plans measure. Only the full plan floods a port until it overflows, remaps all to all, stamps messages, computes while
// messages are under way, and tunes fragments, buffers and Nagle's algorithm.
var (
	quickExperiments    = []string{names.Clock, names.Pingpong, names.Wakeup, names.Paired}
	standardExperiments = []string{names.Clock, names.Pingpong, names.Wakeup, names.Paired, names.Overhead, names.Gap, names.Gather, names.Load,
		names.PRTT, names.Copy, names.Pattern}
)

// PlanNames lists the built-in plans.
func PlanNames() []string { return []string{PlanQuick, PlanStandard, PlanFull} }

// BuiltinPlan returns the built-in plan of that name.
func BuiltinPlan(name string) (Plan, error) {
	switch name {
	case PlanQuick:
		return Plan{
			Name: name, Experiments: quickExperiments, Limits: Limits{Effort: 0.25, MaxBytes: 256 * units.KiB}, Rounds: Rounds{Min: 6, Max: 8},
			Target: 0.05, Budget: 30 * units.Second, Permute: true, Seed: 1,
		}, nil
	case PlanStandard:
		return Plan{
			Name: name, Experiments: standardExperiments, Limits: Limits{Effort: 1}, Rounds: Rounds{Min: 6, Max: 30},
			Target: DefaultTarget, Budget: 300 * units.Second, Permute: true, Seed: 1,
		}, nil
	case PlanFull:
		return Plan{
			Name: name, Limits: Limits{Effort: 2, AllPairs: true}, Rounds: Rounds{Min: 10, Max: 100},
			Target: 0.01, Budget: 3600 * units.Second, Permute: true, Seed: 1,
		}, nil
	}
	return Plan{}, fmt.Errorf("%w %q: no such plan (have %s)", ErrPlan, name, strings.Join(PlanNames(), ", "))
}

// Validate reports everything wrong with p, each with the values it may have.
func (p Plan) Validate(exps []Experiment) error {
	var errs []error
	fail := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w %q: "+format, append([]any{ErrPlan, p.Name}, args...)...))
	}
	var have []string
	for _, e := range exps {
		have = append(have, e.Name())
	}
	for i, name := range p.Experiments {
		switch {
		case !slices.Contains(have, name):
			fail("experiments: no experiment %q (have %s)", name, strings.Join(have, ", "))
		case slices.Contains(p.Experiments[:i], name):
			fail("experiments: %q is listed twice", name)
		}
	}
	if p.Rounds.Min < 1 || p.Rounds.Max < p.Rounds.Min || p.Rounds.Max > maxRounds {
		fail("rounds: min %d, max %d: want 1 ≤ min ≤ max ≤ %d", p.Rounds.Min, p.Rounds.Max, maxRounds)
	}
	if !(p.Target >= 0 && p.Target < 1) {
		fail("target: %g: want a fraction of the median, such as %g", p.Target, DefaultTarget)
	}
	if p.Budget < 0 {
		fail("budget: %s: want a time such as 5m, or 0 for none", p.Budget)
	}
	if e := float64(p.Limits.Effort); !(e >= 0) || math.IsInf(e, 1) {
		fail("effort: %g: want a factor such as 0.25 or 2", e)
	}
	if p.Limits.MaxBytes < 0 {
		fail("max_bytes: %d: want a size such as 1MiB, or 0 for each experiment's own", p.Limits.MaxBytes)
	}
	if x := p.Limits.Path; x.Known() && !(x.Latency > 0 && x.PerByte >= 0 && x.Slot >= 0 && x.PerByte < 1e9) {
		fail("path: latency %d ns, %g ns/B, slot %d ns: want a latency above 0, and neither of the others below", x.Latency, x.PerByte, x.Slot)
	}
	if s := p.Limits.Segment; s != 0 && (s < leastSegment || s > mostSegment) {
		fail("segment: %d: want %d to %d bytes, or 0 for that of the hosts' connections", s, leastSegment, mostSegment)
	}
	if s := p.Limits.Sizes; !slices.IsSorted(s) || len(s) > 0 && s[0] < 1 {
		fail("sizes: %v: want ascending sizes of at least 1 byte", s)
	}
	for _, e := range exps {
		if c, ok := e.(Checked); ok {
			if err := c.Check(p.Limits); err != nil {
				fail("%w", err)
			}
		}
	}
	return errors.Join(errs...)
}

// target is Target or its default.
func (p Plan) target() float64 {
	if p.Target == 0 {
		return DefaultTarget
	}
	return p.Target
}

// Names lists the experiments of p: those it names, or all.
func (p Plan) Names(all []Experiment) []string {
	var out []string
	for _, e := range p.choose(all) {
		out = append(out, e.Name())
	}
	return out
}

// choose returns the experiments p names, in p's order, or all of them.
func (p Plan) choose(exps []Experiment) []Experiment {
	if len(p.Experiments) == 0 {
		return exps
	}
	var out []Experiment
	for _, name := range p.Experiments {
		e, _ := Find(exps, name) // Validate has found it
		out = append(out, e)
	}
	return out
}
