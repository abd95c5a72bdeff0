package reports

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"calib/fit"
)

// The parts of a report, as plain text without control codes: every rendering of a params.json is made of these, so that
// no two of them can say different things.

// Verdict is what a report opens with, each a sentence.
type Verdict struct {
	Run      string   // the name of the run
	Scope    string   // how much was measured: "8 hosts, plan quick, …"
	Network  []string // what the network behaves like
	Known    bool     // false if that is not known, which Network then says
	Counts   string   // parameters and warnings
	Outliers []string // hosts and pairs that stand out
	Clock    []string // what the timer costs
}

// VerdictOf returns the verdict of p.
func VerdictOf(p *fit.Params) Verdict {
	r := p.Run
	v := Verdict{Run: Clean(r.ID), Counts: counts(p), Outliers: outliers(p), Clock: clocks(p),
		Scope: fmt.Sprintf("%s, plan %s, seed %d, %s, %s.", plural(len(r.Hosts), "host"), Clean(r.Plan), r.Seed,
			plural(r.Rounds, "round"), plural(r.Timings, "timing"))}
	kind, _ := notes(p)
	for _, n := range kind {
		if strings.HasPrefix(n, "behaves like") {
			n = "the network " + n
		}
		v.Network = append(v.Network, sentence(n))
	}
	v.Known = len(kind) > 0
	if !v.Known {
		v.Network = []string{"Whether the network behaves like a switch or a shared medium is not known: that takes the experiment " +
			"paired on four hosts or more."}
	}
	return v
}

// Group is what one model found in one experiment.
type Group struct {
	Source string // "hockney on pingpong (Hockney 1994)"
	Names  []string
}

// ParametersOf returns all parameters, by model: symbol, value, unit, interval or bound, status, what it is.
func ParametersOf(p *fit.Params) Grid {
	t := Grid{Header: []string{"symbol", "value", "unit", "95% interval", "status", "what it is"},
		Kinds: []Kind{KindSymbol, KindNumber, KindText, KindInterval, KindStatus}}
	for _, model := range models(p) {
		for _, name := range ordered(p, model) {
			q := p.Parameters[name]
			value, unit, ci := shown(q)
			t.add(Clean(name), value, Clean(unit), ci, Clean(q.Status), Clean(q.Label))
		}
	}
	return t
}

// WithoutValueOf says of each parameter without a value what the data allow, and why.
func WithoutValueOf(p *fit.Params) []string {
	var out []string
	for _, model := range models(p) {
		for _, name := range ordered(p, model) {
			if q := p.Parameters[name]; q.Status != fit.StatusOK {
				out = append(out, Clean(withoutValue(name, q)))
			}
		}
	}
	return out
}

// SourcesOf says which model found which parameters, from which experiment and after which publication.
func SourcesOf(p *fit.Params) []Group {
	var out []Group
	for _, model := range models(p) {
		first := len(out)
		for _, name := range ordered(p, model) {
			q := p.Parameters[name]
			source := Clean(fmt.Sprintf("%s on %s (%s)", model, q.Experiment, q.Source))
			i := slices.IndexFunc(out[first:], func(g Group) bool { return g.Source == source })
			if i < 0 {
				i = len(out) - first
				out = append(out, Group{Source: source})
			}
			out[first+i].Names = append(out[first+i].Names, Clean(name))
		}
	}
	return out
}

// WarningsOf returns the warnings of the run and of every fit, those that say the same in one line, each with the models
// it concerns.
func WarningsOf(p *fit.Params) []string {
	var out []string
	for _, w := range groupWarnings(p) {
		s := w.text
		if w.count > 1 {
			s += fmt.Sprintf(" (and %d more like it)", w.count-1)
		}
		if len(w.models) > 0 {
			s += " [" + strings.Join(w.models, ", ") + "]"
		}
		out = append(out, s)
	}
	return out
}

// FindingsOf returns the fits' notes that are not part of the verdict, as sentences.
func FindingsOf(p *fit.Params) []string {
	_, other := notes(p)
	var out []string
	for _, n := range other {
		out = append(out, sentence(n))
	}
	return out
}

// FunctionPart is a cost function.
type FunctionPart struct {
	Name, Form, Unit, Label, Source string
	Coeff                           []Coefficient
	Domain                          string // "m 1 … 1,448"
	Pieces                          bool   // the coefficients are those of several pieces, numbered
}

// Coefficient of a cost function.
type Coefficient struct {
	Name string
	Quantity
}

// FunctionsOf returns the cost functions by name.
func FunctionsOf(p *fit.Params) []FunctionPart {
	var out []FunctionPart
	for _, name := range slices.Sorted(maps.Keys(p.Functions)) {
		f := p.Functions[name]
		part := FunctionPart{Name: Clean(name), Form: Clean(f.Form), Unit: Clean(f.Unit), Label: Clean(f.Label), Source: Clean(f.Source),
			Domain: domain(f.Domain), Pieces: f.Form == fit.SegmentsForm}
		for _, c := range slices.Sorted(maps.Keys(f.Coeff)) {
			part.Coeff = append(part.Coeff, Coefficient{Clean(c), coefficient(f, c)})
		}
		out = append(out, part)
	}
	return out
}

// PairsPart summarises the pair matrix.
type PairsPart struct {
	Says []string // the range, and the hosts that slow pairs have in common
	Slow Grid     // every pair that stands out, slowest first
	All  Grid     // every pair in the order of the file
}

