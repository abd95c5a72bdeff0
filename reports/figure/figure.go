// Package figure turns a params.json, and the samples behind it where they are at hand, into figures that any renderer
// can draw. It knows no model: what a figure shows, and the sentence under it, come with the fits.
package figure

import (
	"calib/internal/params"
)

// What the fits say of their plots, as figures take it over.
type (
	Axis  = params.Axis
	Mark  = params.Mark
	curve = params.Curve
	point = params.Residual
)

// UnitTime is the unit of an axis of Unix seconds.
const UnitTime = "time"

// Which values of a matrix or a metric are better.
const (
	BetterLower   = params.BetterLower
	BetterHigher  = params.BetterHigher
	BetterNeither = params.BetterNeither
)

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

// Heat is a host × host matrix. Z is NaN where nothing was measured.
type Heat struct {
	Rows, Cols []string // from, to
	Block      int      // hosts to a row and a column, of which a cell is the mean; 0 where each has its own
	Z          [][]float64
	Unit       string
	Better     string // BetterLower or BetterHigher
	Flagged    []Flag
}

// Flag marks a cell that stands out.
type Flag struct {
	Row, Col int
	Why      string
}
