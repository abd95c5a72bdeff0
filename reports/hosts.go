package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"calib/internal/hosts"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

const (
	// listWidth bounds a list of many hosts in a cell, in characters.
	listWidth = 160
	// nearShown and oddShown bound the rows about groups of hosts and about odd ones; params.json has the pairs of all.
	nearShown = 12
	oddShown  = 24
)

// HostsOf describes the hosts of p where there are more than ManyHosts: how their figures are distributed, which are
// alike, which are near each other, and the odd ones. Fewer hosts are read one by one: nothing is said of them.
func HostsOf(p *params.Params) Section {
	s := Section{Title: "Hosts"}
	if len(p.Run.Hosts) <= ManyHosts || len(p.Pairs) == 0 {
		return s
	}
	say := func(format string, args ...any) { s.Says = append(s.Says, fmt.Sprintf(format, args...)) }
	h := AlikeOf(p)
	say("A host's latency is that of a message between it and a typical host: half the round trip of a pair is taken as " +
		"the sum of a part of each of its hosts. A host's rate is the best of its pairs.")
	odd := be(len(h.Odd), "1 is", "%s are")
	switch n := len(h.Groups); {
	case n == 0 && len(h.Odd) == 0:
	case n == 0:
		say("No hosts are alike: no group is described.")
	case n == 1 && len(h.Odd) == 0:
		say("All %s are alike.", units.GroupedPlural(len(h.Groups[0].Hosts), "host"))
	case n == 1:
		say("%s are alike, and %s odd.", units.GroupedPlural(len(h.Groups[0].Hosts), "host"), odd)
	default:
		say("The hosts fall into %d groups that differ in latency or rate; %s odd.", n, odd)
	}
	groups := NewGrid("hosts alike/number", "latency/number", "rate/number", "which/words")
	for _, g := range h.Groups {
		groups.Add(count(float64(len(g.Hosts))), figureOf(g.Latency, "s"), figureOf(g.Rate, "B/s"), namesOf(g.Hosts))
	}
	alone := NewGrid("odd host", "latency/number", "rate/number", "against the largest group/words")
	for _, q := range h.Odd[:min(len(h.Odd), oddShown)] {
		var against []string
		if !math.IsNaN(q.LatencyRatio) {
			against = append(against, fmt.Sprintf("%.2f times the latency", q.LatencyRatio))
		}
		if !math.IsNaN(q.RateRatio) {
			against = append(against, fmt.Sprintf("%.2f times the rate", q.RateRatio))
		}
		alone.Add(Clean(q.Name), figureOf(q.Latency, "s"), figureOf(q.Rate, "B/s"), strings.Join(against, ", "))
	}
	if len(h.Odd) > oddShown {
		say("The %d oddest hosts are listed, of %d.", oddShown, len(h.Odd))
	}
	if n := len(h.Unknown); n > 0 {
		say("%s in too few pairs to be told from their partners: %s.", be(n, "1 host was", "%s hosts were"),
			namesOf(h.Unknown))
	}
	near := NewGrid("hosts near each other/number", "which/words")
	if len(h.Near) > 0 {
		say("Ways are short within %d groups of hosts, and longer between them.", len(h.Near))
	}
	for _, names := range h.Near[:min(len(h.Near), nearShown)] {
		near.Add(count(float64(len(names))), namesOf(names))
	}
	if n := len(h.Near) - nearShown; n > 0 {
		near.Add("", fmt.Sprintf("and %s", units.GroupedPlural(n, "more group")))
	}
	s.Tables = []Table{{Grid: spreadOf(p, h)}, {Grid: groups}, {Grid: alone}, {Grid: near}}
	return s
}

