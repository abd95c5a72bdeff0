package bench

import "calib/internal/units"

// thin reports whether a design is to be kept to the essential.
func (l Limits) thin() bool { return l.Effort > 0 && l.Effort < 0.5 }

// sizes returns the user's sizes, or an experiment's own, within the limit.
func (l Limits) sizes(own []units.Bytes) []units.Bytes {
	if l.Sizes != nil {
		own = l.Sizes
	}
	var out []units.Bytes
	for _, x := range own {
		if l.MaxBytes == 0 || x <= l.MaxBytes {
			out = append(out, x)
		}
	}
	return out
}
