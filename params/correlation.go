package params

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Correlation says how numbers that were estimated from the same drawn rounds err together. Rows[i][j], j < i, is the
// coefficient of correlation of Names[i] and Names[j] over the replicates of the bootstrap.
type Correlation struct {
	Names []string    `json:"names" jsonschema:"parameters, and coefficients such as g_s.c0 or T.c0_1 (of the first segment)"`
	Rows  [][]float64 `json:"rows" jsonschema:"lower triangle: rows[i][j] is the correlation of names[i] and names[j]"`
}

// check looks for names that p has not, names that stand twice, and coefficients that none can be.
func (c Correlation) check(p *Params) error {
	if len(c.Rows) != len(c.Names) {
		return fmt.Errorf("%d rows for %d names", len(c.Rows), len(c.Names))
	}
	for i, name := range c.Names {
		switch {
		case p.Model(name) == "":
			return fmt.Errorf("no parameter or coefficient %q", name)
		case slices.Contains(c.Names[:i], name):
			return fmt.Errorf("%q stands twice", name)
		case len(c.Rows[i]) != i:
			return fmt.Errorf("row of %s: %d coefficients, want %d", name, len(c.Rows[i]), i)
		}
		for _, r := range c.Rows[i] {
			if !(math.Abs(r) <= 1) {
				return fmt.Errorf("row of %s: %g, want -1 to 1", name, r)
			}
		}
	}
	return nil
}

// Correlation is the coefficient of correlation of two numbers, 0 where none is known.
func (p *Params) Correlation(a, b string) float64 {
	for _, c := range p.Correlations {
		if i, j := slices.Index(c.Names, a), slices.Index(c.Names, b); i >= 0 && j >= 0 && i != j {
			return c.Rows[max(i, j)][min(i, j)]
		}
	}
	return 0
}

func (p *Params) Parameter(model, name string) (Parameter, bool) {
	if q, ok := p.Parameters[name]; ok && q.Model == model {
		return q, true
	}
	return Parameter{}, false
}

// Model is the model of a parameter, or of a coefficient of a function ("g_s.c0"); "" where p has neither.
func (p *Params) Model(name string) string {
	if q, ok := p.Parameters[name]; ok {
		return q.Model
	}
	i := max(strings.LastIndexByte(name, '.'), 0)
	if f := p.Functions[name[:i]]; i > 0 {
		if _, ok := f.Coeff[name[i+1:]]; ok {
			return f.Model
		}
	}
	return ""
}
