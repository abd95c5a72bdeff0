package reports

import (
	"cmp"
	"fmt"
	"slices"

	"calib/internal/params"
	"calib/internal/stats"
	"calib/internal/units"
)

const slowestShown = 8 // bounds the list of slow pairs: a matrix of 1,000 hosts has half a million

type slowHost struct {
	name        string
	slow, pairs int
}

// slowHosts names the hosts of which more than half of at least two pairs are slow, worst first: the host is what these
// pairs have in common.
func slowHosts(pairs []params.Pair) (out []slowHost) {
	by := map[string]slowHost{}
	for _, p := range pairs {
		for _, name := range []string{p.From, p.To} {
			h := by[name]
			h.name = name
			if h.pairs++; p.Slow != "" {
				h.slow++
			}
			by[name] = h
		}
	}
	for _, h := range by {
		if h.pairs > 1 && 2*h.slow > h.pairs {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b slowHost) int {
		return cmp.Or(cmp.Compare(b.slow*a.pairs, a.slow*b.pairs), cmp.Compare(a.name, b.name))
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

const rowsShown = 60 // bounds the rows of pairs that any page shows

type PairsPart struct {
	Says   []string // the range, and the hosts that slow pairs have in common
	Slow   Grid     // the slow pairs, slowest first, of many the first rowsShown
	Hidden int      // slow pairs that are not in Slow
	All    Grid     // every pair in the order of the file; none where there are more than rowsShown
}

// PairsOf returns the summary of all pairs, which is empty without pairs.
func PairsOf(p *params.Params) PairsPart {
	matrix := func(first, last string, pairs []params.Pair) Grid {
		g := NewGrid(first, "latency/interval", "rate/interval", last+"/words")
		for _, q := range pairs {
			g.Add(pairRow(q)...)
		}
		return g
	}
	slow := slowPairs(p.Pairs, nil)
	shown := min(len(slow), rowsShown)
	part := PairsPart{Slow: matrix("slowest pairs", "why", slow[:shown]), Hidden: len(slow) - shown}
	if len(p.Pairs) <= rowsShown {
		part.All = matrix("pair", "why it stands out", p.Pairs)
	}
	if len(p.Pairs) == 0 {
		return part
	}
	part.Says = slices.Concat([]string{fmt.Sprintf("%s measured, %d slow.", units.GroupedPlural(len(p.Pairs), "pair"),
		len(slow))}, spread("Latency", "s", p, LatencyOf), spread("Rate", "B/s", p, RateOf), lossOf(p))
	hosts := slowHosts(p.Pairs)
	for _, h := range hosts[:min(len(hosts), outliersShown)] {
		part.Says = append(part.Says, fmt.Sprintf("Host %s is in %d slow pairs of its %d: the host, not the pairs.", Clean(h.name),
			h.slow, h.pairs))
	}
	if n := len(hosts) - outliersShown; n > 0 {
		part.Says = append(part.Says, fmt.Sprintf("%s like these.", units.GroupedPlural(n, "more host")))
	}
	return part
}

func pairRow(q params.Pair) []string {
	number := func(v *float64, ci *[2]float64, unit string) string {
		if v == nil {
			return "–"
		}
		return Format(*v, ci, unit).String()
	}
	return []string{Clean(q.From + " → " + q.To), number(q.Latency, q.LatencyCI, "s"), number(q.Rate, q.RateCI, "B/s"), Clean(q.Slow)}
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
	all := PairValues(p, of)
	if len(all) == 0 {
		return nil
	}
	show := func(v float64) Quantity { return Format(v, nil, unit) }
	return []string{fmt.Sprintf("%s: median %s, from %s to %s.", what, show(stats.Median(all)), show(slices.Min(all)), show(slices.Max(all)))}
}

func (p *page) pairs(ps *params.Params) {
	if len(ps.Pairs) == 0 {
		return
	}
	p.heading("Pairs")
	part := PairsOf(ps)
	p.lines(part.Says)
	more := len(part.Slow.Rows) + part.Hidden - slowestShown
	part.Slow.Rows = part.Slow.Rows[:min(len(part.Slow.Rows), slowestShown)]
	if len(part.Slow.Rows) > 0 {
		p.WriteByte('\n')
		p.write(part.Slow)
	}
	if more > 0 {
		p.line(2, "  and %d more in params.json", more)
	}
}
