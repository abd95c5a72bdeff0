package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"calib/fit/params"
	"calib/internal/units"
)

// validation draws what was predicted against what was then measured, one colour a pattern; none without entries.
func validation(in []params.Validation) []Figure {
	rows := slices.DeleteFunc(slices.Clone(in), func(v params.Validation) bool {
		return !(v.Measured > 0 && v.Predicted > 0) ||
			!finite(v.Measured) || !finite(v.Predicted)
	})
	if len(rows) == 0 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b params.Validation) int { return cmp.Compare(a.Measured, b.Measured) })
	f := Figure{ID: "validation", Section: "Validation", Title: "Predicted against measured",
		X: Axis{Name: "measured", Unit: "s", Log: true}, Y: Axis{Name: "predicted", Unit: "s", Log: true}}
	var patterns []string
	sum, worst, at := 0.0, -1.0, rows[0]
	for _, v := range rows {
		if !slices.Contains(patterns, v.Pattern) {
			patterns = append(patterns, v.Pattern)
		}
		e := math.Abs(v.Predicted/v.Measured - 1)
		if sum += e; e > worst {
			worst, at = e, v
		}
	}
	f.Says = fmt.Sprintf("%s that no fit has seen, predicted and then measured: %.2g%% apart on average, and %.2g%% at most (%s).",
		units.GroupedPlural(len(rows), "pattern"), 100*sum/float64(len(rows)), 100*worst, patternWords(at))
	lo, hi := rows[0].Measured, rows[len(rows)-1].Measured
	for _, v := range rows {
		lo, hi = math.Min(lo, v.Predicted), math.Max(hi, v.Predicted)
	}
	ends := []float64{lo * 0.9, hi * 1.1}
	f.Traces = append(f.Traces, Trace{Name: "as predicted", Kind: Line, X: ends, Y: slices.Clone(ends)})
	for i, name := range patterns {
		f.Traces = append(f.Traces, patternTrace(name, i+1, rows))
	}
	Settle(&f)
	return []Figure{f}
}

// patternTrace is the points of one pattern with the intervals of their predictions. rows ascend in what was measured.
func patternTrace(name string, group int, rows []params.Validation) Trace {
	t := Trace{Name: cmp.Or(name, "pattern"), Kind: Points, Group: group}
	for _, v := range rows {
		if v.Pattern != name {
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
