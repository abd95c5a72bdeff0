package export

import (
	"fmt"
	"strings"
	"unicode"

	"calib/fit"
)

// metricsOf lists the numbers of a run, or an error of class ErrMissing where it has none.
func metricsOf(p *fit.Params) ([]fit.Metric, error) {
	m := p.Metrics()
	if len(m) == 0 {
		return nil, fmt.Errorf("parameters: %w: the run has none; calib run measures them, and calib fit RUN fits them again", ErrMissing)
	}
	return m, nil
}

// point is the time of a message by its size, as measured, with its 95% interval.
type point struct {
	bytes, seconds, lo, hi float64
	timings                int
}

// seriesT is the residual series of the half round trips of pingpong.
const seriesT = "T(x)"

// pointsOf returns T(x), of the first fit that has it, each size once.
func pointsOf(p *fit.Params) []point {
	for _, f := range p.Fits {
		var out []point
		for _, r := range f.Residuals {
			if r.Series == seriesT && r.Measured > 0 {
				out = append(out, point{r.X, r.Measured, r.Lo, r.Hi, r.N})
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// word makes text one word of letters that no format reads anything into.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("/=\"\\", r) {
			return '_'
		}
		return r
	}, s)
}
