package figure

import (
	"fmt"
	"math"

	"calib/internal/params"
	"calib/internal/stats"
	"calib/reports"
)

const (
	// maxBlocks is the number of rows of a matrix of blocks, and minBlocks that which it has however few pairs were
	// measured.
	maxBlocks, minBlocks = 64, 8
	// cellPairs is the number of pairs that a cell of a matrix of blocks is the mean of, on average.
	cellPairs = 4
)

// blocks returns the matrix of blocks of neighbouring hosts: as many as can be read, and as few as leave a cell
// cellPairs of the pairs that were measured, on average. A cell is the mean of its pairs, and stands out where more
// than half of them do.
func (h *Heat) blocks(measured int) *Heat {
	n := len(h.Rows)
	rows := min(max(int(math.Sqrt(float64(2*measured)/cellPairs)), minBlocks), maxBlocks)
	out := &Heat{Unit: h.Unit, Better: h.Better, Block: (n + rows - 1) / rows}
	for first := 0; first < n; first += out.Block {
		name := h.Rows[first]
		if last := min(first+out.Block, n) - 1; last > first {
			name += " … " + h.Rows[last]
		}
		out.Rows, out.Cols = append(out.Rows, name), append(out.Cols, name)
	}
	rows = len(out.Rows)
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
				out.Flagged = append(out.Flagged, Flag{Row: r, Col: c, Why: fmt.Sprintf("%d of %d are slow", slow[k], pairs[k])})
			}
		}
		out.Z = append(out.Z, row)
	}
	return out
}

// steps is the number of parts of a curve of a distribution.
const steps = 200

// spreads draws how the figures of many hosts and of their pairs are distributed; none where the hosts are few.
func spreads(p *params.Params, hosts int) []Figure {
	if hosts <= reports.ManyHosts {
		return nil
	}
	own := reports.AlikeOf(p)
	var out []Figure
	for _, m := range []struct {
		id, title, unit, what string
		hosts                 []float64
		of                    func(params.Pair) *float64
	}{
		{"spread-latency", "How latencies are distributed", "s", "latency", own.Latencies(), func(q params.Pair) *float64 { return q.Latency }},
		{"spread-rate", "How rates are distributed", "B/s", "rate", own.Rates(), func(q params.Pair) *float64 { return q.Rate }},
	} {
		var pairs []float64
		for _, q := range p.Pairs {
			if v := m.of(q); v != nil && finite(*v) {
				pairs = append(pairs, *v)
			}
		}
		f := Figure{ID: m.id, Section: "Pairs", Title: m.title, X: Axis{Name: m.what, Unit: m.unit}, Y: Axis{Name: "share at most as large"}}
		for i, t := range []struct {
			name   string
			values []float64
		}{{"pairs", pairs}, {"hosts", m.hosts}} {
			if len(t.values) > 1 {
				f.Traces = append(f.Traces, distribution(t.name, i, t.values))
			}
		}
		if len(f.Traces) == 0 {
			continue
		}
		lo, hi := stats.Quantile(pairs, 0), stats.Quantile(pairs, 1)
		f.X.Log = lo > 0 && hi > 10*lo
		f.Says = fmt.Sprintf("Which share of the pairs and of the hosts has at most this %s. A step is a group that is alike. What a host's %s is stands "+
			"with the table of hosts.", m.what, m.what)
		out = append(out, f)
	}
	return out
}

// distribution is the curve of the quantiles of some values.
func distribution(name string, group int, values []float64) Trace {
	t := Trace{Name: name, Kind: Line, Group: group}
	for i := range steps + 1 {
		q := float64(i) / steps
		t.X, t.Y = append(t.X, stats.Quantile(values, q)), append(t.Y, q)
	}
	return t
}
