package params

import (
	"maps"
	"slices"
	"strings"
)

// RunCommand begins every command that measures, as it is printed. The hosts file has its usual name in it.
const RunCommand = "calib run --hosts hosts.txt"

// givenBy lists numbers by the experiments that they need: those of their model, and those without which it finds a
// bound only. A function is named as a parameter, but for L(m,p) of the cluster model.
var givenBy = map[string][]string{
	"pingpong":      {"alpha", "beta", "T"},
	"paired":        {"a", "a_c", "b", "b_c"},
	"prtt":          {"L", "o_s", "o_r", "g", "G", "gap"},
	"overhead":      {"O_s", "U_r", "O_r"},
	"load,overhead": {"L(m,p)", "packet"},
	"gap":           {"g_s"},
	"gap,gather":    {"g_r"},
	"flood,gap":     {"B_L"},
	"overlap":       {"t_tr"},
}

// MeasureCommand is the command that measures some experiments, and the clock, which corrects them.
func MeasureCommand(experiments ...string) string {
	all := slices.Compact(slices.Sorted(slices.Values(append(experiments, "clock"))))
	return RunCommand + " --only " + strings.Join(all, ",")
}

// Hint ends a sentence with the command that measures those of some numbers that p has not. It is empty where p has all
// of them, be it without a value: the same command would give the same again.
func (p *Params) Hint(numbers ...string) string {
	lacking := slices.DeleteFunc(slices.Clone(numbers), func(n string) bool {
		_, parameter := p.Parameters[n]
		_, function := p.Functions[strings.TrimSuffix(n, "(m,p)")]
		return parameter || function && n != "L"
	})
	if len(lacking) == 0 {
		return ""
	}
	return "; measure with " + p.Measure(lacking...)
}

// Measure is the command that measures what some numbers need, and all that the run of p has measured, so that its run
// lacks nothing that p has.
func (p *Params) Measure(numbers ...string) string {
	all := slices.Collect(maps.Keys(p.Run.Sampled))
	for experiments, given := range givenBy {
		if slices.ContainsFunc(numbers, func(n string) bool { return slices.Contains(given, n) }) {
			all = append(all, strings.Split(experiments, ",")...)
		}
	}
	return MeasureCommand(all...)
}
