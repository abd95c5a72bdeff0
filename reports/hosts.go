package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"calib/internal/hosts"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

// ManyHosts is the number of hosts above which a report describes how pairs are distributed, and a heat map blocks of
// them.
const ManyHosts = 64

const (
	// listWidth bounds a list of many hosts in a cell, in characters.
	listWidth = 160
	// groupsShown bounds the rows about groups of hosts, valuesShown the values of one fact: some facts differ on every
	// host.
	groupsShown, valuesShown = 12, 12
)

// HostsOf lists groups and kinds of hosts, and the numbers of the classes of pairs that they make. Of more than
// ManyHosts it says how their pairs are distributed: fewer are read one by one.
func HostsOf(p *params.Params) Section {
	s := Section{Title: "Hosts", Says: classWords(p)}
	if len(p.Run.Hosts) > ManyHosts && len(p.Pairs) > 0 {
		s.Tables = append(s.Tables, Table{Grid: spreadOf(p)})
	}
	list := func(title string, all [][]string) {
		g := NewGrid(title+"/number", "which/words")
		for _, names := range all[:min(len(all), groupsShown)] {
			g.Add(count(float64(len(names))), namesOf(names))
		}
		if n := len(all) - groupsShown; n > 0 {
			g.Add("", fmt.Sprintf("and %s more", units.Grouped(n)))
		}
		s.Tables = append(s.Tables, Table{Grid: g})
	}
	if p.Groups != nil {
		list("hosts of a group", p.Groups.Hosts)
	}
	if len(p.Kinds) > 0 {
		list("hosts of a kind", p.Kinds)
	}
	classes := NewGrid("pairs", "number/number", "1 byte/number", "alpha/interval", "beta/interval", "a/interval",
		"b/interval")
	for _, c := range p.Classes {
		first, row := "–", []string{Clean(c.Name), count(float64(c.Pairs))}
		if t, err := c.Functions["T"].At(1, 2, nil); err == nil {
			first = Format(t, nil, "s").String()
		}
		row = append(row, first)
		for _, name := range []string{"alpha", "beta", "a", "b"} {
			q := c.Parameters[name]
			row = append(row, cell(q.Value, q.CI95, q.Unit))
		}
		classes.Add(row...)
	}
	if len(p.Classes) > 0 {
		s.Tables = append(s.Tables, Table{Grid: classes})
	}
	return s
}

// classWords says which groups and kinds of hosts there are, in short sentences.
func classWords(p *params.Params) (out []string) {
	if g := p.Groups; g != nil {
		such := map[bool]string{true: ", each on one machine", false: ", such as racks"}[g.Machines]
		out = append(out, fmt.Sprintf("%d groups of hosts%s: latency between them is %.2f times as high.",
			len(g.Hosts), such, g.Apart))
		switch q := p.Parameters["oversubscription"]; {
		case q.Value != nil:
			out = append(out, fmt.Sprintf("A group can send %s times the rate of its uplink.",
				Format(*q.Value, q.CI95, q.Unit)))
		case q.Bound != nil:
			out = append(out, fmt.Sprintf("No limit of an uplink was found: oversubscription is at most %s.",
				Format(q.Bound[1], nil, q.Unit)))
		default:
			out = append(out, "Oversubscription of uplinks is not determined.")
		}
	}
	if n := len(p.Kinds); n > 0 {
		out = append(out, fmt.Sprintf("%d kinds of hosts by latency or rate. The numbers are of the largest: %s.", n,
			units.Plural(len(p.Kinds[0]), "host")))
	}
	return out
}

// spreadOf has the quantiles of the latencies and rates of pairs.
func spreadOf(p *params.Params) Grid {
	g := NewGrid("figure", "least/number", "5%/number", "25%/number", "median/number", "75%/number",
		"95%/number", "greatest/number")
	for _, r := range []struct {
		name, unit string
		of         func(params.Pair) *float64
	}{{"latency of a pair", "s", LatencyOf}, {"rate of a pair", "B/s", RateOf}} {
		values := PairValues(p.Pairs, r.of)
		if len(values) == 0 {
			continue
		}
		row := []string{r.name}
		for _, q := range []float64{0, 0.05, 0.25, 0.5, 0.75, 0.95, 1} {
			row = append(row, Format(stats.Quantile(values, q), nil, r.unit).String())
		}
		g.Add(row...)
	}
	return g
}

