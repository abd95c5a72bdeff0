package fit

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"calib/params"
)

// Together records that numbers come from the same replicates of the bootstrap, one row for each replicate. Predictions
// then draw them together. Names are of parameters ("a") and of coefficients ("g_s.c0"). Those that were not found are
// left out of the file.
func (r *Result) Together(names []string, replicates [][]float64) {
	if len(replicates) < 2 {
		return
	}
	c := params.Correlation{Names: names}
	columns := make([][]float64, len(names))
	for i := range names {
		for _, row := range replicates {
			columns[i] = append(columns[i], row[i])
		}
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

// correlationsOf are those of a fit whose numbers are in p.
func correlationsOf(f *params.Fit, p *params.Params) (out []params.Correlation) {
	for _, c := range f.Correlations {
		kept := params.Correlation{}
		var at []int
		for i, name := range c.Names {
			if p.Model(name) != f.Model {
				continue
			}
			row := []float64{}
			for _, j := range at {
				row = append(row, c.Rows[i][j])
			}
			kept.Names, kept.Rows, at = append(kept.Names, name), append(kept.Rows, row), append(at, i)
		}
		if len(at) > 1 {
			out = append(out, kept)
		}
	}
	return out
}
