package draw

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/reports/figure"
)

const (
	mainHeight  vg.Length = 230
	belowHeight vg.Length = 80
)

// newPanels are the plots of a figure and of the one below it on the same X axis, and how many numbers have no place there.
func newPanels(f figure.Figure) (panels []*tile, left int) {
	figs := []figure.Figure{f}
	if f.Below != nil {
		below := *f.Below
		below.X, below.Marks = f.X, f.Marks
		figs = append(figs, below)
	}
	var xs []float64
	for _, g := range figs {
		for _, t := range g.Traces {
			for i, x := range t.X {
				if hasPlace(g, t, i) {
					xs = append(xs, x)
				} else if given(t, i) {
					left++
				}
			}
		}
	}
	for _, m := range f.Marks {
		xs = append(xs, m.X)
	}
	x := newScale(f.X, xs, nil)
	for i, g := range figs {
		panels = append(panels, newPanel(g, x, i > 0))
	}
	if len(panels) > 1 {
		unlabel(&panels[0].X)
		panels[0].xTitle = ""
	}
	return panels, left
}

// unlabel leaves an axis its long and short ticks without numbers: a tick without any label would be a short one, and have
// no grid line.
func unlabel(a *plot.Axis) {
	all := a.Tick.Marker.Ticks(a.Min, a.Max)
	for i := range all {
		if !all[i].IsMinor() {
			all[i].Label = " "
		}
	}
	a.Tick.Marker = plot.ConstantTicks(all)
	a.Tick.Label.Font.Size = 0.1
}

// newPanel draws areas first and points last, so that no fit hides a measurement.
func newPanel(f figure.Figure, x scale, below bool) *tile {
	height, n := mainHeight, 7
	main, ends := valuesOf(f)
	if below {
		height, n = belowHeight, 4
		main = append(main, 0)
	}
	y := newScale(f.Y, main, ends)
	if !below {
		y = y.fromZero()
	}
	p := newPlot()
	thin := draw.LineStyle{Color: gridGrey, Width: 0.4}
	p.Add(&plotter.Grid{Vertical: thin, Horizontal: thin})
	if !y.Log && y.lo < 0 && y.hi > 0 {
		p.Add(&plotter.Line{XYs: plotter.XYs{{X: x.lo}, {X: x.hi}}, LineStyle: draw.LineStyle{Color: faint, Width: 0.6}})
	}
	p.Add(markPlotters(f, x, y, !below)...)
	if x.empty || y.empty {
		p.Add(nothingToShow{})
	} else {
		for _, kind := range []string{figure.Band, figure.Line, figure.Points} {
			for _, t := range f.Traces {
				if t.Kind == kind {
					p.Add(plottersOf(f, t, x, y)...)
				}
			}
		}
	}
	p.Add(frame{})
	return &tile{Plot: p, size: vg.Point{X: pageWidth - 2*margin, Y: height}, xTitle: x.set(&p.X, 7), yTitle: y.set(&p.Y, n)}
}

// valuesOf lists the numbers that the Y axis shows, and the ends of intervals, of which it shows what is near.
func valuesOf(f figure.Figure) (main, ends []float64) {
	for _, t := range f.Traces {
		for i := range t.X {
			if !drawable(f.X, t.X[i]) {
				continue
			}
			if t.Kind != figure.Band && i < len(t.Y) {
				main = append(main, t.Y[i])
			}
			if i < len(t.Lo) && i < len(t.Hi) {
				ends = append(ends, t.Lo[i], t.Hi[i])
			}
		}
	}
	return main, ends
}

// given reports whether number i of t is meant to be seen: NaN is a gap.
func given(t figure.Trace, i int) bool {
	if t.Kind == figure.Band {
		return i < len(t.Lo) && i < len(t.Hi) && t.Lo[i] == t.Lo[i] && t.Hi[i] == t.Hi[i]
	}
	return i < len(t.Y) && t.Y[i] == t.Y[i]
}

// hasPlace reports whether number i of t has a place on the axes of f.
func hasPlace(f figure.Figure, t figure.Trace, i int) bool {
	if !given(t, i) || !drawable(f.X, t.X[i]) {
		return false
	}
	if t.Kind == figure.Band {
		return drawable(f.Y, t.Hi[i])
	}
	return drawable(f.Y, t.Y[i])
}
