package params

import "fmt"

// Finding is something that a reader must know of a run or a fit. Programs look at Code, Values and Hosts; Message is
// for people, and nobody parses it.
type Finding struct {
	Code    Code   `json:"code"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	// Values are the numbers of the message, in SI units or relative, by name.
	Values map[string]float64 `json:"values,omitempty"`
	// Subject is the parameter or function that the finding is about, where it is about one ("o_s").
	Subject string `json:"subject,omitempty"`
	// Hosts are those that the finding is about; two are a pair.
	Hosts []string `json:"hosts,omitempty"`
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
	for k, v := range f.Values {
		values[k] = v
	}
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

// Found is a finding with the model it comes from; "" is the run itself.
type Found struct {
	Finding
	Model string
}

// AllFindings lists the findings of a level: those of the run, then those of every fit in order.
func (p *Params) AllFindings(level Level) []Found {
	var out []Found
	add := func(list []Finding, model string) {
		for _, f := range list {
			if f.Level == level {
				out = append(out, Found{f, model})
			}
		}
	}
	add(p.Findings, "")
	for _, f := range p.Fits {
		add(f.Findings, f.Model)
	}
	return out
}
