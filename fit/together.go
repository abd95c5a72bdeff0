package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"calib/fit/resample"
	"calib/internal/lists"
	"calib/params"
)

// Together records that numbers come from the same replicates of the bootstrap, one row for each replicate; more tables
// of rows have the next numbers. Predictions then draw them together. Names are of parameters ("a") and of coefficients
// ("g_s.c0"). Those that were not found are left out of the file. Nothing is recorded where a table lacks a replicate.
func (r *Result) Together(names []string, replicates [][]float64, more ...[][]float64) {
	var columns [][]float64
	for _, rows := range append([][][]float64{replicates}, more...) {
		if len(rows) < 2 || len(rows) != len(replicates) {
			return
		}
		for j := range rows[0] {
			columns = append(columns, lists.Map(rows, func(row []float64) float64 { return row[j] }))
		}
	}
	c := params.Correlation{Names: names}
	for i := range names {
		row := make([]float64, i)
		for j := range row {
			if v := stat.Correlation(columns[i], columns[j], nil); Finite(v) { // not of a column that does not vary
				row[j] = math.Round(1000*v) / 1000
			}
		}
		c.Rows = append(c.Rows, row)
	}
	r.Correlations = append(r.Correlations, c)
}

// correlationsOf are those of fits whose numbers are in p. One whose names another has as well is left out: each number
// is drawn once.
func correlationsOf(fits []*params.Fit, p *params.Params) (out []params.Correlation) {
	all := lists.Flat(fits, func(f *params.Fit) []params.Correlation { return f.Correlations })
	for _, c := range all {
		if slices.ContainsFunc(all, func(d params.Correlation) bool {
			return len(d.Names) > len(c.Names) && slices.Contains(d.Names, c.Names[0])
		}) {
			continue
		}
		kept := params.Correlation{}
		var at []int
		for i, name := range c.Names {
			if p.Model(name) == "" {
				continue
			}
			row := append([]float64{}, resample.Pick(c.Rows[i], at)...)
			kept.Names, kept.Rows, at = append(kept.Names, name), append(kept.Rows, row), append(at, i)
		}
		if len(at) > 1 {
			out = append(out, kept)
		}
	}
	return out
}
