package params

// Plot says how a part of a fit wants to be seen: a model brings its own titles, axes and sentences, so that no
// renderer knows any model. Plots of one ID from several fits are one figure: the measured points once, each fit's
// lines and marks.
type Plot struct {
	ID      string `json:"id"`      // lower-case words joined by "-": "t-x"; an anchor and a file name
	Section string `json:"section"` // the heading it stands under: "Ping-pong"
	Title   string `json:"title"`
	Says    string `json:"says"` // one or two sentences: what to see in it, with the numbers that matter
	X       Axis   `json:"x"`
	Y       Axis   `json:"y"`
	// Series are the residual series of this fit that it shows: measured with its interval as points, fitted as a line.
	Series []string `json:"series,omitempty"`
	// Line names the fitted line in the legend ("hyperbola"); "" is the model's name.
	Line string `json:"line,omitempty"`
	// Curves are lines that the residuals do not hold, with their 95% band where Lo and Hi are there.
	Curves []Curve `json:"curves,omitempty"`
	Marks  []Mark  `json:"marks,omitempty"`
	// Areas are parts of a whole, each drawn as the area between its Lo and Hi, on top of the one before it.
	Areas []Curve `json:"areas,omitempty"`
	// Below asks for the relative residuals in a panel under the figure.
	Below bool `json:"below,omitempty"`
	// Raw names raw timings whose quantiles lie behind the points; nil is none.
	Raw *Raw `json:"raw,omitempty"`
}

// Axis of a plot.
type Axis struct {
	Name string `json:"name"` // "message size"
	Unit string `json:"unit"` // SI: "s", "B", "s/B"; "" is a number
	Log  bool   `json:"log,omitempty"`
}

// Curve is a line of a plot, in SI units. X ascends; Lo and Hi are as long as X, or empty.
type Curve struct {
	Name string    `json:"name"`
	X    []float64 `json:"x"`
	Y    []float64 `json:"y"`
	Lo   []float64 `json:"lo,omitempty"`
	Hi   []float64 `json:"hi,omitempty"`
}

// Mark is a vertical line at a chosen or found x, with an interval where Lo < Hi.
type Mark struct {
	X     float64 `json:"x"`
	Lo    float64 `json:"lo,omitempty"`
	Hi    float64 `json:"hi,omitempty"`
	Label string  `json:"label"` // "best fragment 16 KiB"
}

// Raw selects samples: those of an experiment and phase, by one factor of their point, where the other factors are
// Fixed.
type Raw struct {
	Experiment string           `json:"experiment"`
	Phase      string           `json:"phase,omitempty"`
	Factor     string           `json:"factor"`
	Fixed      map[string]int64 `json:"fixed,omitempty"`
}
