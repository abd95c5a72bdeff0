package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"calib/internal/params"
	"calib/internal/units"
)

// Verdict is what a report opens with, each a sentence.
type Verdict struct {
	Run      string   // the name of the run
	Scope    string   // how much was measured: "8 hosts, plan quick, …"
	Network  string   // what the network behaves like
	Known    bool     // false if that is not known; Network then says what would tell
	Rely     string   // what may be relied on, and what not; "" without parameters
	Predicts string   // which traffic the parameters were seen to predict; "" where none was measured
	Use      string   // which of the models of one message to use for what; "" where there are none
	Machine  string   // hosts that share a machine; "" where there are none
	Counts   string   // parameters by status, and warnings
	Outliers []string // hosts and pairs that stand out
	Clock    []string // what reading the clock costs
}

// VerdictOf returns the verdict of p.
func VerdictOf(p *params.Params) Verdict {
	r := p.Run
	v := Verdict{Run: Clean(r.ID), Counts: counts(p), Rely: reliance(p), Predicts: predictions(p), Use: whatFor(p), Machine: machine(p), Outliers: outliers(p), Clock: clocks(p),
		Scope: fmt.Sprintf("%s, plan %s, seed %d, %s, %s.", units.GroupedPlural(len(r.Hosts), "host"), Clean(r.Plan), r.Seed,
			units.GroupedPlural(r.Rounds, "round"), units.GroupedPlural(r.Timings, "timing"))}
	if words := p.Network.Words(); words != "" {
		v.Known, v.Network = true, sentence("the network "+words)
	} else {
		v.Network = unknownNetwork(p)
	}
	return v
}

// unknownNetwork says why the kind of network is not known, and what would tell.
func unknownNetwork(p *params.Params) string {
	const unknown = "Whether the network behaves like a switch or a shared medium is not known: "
	if slices.ContainsFunc(p.AllFindings(params.Warning), func(f params.Found) bool { return f.Code == params.NegativeAC }) {
		return unknown + "a_c comes out negative, see the warnings."
	}
	for _, f := range p.AllFindings(params.Note) {
		if f.Code == params.NetworkUnknown && len(f.Values) > 0 {
			return unknown + Clean(f.Message) + "."
		}
	}
	return unknown + "that takes the experiment paired on four hosts or more."
}

// counts says how many parameters there are of each status, and how many warnings.
func counts(p *params.Params) string {
	of := map[string]int{}
	for _, q := range p.Parameters {
		of[q.Status]++
	}
	text := units.GroupedPlural(len(p.Parameters), "parameter") + ":"
	for i, s := range []struct{ status, words string }{
		{params.StatusOK, "ok"}, {params.StatusProvisional, "provisional"}, {params.StatusBound, "with a bound only"},
		{params.StatusUnidentifiable, "not identifiable"}, {params.StatusInconsistent, "inconsistent"},
	} {
		if n := of[s.status]; n > 0 || i == 0 {
			text += fmt.Sprintf(" %d %s,", n, s.words)
		}
	}
	return fmt.Sprintf("%s; %s.", strings.TrimSuffix(text, ","), units.GroupedPlural(len(groupWarnings(p)), "warning"))
}

// machine says which hosts share a machine.
func machine(p *params.Params) string {
	for _, f := range p.Findings {
		if f.Code == params.OneMachine {
			return sentence(f.Message)
		}
	}
	return ""
}

// outliersShown bounds the hosts that the verdict names one by one.
const outliersShown = 8

// outliers names the hosts that stand out, by their pairs or by a finding, and counts the slow pairs that no such host
// explains.
func outliers(p *params.Params) []string {
	var out, named []string
	for _, h := range slowHosts(p.Pairs) {
		named = append(named, h.name)
		out = append(out, fmt.Sprintf("Host %s stands out: %d of its %d pairs are slow.", Clean(h.name), h.slow, h.pairs))
	}
	for _, f := range p.Findings {
		if f.Code == params.SlowHost && !slices.ContainsFunc(f.Hosts, func(h string) bool { return slices.Contains(named, h) }) {
			named = append(named, f.Hosts...)
			out = append(out, sentence(f.Message))
		}
	}
	if n := len(out) - outliersShown; n > 1 {
		out = append(out[:outliersShown], fmt.Sprintf("%s stand out: params.json names them.", units.GroupedPlural(n, "more host")))
	}
	if slow := slowPairs(p.Pairs, named); len(slow) > 0 {
		verb := "are"
		if len(slow) == 1 {
			verb = "is"
		}
		out = append(out, fmt.Sprintf("%s %s slow, most of all %s: %s.", units.GroupedPlural(len(slow), "pair"), verb,
			Clean(slow[0].From+" → "+slow[0].To), Clean(slow[0].Slow)))
	}
	return out
}

// clocks states what the timer costs, beside every result.
func clocks(p *params.Params) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		q := p.Parameters[name]
		if q.Experiment == "clock" && q.Value != nil {
			out = append(out, fmt.Sprintf("Clock: %s, %s = %s.", Clean(q.Label), Clean(name), Format(*q.Value, q.CI95, q.Unit)))
		}
	}
	return out
}

// verdict writes what was found, and what may be relied on.
func (p *page) verdict(v Verdict) {
	p.line(2, "%s: %s", p.paint(bold, v.Run), v.Scope)
	network := v.Network
	if v.Known {
		network = p.paint(bold, network)
	}
	p.line(2, "%s", network)
	for _, s := range v.Outliers {
		p.line(2, "%s", p.paint(red, s))
	}
	if v.Rely != "" {
		p.line(2, "%s", p.paint(bold, v.Rely))
	}
}

// beside writes what else the verdict says.
func (p *page) beside(v Verdict) {
	for _, text := range append([]string{v.Predicts, v.Use, v.Machine, v.Counts}, v.Clock...) {
		if text != "" {
			p.line(2, "%s", text)
		}
	}
}
