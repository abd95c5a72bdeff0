package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/internal/params"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/reports"
)

// namedSlow is how many slow hosts or links a sentence names; it counts the others.
const namedSlow = 6

// pairs draws the host × host matrices of latency and rate, those that have a number. A pair measured in one order of
// its hosts stands for both.
func pairs(p *params.Params) []Figure {
	hosts := pairHosts(p)
	out := spreads(p, len(hosts))
	for _, m := range []struct {
		id, title, what, unit, better string
		of                            func(params.Pair) *float64
	}{
		{"pairs-latency", "Latency between hosts", "Half the round trip of the smallest message", "s", BetterLower,
			func(q params.Pair) *float64 { return q.Latency }},
		{"pairs-rate", "Rate between hosts", "The rate of the largest message", "B/s", BetterHigher,
			func(q params.Pair) *float64 { return q.Rate }},
	} {
		h := &Heat{Rows: hosts, Cols: slices.Clone(hosts), Unit: m.unit, Better: m.better}
		values := h.fill(p.Pairs, m.of)
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		lo, mid, hi := values[0], stats.SortedQuantile(values, 0.5), values[len(values)-1]
		says := fmt.Sprintf("%s: a median of %s over %s, from %s to %s.", m.what, units.Format(mid, m.unit), units.GroupedPlural(len(values), "pair"),
			units.Format(lo, m.unit), units.Format(hi, m.unit))
		if len(values) == 1 {
			says = fmt.Sprintf("%s: %s between the one pair measured.", m.what, units.Format(mid, m.unit))
		}
		says += slowWords(p.Pairs, len(values))
		if len(hosts) > reports.ManyHosts {
			h = h.blocks(len(values))
			says += fmt.Sprintf(" Each cell is the mean of the pairs that were measured between two blocks of %d hosts, in the order of the hosts "+
				"file; one stands out where more than half of them are slow.", h.Block)
		}
		out = append(out, Figure{ID: m.id, Section: "Pairs", Title: m.title, Says: says, X: Axis{Name: "to"}, Y: Axis{Name: "from"}, Heat: h})
	}
	return out
}

// pairHosts lists the hosts that are in a pair: in rank order, then those that the run does not know.
func pairHosts(p *params.Params) []string {
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

// fill sets the cells and flags of h, and returns the values, each pair's once.
func (h *Heat) fill(pairs []params.Pair, of func(params.Pair) *float64) []float64 {
	index := map[string]int{}
	h.Z = make([][]float64, len(h.Rows))
	for i, name := range h.Rows {
		index[name] = i
		h.Z[i] = slices.Repeat([]float64{math.NaN()}, len(h.Cols))
	}
	var values []float64
	for _, mirror := range []bool{false, true} { // what was measured in a direction goes before what the other direction stands for
		for _, q := range pairs {
			i, j := index[q.From], index[q.To]
			if mirror {
				i, j = j, i
			}
			v := of(q)
			if v == nil || !finite(*v) || i == j || finite(h.Z[i][j]) {
				continue
			}
			h.Z[i][j] = *v
			if q.Slow != "" {
				h.Flagged = append(h.Flagged, Flag{Row: i, Col: j, Why: q.Slow})
			}
			if !mirror {
				values = append(values, *v)
			}
		}
	}
	slices.SortFunc(h.Flagged, func(a, b Flag) int { return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Col, b.Col)) })
	return values
}

// slowWords names the hosts whose pairs all stand out, and the other links that do.
func slowWords(pairs []params.Pair, measured int) string {
	total, slow := map[string]int{}, map[string]int{}
	var order []string
	for _, q := range pairs {
		for _, h := range []string{q.From, q.To} {
			if total[h]++; total[h] == 1 {
				order = append(order, h)
			}
			if q.Slow != "" {
				slow[h]++
			}
		}
	}
	slowHost := map[string]bool{}
	var hosts, links []string
	for _, h := range order {
		if total[h] >= 2 && slow[h] == total[h] && total[h] < len(pairs) {
			slowHost[h] = true
			hosts = append(hosts, h)
		}
	}
	for _, q := range pairs {
		if q.Slow != "" && !slowHost[q.From] && !slowHost[q.To] {
			links = append(links, q.From+"–"+q.To)
		}
	}
	switch {
	case len(hosts) > 0 && len(links) > 0:
		return " Slow in every pair: " + few(hosts) + "; slow between: " + few(links) + "."
	case len(hosts) > 0:
		return " Slow in every pair: " + few(hosts) + "."
	case len(links) > 0:
		return " Slow between: " + few(links) + "."
	case measured > 2:
		return " No host or link stands out as slow."
	}
	return ""
}

// few joins the first names, and counts the others.
func few(names []string) string {
	if len(names) <= namedSlow {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namedSlow], ", "), len(names)-namedSlow)
}
