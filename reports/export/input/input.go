// Package input is what every exporter starts from: a run's params.json, read so that a number which the run has not
// determined is an error that says how to measure it, and the comment lines by which a file says where its numbers come
// from.
//
// It is the only package of the exporters that knows the forms of cost functions in params.json.
package input

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"calib/internal/openmpi"
	"calib/internal/params"
)

// Classes of errors.
var (
	// ErrMissing reports a parameter that a target needs and the run has not measured.
	ErrMissing = errors.New("not measured")
	// ErrLimit reports a value that a target's format cannot hold.
	ErrLimit = errors.New("beyond what the format can hold")
	// ErrOption reports an option that a target cannot take.
	ErrOption = errors.New("not possible for this target")
)

// Options of an export. The zero value means the defaults.
type Options struct {
	// Hosts is how many hosts the target's system has; 0 is the run's own.
	Hosts int
	// Device is the network interface in commands; "" means eth0.
	Device string
	// Slowdown is how many times slower the target's network is; 0 is as little as the target needs.
	Slowdown float64
	// Rules are choices of Open MPI's algorithms, for the targets that are made of them.
	Rules []openmpi.Rules
	// Version of calib, for comments in the file; "" is left out.
	Version string
}

// Input is a run and how it is to be exported.
type Input struct {
	Params *params.Params
	Options
	provisional map[string]string // why, by the name of what was used
	zeros       map[string]string // the same of what is taken for zero
}

// MaxHosts bounds the system that an export describes; no target is meant for more hosts.
const MaxHosts = 1 << 20

// HostCount is the number of hosts of the target's system. The error is of class ErrOption.
func (in *Input) HostCount() (int, error) {
	n := in.Hosts
	if n == 0 {
		n = len(in.Params.Run.Hosts)
	}
	if n < 2 || n > MaxHosts {
		return 0, fmt.Errorf("a system of %d hosts: %w; choose 2 to %d with --hosts", n, ErrOption, MaxHosts)
	}
	return n, nil
}

// Found returns a parameter that the run has determined, in its SI unit. One that is provisional is used, and marked.
func (in *Input) Found(name string) (float64, bool) {
	q, ok := in.Params.Parameters[name]
	if !ok || q.Value == nil || q.Status != params.StatusOK && q.Status != params.StatusProvisional || math.IsNaN(*q.Value) || math.IsInf(*q.Value, 0) {
		return 0, false
	}
	in.mark(name, q.Status, q.Why)
	return *q.Value, true
}

// function returns a function that may be used, and marks one that is provisional.
func (in *Input) function(name string) (params.Function, bool) {
	f, ok := in.Params.Functions[name]
	if !ok || !f.Usable() {
		return f, false
	}
	in.mark("function "+name, f.Status, f.Why)
	return f, true
}

// Use marks what is provisional among parameters and functions that were used otherwise than by Found.
func (in *Input) Use(names ...string) {
	for _, name := range names {
		if q, ok := in.Params.Parameters[name]; ok {
			in.mark(name, q.Status, q.Why)
		}
		if f, ok := in.Params.Functions[name]; ok && f.Usable() {
			in.mark("function "+name, f.Status, f.Why)
		}
	}
}

// mark remembers that something provisional is used.
func (in *Input) mark(name, status, why string) {
	if status != params.StatusProvisional {
		return
	}
	if in.provisional == nil {
		in.provisional = map[string]string{}
	}
	in.provisional[name] = why
}

// zero reports whether a latency or a gap is to be taken for zero: it is negative, or only a bound is known, and zero
// is within what the run can tell. What is negative beyond that is not usable at all.
func (in *Input) zero(name string) bool {
	q, ok := in.Params.Parameters[name]
	if !ok || name != "L" && name != "g" {
		return false
	}
	why := ""
	switch {
	case q.Value != nil && *q.Value < 0 && q.Status == params.StatusProvisional:
		why = fmt.Sprintf("it is %g %s, zero within what can be told", *q.Value, q.Unit)
	case q.Value == nil && q.Status == params.StatusBound && q.Bound != nil && q.Bound[0] <= 0 && q.Bound[1] >= 0:
		why = fmt.Sprintf("it cannot be told from zero, and is at most %g %s", q.Bound[1], q.Unit)
	default:
		return false
	}
	if in.zeros == nil {
		in.zeros = map[string]string{}
	}
	in.zeros[name] = why
	return true
}

