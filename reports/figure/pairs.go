package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
)

var ofPairs = []struct {
	name, title, what, unit, better string
	of                              func(params.Pair) *float64
}{
	{"latency", "Latency between hosts", "Half the round trip of the smallest message", "s", params.BetterLower,
		reports.LatencyOf},
	{"rate", "Rate between hosts", "The rate of the largest message", "B/s", params.BetterHigher, reports.RateOf},
}

// pairs draws the host × host matrices of latency and rate, those that have a number. A pair is there once, in either
// order of its hosts, and stands for both.
func pairs(p *params.Params) (out []Figure) {
	hosts := reports.PairHosts(p)
	for _, m := range ofPairs {
		h := &Heat{Names: hosts, Unit: m.unit, Better: m.better}
		values := h.fill(p.Pairs, m.of)
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		lo, mid, hi := values[0], stats.SortedQuantile(values, 0.5), values[len(values)-1]
		says := fmt.Sprintf("%s: a median of %s over %s, from %s to %s.", m.what, units.Format(mid, m.unit),
			units.Plural(len(values), "pair"), units.Format(lo, m.unit), units.Format(hi, m.unit))
		if len(values) == 1 {
			says = fmt.Sprintf("%s: %s between the one pair measured.", m.what, units.Format(mid, m.unit))
		}
		if len(hosts) > reports.ManyHosts {
			h = h.blocks(len(values))
			says += fmt.Sprintf(" Each cell is the mean of the pairs that were measured between two blocks of %d hosts, "+
				"in the order of the hosts file; one stands out where more than half of them are slow.", h.Block)
		}
		out = append(out, Figure{ID: "pairs-" + m.name, Section: "Pairs", Title: m.title, Says: says, X: Axis{Name: "to"},
			Y: Axis{Name: "from"}, Heat: h})
	}
	return out
}

// fill sets the cells and flags of h, and returns the values, each pair's once.
func (h *Heat) fill(pairs []params.Pair, of func(params.Pair) *float64) (values []float64) {
	index := map[string]int{}
	h.Z = make([][]float64, len(h.Names))
	for i, name := range h.Names {
		index[name] = i
		h.Z[i] = slices.Repeat([]float64{math.NaN()}, len(h.Names))
	}
	for _, q := range pairs {
		i, j, v := index[q.From], index[q.To], of(q)
		if v == nil || !finite(*v) || i == j {
			continue
		}
		values = append(values, *v)
		for _, c := range []Flag{{i, j}, {j, i}} {
			h.Z[c.Row][c.Col] = *v
			if q.Slow != "" {
				h.Flagged = append(h.Flagged, c)
			}
		}
	}
	slices.SortFunc(h.Flagged, func(a, b Flag) int { return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Col, b.Col)) })
	return values
}

const (
	// maxBlocks is the number of rows of a matrix of blocks, and minBlocks that which it has however few pairs were
	// measured.
	maxBlocks, minBlocks = 64, 8
	cellPairs            = 4 // the number of pairs that a cell of a matrix of blocks is the mean of, on average
)

// blocks returns the matrix of blocks of neighbouring hosts: as many as can be read, and as few as leave a cell
// cellPairs of the pairs that were measured, on average. A cell is the mean of its pairs, and stands out where more
// than half of them do.
func (h *Heat) blocks(measured int) *Heat {
	n := len(h.Names)
	rows := min(max(int(math.Sqrt(float64(2*measured)/cellPairs)), minBlocks), maxBlocks)
	out := &Heat{Unit: h.Unit, Better: h.Better, Block: (n + rows - 1) / rows}
	for first := 0; first < n; first += out.Block {
		name := h.Names[first]
		if last := min(first+out.Block, n) - 1; last > first {
			name += " … " + h.Names[last]
		}
		out.Names = append(out.Names, name)
	}
	rows = len(out.Names)
	pairs, slow := make([]int, rows*rows), make([]int, rows*rows)
	sums := make([]float64, rows*rows)
	cell := func(r, c int) int { return r/out.Block*rows + c/out.Block }
	for r, row := range h.Z {
		for c, v := range row {
			if !math.IsNaN(v) {
				pairs[cell(r, c)]++
				sums[cell(r, c)] += v
			}
		}
	}
	for _, f := range h.Flagged {
		slow[cell(f.Row, f.Col)]++
	}
	for r := range rows {
		row := make([]float64, rows)
		for c := range row {
			k := r*rows + c
			row[c] = sums[k] / float64(pairs[k]) // NaN without a pair
			if 2*slow[k] > pairs[k] {
				out.Flagged = append(out.Flagged, Flag{r, c})
			}
		}
		out.Z = append(out.Z, row)
	}
	return out
}
