package figure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"calib/internal/dataset"
	"calib/internal/params"
	"calib/internal/stats"
	"calib/internal/units"
)

// brokenFlags mark batches that were not exchanges at all.
var brokenFlags = []string{dataset.FlagDeadlock, dataset.FlagTimeout, dataset.FlagUnsteady}

// rawKey is equal for selections of the same samples.
func rawKey(r params.Raw) string {
	return fmt.Sprintf("%q %q %q %s", r.Experiment, r.Phase, r.Factor, dataset.Point(r.Fixed).Key())
}

// timingsOf gathers the timings of r [ns], of every pair of hosts, by the value of the factor, and says how many there
// are and how many were left out.
func timingsOf(d dataset.Source, r params.Raw) (at map[int64][]float64, words string) {
	at = map[int64][]float64{}
	count, again, broken := 0, 0, 0
	for _, s := range d.Select(r.Experiment, r.Phase) {
		x, ok := s.Point[r.Factor]
		switch {
		case !ok || !fixed(s.Point, r.Fixed):
		case s.Has(dataset.FlagRetrans):
			again += len(s.NS)
		case slices.ContainsFunc(brokenFlags, s.Has):
			broken += len(s.NS)
		default:
			count += len(s.NS)
			for _, ns := range s.NS {
				at[x] = append(at[x], float64(ns))
			}
		}
	}
	var left []string
	if again > 0 {
		left = append(left, units.Grouped(int64(again))+" with retransmissions")
	}
	if broken > 0 {
		left = append(left, units.Grouped(int64(broken))+" broken off")
	}
	words = units.Grouped(int64(count)) + " timings"
	if len(left) > 0 {
		words += " (left out: " + strings.Join(left, ", ") + ")"
	}
	return at, words
}

func fixed(p dataset.Point, want map[string]int64) bool {
	for k, v := range want {
		if have, ok := p[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// quantileBands are the middle 90% and 50% of the timings [s] at each value of the factor; none without d or timings.
func quantileBands(d dataset.Source, r params.Raw) (out []Trace) {
	if d == nil {
		return nil
	}
	timings, words := timingsOf(d, r)
	factors := slices.Sorted(maps.Keys(timings))
	for _, x := range factors {
		slices.Sort(timings[x])
	}
	for _, b := range []struct {
		name string
		p    float64
	}{{"5–95% of ", 0.05}, {"25–75% of ", 0.25}} {
		t := Trace{Name: b.name + words, Kind: Band}
		for _, x := range factors {
			at := func(p float64) float64 { return stats.SortedQuantile(timings[x], p) * 1e-9 }
			t.Points = append(t.Points, Point{X: float64(x), Y: at(0.5), Lo: at(b.p), Hi: at(1 - b.p)})
		}
		if len(t.Points) > 0 {
			out = append(out, t)
		}
	}
	return out
}

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

// percent prints a share with two digits, or as many as it has before the point.
func percent(share float64) string {
	if share >= 0.1 {
		return fmt.Sprintf("%.0f%%", 100*share)
	}
	return fmt.Sprintf("%.2g%%", 100*share)
}
