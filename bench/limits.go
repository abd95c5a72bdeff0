package bench

import (
	"math"

	"calib/internal/units"
)

// thin reports whether a design is to be kept to the essential.
func (l Limits) thin() bool { return l.Effort > 0 && l.Effort < 0.5 }

// sizes returns the user's sizes, or an experiment's own, within the limit.
func (l Limits) sizes(own []units.Bytes) []units.Bytes { return l.within(own, math.MaxInt64) }

// within is sizes up to top.
func (l Limits) within(own []units.Bytes, top units.Bytes) []units.Bytes {
	if l.Sizes != nil {
		own = l.Sizes
	}
	if l.MaxBytes > 0 {
		top = min(top, l.MaxBytes)
	}
	var out []units.Bytes
	for _, x := range own {
		if x <= top {
			out = append(out, x)
		}
	}
	return out
}
