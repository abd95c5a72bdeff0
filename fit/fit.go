// Package fit turns a Dataset into the parameters of published cost models, each with a unit, an interval, the range it
// was fitted on and the warnings a reader must see. A model is one file and one line in the slice Models; the
// conformance suite then tests it without being told.
//
// Everything here is offline and deterministic: the same samples and the same seed give the same bytes. Symbols are the
// papers' own, with the unit in a comment.
package fit

import (
	"calib/internal/dataset"
)

// Status of a parameter.
const (
	StatusOK             = "ok"
	StatusUnidentifiable = "unidentifiable" // the data cannot determine it: Bound says what they allow
	StatusBound          = "bound"          // only a one-sided bound
)

// Model fits one cost model.
type Model interface {
	Name() string
	// Needs lists the experiments without which Fit returns ErrNeeds.
	Needs() []string
	// Fit is deterministic in the dataset and Settings.
	Fit(*dataset.Dataset, Settings) (*Fit, error)
}

// Models is every model calib has.
var Models = []Model{Network{}, Hyperbola{}, Hockney{}, Segmented{}, Timer{}, HKUOverhead{}, HKUGap{}, HKUGather{}, HKUCopy{}, HKU{},
	Flood{}, LogGP{}, Fragment{}, Buffer{}, Nodelay{}}

// Settings of a fit. The zero value means the defaults.
type Settings struct {
	Seed       uint64 // of the bootstrap; 0 takes the dataset's
	Replicates int    // of the bootstrap; 0 means 1,000
}

// Parameter is one fitted number, or the reason why there is none. A value is in SI units.
type Parameter struct {
	Value      *float64    `json:"value"`
	Unit       string      `json:"unit"`
	CI95       *[2]float64 `json:"ci95,omitempty"`
	Status     string      `json:"status"`
	Bound      *[2]float64 `json:"bound,omitempty"` // what the data allow, where Value is null
	Why        string      `json:"why,omitempty"`
	Model      string      `json:"model"`
	Experiment string      `json:"experiment"`
	Source     string      `json:"source"` // paper and equation
	// Label is the parameter in words, for people ("contention of the medium per message").
	Label string `json:"label"`
}

// Function is a cost function of named arguments: coefficients of a named form with their intervals and domain.
type Function struct {
	Form   string                `json:"form"` // "c0 + c1*m"
	Coeff  map[string]float64    `json:"coeff"`
	CI95   map[string][2]float64 `json:"ci95,omitempty"`
	Unit   string                `json:"unit"`
	Domain map[string][2]float64 `json:"domain"`
	Model  string                `json:"model"`
	Source string                `json:"source"`
	Label  string                `json:"label"`
}

// Residual is one point of a fit: what was measured and what the model says, in the unit of Y.
type Residual struct {
	Series   string  `json:"series"` // "T(x)", "a'(n)": what the point belongs to
	X        float64 `json:"x"`
	XName    string  `json:"x_name"`         // "bytes", "pairs"
	Unit     string  `json:"unit,omitempty"` // of Measured, Lo, Hi and Fitted; "" means s
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
	R2        *float64 `json:"r2,omitempty"`
	MeanError float64  `json:"mean_error"`
	MaxError  float64  `json:"max_error"`
	// LeaveOneOut is the mean error at each size when the fit has not seen that size.
	LeaveOneOut *float64 `json:"leave_one_out,omitempty"`
	Condition   *float64 `json:"condition,omitempty"`
}

// Fit is one model fitted to one dataset.
type Fit struct {
	Model      string               `json:"model"`
	Experiment string               `json:"experiment"`
	Source     string               `json:"source"`
	Parameters map[string]Parameter `json:"parameters,omitempty"`
	Functions  map[string]Function  `json:"functions,omitempty"`
	Quality    *Quality             `json:"quality,omitempty"`
	// Domain is the range of each factor the fit saw: {"bytes": [1, 4194304], "pairs": [1, 4]}.
	Domain map[string][2]float64 `json:"domain"`
	Hosts  []string              `json:"hosts"`
	// Used and LeftOut count raw timings; LeftOutWhy says which flags.
	Used       int            `json:"used"`
	LeftOut    int            `json:"left_out"`
	LeftOutWhy map[string]int `json:"left_out_why,omitempty"`
	Residuals  []Residual     `json:"residuals,omitempty"`
	Warnings   []string       `json:"warnings,omitempty"`
	Notes      []string       `json:"notes,omitempty"` // findings that are not faults: "behaves like a switch"
	Pairs      []Pair         `json:"pairs,omitempty"`
	Plots      []Plot         `json:"plots,omitempty"`
}

// Pair is what was found between two hosts.
type Pair struct {
	From      string      `json:"from"`
	To        string      `json:"to"`
	Latency   *float64    `json:"latency"` // s, half round trip of the smallest size
	LatencyCI *[2]float64 `json:"latency_ci95,omitempty"`
	Rate      *float64    `json:"rate"` // B/s, of the largest size
	RateCI    *[2]float64 `json:"rate_ci95,omitempty"`
	Slow      string      `json:"slow,omitempty"` // why this pair stands out
}
