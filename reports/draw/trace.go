package draw

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"calib/reports/figure"
)

// plottersOf draws one trace, with a gap where there is no number to draw.
func plottersOf(f figure.Figure, t figure.Trace, x, y scale) []plot.Plotter {
	if t.Kind == figure.Points {
		return pointPlotters(f, t, y)
	}
	var out []plot.Plotter
	for from := 0; from < len(t.X); from++ {
		to := from
		for to < len(t.X) && hasPlace(f, t, to) {
			to++
		}
		switch {
		case to == from:
			continue
		case t.Kind == figure.Band:
			out = append(out, bandPlotter(t, from, to, y))
		default:
			out = append(out, linePlotter(t, from, to))
		}
		from = to
	}
	return out
}

// bandPlotter fills between Lo and Hi of from..to-1. An area of one place is a bar.
func bandPlotter(t figure.Trace, from, to int, y scale) plot.Plotter {
	if to-from == 1 {
		return &plotter.Line{XYs: plotter.XYs{{X: t.X[from], Y: y.limit(t.Lo[from])}, {X: t.X[from], Y: y.limit(t.Hi[from])}},
			LineStyle: draw.LineStyle{Color: wash(t.Group), Width: 4}}
	}
	var edge plotter.XYs
	for i := from; i < to; i++ {
		edge = append(edge, plotter.XY{X: t.X[i], Y: y.limit(t.Hi[i])})
	}
	for i := to - 1; i >= from; i-- {
		edge = append(edge, plotter.XY{X: t.X[i], Y: y.limit(t.Lo[i])})
	}
	return &plotter.Polygon{XYs: []plotter.XYs{edge}, Color: wash(t.Group)}
}

// linePlotter joins the numbers from..to-1. A line of one place is a small cross.
func linePlotter(t figure.Trace, from, to int) plot.Plotter {
	var at plotter.XYs
	for i := from; i < to; i++ {
		at = append(at, plotter.XY{X: t.X[i], Y: t.Y[i]})
	}
	if len(at) == 1 {
		return &plotter.Scatter{XYs: at, GlyphStyle: draw.GlyphStyle{Color: hue(t.Group), Radius: 3, Shape: draw.PlusGlyph{}}}
	}
	return &plotter.Line{XYs: at, LineStyle: lineStyle(t.Group)}
}

// pointPlotters draws points over their error bars. A bar that leaves the panel has no cap there.
func pointPlotters(f figure.Figure, t figure.Trace, y scale) []plot.Plotter {
	points := &plotter.Scatter{GlyphStyle: glyphStyle(t.Group)}
	bars := &plotter.YErrorBars{LineStyle: draw.LineStyle{Color: hue(t.Group), Width: 0.6}, CapWidth: 2 * points.Radius}
	for i := range t.X {
		if !hasPlace(f, t, i) {
			continue
		}
		at := plotter.XY{X: t.X[i], Y: t.Y[i]}
		points.XYs = append(points.XYs, at)
		if i < len(t.Lo) && i < len(t.Hi) && t.Lo[i] < t.Hi[i] {
			low, high := at.Y-y.limit(t.Lo[i]), y.limit(t.Hi[i])-at.Y
			if y.Log {
				low = math.Min(low, at.Y*(1-1e-12)) // the difference of what is left and at.Y must not round to zero
			}
			bars.XYs = append(bars.XYs, at)
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{math.Max(low, 0), math.Max(high, 0)})
		}
	}
	return []plot.Plotter{bars, points}
}
