// Package lsq holds the least-squares numerics that the models are built on: linear and weighted fits, a robust fit,
// piecewise lines, and the small regressions that several models make of points, with their weights and the error they
// make at points they have not seen.
//
// Opinions, and what was rejected:
//
//   - Every solve is an orthogonal factorisation. Normal equations square the
//     condition number and are never formed.
//   - The factorisation is that of gonum's LAPACK; scaling of the columns and
//     iterative refinement are added here, because gonum's mat.QR has neither.
//     Correct digits of the worst coefficient, here and by mat.QR.SolveVecTo:
//     Norris 14.0 and 12.2, Pontius 13.5 and 11.8, Longley 14.7 and 10.9,
//     Wampler1 16.0 and 9.9, Wampler5 16.0 and 5.5 (NIST's reference problems).
//     Condition numbers are exact 2-norms; mat.QR estimates another norm.
//   - A coefficient is what the data say. Nothing is clamped; a fit that may
//     not have a negative slope is refused (ErrInadmissible).
//   - Condition numbers are those of the column-scaled design, so that a fit in
//     seconds and bytes is not called singular because of its units.
//   - There are no standard errors: the intervals of calib come from the
//     bootstrap, which assumes no distribution.
//   - Results that cannot be trusted come with an error, and where a partial
//     result helps to explain the error it comes too. Functions that do so say it.
//
// Nothing here knows a network model, prints, or keeps state.
package lsq

import (
	"errors"
	"fmt"
	"math"
)

// Errors that callers can test for with errors.Is. The errors returned wrap these with the place at which they arose.
var (
	// ErrShort: fewer observations than parameters, or than the fit needs.
	ErrShort = errors.New("too few observations")
	// ErrNotFinite: NaN or infinity in the data or in a model's values.
	ErrNotFinite = errors.New("not finite")
	// ErrWeight: a relative fit meets a zero.
	ErrWeight = errors.New("invalid weight")
	// ErrCondition: the columns are linearly dependent to working precision, so the coefficients are not determined by
	// the data.
	ErrCondition = errors.New("design is singular to working precision")
	// ErrBreaks: the breaks that were given do not suit the data.
	ErrBreaks = errors.New("breaks do not suit the data")
	// ErrNoConverge: the iteration limit was reached.
	ErrNoConverge = errors.New("no convergence")
	// ErrInadmissible: no fit satisfies the constraint asked for.
	ErrInadmissible = errors.New("no admissible fit")
)

// eps is the spacing of float64 at 1.
const eps = 0x1p-52

// finite reports whether v is neither NaN nor infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// allFinite returns ErrNotFinite naming the first index at which v is not finite.
func allFinite(name string, v []float64) error {
	for i, a := range v {
		if !finite(a) {
			return fmt.Errorf("%s[%d] is %v: %w", name, i, a, ErrNotFinite)
		}
	}
	return nil
}
