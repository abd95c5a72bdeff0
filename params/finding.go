package params

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"calib/internal/glossary"
	"calib/internal/lists"
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

const (
	Warning Level = "warning" // the numbers may be wrong, or less certain than their intervals
	Note    Level = "note"    // worth knowing, and no fault
)

func Warnf(code Code, format string, args ...any) Finding {
	return Finding{Code: code, Level: Warning, Message: fmt.Sprintf(format, args...)}
}

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
	for _, of := range append([]*Fit{{Findings: p.Findings}}, p.Fits...) {
		for _, f := range of.Findings {
			if f.Level == level {
				out = append(out, Found{f, of.Model, of.Experiment})
			}
		}
	}
	return out
}

// quoted are words that a shell takes as they are.
var quoted = regexp.MustCompile(`^(?: ?(?:[-\w./:@%+,=]|'[^'[:cntrl:]]*'|\\')+)+$`)

// Command is a command that measures, such as calib run, on the hosts of p as they were typed. Where that is not known,
// or a shell would do more with it, the hosts file has its usual name.
func (p *Params) Command(verb string) string {
	where := "--hosts hosts.txt"
	if quoted.MatchString(p.Run.Where) {
		where = p.Run.Where
	}
	return "calib " + verb + " " + where
}

// MeasureCommand is the command that measures some experiments.
func (p *Params) MeasureCommand(experiments ...string) string {
	return p.Command("run") + " --only " + strings.Join(WithClock(experiments), ",")
}

// WithClock adds the clock to experiments, which corrects them, and sorts them.
func WithClock(experiments []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(append([]string{"clock"}, experiments...))))
}

// Hint ends a sentence with the command that measures those of some numbers that p has not. It is empty where p has all
// of them, be it without a value: the same command would give the same again.
func (p *Params) Hint(numbers ...string) string {
	lacking := lists.Where(numbers, func(n string) bool {
		_, parameter := p.Parameters[n]
		_, function := p.Functions[n]
		return !parameter && !function
	})
	if len(lacking) == 0 {
		return ""
	}
	return "; measure with " + p.Measure(lacking...)
}

// Measure is the command that measures what some numbers need, and all that the run of p has measured, so that its run
// lacks nothing that p has.
func (p *Params) Measure(numbers ...string) string {
	all := slices.DeleteFunc(slices.Collect(maps.Keys(p.Run.Sampled)), func(experiment string) bool {
		return !quoted.MatchString(experiment) || strings.Contains(experiment, " ") // whoever wrote the file
	})
	for _, name := range numbers {
		if n, ok := glossary.All().Lookup(name); ok {
			all = append(all, n.Needs()...)
		}
	}
	return p.MeasureCommand(all...)
}