// TakenForZero reports whether a parameter that was needed cannot be told from zero, and was given as zero.
func (in *Input) TakenForZero(name string) bool { return in.zeros[name] != "" }

// Provisional warns of what was used so far although it is provisional, or taken for zero.
func (in *Input) Provisional() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(in.zeros)) {
		out = append(out, OneLine(name+" is taken for 0: "+in.zeros[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(in.provisional)) {
		out = append(out, OneLine(strings.TrimSuffix(name+" is provisional: "+in.provisional[name], ": ")))
	}
	return out
}

// withheld is the error of a number that was estimated and must not be used. It is of class ErrMissing.
type withheld struct{ what, status, why string }

func (w withheld) Error() string {
	return fmt.Sprintf("%s is not to be used (%s): measure again with more rounds and fewer disturbances, or on more hosts", w.what,
		strings.TrimSuffix(w.status+": "+OneLine(w.why), ": "))
}

func (w withheld) Is(class error) bool { return class == ErrMissing }

// NoFunction is the error of a function that the run has not, or that must not be used. It is of class ErrMissing.
func (in *Input) NoFunction(name string) error {
	if f, ok := in.Params.Functions[name]; ok && !f.Usable() {
		return withheld{"function " + name, f.Status, f.Why}
	}
	return ErrMissing
}

// Need returns a parameter, or an error of class ErrMissing that names the command which measures it. A latency or gap
// that cannot be told from zero is zero.
func (in *Input) Need(name string) (float64, error) {
	if in.zero(name) {
		return 0, nil
	}
	if v, ok := in.Found(name); ok {
		return v, nil
	}
	if q := in.Params.Parameters[name]; q.Estimate != nil {
		return 0, withheld{"parameter " + name, q.Status, q.Why}
	}
	why := ""
	if q, ok := in.Params.Parameters[name]; ok && q.Why != "" {
		why = " (" + OneLine(q.Why) + ")"
	}
	return 0, fmt.Errorf("parameter %s, %s: %w%s%s", name, labels[name], ErrMissing, why, in.Params.Hint(name))
}

// NeedAll returns several parameters, in order.
func (in *Input) NeedAll(names ...string) ([]float64, error) {
	out := make([]float64, len(names))
	for i, name := range names {
		v, err := in.Need(name)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// labels are what the parameters are that targets need.
var labels = map[string]string{
	"L": "latency", "o_s": "send overhead", "o_r": "receive overhead", "g": "gap between messages", "G": "gap per byte",
	"packet": "payload of one packet", "alpha": "latency of a message", "beta": "time per byte",
}

// SlowPairs warns that a target has one network for all pairs where the run found pairs that stand out.
func (in *Input) SlowPairs() []string {
	slow, first := 0, ""
	for _, q := range in.Params.Pairs {
		if q.Slow != "" {
			if slow++; slow == 1 {
				first = OneLine(q.From + " to " + q.To + ": " + q.Slow)
			}
		}
	}
	if slow == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d pairs stand out (%s), but the file has one network for all pairs", slow, len(in.Params.Pairs), first)}
}

// WindowsGrown reports whether TCP's windows are taken to have grown, so that each message of a host leaves as a whole:
// unless the simulation of windows as they begin predicted the run's patterns better.
func (in *Input) WindowsGrown() bool {
	best, _ := params.BestSimulation(in.Params.Validation)
	return best.Model != params.SimCold
}

// Metrics lists the numbers of a run that may be used, with those that are provisional marked, or an error of class
// ErrMissing where it has none.
func (in *Input) Metrics() ([]params.Metric, error) {
	m := in.Params.Metrics()
	if len(m) == 0 {
		return nil, fmt.Errorf("parameters: %w: the run has none; measure them with %s", ErrMissing, params.RunCommand)
	}
	for _, q := range m {
		in.mark(q.Name, q.Status, q.Why)
	}
	return m, nil
}

// Point is the measured time of a message of one size, with its 95% interval.
type Point struct {
	Bytes           float64
	Seconds, Lo, Hi float64
	Timings         int
}

// Points returns the measured T(x), each size once, of the first fit that has it.
func (in *Input) Points() []Point {
	var out []Point
	for _, r := range in.Params.Times() {
		out = append(out, Point{Bytes: r.X, Seconds: r.Measured, Lo: r.Lo, Hi: r.Hi, Timings: r.N})
	}
	return out
}
