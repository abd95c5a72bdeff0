package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/internal/params"
	"calib/internal/units"
)

// validation draws what was predicted against what was then measured, one colour a model; none without entries.
func validation(in []params.Validation) []Figure {
	rows := slices.DeleteFunc(slices.Clone(in), func(v params.Validation) bool {
		return v.SlowHost || !(v.Measured > 0 && v.Predicted > 0) ||
			!finite(v.Measured) || !finite(v.Predicted)
	})
	if len(rows) == 0 {
		return nil
	}
	f := Figure{ID: "validation", Section: "Validation", Title: "Predicted against measured",
		X: Axis{Name: "measured", Unit: "s", Log: true}, Y: Axis{Name: "predicted", Unit: "s", Log: true}}
	var says []string
	models := params.ModelsOf(rows)
	for _, m := range models {
		g, _ := params.GradeOf(rows, m, "")
		says = append(says, fmt.Sprintf("%s %s on average, %s at most", cmp.Or(m, "predictions"), percent(g.Mean), percent(g.Worst)))
	}
	f.Says = "Patterns that no fit has seen. Distance from the line: " + strings.Join(says, "; ") + "."
	slices.SortStableFunc(rows, func(a, b params.Validation) int { return cmp.Compare(a.Measured, b.Measured) })
	lo, hi := rows[0].Measured, rows[len(rows)-1].Measured
	for _, v := range rows {
		lo, hi = math.Min(lo, v.Predicted), math.Max(hi, v.Predicted)
	}
	ends := []float64{lo * 0.9, hi * 1.1}
	f.Traces = append(f.Traces, Trace{Name: "as predicted", Kind: Line, X: ends, Y: slices.Clone(ends)})
	for i, name := range models {
		f.Traces = append(f.Traces, modelTrace(name, i+1, rows))
	}
	Settle(&f)
	return []Figure{f}
}

// modelTrace is the points of one model with the intervals of their predictions. rows ascend in what was measured.
func modelTrace(name string, group int, rows []params.Validation) Trace {
	t := Trace{Name: cmp.Or(name, "predicted"), Kind: Points, Group: group}
	for _, v := range rows {
		if v.Model != name {
			continue
		}
		lo, hi := math.NaN(), math.NaN()
		if ci := v.CI95; ci != nil && ci[0] <= v.Predicted && v.Predicted <= ci[1] && finite(ci[0]) && finite(ci[1]) {
			lo, hi = ci[0], ci[1]
		}
		t.add(v.Measured, v.Predicted, lo, hi, fmt.Sprintf("%s: predicted %s, measured %s", patternWords(v),
			units.Format(v.Predicted, "s"), units.Format(v.Measured, "s")))
	}
	return t
}

func patternWords(v params.Validation) string {
	return fmt.Sprintf("%s, %d hosts, %s", cmp.Or(v.Pattern, "pattern"), v.Hosts, units.Bytes(v.Bytes))
}

// percent prints a share with two digits, or as many as it has before the point.
func percent(share float64) string {
	if share >= 0.1 {
		return fmt.Sprintf("%.0f%%", 100*share)
	}
	return fmt.Sprintf("%.2g%%", 100*share)
}
