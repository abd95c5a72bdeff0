package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
)

// validation draws what was predicted against what was then measured, one colour a model; none without entries.
func validation(in []params.Validation) []Figure {
	rows := lists.Where(in, func(v params.Validation) bool {
		return !v.SlowHost && v.Measured > 0 && v.Predicted > 0 && finite(v.Measured) && finite(v.Predicted)
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
		says = append(says, cmp.Or(m, "predictions")+" "+reports.Percent(g.Mean)+" on average, "+
			reports.Percent(g.Worst)+" at most")
	}
	f.Says = "Patterns that no fit has seen. Distance from the line: " + strings.Join(says, "; ") + "."
	slices.SortStableFunc(rows, func(a, b params.Validation) int { return cmp.Compare(a.Measured, b.Measured) })
	lo, hi := rows[0].Measured, rows[len(rows)-1].Measured
	for _, v := range rows {
		lo, hi = math.Min(lo, v.Predicted), math.Max(hi, v.Predicted)
	}
	f.Traces = append(f.Traces, Trace{Name: "as predicted", Kind: Line,
		Points: []Point{{X: lo * 0.9, Y: lo * 0.9}, {X: hi * 1.1, Y: hi * 1.1}}})
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
		q := Point{X: v.Measured, Y: v.Predicted, Text: fmt.Sprintf("%s, %d hosts, %s: predicted %s, measured %s",
			cmp.Or(v.Pattern, "pattern"), v.Hosts, units.Bytes(v.Bytes), units.Format(v.Predicted, "s"),
			units.Format(v.Measured, "s"))}
		if ci := v.CI95; ci != nil && ci[0] <= v.Predicted && v.Predicted <= ci[1] {
			q.Lo, q.Hi = ci[0], ci[1]
		}
		t.Points = append(t.Points, q)
	}
	return t
}
