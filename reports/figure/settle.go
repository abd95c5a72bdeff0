package figure

import (
	"fmt"
	"math"
	"slices"

	"calib/internal/units"
)

const (
	// undershoot is where an interval that reaches zero is cut on a logarithmic axis, as a share of the smallest value.
	undershoot = 0.1
	// maxPoints is the number of points of a trace that can be told apart in a drawing.
	maxPoints = 300
	// minSpan is the ratio of the ends of a logarithmic axis below which it would show no decade: a linear one is
	// read better.
	minSpan = 2
)

// Settle makes a figure keep what its type promises; Build and Timeline return settled figures. A logarithmic axis
// becomes linear where a measured point is not positive, so that nothing measured is hidden, and where all values are
// within a factor of minSpan. What else is not positive there is left out of lines, and intervals and bands that
// reach zero are cut at a tenth of the smallest value. Numbers that are not finite become gaps. Of more points than can
// be told apart the extremes are kept, and the figure says so.
func Settle(f *Figure) {
	panels := []*Figure{f}
	if f.Below != nil {
		panels = append(panels, f.Below)
	}
	var all []Trace
	for _, p := range panels {
		for i := range p.Traces {
			p.Traces[i] = p.Traces[i].clean()
		}
		all = append(all, p.Traces...)
	}
	_, ok := logarithmic(all, func(t Trace) []float64 { return t.X })
	f.X.Log = f.X.Log && ok
	f.Marks = slices.DeleteFunc(f.Marks, func(m Mark) bool { return !finite(m.X) || f.X.Log && m.X <= 0 })
	for i := range f.Marks {
		if m := &f.Marks[i]; f.X.Log && m.Lo < m.Hi && m.Lo <= 0 {
			m.Lo = m.X * undershoot
		}
	}
	for _, p := range panels {
		p.settleY(f.X)
	}
	if f.Below != nil && len(f.Below.Traces) == 0 {
		f.Below = nil
	}
	f.thin()
	if f.Heat != nil {
		for _, row := range f.Heat.Z {
			gaps(row)
		}
	}
}

// settleY settles the Y axis of one panel on a settled X axis.
func (f *Figure) settleY(x Axis) {
	f.X = x
	if x.Log {
		for i, t := range f.Traces {
			f.Traces[i] = t.where(func(k int) bool { return t.X[k] > 0 })
		}
	}
	least, ok := logarithmic(f.Traces, func(t Trace) []float64 { return t.Y })
	f.Y.Log = f.Y.Log && ok
	if f.Y.Log {
		for i := range f.Traces {
			f.Traces[i].raise(undershoot * least)
		}
	}
	f.Traces = slices.DeleteFunc(f.Traces, func(t Trace) bool { return len(t.X) == 0 })
}

// thin leaves out points between the lowest and the highest of those that stand beside each other.
func (f *Figure) thin() {
	all, left := 0, 0
	for i, t := range f.Traces {
		n := len(t.X)
		if t.Kind != Points || n <= maxPoints {
			continue
		}
		keep := map[int]bool{}
		each := 2*n/maxPoints + 1
		for first := 0; first < n; first += each {
			lowest, highest := first, first
			for k := first; k < min(first+each, n); k++ {
				if !(t.Y[k] >= t.Y[lowest]) {
					lowest = k
				}
				if !(t.Y[k] <= t.Y[highest]) {
					highest = k
				}
			}
			keep[lowest], keep[highest] = true, true
		}
		f.Traces[i] = t.where(func(k int) bool { return keep[k] })
		all, left = all+n, left+len(keep)
	}
	if left > 0 {
		f.Says += fmt.Sprintf(" %s of %s points are drawn: the lowest and the highest of neighbours.",
			units.Grouped(int64(left)), units.Grouped(int64(all)))
	}
}

// gaps makes NaN of what is not finite.
func gaps(v []float64) {
	for i := range v {
		if !finite(v[i]) {
			v[i] = math.NaN()
		}
	}
}

// clean makes gaps of what is not finite, and leaves out what has no x, and of bands what has no interval. Points
// without any interval or text lose these.
func (t Trace) clean() Trace {
	gaps(t.Y)
	interval := false
	for i := range t.Y {
		if t.Lo != nil && !(finite(t.Lo[i]) && finite(t.Hi[i]) && t.Lo[i] <= t.Hi[i]) {
			t.Lo[i], t.Hi[i] = math.NaN(), math.NaN()
		}
		interval = interval || t.Lo != nil && t.Lo[i] < t.Hi[i]
	}
	if t.Kind == Points && !interval {
		t.Lo, t.Hi = nil, nil
	}
	if !slices.ContainsFunc(t.Text, func(s string) bool { return s != "" }) {
		t.Text = nil
	}
	return t.where(func(i int) bool { return finite(t.X[i]) && (t.Kind != Band || finite(t.Lo[i])) })
}

// logarithmic reports whether every measured point is positive, and the positive values are far enough apart; least is
// the smallest of these.
func logarithmic(traces []Trace, of func(Trace) []float64) (least float64, ok bool) {
	least, most := math.Inf(1), 0.0
	for _, t := range traces {
		for _, v := range of(t) {
			switch {
			case v > 0:
				least, most = math.Min(least, v), math.Max(most, v)
			case t.Kind == Points && v <= 0:
				return least, false
			}
		}
	}
	return least, least >= 1e-100 && most >= minSpan*least
}

// add appends a point.
func (t *Trace) add(x, y, lo, hi float64, text string) {
	t.X, t.Y, t.Lo, t.Hi, t.Text = append(t.X, x), append(t.Y, y), append(t.Lo, lo), append(t.Hi, hi), append(t.Text, text)
}

// where keeps some of the points of t.
func (t Trace) where(keep func(i int) bool) Trace {
	out := Trace{Name: t.Name, Kind: t.Kind, Group: t.Group}
	for i := range t.X {
		if !keep(i) {
			continue
		}
		out.X, out.Y = append(out.X, t.X[i]), append(out.Y, t.Y[i])
		if t.Lo != nil {
			out.Lo, out.Hi = append(out.Lo, t.Lo[i]), append(out.Hi, t.Hi[i])
		}
		if t.Text != nil {
			out.Text = append(out.Text, t.Text[i])
		}
	}
	return out
}

// raise makes a gap of what is not positive, and cuts intervals at floor.
func (t *Trace) raise(floor float64) {
	for i, y := range t.Y {
		if y <= 0 {
			t.Y[i] = math.NaN()
			if t.Kind == Band {
				t.Y[i] = floor
			}
		}
	}
	for i := range t.Lo {
		if t.Hi[i] <= 0 {
			t.Hi[i] = floor
		}
		if t.Lo[i] <= 0 {
			t.Lo[i] = math.Min(floor, t.Hi[i])
		}
	}
}
