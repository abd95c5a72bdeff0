package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/internal/hosts"
	"calib/internal/params"
	"calib/internal/stats"
	"calib/internal/units"
)

const (
	// listWidth bounds a list of many hosts in a cell, in characters.
	listWidth = 160
	// nearShown and oddShown bound the rows about groups of hosts and about odd ones; params.json has the pairs of all.
	nearShown = 12
	oddShown  = 24
)

// HostsPart describes many hosts: how their figures are distributed, which are alike, which are near each other, and
// the odd ones. It is empty where the hosts are few enough to be read one by one.
type HostsPart struct {
	Says   []string
	Spread Grid // quantiles of the figures of pairs and of hosts
	Groups Grid // hosts that are alike
	Odd    Grid // hosts in no group
	Near   Grid // hosts with short ways between them
}

// Grids lists those that have rows.
func (part HostsPart) Grids() []Grid {
	return slices.DeleteFunc([]Grid{part.Spread, part.Groups, part.Odd, part.Near}, func(g Grid) bool { return len(g.Rows) == 0 })
}

// HostsOf returns the description of the hosts of p where there are more than ManyHosts.
func HostsOf(p *params.Params) HostsPart {
	part := HostsPart{
		Spread: newGrid(Column{"figure", KindText}, Column{"least", KindNumber}, Column{"5%", KindNumber}, Column{"25%", KindNumber},
			Column{"median", KindNumber}, Column{"75%", KindNumber}, Column{"95%", KindNumber}, Column{"greatest", KindNumber}),
		Groups: newGrid(Column{"hosts alike", KindNumber}, Column{"latency", KindNumber}, Column{"rate", KindNumber}, Column{"which", KindWords}),
		Odd:    newGrid(Column{"odd host", KindText}, Column{"latency", KindNumber}, Column{"rate", KindNumber}, Column{"against the largest group", KindWords}),
		Near:   newGrid(Column{"hosts near each other", KindNumber}, Column{"which", KindWords}),
	}
	if len(p.Run.Hosts) <= ManyHosts || len(p.Pairs) == 0 {
		return part
	}
	h := AlikeOf(p)
	part.spread(p, h)
	part.Says = append(part.Says, "A host's latency is that of a message between it and a typical host: half the round trip of a pair is taken as the sum of "+
		"a part of each of its hosts. A host's rate is the best of its pairs.")
	if len(h.Groups)+len(h.Odd) > 0 {
		part.Says = append(part.Says, groupWords(h))
	}
	for _, g := range h.Groups {
		part.Groups.add(count(float64(len(g.Hosts))), figureOf(g.Latency, "s"), figureOf(g.Rate, "B/s"), namesOf(g.Hosts))
	}
	for _, q := range h.Odd[:min(len(h.Odd), oddShown)] {
		part.Odd.add(Clean(q.Name), figureOf(q.Latency, "s"), figureOf(q.Rate, "B/s"), against(q))
	}
	if n := len(h.Odd) - oddShown; n > 0 {
		part.Says = append(part.Says, fmt.Sprintf("The %d oddest hosts are listed, of %d.", oddShown, len(h.Odd)))
	}
	if n := len(h.Unknown); n > 0 {
		part.Says = append(part.Says, fmt.Sprintf("%s in too few pairs to be told from their partners: %s.", were(n), namesOf(h.Unknown)))
	}
	part.near(h)
	return part
}

// were counts hosts as the subject of a sentence.
func were(n int) string {
	if n == 1 {
		return "1 host was"
	}
	return fmt.Sprintf("%s were", units.GroupedPlural(n, "host"))
}

// spread adds the quantiles of latencies and rates, of pairs and of hosts.
func (part *HostsPart) spread(p *params.Params, h *Alike) {
	pairs := func(of func(params.Pair) *float64) []float64 {
		var out []float64
		for _, q := range p.Pairs {
			if v := of(q); v != nil && !math.IsNaN(*v) && !math.IsInf(*v, 0) {
				out = append(out, *v)
			}
		}
		return out
	}
	for _, r := range []struct {
		name, unit string
		values     []float64
	}{
		{"latency of a pair", "s", pairs(func(q params.Pair) *float64 { return q.Latency })}, {"latency of a host", "s", h.Latencies()},
		{"rate of a pair", "B/s", pairs(func(q params.Pair) *float64 { return q.Rate })}, {"rate of a host", "B/s", h.Rates()},
	} {
		if len(r.values) == 0 {
			continue
		}
		row := []string{r.name}
		for _, q := range []float64{0, 0.05, 0.25, 0.5, 0.75, 0.95, 1} {
			row = append(row, figureOf(stats.Quantile(r.values, q), r.unit))
		}
		part.Spread.add(row...)
	}
}

// groupWords says into how many groups the hosts fall.
func groupWords(h *Alike) string {
	switch n := len(h.Groups); {
	case n == 0:
		return "No hosts are alike: no group is described."
	case n == 1 && len(h.Odd) == 0:
		return fmt.Sprintf("All %s are alike.", units.GroupedPlural(len(h.Groups[0].Hosts), "host"))
	case n == 1:
		return fmt.Sprintf("%s are alike, and %s odd.", units.GroupedPlural(len(h.Groups[0].Hosts), "host"), isAre(len(h.Odd)))
	default:
		return fmt.Sprintf("The hosts fall into %d groups that differ in latency or rate; %s odd.", n, isAre(len(h.Odd)))
	}
}

func isAre(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%s are", units.Grouped(int64(n)))
}

// near adds the groups of hosts that are near each other.
func (part *HostsPart) near(h *Alike) {
	if len(h.Near) == 0 {
		return
	}
	part.Says = append(part.Says, fmt.Sprintf("Ways are short within %d groups of hosts, and longer between them.", len(h.Near)))
	for _, names := range h.Near[:min(len(h.Near), nearShown)] {
		part.Near.add(count(float64(len(names))), namesOf(names))
	}
	if n := len(h.Near) - nearShown; n > 0 {
		part.Near.add("", fmt.Sprintf("and %s", units.GroupedPlural(n, "more group")))
	}
}

// against compares an odd host with the largest group.
func against(q alikeHost) string {
	var parts []string
	for _, r := range []struct {
		what  string
		ratio float64
	}{{"latency", q.LatencyRatio}, {"rate", q.RateRatio}} {
		if !math.IsNaN(r.ratio) {
			parts = append(parts, fmt.Sprintf("%.2f times the %s", r.ratio, r.what))
		}
	}
	return strings.Join(parts, ", ")
}

// figureOf is a number with its unit, "–" where it is not known.
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
	list := hosts.Fold(clean)
	if len(list) <= listWidth {
		return strings.ReplaceAll(list, ",", ", ")
	}
	cut := strings.LastIndexByte(list[:listWidth], ',')
	if cut < 0 {
		return clean[0] + ", …"
	}
	list = list[:cut]
	end := ", …"
	if strings.LastIndexByte(list, '[') > strings.LastIndexByte(list, ']') {
		end = ", …]"
	}
	return strings.ReplaceAll(list, ",", ", ") + end
}

// hosts writes the description of many hosts.
func (p *page) hosts(ps *params.Params) {
	part := HostsOf(ps)
	if len(part.Says) == 0 {
		return
	}
	p.heading("Hosts")
	p.lines(part.Says)
	for _, g := range part.Grids() {
		p.WriteByte('\n')
		p.write(g)
	}
}
