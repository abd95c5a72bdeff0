package overlap

import (
	"errors"
	"math"

	"calib/internal/units"
)

const firstSteps = 1000 // of the first attempt

var errNoTime = errors.New("the computation takes no time on this host")

// Steps finds how many steps of a computation take so long: it doubles them until they take a quarter of it, and then
// scales in proportion. compute does so many steps and returns their time. Steps ends after as many attempts as there
// are powers of two.
func stepsFor(compute func(steps int64) (units.Nanos, error), want units.Nanos) (int64, error) {
	for steps := int64(firstSteps); steps < math.MaxInt64/2; steps *= 2 {
		t, err := compute(steps)
		if err != nil {
			return 0, err
		}
		if 4*t >= want {
			return max(1, int64(float64(steps)*float64(want)/float64(max(1, t)))), nil
		}
	}
	return 0, errNoTime
}
