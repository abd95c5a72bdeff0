package draw

import (
	"math"

	"calib/fit"
)

// scale maps the numbers of an axis to shares of its length.
type scale struct {
	axis   fit.Axis
	lo, hi float64 // data at both ends
	ticks  []tick
	unit   string // what the axis title says behind the name, with the prefix of the labels; "" where each label has it
	empty  bool   // no number to show
}

// tick is a place on an axis. A minor one has no label.
type tick struct {
	at    float64
	label string
	minor bool
}

// extreme bounds the numbers that are drawn: beyond it, sums of them are no numbers.
const extreme = 1e100

// drawable reports whether v has a place on the axis.
func drawable(a fit.Axis, v float64) bool {
	if math.IsNaN(v) || math.Abs(v) > extreme {
		return false
	}
	return !a.Log || v >= 1/extreme
}

// newScale covers all of main, and of wide, the ends of intervals, what is no further out than main is wide. It has about n
// labels.
func newScale(a fit.Axis, main, wide []float64, n int) scale {
	s := scale{axis: a}
	lo, hi, any := span(a, main)
	wlo, whi, anyWide := span(a, wide)
	switch {
	case !any && !anyWide:
		s.empty, s.lo, s.hi = true, s.back(0), s.back(1)
		return s
	case !any:
		lo, hi = wlo, whi
	case anyWide && hi > lo:
		d := hi - lo
		lo, hi = math.Min(lo, math.Max(wlo, lo-d)), math.Max(hi, math.Min(whi, hi+d))
	case anyWide:
		lo, hi = math.Min(lo, wlo), math.Max(hi, whi)
	}
	if d := s.least(lo, hi); hi-lo < d {
		mid := lo + (hi-lo)/2
		lo, hi = mid-d/2, mid+d/2
	}
	pad := 0.04 * (hi - lo)
	s.lo, s.hi = s.back(lo-pad), s.back(hi+pad)
	s.ticks, s.unit = ticks(s, n)
	return s
}

// fromZero lets a linear axis that nearly reaches zero reach it.
func (s scale) fromZero(n int) scale {
	if s.axis.Log || s.empty || s.axis.Unit == unitTime {
		return s
	}
	if pad := 0.04 / 1.08 * (s.hi - s.lo); s.lo+pad >= -1e-9*pad && s.lo < 0.3*s.hi {
		s.lo = 0
		s.ticks, s.unit = ticks(s, n)
	}
	return s
}

// span is the range of what is drawable of v, in the axis's own measure.
func span(a fit.Axis, v []float64) (lo, hi float64, any bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, x := range v {
		if !drawable(a, x) {
			continue
		}
		if a.Log {
			x = math.Log10(x)
		}
		lo, hi, any = math.Min(lo, x), math.Max(hi, x), true
	}
	return lo, hi, any
}

// least is the smallest range that is drawn about lo..hi, so that a single number has an axis.
func (s scale) least(lo, hi float64) float64 {
	size := math.Max(math.Abs(lo), math.Abs(hi))
	switch {
	case s.axis.Log:
		return 2 * math.Log10(1.15)
	case s.axis.Unit == unitTime:
		return math.Max(60, 1e-12*size)
	case size < 1/extreme:
		return 1
	case hi-lo > 1e-6*size:
		return 0
	}
	return 0.2 * size
}

// back turns the axis's own measure into data.
func (s scale) back(t float64) float64 {
	if s.axis.Log {
		return math.Pow(10, t)
	}
	return t
}

// at is the place of v as a share of the axis. Zero and below lie at the low end of a logarithmic axis.
func (s scale) at(v float64) float64 {
	if !s.axis.Log {
		return (v - s.lo) / (s.hi - s.lo)
	}
	if v <= s.lo {
		return math.Log10(math.Max(v, s.lo*1e-3)/s.lo) / math.Log10(s.hi/s.lo)
	}
	return math.Log10(v/s.lo) / math.Log10(s.hi/s.lo)
}

// inside is at, kept within the axis.
func (s scale) inside(v float64) float64 { return math.Min(math.Max(s.at(v), 0), 1) }

// title is the words beside the axis.
func (s scale) title() string {
	switch {
	case s.unit == "":
		return s.axis.Name
	case s.axis.Name == "":
		return s.unit
	}
	return s.axis.Name + " (" + s.unit + ")"
}