// PairHosts lists the hosts that are in a pair: in rank order, then those that the run does not know.
func PairHosts(p *params.Params) []string {
	left := map[string]bool{} // to be listed
	all := slices.Clone(p.Run.Hosts)
	for _, q := range p.Pairs {
		left[q.From], left[q.To] = true, true
		all = append(all, q.From, q.To)
	}
	return slices.DeleteFunc(all, func(h string) bool {
		list := left[h]
		delete(left, h)
		return !list
	})
}

func LatencyOf(q params.Pair) *float64 { return q.Latency }
func RateOf(q params.Pair) *float64    { return q.Rate }

func PairValues(pairs []params.Pair, of func(params.Pair) *float64) (out []float64) {
	for _, q := range pairs {
		if v := of(q); v != nil && !math.IsNaN(*v) && !math.IsInf(*v, 0) {
			out = append(out, *v)
		}
	}
	return out
}

func cell(v *float64, ci *[2]float64, unit string) string {
	if v == nil {
		return "–"
	}
	return Format(*v, ci, unit).String()
}

// namesOf lists many hosts as ranges, cut off where the list is long.
func namesOf(names []string) string {
	clean := lists.Map(names, Clean)
	list, end := hosts.Fold(clean), ""
	if len(list) > listWidth {
		cut := strings.LastIndexByte(list[:listWidth], ',')
		if cut < 0 {
			return clean[0] + ", …"
		}
		list, end = list[:cut], ", …"
		if strings.LastIndexByte(list, '[') > strings.LastIndexByte(list, ']') {
			end = ", …]"
		}
	}
	return strings.ReplaceAll(list, ",", ", ") + end
}

// EnvironmentOf says where the hosts differ, and what they share; nothing where nothing is known.
func EnvironmentOf(p *params.Params) Section {
	e, s := p.Environment, Section{Title: "Environment"}
	differs, common := NewGrid("fact", "value", "on/words"), NewGrid("fact", "on every host/words")
	for fact, by := range lists.ByKey(e.Differences) {
		values, on := byValue(by, p.Run.Hosts)
		for i, v := range values[:min(len(values), valuesShown)] {
			name := ""
			if i == 0 {
				name = Clean(fact)
			}
			differs.Add(name, Clean(v), namesOf(on[v]))
		}
		if n := len(values) - valuesShown; n > 0 {
			differs.Add("", fmt.Sprintf("and %s", units.Plural(n, "more value")), "")
		}
	}
	for fact, value := range lists.ByKey(e.Common) {
		common.Add(Clean(fact), Clean(value))
	}
	if len(common.Rows)+len(differs.Rows) == 0 {
		return s
	}
	s.Says = []string{fmt.Sprintf("%s: %s.", units.Plural(len(p.Run.Hosts), "host"), namesOf(p.Run.Hosts))}
	if len(p.Run.Versions) > 0 {
		s.Says[0] = fmt.Sprintf("calib %s on %s", Clean(strings.Join(p.Run.Versions, ", ")), s.Says[0])
	}
	s.Tables = []Table{{Title: "The hosts differ in", Grid: differs},
		{Fold: "The same on every host: " + units.Plural(len(common.Rows), "fact"), Grid: common}}
	return s
}

// byValue lists the values of host → value, and the hosts of each. The commonest value comes first, that of hosts
// without one last.
func byValue(by map[string]string, hosts []string) (values []string, on map[string][]string) {
	const none = "not reported"
	on = map[string][]string{}
	for _, h := range hosts {
		v, ok := by[h]
		if !ok {
			v = none
		}
		on[v] = append(on[v], h)
	}
	values = slices.SortedFunc(maps.Keys(on), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(on[b]), len(on[a])), cmp.Compare(a, b))
	})
	if i := slices.Index(values, none); i >= 0 {
		values = append(slices.Delete(values, i, i+1), none)
	}
	return values, on
}

// SlowHost is a host that a run found to be slow, in which way, and both in a sentence.
type SlowHost struct{ Name, Why, Says string }

func SlowHosts(p *params.Params) (out []SlowHost) {
	for _, f := range p.Findings {
		if f.Code == params.SlowHost {
			for _, name := range f.Hosts {
				_, why, _ := strings.Cut(f.Message, ": ")
				out = append(out, SlowHost{name, why, sentence(f.Message)})
			}
		}
	}
	return out
}

