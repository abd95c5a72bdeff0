package main

import (
	"fmt"
	"math"
	"slices"

	"calib/fit/params"
	"calib/internal/netspec"
	"calib/internal/truth"
	"calib/internal/units"
)

// leastCovered is the share of runs in which the 95% interval of a parameter must hold the truth.
const leastCovered = 0.9

// coverageChecks says of each parameter that has a value whether its interval holds the truth; without an interval it is not ok, and
// tally leaves it out. What the lab's hosts add to the network
// is a term of the intervals.
func coverageChecks(s *netspec.Spec, p *params.Params) []check {
	truths := truth.Parameters(s)
	var out []check
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range truths {
			if q, there := p.Parameters[name]; there && q.Value != nil && !yield(name) {
				return
			}
		}
	}) {
		q, v := p.Parameters[name], truths[name]
		c := value(p, name, v, q.Unit, math.NaN())
		c.ok = q.CI95 != nil && q.CI95[0] <= v && v <= q.CI95[1]
		if q.CI95 != nil {
			c.allowed = (q.CI95[1] - q.CI95[0]) / 2
		}
		out = append(out, c)
	}
	return out
}

// tally counts checks by network and parameter.
type tally struct {
	names []string
	hit   map[string]int
	total map[string]int // with an interval
	bare  map[string]int // without
}

func (t *tally) add(network string, checks []check) {
	if t.hit == nil {
		t.hit, t.total, t.bare = map[string]int{}, map[string]int{}, map[string]int{}
	}
	for _, c := range checks {
		key := fmt.Sprintf("%s | %s | %s", network, c.name, units.Format(c.truth, c.unit))
		if t.total[key]+t.bare[key] == 0 {
			t.names = append(t.names, key)
		}
		if c.ci == "" {
			t.bare[key]++
			continue
		}
		t.total[key]++
		if c.ok {
			t.hit[key]++
		}
	}
}

// print writes the counts as a table, and returns how many are below leastCovered.
func (t *tally) print() (below int) {
	fmt.Println("\n| network | parameter | truth | in the 95% interval | without an interval | |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, name := range t.names {
		verdict := "ok"
		if float64(t.hit[name]) < leastCovered*float64(t.total[name]) {
			verdict = "**below**"
			below++
		}
		fmt.Printf("| %s | %d of %d | %d | %s |\n", name, t.hit[name], t.total[name], t.bare[name], verdict)
	}
	return below
}
