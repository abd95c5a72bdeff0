// Package plot says how a model wants its fit to be seen. A model brings its own titles, axes and sentences, so that no
// renderer knows any model.
package plot

// Plot shows a part of a fit. Plots of one ID from several fits are one figure: the measured points once, each fit's
// lines and marks.
type Plot struct {
	ID      string // lower-case words joined by "-": "t-x"; an anchor and a file name
	Section string // the heading it stands under: "Ping-pong"
	Title   string
	Says    string // one or two sentences: what to see in it, with the numbers that matter
	X       Axis
	Y       Axis
	// Series are the residual series of this fit that it shows: measured with its interval as points, fitted as a line.
	Series []string
	// Line names the fitted line in the legend ("hyperbola"); "" is the model's name.
	Line string
	// Curves are lines that the residuals do not hold, with their 95% band where Lo and Hi are there.
	Curves []Curve
	Marks  []Mark
	// Below asks for the relative residuals in a panel under the figure.
	Below bool
	// Raw names raw timings whose quantiles lie behind the points; nil is none.
	Raw *Raw
}

type Axis struct {
	Name string // "message size"
	Unit string // SI: "s", "B", "s/B"; "" is a number
	Log  bool
}

// Curve is a line of a plot, in SI units. X ascends; Lo and Hi are as long as X, or empty.
type Curve struct {
	Name string
	X    []float64
	Y    []float64
	Lo   []float64
	Hi   []float64
}

// Mark is a vertical line at a chosen or found x, with an interval where Lo < Hi.
type Mark struct {
	X     float64
	Lo    float64
	Hi    float64
	Label string // "best fragment 16 KiB"
}

// Raw selects samples: those of an experiment, by one factor of their point, where the others are Fixed.
type Raw struct {
	Experiment string
	Factor     string
	Fixed      map[string]int64
}
