package overlap

import (
	"errors"
	"math"
	"testing"

	"calib/bench"
	"calib/internal/units"
)

// The steps found take as long as wanted, whether a step takes less than a nanosecond or many.
func TestSteps(t *testing.T) {
	for _, perStep := range []float64{0.01, 0.7, 3, 5000} {
		of := func(n int64) units.Nanos { return units.Nanos(perStep * float64(n)) }
		const want = 5 * units.Millisecond
		n := stepsFor(of, want)
		if took := of(n); math.Abs(float64(took-want)) > math.Max(perStep, 0.01*float64(want)) {
			t.Errorf("%g ns a step: %d steps take %v", perStep, n, took)
		}
	}
}

func TestStepsFail(t *testing.T) {
	if err := bench.Caught(func() { stepsFor(func(int64) units.Nanos { return 0 }, units.Second) }); err == nil {
		t.Error("a computation that takes no time has steps")
	}
	why := errors.New("why")
	fail := func(int64) units.Nanos { return bench.Must(units.Nanos(0), why) }
	if err := bench.Caught(func() { stepsFor(fail, units.Second) }); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}
