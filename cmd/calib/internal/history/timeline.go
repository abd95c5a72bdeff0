package history

import (
	"cmp"
	"fmt"
	"strings"

	"calib/internal/history"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/reports/figure"
)

// figure draws the readings of a metric over time, with its levels between changes.
func (t *timeline) figure() figure.Figure {
	m, n := t.metric, len(t.readings)
	subject := strings.TrimSpace(m.Name + " " + m.Link())
	f := figure.Figure{ID: figure.Slug(subject), Says: t.says(),
		Title: strings.TrimSuffix(subject+ofCluster(t.cluster)+": "+m.Label, ": "),
		X:     figure.Axis{Name: cmp.Or(t.each, "run"), Unit: figure.UnitTime},
		Y:     figure.Axis{Name: cmp.Or(m.Label, m.Name), Unit: strings.TrimPrefix(m.Unit, "1")}}
	points := figure.Trace{Name: m.Name, Kind: figure.Points}
	for _, r := range t.readings {
		q := figure.Point{X: float64(r.At.UnixMilli()) / 1e3, Y: r.Value, Text: r.Run + " " + units.Format(r.Value, m.Unit)}
		if ci := r.CI95; ci != nil && ci[0] <= r.Value && r.Value <= ci[1] {
			q.Lo, q.Hi = ci[0], ci[1]
		}
		points.Points = append(points.Points, q)
	}
	edge := func(i int) float64 { // half way from the reading before
		return (points.Points[max(i-1, 0)].X + points.Points[min(i, n-1)].X) / 2
	}
	var ends []int // of levels
	for _, c := range t.changes {
		label := c.words()
		if c.known() != "" {
			label += "; known: " + c.known()
		}
		f.Marks = append(f.Marks, figure.Mark{X: points.Points[c.index].X, Label: label})
		ends = append(ends, c.index)
	}
	from := 0
	for _, to := range append(ends, n) {
		level := t.level(from, to)
		if lo, hi := edge(from), edge(to); lo < hi {
			f.Traces = append(f.Traces, figure.Trace{Name: "median " + units.Format(level, m.Unit), Kind: figure.Line,
				Points: []figure.Point{{X: lo, Y: level}, {X: hi, Y: level}}, Group: 1})
		}
		from = to
	}
	f.Traces = append(f.Traces, points)
	figure.Settle(&f)
	return f
}

func ofCluster(hosts string) string { return strings.TrimSuffix(" of "+hosts, " of ") }

func (t *timeline) level(from, to int) float64 { return stats.Median(t.values()[from:to]) }

func (t *timeline) values() []float64 {
	return lists.Map(t.readings, func(r history.Reading) float64 { return r.Value })
}

func (t *timeline) says() string {
	n, unit := len(t.readings), t.metric.Unit
	text := units.Plural(n, cmp.Or(t.each, "run")) + ", the last " + units.Format(t.readings[n-1].Value, unit)
	if t.each == eachDay {
		return fmt.Sprintf("%s; median %s. calib history changes lists what has changed.", text,
			units.Format(t.level(0, n), unit))
	}
	if len(t.changes) == 0 {
		return fmt.Sprintf("%s; no change of level around the median of %s.", text, units.Format(t.level(0, n), unit))
	}
	c := t.changes[len(t.changes)-1]
	text += fmt.Sprintf(". %s of level, the last %s", units.Plural(len(t.changes), "change"), c.words())
	if c.Verdict != "" {
		text += ", for the " + c.Verdict
	}
	text += fmt.Sprintf(" (p = %.2g) with run %s", c.P, c.Run)
	if c.known() != "" {
		text += ", acknowledged: " + c.known()
	}
	return strings.TrimSuffix(text, ".") + "."
}

func (c change) words() string {
	if c.Share == nil {
		return "change"
	}
	return c.percent()
}
