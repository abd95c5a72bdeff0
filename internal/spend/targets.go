package spend

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"calib/internal/dataset/names"
)

// Targets are the wanted relative half-widths of 95% intervals, by parameter: 0.02 is ± 2%.
type Targets map[string]float64

// defaults are what a run aims at unless it is told otherwise, by the experiment that measures them.
var defaults = map[string]Targets{
	names.Paired: {"a": 0.02, "a_c": 0.02, "b_c": 0.02},
	names.PRTT:   {"g": 0.03, "G": 0.03, "L": 0.03},
}

// DefaultTargets are a, a_c and b_c within 2%, and g, G and L within 3%, as far as the experiments measure what they need.
func DefaultTargets(experiments []string) Targets {
	out := Targets{}
	for _, exp := range experiments {
		maps.Copy(out, defaults[exp])
	}
	return out
}

// Known lists the parameters that may be aimed at, sorted.
func Known() []string {
	var out []string
	for i := range families {
		out = append(out, families[i].parameters...)
	}
	slices.Sort(out)
	return out
}

// ParseTargets reads targets such as "a_c=2%,b_c=1%"; 0.02 is 2%. known lists the parameters that may be aimed at. Errors name the entry
// and what it may be.
func ParseTargets(s string, known []string) (Targets, error) {
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
		v, err := parseShare(share)
		if err != nil {
			return nil, fmt.Errorf("target %q: %w", entry, err)
		}
		out[name] = v
	}
	return out, nil
}

// Check returns an error for a parameter that is read from an experiment that is not among those measured.
func (t Targets) Check(experiments []string) error {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		for _, exp := range familyOf(name).exps {
			if !slices.Contains(experiments, exp) {
				return fmt.Errorf("target %s: it is read from experiment %s, which the plan does not measure: add the experiment or drop the target", name, exp)
			}
		}
	}
	return nil
}

// Experiments lists the experiments that the targets are read from, sorted, the clock's included: it corrects the others.
func (t Targets) Experiments() []string {
	out := []string{names.Clock}
	for name := range t {
		out = append(out, familyOf(name).exps...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// parseShare reads "2%" or "0.02".
func parseShare(s string) (float64, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v < 1) {
		return 0, fmt.Errorf("%q is no half-width: want a share above 0%% and below 100%%, such as 2%% or 0.02", s)
	}
	return v, nil
}

// String prints targets as ParseTargets reads them, sorted by name.
func (t Targets) String() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		out = append(out, name+"="+percent(t[name]))
	}
	return strings.Join(out, ",")
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'g', 12, 64) + "%" }
