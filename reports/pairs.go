package reports

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/montanaflynn/stats"

	"calib/fit/params"
)

// slowestShown bounds the list of slow pairs: a matrix of 1,000 hosts has half a million.
const slowestShown = 8

type slowHost struct {
	name        string
	slow, pairs int
}

// slowHosts names the hosts of which more than half of at least two pairs stand out, worst first: what their pairs have
// in common is the host.
func slowHosts(pairs []params.Pair) []slowHost {
	by := map[string]*slowHost{}
	for _, p := range pairs {
		for _, name := range []string{p.From, p.To} {
			if by[name] == nil {
				by[name] = &slowHost{name: name}
			}
			by[name].pairs++
			if p.Slow != "" {
				by[name].slow++
			}
		}
	}
	var out []slowHost
	for _, h := range by {
		if h.pairs > 1 && 2*h.slow > h.pairs {
			out = append(out, *h)
		}
	}
	slices.SortFunc(out, func(a, b slowHost) int {
		return cmp.Or(cmp.Compare(b.slow*a.pairs, a.slow*b.pairs), cmp.Compare(a.name, b.name))
	})
	return out
}

// slowPairs returns the pairs that stand out, slowest first, without those that have one of the given hosts.
func slowPairs(pairs []params.Pair, without []slowHost) []params.Pair {
	of := func(name string) func(slowHost) bool { return func(h slowHost) bool { return h.name == name } }
	out := slices.DeleteFunc(slices.Clone(pairs), func(q params.Pair) bool {
		return q.Slow == "" || slices.ContainsFunc(without, of(q.From)) || slices.ContainsFunc(without, of(q.To))
	})
	slices.SortStableFunc(out, func(a, b params.Pair) int { return cmp.Compare(orZero(b.Latency), orZero(a.Latency)) })
	return out
}

// pairs summarises the pair matrix: the range, the pairs that stand out and the hosts they have in common.
func (p *page) pairs(ps *params.Params) {
	if len(ps.Pairs) == 0 {
		return
	}
	p.heading("Pairs")
	part := PairsOf(ps)
	for _, s := range part.Says {
		p.line(2, "%s", s)
	}
	if len(part.Slow.Rows) == 0 {
		return
	}
	more := len(part.Slow.Rows) - slowestShown
	part.Slow.Rows = part.Slow.Rows[:min(len(part.Slow.Rows), slowestShown)]
	p.WriteByte('\n')
	p.write(grid{Grid: part.Slow, wrap: true})
	if more > 0 {
		p.line(2, "  and %d more in params.json", more)
	}
}

// spread gives least, median and greatest of one number over all pairs in one sentence, or none.
func spread(what, unit string, pairs []params.Pair, of func(params.Pair) *float64) []string {
	var all stats.Float64Data
	for _, q := range pairs {
		if v := of(q); v != nil {
			all = append(all, *v)
		}
	}
	median, err := stats.Median(all)
	if err != nil {
		return nil // no pair has this number
	}
	show := func(v float64) string { return Format(v, nil, unit).String() }
	return []string{fmt.Sprintf("%s: median %s, from %s to %s.", sentenceCase(what), show(median), show(slices.Min(all)),
		show(slices.Max(all)))}
}

func sentenceCase(s string) string { return fmt.Sprintf("%c%s", s[0]+'A'-'a', s[1:]) }

func quantity(v *float64, ci *[2]float64, unit string) string {
	if v == nil {
		return "–"
	}
	return Format(*v, ci, unit).String()
}

func orZero(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