// spreadOf has the quantiles of latencies and rates, of pairs and of hosts.
func spreadOf(p *params.Params, h *Alike) Grid {
	g := NewGrid("figure", "least/number", "5%/number", "25%/number", "median/number", "75%/number",
		"95%/number", "greatest/number")
	for _, r := range []struct {
		name, unit string
		values     []float64
	}{
		{"latency of a pair", "s", PairValues(p.Pairs, LatencyOf)}, {"latency of a host", "s", h.Latencies},
		{"rate of a pair", "B/s", PairValues(p.Pairs, RateOf)}, {"rate of a host", "B/s", h.Rates},
	} {
		if len(r.values) == 0 {
			continue
		}
		row := []string{r.name}
		for _, q := range []float64{0, 0.05, 0.25, 0.5, 0.75, 0.95, 1} {
			row = append(row, figureOf(stats.Quantile(r.values, q), r.unit))
		}
		g.Add(row...)
	}
	return g
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

// be counts as the subject of a sentence.
func be(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(more, units.Grouped(int64(n)))
}

func figureOf(v float64, unit string) string {
	if math.IsNaN(v) {
		return "–"
	}
	return Format(v, nil, unit).String()
}

// namesOf lists many hosts as ranges, cut off where the list is long.
func namesOf(names []string) string {
	clean := make([]string, len(names))
	for i, s := range names {
		clean[i] = Clean(s)
	}
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
	for _, fact := range slices.Sorted(maps.Keys(e.Differences)) {
		values, on := byValue(e.Differences[fact], p.Run.Hosts)
		for i, v := range values[:min(len(values), valuesShown)] {
			name := ""
			if i == 0 {
				name = Clean(fact)
			}
			differs.Add(name, Clean(v), hostList(on[v]))
		}
		if n := len(values) - valuesShown; n > 0 {
			differs.Add("", fmt.Sprintf("and %s", units.GroupedPlural(n, "more value")), "")
		}
	}
	for _, fact := range slices.Sorted(maps.Keys(e.Common)) {
		common.Add(Clean(fact), Clean(e.Common[fact]))
	}
	if len(common.Rows)+len(differs.Rows) == 0 {
		return s
	}
	s.Says = []string{fmt.Sprintf("calib %s on %s: %s.", Clean(strings.Join(p.Run.Versions, ", ")),
		units.GroupedPlural(len(p.Run.Hosts), "host"), hostList(p.Run.Hosts))}
	s.Tables = []Table{{Title: "The hosts differ in", Grid: differs},
		{Fold: "The same on every host: " + units.GroupedPlural(len(common.Rows), "fact"), Grid: common}}
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

// hostsShown bounds a list of names, valuesShown the values of one fact: some facts differ on every host.
const (
	hostsShown  = 12
	valuesShown = 12
)

func hostList(hosts []string) string {
	if len(hosts) <= hostsShown {
		return Clean(strings.Join(hosts, ", "))
	}
	return namesOf(hosts)
}

type SlowHost struct {
	Name        string
	Slow, Pairs int
}

// SlowHosts names the hosts of which more than half of at least two pairs are slow, worst first: the host is what these
// pairs have in common.
func SlowHosts(pairs []params.Pair) (out []SlowHost) {
	by := map[string]SlowHost{}
	for _, p := range pairs {
		for _, name := range []string{p.From, p.To} {
			h := by[name]
			h.Name = name
			if h.Pairs++; p.Slow != "" {
				h.Slow++
			}
			by[name] = h
		}
	}
	for _, h := range by {
		if h.Pairs > 1 && 2*h.Slow > h.Pairs {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b SlowHost) int {
		return cmp.Or(cmp.Compare(b.Slow*a.Pairs, a.Slow*b.Pairs), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// slowPairs returns the slow pairs, slowest first, without those that have one of the given hosts.
func slowPairs(pairs []params.Pair, without []string) []params.Pair {
	out := slices.DeleteFunc(slices.Clone(pairs), func(q params.Pair) bool {
		return q.Slow == "" || slices.Contains(without, q.From) || slices.Contains(without, q.To)
	})
	none := 0.0
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
	number := func(v *float64, ci *[2]float64, unit string) string {
		if v == nil {
			return "–"
		}
		return Format(*v, ci, unit).String()
	}
	matrix := func(first, last string, pairs []params.Pair) Grid {
		g := NewGrid(first, "latency/interval", "rate/interval", last+"/words")
		for _, q := range pairs {
			g.Add(Clean(q.From+" → "+q.To), number(q.Latency, q.LatencyCI, "s"), number(q.Rate, q.RateCI, "B/s"),
				Clean(q.Slow))
		}
		return g
	}
	slow := slowPairs(p.Pairs, nil)
	shown, more := min(len(slow), rowsShown), "The %[2]d slowest; %[1]d more are in params.json."
	if brief {
		shown, more = min(len(slow), slowestShown), "  and %[1]d more in params.json"
	}
	s.Tables = []Table{{Grid: matrix("slowest pairs", "why", slow[:shown])}}
	if n := len(slow) - shown; n > 0 {
		s.Tables[0].Says = []string{fmt.Sprintf(more, n, shown)}
	}
	if !brief && len(slow) < len(p.Pairs) && len(p.Pairs) <= rowsShown {
		s.Tables = append(s.Tables, Table{Fold: fmt.Sprintf("All %d pairs", len(p.Pairs)),
			Grid: matrix("pair", "why it stands out", p.Pairs)})
	}
	s.Says = slices.Concat([]string{fmt.Sprintf("%s measured, %d slow.", units.GroupedPlural(len(p.Pairs), "pair"),
		len(slow))}, spread("Latency", "s", p, LatencyOf), spread("Rate", "B/s", p, RateOf), lossOf(p))
	hosts := SlowHosts(p.Pairs)
	for _, h := range hosts[:min(len(hosts), outliersShown)] {
		s.Says = append(s.Says, fmt.Sprintf("Host %s is in %d slow pairs of its %d: the host, not the pairs.", Clean(h.Name),
			h.Slow, h.Pairs))
	}
	if n := len(hosts) - outliersShown; n > 0 {
		s.Says = append(s.Says, fmt.Sprintf("%s like these.", units.GroupedPlural(n, "more host")))
	}
	return s
}

// lossOf says which share of the segments was sent again, and between which hosts most, where that is known.
func lossOf(p *params.Params) []string {
	if p.Loss == nil {
		return nil
	}
	share := func(l *params.Loss) string {
		return fmt.Sprintf("%s [%s, %s]", Percent(l.Rate), Percent(l.CI95[0]), Percent(l.CI95[1]))
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
