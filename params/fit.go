package params

import (
	"math"
	"slices"

	"calib/internal/lists"
)

// Fit is one model fitted to one dataset: what it found, how well it describes the data, and which data those were.
type Fit struct {
	Model      string `json:"model" jsonschema:"name of the model"`
	Experiment string `json:"experiment" jsonschema:"experiment that it was fitted to"`
	Source     string `json:"source" jsonschema:"paper and equation"`
	// Parameters and Functions are what this model found. In the file they stand once, in Params.Parameters and
	// Params.Functions; Decode puts them back.
	Parameters map[string]Parameter `json:"-"`
	Functions  map[string]Function  `json:"-"`
	// Network is the kind of network. One model tells it; in the file it is Params.Network.
	Network    *Network              `json:"-"`
	Quality    *Quality              `json:"quality,omitempty" jsonschema:"how well it describes its own data; else in points.json"`
	Domain     map[string][2]float64 `json:"domain" jsonschema:"range of each factor that it saw"`
	Hosts      []string              `json:"hosts,omitempty" jsonschema:"hosts that took part, where not all of the run did"`
	Rounds     int                   `json:"rounds,omitempty" jsonschema:"rounds behind a typical point; else in points.json"`
	Used       int                   `json:"used" jsonschema:"raw timings used"`
	LeftOut    int                   `json:"left_out" jsonschema:"raw timings left out"`
	LeftOutWhy map[string]int        `json:"left_out_why,omitempty" jsonschema:"raw timings left out, by flag"`
	Series     []Series              `json:"series,omitempty" jsonschema:"measured points beside what the model says, in points.json"`
	Findings   []Finding             `json:"findings,omitempty" jsonschema:"what a reader must know of it; notes are in points.json"`
	// In the file these are Params.Correlations and Params.Pairs.
	Correlations []Correlation `json:"-"`
	Pairs        []Pair        `json:"-"`
}

// Series is the points of one quantity at one setting of the other factors: T by size while 3 pairs send.
type Series struct {
	Name     string             `json:"name" jsonschema:"for people, unique in its fit"`
	Quantity Quantity           `json:"quantity,omitempty" jsonschema:"what the points are; calib explain NAME says more"`
	Symbol   string             `json:"symbol,omitempty" jsonschema:"function of the points, where quantity does not tell"`
	Factors  map[string]float64 `json:"factors,omitempty" jsonschema:"setting of the other factors, such as pairs: 3"`
	XName    string             `json:"x_name" jsonschema:"what x is: bytes, pairs, …"`
	Unit     string             `json:"unit,omitempty" jsonschema:"SI unit of measured, lo, hi and fitted; absent is s"`
	Points   []Residual         `json:"points" jsonschema:"ascending in x"`
}

// Residual is one point of a series: what was measured and what the model says, in the unit of the series.
type Residual struct {
	X        float64 `json:"x" jsonschema:"in bytes, or a number"`
	Measured float64 `json:"measured" jsonschema:"what was measured"`
	Lo       float64 `json:"lo" jsonschema:"lower end of its 95% interval"`
	Hi       float64 `json:"hi" jsonschema:"upper end of its 95% interval"`
	Fitted   float64 `json:"fitted" jsonschema:"what the model says"`
	N        int     `json:"n" jsonschema:"raw timings behind it"`
}

func (r Residual) Relative() float64 { return (r.Measured - r.Fitted) / r.Measured }

// Quality is what every fit states of itself. Errors are relative.
type Quality struct {
	R2          *float64 `json:"r2,omitempty" jsonschema:"coefficient of determination"`
	LeaveOneOut *float64 `json:"leave_one_out,omitempty" jsonschema:"mean relative error at sizes that the fit has not seen"`
	Condition   *float64 `json:"condition,omitempty" jsonschema:"condition number of the least squares"`
	MeanError   float64  `json:"mean_error" jsonschema:"mean relative error"`
	MaxError    float64  `json:"max_error" jsonschema:"largest relative error"`
}

// Of returns the series of some quantities, in order.
func (f *Fit) Of(quantities ...Quantity) []Series {
	return lists.Where(f.Series, func(s Series) bool { return slices.Contains(quantities, s.Quantity) })
}

// Times returns the measured times T(x) of messages between two hosts [s], each size once, of the first fit that has
// them.
func (p *Params) Times() []Residual {
	for _, f := range p.measured() {
		out := lists.Flat(f.Of(Time), func(s Series) []Residual { return s.Points })
		out = slices.DeleteFunc(out, func(r Residual) bool { return !(r.Measured > 0) })
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// Streams returns the measured times of a byte [s/B] by the number of pairs that stream.
func (p *Params) Streams() []Series {
	return lists.Flat(p.measured(), func(f *Fit) []Series { return f.Of(TimePerByte) })
}

// measured are the fits, or what params.json has of their points.
func (p *Params) measured() []*Fit {
	if slices.ContainsFunc(p.Fits, func(f *Fit) bool { return len(f.Series) > 0 }) {
		return p.Fits
	}
	return []*Fit{{Series: p.Measured}}
}

// Named returns the series of that name; without points where there is none.
func (f *Fit) Named(name string) Series {
	if i := slices.IndexFunc(f.Series, func(s Series) bool { return s.Name == name }); i >= 0 {
		return f.Series[i]
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

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Add adds a point to s: what was measured at x with its interval, from n timings, and what the model says.
func (s *Series) Add(x, measured float64, ci [2]float64, fitted float64, n int) {
	s.Points = append(s.Points, Residual{X: x, Measured: measured, Lo: ci[0], Hi: ci[1], Fitted: fitted, N: n})
}
