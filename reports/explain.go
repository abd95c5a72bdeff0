package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"calib/internal/glossary"
	"calib/internal/units"
	"calib/params"
)

// Explained is what a number is and, of a run, what became of it.
type Explained struct {
	Name       string            `json:"name"`
	Unit       string            `json:"unit,omitempty"`
	Is         string            `json:"is"`
	Also       []string          `json:"also,omitempty"` // what else has the name
	Experiment string            `json:"experiment,omitempty"`
	Measured   string            `json:"measured,omitempty"` // how
	Narrow     string            `json:"narrow,omitempty"`   // what narrows its interval
	Source     string            `json:"source,omitempty"`
	Parameter  *params.Parameter `json:"parameter,omitempty"`
	Function   *params.Function  `json:"function,omitempty"`
	Loss       *params.Loss      `json:"loss,omitempty"`
	Missing    string            `json:"missing,omitempty"` // the command that measures it, where the run has not
	where      []string          // of Loss, in words
	of         string            // the name of Function
	none       bool              // the run has all that it needs
}

// Explain explains a number, a word of calib's, or a name in its files. p is the run's, or nil. ok is false where
// nothing has that name.
func Explain(name string, p *params.Params) (e Explained, ok bool) {
	g, name := glossary.All(), params.Renamed(name)
	if is, ok := g.Words[name]; ok {
		e = Explained{Name: name, Is: is, Also: glossary.Files().Lookup(name)}
		if name == params.LossMetric && p != nil {
			e.Loss, e.where, e.none = p.Loss, lossOf(p), p.Loss == nil
		}
		return e, true
	}
	n, ok := g.Lookup(name)
	if !ok {
		in := glossary.Files().Lookup(name)
		if len(in) == 0 {
			return e, false
		}
		return Explained{Name: name, Is: in[0], Also: in[1:]}, true
	}
	times := n.Needs()[0]
	from := g.Experiments[times]
	e = Explained{Name: name, Unit: n.Unit, Is: n.Is, Experiment: times, Measured: from.How, Narrow: from.Narrow,
		Source: n.Source}
	if !strings.HasSuffix(e.Narrow, ".") { // the clock's is a whole sentence
		e.Narrow += ", or only this (--only " + strings.Join(params.WithClock(n.Needs()), ",") + ")."
	}
	if p == nil {
		return e, true
	}
	e.of, _, _ = strings.Cut(name, ".")
	if q, has := p.Parameters[name]; has {
		e.Parameter, e.Unit = &q, q.Unit
	} else if _, reached := p.Functions["L_cluster"].Coeff[name]; reached { // N
		e.of = "L_cluster"
	}
	if f, has := p.Functions[e.of]; has {
		e.Function = &f
	}
	e.none = !slices.ContainsFunc(n.Needs(), func(exp string) bool { _, has := p.Run.Sampled[exp]; return !has })
	if e.Parameter == nil && e.Function == nil && !e.none {
		e.Missing = p.MeasureCommand(n.Needs()...)
	}
	return e, true
}

// Text prints an explanation for people.
func (e Explained) Text(w io.Writer, o Options) error {
	p := newPage(o)
	const hang = 10 // columns of what stands before a text
	say := func(what, format string, args ...any) {
		words := Clean(fmt.Sprintf(format, args...))
		if words == "" {
			return
		}
		if len(what) >= hang { // it has a line of its own
			fmt.Fprintln(p, what)
			what = ""
		}
		for _, l := range Wrapped(words, p.Width-hang) {
			fmt.Fprintf(p, "%-*s%s\n", hang, what, l)
			what = ""
		}
	}
	say(e.Name, "%s", e.Is)
	for _, is := range e.Also {
		say("", "%s", is)
	}
	say("Unit", "%s", e.Unit)
	if e.Experiment != "" {
		say("Measured", "By experiment %s. %s", e.Experiment, e.Measured)
	}
	say("Source", "%s", e.Source)
	if q := e.Parameter; q != nil {
		cells := reading{Parameter: *q}.cells()
		interval := cells[2]
		if interval != "" {
			interval = ", 95% interval " + interval
		}
		say("This run", "%s%s: %s", cells[1], interval, cells[3])
		say("Why", "%s", q.Why)
	}
	if f := e.Function; f != nil {
		say("This run", "%s: %s", f.Words(e.of), quality(f.Status, ""))
		say("Why", "%s", f.Why)
	}
	if l := e.Loss; l != nil {
		say("This run", "%s In all %s.", e.where[0], units.Plural(l.Again, "segment"))
	}
	if e.none && e.Parameter == nil && e.Function == nil {
		say("This run", "has no value, though its experiments were measured; the report may say why")
	}
	if e.Missing != "" {
		say("This run", "did not measure it: %s does", e.Missing)
	}
	say("Narrower", "%s", e.Narrow)
	return p.flush(w)
}
