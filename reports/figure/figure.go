// Package figure turns a params.json, and the samples behind it where they are at hand, into figures that any renderer
// can draw. It knows no model: what a figure shows, and the sentence under it, come with the fits.
package figure

import (
	"fmt"
	"math"
	"slices"

	"calib/internal/params"
	"calib/internal/units"
)

// What the fits say of their plots, as figures take it over.
type (
	Axis  = params.Axis
	Mark  = params.Mark
	curve = params.Curve
	point = params.Residual
)

const UnitTime = "time" // the unit of an axis of Unix seconds

// Figure is one plot. Numbers are in SI units; a renderer chooses the prefix.
type Figure struct {
	ID      string // unique in a report: an anchor and a file name
	Section string
	Title   string
	Says    string // what to see
	X, Y    Axis
	Traces  []Trace
	Marks   []Mark
	Heat    *Heat   // a figure with Heat has no traces
	Below   *Figure // a panel under this one on the same X axis: relative residuals
}

// Kinds of a trace.
const (
	Points = "points" // with error bars Lo..Hi where they are there
	Line   = "line"
	Band   = "band" // the area between Lo and Hi
)

// Trace is one series of a figure. X ascends; equal ones may follow each other. Lo and Hi are as long as X, or nil. A
// NaN in Y is a gap, NaN in Lo and Hi of a point is no interval there; nothing is infinite, and on a logarithmic axis
// nothing is zero or less.
type Trace struct {
	Name   string
	Kind   string
	X, Y   []float64
	Lo, Hi []float64
	Group  int      // traces of one group share a colour
	Text   []string // of each point, for hovering; nil is none
}

// Heat is a host × host matrix: rows send to columns. Z is NaN where nothing was measured.
type Heat struct {
	Names   []string // of rows, and of columns
	Block   int      // hosts to a row and a column, of which a cell is the mean; 0 where each has its own
	Z       [][]float64
	Unit    string
	Better  string // params.BetterLower or BetterHigher
	Flagged []Flag
}

type Flag struct {
	Row, Col int
	Why      string
}

const (
	// undershoot is where an interval that reaches zero is cut on a logarithmic axis, as a share of the smallest value.
	undershoot = 0.1
	maxPoints  = 300 // the number of points of a trace that can be told apart in a drawing
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

// logarithmic reports whether all measured points are positive, and far enough apart; least is the smallest of them.
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

func (t *Trace) add(x, y, lo, hi float64, text string) {
	t.X, t.Y, t.Lo, t.Hi, t.Text = append(t.X, x), append(t.Y, y), append(t.Lo, lo), append(t.Hi, hi), append(t.Text, text)
}

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
		if y <= 0 && t.Kind == Band {
			t.Y[i] = floor
		} else if y <= 0 {
			t.Y[i] = math.NaN()
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
