package models

import (
	"math"
	"slices"
	"testing"

	"calib/fit/hyperbolic"
	"calib/params"
)

// A fixed time states what the clock adds.
func TestClockReading(t *testing.T) {
	w := sparc()
	w.Between = 0.002
	q := fitWith(t, hyperbolic.Hyperbola, w.Dataset(), 50).Parameters["a_prime_limits"]
	i := slices.IndexFunc(q.Budget, func(term params.Term) bool { return term.Name == "clock reading" })
	if i < 0 || q.Budget[i].Type != params.TypeB || math.Abs(q.Budget[i].U-31e-9/math.Sqrt(3)) > 2e-9 {
		t.Errorf("%+v, want a clock reading of 31 ns over √3", q.Budget)
	}
}