// SlowPairs returns the slow pairs, slowest first, without those of the given hosts.
func SlowPairs(p *params.Params, without []SlowHost) []params.Pair {
	out := lists.Where(p.Pairs, func(q params.Pair) bool {
		of := func(h SlowHost) bool { return h.Name == q.From || h.Name == q.To }
		return q.Slow != "" && !slices.ContainsFunc(without, of)
	})
	none := math.Inf(1) // nothing came through
	slices.SortStableFunc(out, func(a, b params.Pair) int {
		return cmp.Compare(*cmp.Or(b.Latency, &none), *cmp.Or(a.Latency, &none))
	})
	return out
}

// How many rows of pairs a report has: a matrix of 1,000 hosts has half a million.
const (
	rowsShown    = 60
	slowestShown = 8 // of a brief one
)

// PairsOf sums up the pairs, and lists the slow ones, slowest first. Unless it is brief, it has few pairs whole.
func PairsOf(p *params.Params, brief bool) Section {
	s := Section{Title: "Pairs"}
	if len(p.Pairs) == 0 {
		return s
	}
	matrix := func(first, last string, pairs []params.Pair) Grid {
		g := NewGrid(first, "latency/interval", "rate/interval", last+"/words")
		for _, q := range pairs {
			g.Add(Clean(q.From+" → "+q.To), cell(q.Latency, q.LatencyCI, "s"), cell(q.Rate, q.RateCI, "B/s"),
				Clean(q.Slow))
		}
		return g
	}
	slow := SlowPairs(p, nil)
	shown, more := min(len(slow), rowsShown), "The %[2]d slowest; %[1]d more are in params.json."
	if brief {
		shown, more = min(len(slow), slowestShown), "  and %[1]d more in params.json"
	}
	s.Tables = []Table{{Grid: matrix("slowest pairs", "why", slow[:shown])}}
	if n := len(slow) - shown; n > 0 {
		s.Tables[0].Says = []string{fmt.Sprintf(more, n, shown)}
	}
	if !brief && len(slow) < len(p.Pairs) && len(p.Pairs) <= rowsShown {
		s.Tables = append(s.Tables, Table{Fold: "All: " + units.Plural(len(p.Pairs), "pair"),
			Grid: matrix("pair", "why it stands out", p.Pairs)})
	}
	s.Says = slices.Concat([]string{fmt.Sprintf("%s measured, %d slow.", units.Plural(len(p.Pairs), "pair"),
		len(slow))}, spread("Latency", "s", p, LatencyOf), spread("Rate", "B/s", p, RateOf), lossOf(p))
	return s
}

// lossOf says which share of the segments was sent again, and between which hosts most, where that is known.
func lossOf(p *params.Params) []string {
	if p.Loss == nil {
		return nil
	}
	share := func(l *params.Loss) string {
		of := Percent
		if l.Rate < 0.01 {
			of = func(v float64) string { return fmt.Sprintf("%.2g%%", 100*v) }
		}
		return fmt.Sprintf("%s [%s, %s]", of(l.Rate), of(l.CI95[0]), of(l.CI95[1]))
	}
	text := fmt.Sprintf("Loss: %s of %s segments were sent again", share(p.Loss), count(float64(p.Loss.Segments)))
	var worst params.Pair
	for _, q := range p.Pairs {
		if q.Loss != nil && (worst.Loss == nil || q.Loss.Rate > worst.Loss.Rate) {
			worst = q
		}
	}
	if worst.Loss != nil && worst.Loss.Again > 0 && len(p.Pairs) > 1 {
		text += fmt.Sprintf(", most between %s and %s: %s", Clean(worst.From), Clean(worst.To), share(worst.Loss))
	}
	return []string{text + "."}
}

// spread gives median, least and greatest of one number over all pairs in one sentence, or none.
func spread(what, unit string, p *params.Params, of func(params.Pair) *float64) []string {
	all := PairValues(p.Pairs, of)
	if len(all) == 0 {
		return nil
	}
	show := func(v float64) Quantity { return Format(v, nil, unit) }
	return []string{fmt.Sprintf("%s: median %s, from %s to %s.", what,
		show(stats.Median(all)), show(slices.Min(all)), show(slices.Max(all)))}
}
