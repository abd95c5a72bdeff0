package overlap

import (
	"errors"
	"math"
	"testing"

	"calib/internal/units"
)

// The steps found take as long as wanted, whether a step takes less than a nanosecond or many.
func TestSteps(t *testing.T) {
	for _, perStep := range []float64{0.01, 0.7, 3, 5000} {
		of := func(n int64) (units.Nanos, error) { return units.Nanos(perStep * float64(n)), nil }
		const want = 5 * units.Millisecond
		n, err := stepsFor(of, want)
		if took, _ := of(n); err != nil || math.Abs(float64(took-want)) > math.Max(perStep, 0.01*float64(want)) {
			t.Errorf("%g ns a step: %d steps take %v, %v", perStep, n, took, err)
		}
	}
}

func TestStepsFail(t *testing.T) {
	if _, err := stepsFor(func(int64) (units.Nanos, error) { return 0, nil }, units.Second); !errors.Is(err, errNoTime) {
		t.Errorf("%v", err)
	}
	why := errors.New("why")
	if _, err := stepsFor(func(int64) (units.Nanos, error) { return 0, why }, units.Second); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}
