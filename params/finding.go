package params

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Finding is something that a reader must know of a run or a fit. Programs look at Code, Values and Hosts; Message is
// for people, and nobody parses it.
type Finding struct {
	Code    Code               `json:"code" jsonschema:"what kind it is, for programs; calib explain CODE says more"`
	Level   Level              `json:"level" jsonschema:"warning: numbers may be wrong or less certain; note: no fault"`
	Message string             `json:"message" jsonschema:"for people; it may change at any time"`
	Values  map[string]float64 `json:"values,omitempty" jsonschema:"numbers of the message, in SI units or relative"`
	Subject string             `json:"subject,omitempty" jsonschema:"parameter or function that it is about"`
	Hosts   []string           `json:"hosts,omitempty" jsonschema:"hosts that it is about; two are a pair"`
}

// Level says how much a finding bears on the numbers.
type Level string

// Levels.
const (
	Warning Level = "warning" // the numbers may be wrong, or less certain than their intervals
	Note    Level = "note"    // worth knowing, and no fault
)

// Warnf makes a warning.
func Warnf(code Code, format string, args ...any) Finding {
	return Finding{Code: code, Level: Warning, Message: fmt.Sprintf(format, args...)}
}

// Notef makes a note.
func Notef(code Code, format string, args ...any) Finding {
	return Finding{Code: code, Level: Note, Message: fmt.Sprintf(format, args...)}
}

// With returns f with values: a name, then its number, and so on.
func (f Finding) With(name string, value float64) Finding {
	values := map[string]float64{name: value}
	maps.Copy(values, f.Values)
	f.Values = values
	return f
}

// Of returns f with the parameter or function it is about.
func (f Finding) Of(subject string) Finding {
	f.Subject = subject
	return f
}

// About returns f with the hosts it is about.
func (f Finding) About(hosts ...string) Finding {
	f.Hosts = hosts
	return f
}

// Found is a finding with the model it comes from and what that was fitted to; "" is the run itself.
type Found struct {
	Finding
	Model, Experiment string
}

// AllFindings lists the findings of a level: those of the run, then those of every fit in order.
func (p *Params) AllFindings(level Level) []Found {
	var out []Found
	add := func(list []Finding, model, experiment string) {
		for _, f := range list {
			if f.Level == level {
				out = append(out, Found{f, model, experiment})
			}
		}
	}
	add(p.Findings, "", "")
	for _, f := range p.Fits {
		add(f.Findings, f.Model, f.Experiment)
	}
	return out
}

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
	"overlap":       {"t_both"},

	"overlap,pingpong": {"t_tr", "gamma_h", "i_cs"},
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
