package params

import (
	"math"
	"slices"
	"strings"

	"calib/internal/lists"
)

// Validation is one communication pattern that no fit has seen, predicted by one model, and measured.
type Validation struct {
	Model     string      `json:"model,omitempty" jsonschema:"sim, sim-endless, sim-cold or a model of fits"`
	Pattern   string      `json:"pattern" jsonschema:"operation and algorithm, such as bcast-binary"`
	Hosts     int         `json:"hosts" jsonschema:"hosts that take part"`
	Bytes     int64       `json:"bytes" jsonschema:"B: M of the pattern"`
	Predicted float64     `json:"predicted" jsonschema:"s"`
	CI95      *[2]float64 `json:"ci95,omitempty" jsonschema:"s: 95% interval of predicted"`
	Measured  float64     `json:"measured" jsonschema:"s: median of the medians of rounds"`
	Error     float64     `json:"error" jsonschema:"(measured − predicted)/measured"`
	SlowHost  bool        `json:"slow_host,omitempty" jsonschema:"a slow host took part each time: not graded"`
}

// Operation is the part of the pattern before the algorithm: "bcast".
func (v Validation) Operation() string {
	op, _, _ := strings.Cut(v.Pattern, "-")
	return op
}

// ModelsOf lists the models of some rows, in their order.
func ModelsOf(rows []Validation) []string {
	var out []string
	for _, v := range rows {
		if !slices.Contains(out, v.Model) {
			out = append(out, v.Model)
		}
	}
	return out
}

// BestOf returns, of the models that predict most rows, the one with the smallest mean error over all; false without
// rows.
func BestOf(rows []Validation) (Grade, bool) {
	var best Grade
	for _, m := range ModelsOf(rows) {
		if g, _ := GradeOf(rows, m, ""); g.N > best.N || g.N == best.N && g.Mean < best.Mean {
			best = g
		}
	}
	return best, best.N > 0
}

// The two simulations of predict that differ in the windows of TCP's connections: grown, and as they begin.
const (
	SimWarm = "sim"
	SimCold = "sim-cold"
)

// BestSimulation grades the one of SimWarm and SimCold that predicted best what a run measured of patterns; false where
// it measured none. Whether windows have grown depends on the traffic before and on the congestion control.
func BestSimulation(rows []Validation) (Grade, bool) {
	return BestOf(lists.Where(rows, func(v Validation) bool { return v.Model == SimWarm || v.Model == SimCold }))
}

// Limits of what counts as predicted: the mean and the largest relative error of an operation's patterns. The papers'
// own errors are 8 to 17% on average and 35% at most. ValidationLimit is the mean error of all patterns above which the
// parameters are not to be relied on.
const (
	PredictedMean   = 0.10
	PredictedWorst  = 0.25
	ValidationLimit = 0.25
)

// Grade says how well a model predicts the patterns of one operation.
type Grade struct {
	Model, Operation string
	N                int
	Mean, Worst, RMS float64 // relative errors, without sign
	Covered          int     // measured times that lie in the predicted interval
}

// Predicted reports whether the model may be used for the operation on this network.
func (g Grade) Predicted() bool { return g.Mean <= PredictedMean && g.Worst <= PredictedWorst }

// GradeOf grades a model on an operation, "" for all of them, by the rows without a slow host; false where there is
// nothing to grade.
func GradeOf(rows []Validation, model, operation string) (Grade, bool) {
	g := Grade{Model: model, Operation: operation}
	for _, v := range rows {
		if v.SlowHost || v.Model != model || operation != "" && v.Operation() != operation {
			continue
		}
		e := math.Abs(v.Error)
		g.N++
		g.Mean += e
		g.RMS += e * e
		g.Worst = math.Max(g.Worst, e)
		if v.CI95 != nil && v.CI95[0] <= v.Measured && v.Measured <= v.CI95[1] {
			g.Covered++
		}
	}
	if g.N == 0 {
		return g, false
	}
	g.Mean, g.RMS = g.Mean/float64(g.N), math.Sqrt(g.RMS/float64(g.N))
	return g, true
}
