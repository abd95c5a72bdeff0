// Package figure turns a params.json, and the samples behind it where they are at hand, into figures that any renderer
// can draw. It knows no model: what a figure shows, and the sentence under it, come with the fits.
package figure

import (
	"fmt"
	"math"
	"slices"

	"calib/internal/plot"
	"calib/internal/units"
	"calib/params"
)

// What the fits say of their plots, as figures take it over.
type (
	Axis  = plot.Axis
	Mark  = plot.Mark
	curve = plot.Curve
	point = params.Residual
)

type Plots func(*params.Fit) []plot.Plot

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
	Below   *Figure // the axis Y and traces of a panel under this one on the same X axis: relative residuals
}

const (
	Points = "points" // with error bars Lo..Hi where they are there
	Line   = "line"
	Band   = "band" // the area between Lo and Hi
)

// Trace is one series of a figure. X ascends; equal ones may follow each other.
type Trace struct {
	Name   string
	Kind   string
	Points []Point
	Group  int // traces of one group share a colour
}

// Point is a place of a trace. A NaN in Y is a gap. Lo and Hi are the interval of a point, if Lo is below Hi, and the
// edges of a band. Nothing is infinite, and on a logarithmic axis nothing is zero or less.
type Point struct {
	X, Y, Lo, Hi float64
	Text         string // for hovering
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

// Flag is a cell that stands out.
type Flag struct{ Row, Col int }

const (
	// undershoot is where an interval that reaches zero is cut on a logarithmic axis, as a share of the smallest value.
	undershoot = 0.1
	maxPoints  = 300 // the number of points of a trace that can be told apart in a drawing
	// minSpan is the ratio of the ends of a logarithmic axis below which it would show no decade: a linear one is
	// read better.
	minSpan = 2
)

// Settle makes a figure keep what its type promises; Build returns settled figures. A logarithmic axis becomes linear
// where a measured point is not positive, so that nothing measured is hidden, and where all values are within a factor
// of minSpan. What else is not positive there is left out of lines, and intervals and bands that reach zero are cut at
// a tenth of the smallest value. Numbers that are not finite become gaps. Of more points than can be told apart the
// extremes are kept, and the figure says so.
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
	_, ok := logarithmic(all, func(q Point) float64 { return q.X })
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
			f.Traces[i].Points = slices.DeleteFunc(t.Points, func(q Point) bool { return q.X <= 0 })
		}
	}
	least, ok := logarithmic(f.Traces, func(q Point) float64 { return q.Y })
	f.Y.Log = f.Y.Log && ok
	if f.Y.Log {
		for i := range f.Traces {
			f.Traces[i].raise(undershoot * least)
		}
	}
	f.Traces = slices.DeleteFunc(f.Traces, func(t Trace) bool { return len(t.Points) == 0 })
}

// thin leaves out points between the lowest and the highest of those that stand beside each other.
func (f *Figure) thin() {
	all, left := 0, 0
	for i, t := range f.Traces {
		n := len(t.Points)
		if t.Kind != Points || n <= maxPoints {
			continue
		}
		var kept []Point
		for some := range slices.Chunk(t.Points, 2*n/maxPoints+1) {
			lowest, highest := 0, 0
			for k, q := range some {
				if q.Y < some[lowest].Y {
					lowest = k
				}
				if q.Y > some[highest].Y {
					highest = k
				}
			}
			kept = append(kept, some[min(lowest, highest)])
			if lowest != highest {
				kept = append(kept, some[max(lowest, highest)])
			}
		}
		f.Traces[i].Points = kept
		all, left = all+n, left+len(kept)
	}
	if left > 0 {
		f.Says += fmt.Sprintf(" %s of %s points are drawn: the lowest and the highest of neighbours.",
			units.Grouped(left), units.Grouped(all))
	}
}

// clean makes gaps of what is not finite, and leaves out what has no x, and of bands what has no interval.
func (t Trace) clean() Trace {
	t.Points = slices.Clone(t.Points)
	for i := range t.Points {
		q := &t.Points[i]
		if !finite(q.Y) {
			q.Y = math.NaN()
		}
		if !(finite(q.Lo) && finite(q.Hi) && q.Lo <= q.Hi) {
			q.Lo, q.Hi = math.NaN(), math.NaN()
		}
	}
	t.Points = slices.DeleteFunc(t.Points, func(q Point) bool { return !finite(q.X) || t.Kind == Band && !finite(q.Lo) })
	return t
}

// logarithmic reports whether all measured points are positive, and far enough apart; least is the smallest of them.
func logarithmic(traces []Trace, of func(Point) float64) (least float64, ok bool) {
	least, most := math.Inf(1), 0.0
	for _, t := range traces {
		for _, q := range t.Points {
			switch v := of(q); {
			case v > 0:
				least, most = math.Min(least, v), math.Max(most, v)
			case t.Kind == Points && v <= 0:
				return least, false
			}
		}
	}
	return least, least >= 1e-100 && most >= minSpan*least
}

// raise makes a gap of what is not positive, and cuts intervals at floor.
func (t *Trace) raise(floor float64) {
	for i := range t.Points {
		q := &t.Points[i]
		if q.Y <= 0 && t.Kind == Band {
			q.Y = floor
		} else if q.Y <= 0 {
			q.Y = math.NaN()
		}
		if q.Hi <= 0 {
			q.Hi = floor
		}
		if q.Lo <= 0 {
			q.Lo = math.Min(floor, q.Hi)
		}
	}
}