// PairsOf returns the summary of all pairs, which is empty without pairs.
func PairsOf(p *fit.Params) PairsPart {
	part := PairsPart{Slow: Grid{Header: []string{"slowest pairs", "latency", "rate", "why"}},
		All: Grid{Header: []string{"pair", "latency", "rate", "why it stands out"}}}
	if len(p.Pairs) == 0 {
		return part
	}
	slow := slowPairs(p.Pairs, nil)
	part.Says = append(part.Says, fmt.Sprintf("%s measured, %d slow.", plural(len(p.Pairs), "pair"), len(slow)))
	part.Says = append(part.Says, spread("latency", "s", p.Pairs, func(q fit.Pair) *float64 { return q.Latency })...)
	part.Says = append(part.Says, spread("rate", "B/s", p.Pairs, func(q fit.Pair) *float64 { return q.Rate })...)
	for _, h := range slowHosts(p.Pairs) {
		part.Says = append(part.Says, fmt.Sprintf("Host %s is in %d slow pairs of its %d: the host, not the pairs.", Clean(h.name),
			h.slow, h.pairs))
	}
	for _, q := range slow {
		part.Slow.add(pairRow(q)...)
	}
	for _, q := range p.Pairs {
		part.All.add(pairRow(q)...)
	}
	return part
}

func pairRow(q fit.Pair) []string {
	return []string{Clean(q.From + " → " + q.To), quantity(q.Latency, q.LatencyCI, "s"), quantity(q.Rate, q.RateCI, "B/s"), Clean(q.Slow)}
}

// QualityOf returns how well each fit describes its data, and sentences on which data those were.
func QualityOf(p *fit.Params) (Grid, []string) {
	t := Grid{
		Header: []string{"model", "experiment", "R²", "mean err", "worst", "left-out", "cond", "timings", "unused"},
		Kinds:  []Kind{KindText, KindText, KindNumber, KindNumber, KindNumber, KindNumber, KindNumber, KindNumber, KindNumber},
	}
	says := []string{"err: relative errors of the fit; left-out: mean error at sizes the fit has not seen; cond: condition number."}
	for _, f := range p.Fits {
		t.add(qualityRow(f)...)
		says = append(says, saw(f)...)
	}
	return t, says
}

// ValidationOf returns what was predicted and then measured, of patterns no fit has seen.
func ValidationOf(p *fit.Params) Grid {
	t := Grid{Header: []string{"pattern", "hosts", "bytes", "predicted", "measured", "error"},
		Kinds: []Kind{KindText, KindNumber, KindNumber, KindNumber, KindNumber, KindNumber}}
	for _, v := range p.Validation {
		t.add(Clean(v.Pattern), strconv.Itoa(v.Hosts), count(float64(v.Bytes)), Format(v.Predicted, v.CI95, "s").String(),
			Format(v.Measured, nil, "s").String(), signedPercent(v.Error))
	}
	return t
}

// EnvironmentPart is what the hosts share and where they differ.
type EnvironmentPart struct {
	Says    string
	Differs Grid // no rows where the hosts do not differ
	Common  Grid
}

// EnvironmentOf returns the fingerprint of the hosts.
func EnvironmentOf(p *fit.Params) EnvironmentPart {
	e := p.Environment
	part := EnvironmentPart{
		Says: fmt.Sprintf("calib %s on %s: %s.", Clean(strings.Join(p.Run.Versions, ", ")), plural(len(p.Run.Hosts), "host"),
			hostList(p.Run.Hosts)),
		Differs: Grid{Header: []string{"fact", "value", "on"}},
		Common:  Grid{Header: []string{"fact", "on every host"}},
	}
	for _, fact := range slices.Sorted(maps.Keys(e.Differences)) {
		for i, v := range byValue(e.Differences[fact], p.Run.Hosts) {
			name := ""
			if i == 0 {
				name = Clean(fact)
			}
			part.Differs.add(name, Clean(v.value), hostList(v.hosts))
		}
	}
	for _, fact := range slices.Sorted(maps.Keys(e.Common)) {
		part.Common.add(Clean(fact), Clean(e.Common[fact]))
	}
	return part
}

// FilesOf returns the files of the run in dir, and what is worth doing with this result.
func FilesOf(p *fit.Params, dir string) (files, next Grid) {
	dir = Clean(dir)
	files = Grid{Header: []string{"file", "what is in it"}, Kinds: []Kind{KindCode}, Rows: [][]string{
		{filepath.Join(dir, "params.json"), "the parameters, for programs"},
		{filepath.Join(dir, "report.html"), "the report with figures, for a browser; it needs no network"},
		{filepath.Join(dir, "report.txt"), "the whole report as text, with residuals per size"},
		{filepath.Join(dir, "samples.jsonl"), "every raw timing"},
		{filepath.Join(dir, "run.json"), "plan, seed, hosts and environment of the run"},
		{filepath.Join(dir, "log.jsonl"), "what happened when"},
	}}
	next = Grid{Header: []string{"next", "why"}, Kinds: []Kind{KindCode}}
	next.add("calib report "+shellWord(dir), "read the whole report")
	next.add("calib fit "+shellWord(dir), "fit again from the same samples, offline: the same bytes come back")
	if p.Run.Plan == "quick" {
		next.add("calib run --plan standard …", "narrower intervals than the quick plan gives")
	}
	if _, has := p.Parameters["B_L"]; !has && p.Functions["g_r"].Form != "" {
		next.add("calib run --only flood …", "how many packets a port holds; it overflows one to see, so packets are lost")
	}
	if len(slowHosts(p.Pairs)) > 0 {
		next.add("calib run --only pingpong …", "see whether the slow host stays slow")
	}
	return files, next
}
