package run

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"calib/fit"
	"calib/fit/models"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Targets are the wanted relative half-widths of 95% intervals, by parameter: 0.02 is ± 2%.
type Targets map[string]float64

// numbers are what may be aimed at, by the model that gives them. A function counts by its value in the middle of its
// domain.
var numbers = map[string][]string{
	"hyperbolic-network": {"a", "a_c", "a_prime", "b", "b_c", "b_prime"},
	"hockney":            {"alpha", "beta"},
	"hyperbola":          {"a_prime_limits", "b_prime_limits", "r_inf"},
	"loggp":              {"g", "G", "L", "o_s", "o_r"},
	"cluster-gap":        {"g_s"},
	"cluster-gather":     {"g_r"},
	"cluster-overhead":   {"O_s", "U_r", "O_r"},
	"tails":              {"p99", "p999"},
	"wakeup":             {"wakeup"},
	"cluster-buffer":     {"B_L"},
}

// defaults are the targets of the numbers of record. a, a_c, b and b_c need two numbers of pairs at once; of one,
// a_prime and b_prime are read.
var defaults = Targets{
	"alpha": 0.02, "a": 0.02, "a_c": 0.02, "b": 0.02, "b_c": 0.02, "a_prime": 0.02, "b_prime": 0.02,
	"g": 0.03, "G": 0.03, "L": 0.03, "o_s": 0.05, "g_s": 0.03, "g_r": 0.03, "O_s": 0.05, "B_L": 0.05,
	"p99": 0.1,
}

// The hosts that a number of record needs at least, and at most: fewer than four do not tell the hosts' part of a
// message from the network's, and have a_prime and b_prime in its place. One sender does not fill a receiver.
var (
	fewest = map[string]int{"a": 4, "a_c": 4, "b": 4, "b_c": 4, "g_r": 3}
	most   = map[string]int{"a_prime": 3, "b_prime": 3}
)

// defaultTargets are those of the numbers of record that the experiments give on so many hosts, or all of one
// half-width where that is above 0.
func defaultTargets(experiments []string, hosts int, width float64) Targets {
	out := Targets{}
	measured := func(exp string) bool { return slices.Contains(experiments, exp) }
	for name, target := range defaults {
		better := name == "o_s" && measured(names.Overhead) // O_s says more of the same
		suits := hosts >= fewest[name] && hosts <= cmp.Or(most[name], hosts) && !better
		if suits && !slices.ContainsFunc(needs(name), func(exp string) bool { return !measured(exp) }) {
			out[name] = cmp.Or(width, target)
		}
	}
	return out
}

// needs lists the experiments that a number is read from.
func needs(name string) []string {
	i := slices.IndexFunc(models.All, func(m fit.Model) bool { return slices.Contains(numbers[m.Name], name) })
	if i < 0 {
		return nil
	}
	return models.All[i].Needs
}

// ParseTargets reads targets such as "a_c=2%,b_c=1%"; 0.02 is 2%. They are of numbers that are read from the
// experiments measured. Errors name the entry and what it may be.
func ParseTargets(s string, measured []string) (Targets, error) {
	known := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(numbers))...)))
	out := Targets{}
	for _, entry := range strings.Split(s, ",") {
		name, share, ok := strings.Cut(entry, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("target %q: want PARAMETER=SHARE, such as a_c=2%%, and a comma between two", entry)
		}
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("target %q: %q is no parameter to aim at (have %s)", entry, name, strings.Join(known, ", "))
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("target %q: %s has a target already: name it once", entry, name)
		}
		v, err := units.ParseShare(share)
		if err != nil || !(v > 0 && v < 1) {
			return nil, fmt.Errorf("target %q: %q is no half-width: want a share above 0%% and below 100%%, "+
				"such as 2%% or 0.02", entry, share)
		}
		for _, exp := range needs(name) {
			if !slices.Contains(measured, exp) {
				return nil, fmt.Errorf("target %s: it is read from experiment %s, which the plan does not measure: "+
					"add the experiment or drop the target", name, exp)
			}
		}
		out[name] = v
	}
	return out, nil
}

// experiments lists the experiments that the targets are read from, sorted, the clock's included: it corrects the
// others.
func (t Targets) experiments() []string {
	out := []string{names.Clock}
	for name := range t {
		out = append(out, needs(name)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
