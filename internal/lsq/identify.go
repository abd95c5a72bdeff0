package lsq

import (
	"fmt"
	"math"
)

// Standing says what the data know of a coefficient.
type Standing string

// Standings, from best to worst.
const (
	// Determined: the interval excludes zero.
	Determined Standing = "determined"
	// Indistinct: the interval holds zero; its ends bound the coefficient.
	Indistinct Standing = "indistinguishable from zero"
	// Unidentified: the data bound the coefficient on neither side.
	Unidentified Standing = "not identified"
)

// Identity is one coefficient as far as the data know it.
type Identity struct {
	Value    float64
	Bound    [2]float64 // confidence interval; infinite where not identified
	Standing Standing
}

// Identify classifies each coefficient by its interval at the level in (0, 1). A
// coefficient without a finite standard error is not identified; so are all of
// them without degrees of freedom. It changes no value: what to print for a
// coefficient that is not determined is the caller's decision. ErrShape for a
// bad level.
func (s *Solution) Identify(level float64) ([]Identity, error) {
	out := make([]Identity, len(s.Coef))
	for j, c := range s.Coef {
		out[j] = Identity{Value: c, Bound: [2]float64{math.Inf(-1), math.Inf(1)}, Standing: Unidentified}
	}
	if s.DF < 1 && level > 0 && level < 1 {
		return out, nil
	}
	ci, err := s.CI(level)
	if err != nil {
		return nil, fmt.Errorf("identify: %w", err)
	}
	for j, b := range ci {
		if !finite(b[0]) || !finite(b[1]) {
			continue
		}
		out[j].Bound, out[j].Standing = b, Indistinct
		if b[0] > 0 || b[1] < 0 {
			out[j].Standing = Determined
		}
	}
	return out, nil
}
