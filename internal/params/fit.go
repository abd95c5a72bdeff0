package params

import (
	"math"
	"slices"
)

// Fit is one model fitted to one dataset: what it found, how well it describes the data, and which data those were.
type Fit struct {
	Model      string `json:"model"`
	Experiment string `json:"experiment"`
	Source     string `json:"source"`
	// Parameters and Functions are what this model found. In the file they stand once, in Params.Parameters and
	// Params.Functions; Decode puts them back.
	Parameters map[string]Parameter `json:"-"`
	Functions  map[string]Function  `json:"-"`
	// Network is the kind of network, from the one model that tells; in the file it is Params.Network.
	Network *Network `json:"-"`
	Quality *Quality `json:"quality,omitempty"`
	// Domain is the range of each factor the fit saw: {"bytes": [1, 4194304], "pairs": [1, 4]}.
	Domain map[string][2]float64 `json:"domain"`
	Hosts  []string              `json:"hosts"`
	// Used and LeftOut count raw timings; LeftOutWhy says which flags. Rounds is the number of rounds behind a typical
	// point.
	Rounds     int            `json:"rounds,omitempty"`
	Used       int            `json:"used"`
	LeftOut    int            `json:"left_out"`
	LeftOutWhy map[string]int `json:"left_out_why,omitempty"`
	Series     []Series       `json:"series,omitempty"`
	Findings   []Finding      `json:"findings,omitempty"`
	// In the file these are Params.Correlations and Params.Pairs.
	Correlations []Correlation `json:"-"`
	Pairs        []Pair        `json:"-"`
	Plots        []Plot        `json:"plots,omitempty"`
}

// Series is the points of one quantity at one setting of the other factors: T by size while 3 pairs send.
type Series struct {
	// Name is unique in its fit: "T(x,3)". It is for people and for Plot.Series; nobody parses it.
	Name string `json:"name"`
	// Quantity says what the points are, and Factors at which setting: {"pairs": 3}.
	Quantity Quantity `json:"quantity,omitempty"`
	// Symbol is the function that the points belong to ("O_s"), where the quantity does not tell.
	Symbol  string             `json:"symbol,omitempty"`
	Factors map[string]float64 `json:"factors,omitempty"`
	XName   string             `json:"x_name"`         // "bytes", "pairs"
	Unit    string             `json:"unit,omitempty"` // of Measured, Lo, Hi and Fitted; "" means s
	Points  []Residual         `json:"points"`
}

// Residual is one point of a series: what was measured and what the model says, in the unit of the series.
type Residual struct {
	X        float64 `json:"x"`
	Measured float64 `json:"measured"`
	Lo       float64 `json:"lo"` // 95% interval of Measured
	Hi       float64 `json:"hi"`
	Fitted   float64 `json:"fitted"`
	N        int     `json:"n"` // raw timings behind Measured
}

// Relative returns (measured − fitted)/measured.
func (r Residual) Relative() float64 { return (r.Measured - r.Fitted) / r.Measured }

// Quality is what every fit states of itself. Errors are relative.
type Quality struct {
	R2 *float64 `json:"r2,omitempty"`
	// LeaveOneOut is the mean error at each size when the fit has not seen that size.
	LeaveOneOut *float64 `json:"leave_one_out,omitempty"`
	Condition   *float64 `json:"condition,omitempty"`
	MeanError   float64  `json:"mean_error"`
	MaxError    float64  `json:"max_error"`
}

// Of returns the series of some quantities, in order.
func (f *Fit) Of(quantities ...Quantity) []Series {
	var out []Series
	for _, s := range f.Series {
		if slices.Contains(quantities, s.Quantity) {
			out = append(out, s)
		}
	}
	return out
}

// Times returns the measured times T(x) of messages between two hosts [s], each size once, of the first fit that has
// them.
func (p *Params) Times() []Residual {
	for _, f := range p.Fits {
		var out []Residual
		for _, s := range f.Of(Time) {
			out = append(out, s.Points...)
		}
		out = slices.DeleteFunc(out, func(r Residual) bool { return !(r.Measured > 0) })
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// Named returns the series of that name; without points where there is none.
func (f *Fit) Named(name string) Series {
	for _, s := range f.Series {
		if s.Name == name {
			return s
		}
	}
	return Series{Name: name}
}

// Span is the range of x of some series; false without a point.
func Span(series ...Series) (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for _, r := range s.Points {
			if finite(r.X) {
				lo, hi, ok = math.Min(lo, r.X), math.Max(hi, r.X), true
			}
		}
	}
	return lo, hi, ok
}

// Misfit is the mean and the largest relative distance of what is fitted from what was measured, over the points where
// that is a number; n counts them.
func Misfit(series ...Series) (mean, worst float64, n int) {
	for _, s := range series {
		for _, r := range s.Points {
			if e := math.Abs(r.Relative()); finite(e) {
				mean, worst, n = mean+e, math.Max(worst, e), n+1
			}
		}
	}
	return mean / float64(n), worst, n
}

// finite reports whether v is neither NaN nor infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Add adds a point to s: what was measured at x with its interval, from n timings, and what the model says.
func (s *Series) Add(x, measured float64, ci [2]float64, fitted float64, n int) {
	s.Points = append(s.Points, Residual{X: x, Measured: measured, Lo: ci[0], Hi: ci[1], Fitted: fitted, N: n})
}

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
