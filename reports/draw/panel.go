package draw

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/internal/lists"
	"calib/reports/figure"
)

const (
	belowHeight vg.Length = 80
	xLabel      vg.Length = 68 // from one label of an axis to the next
	yLabel      vg.Length = 32
	hidden      float64   = 0.015 // of the height of a panel: a point
	markLine    vg.Length = 10    // from the label of a mark to the one above it
	maxMarkRows int       = 6
)

// newPanels are the tiles of a figure and of the one below it on the same X axis.
func newPanels(f figure.Figure, l Layout) (out []*tile) {
	figs := []figure.Figure{f}
	if f.Below != nil {
		below := *f.Below
		below.X, below.Marks = f.X, f.Marks
		figs = append(figs, below)
	}
	var xs []float64
	points, whole := false, f.X.Unit == "" // hosts, pairs, …: points lie at whole numbers, lines and bands between
	for _, g := range figs {
		for _, t := range g.Traces {
			for _, q := range t.Points {
				xs = append(xs, q.X)
				whole = whole && (t.Kind != figure.Points || q.X == math.Round(q.X))
			}
			points = points || t.Kind == figure.Points
		}
	}
	xs = append(xs, lists.Map(f.Marks, func(m figure.Mark) float64 { return m.X })...)
	x := newScale(f.X, xs, nil)
	x.whole = points && whole
	for i, g := range figs {
		out = append(out, newPanel(g, x, l, i > 0))
	}
	if len(out) > 1 {
		out[0].X.Label.Text = ""
	}
	return out
}

// newPanel draws areas first and points last, so that no fit hides a measurement.
func newPanel(f figure.Figure, x scale, l Layout, below bool) *tile {
	var main, ends []float64
	for _, t := range f.Traces {
		for _, q := range t.Points {
			if t.Kind != figure.Band {
				main = append(main, q.Y)
			}
			if t.Kind == figure.Band || q.Lo < q.Hi {
				ends = append(ends, q.Lo, q.Hi)
			}
		}
	}
	height, n := l.height, int(l.height/yLabel)
	if below {
		height, n = belowHeight, 4
		if !f.Y.Log {
			main = append(main, 0)
		}
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
	for _, m := range f.Marks {
		p.Add(markPlotters(m, x, y)...)
	}
	if !below {
		p.Add(markLabels(f.Marks, x, y, l)...)
	}
	for _, kind := range []string{figure.Band, figure.Line, figure.Points} {
		for _, t := range f.Traces {
			if t.Kind == kind {
				p.Add(plottersOf(t, y)...)
			}
		}
	}
	p.Add(frame{})
	x.set(&p.X, int(l.width/xLabel), l.width*2/3)
	y.set(&p.Y, n, height)
	out := &tile{Plot: p, size: vg.Point{X: l.inner(), Y: height}, reach: vg.Point{X: 4, Y: 4}}
	for _, t := range f.Traces {
		if t.Kind == figure.Points && t.Name != "" {
			out.readings = append(out.readings, readingsOf(t, x.Axis, f.Y, !below)...) // the panel above says the interval
		}
	}
	return out
}

func readingsOf(t figure.Trace, x, y figure.Axis, interval bool) (out []reading) {
	for _, q := range t.Points {
		if math.IsNaN(q.Y) {
			continue
		}
		text := t.Name + " at " + words(q.X, x) + ": " + words(q.Y, y)
		if interval && q.Lo < q.Hi {
			by, _ := multiple(q.Y, y)
			text += fmt.Sprintf(" (95%% %.4g … %.4g)", q.Lo/by, q.Hi/by)
		}
		if q.Text != "" {
			text += ", " + q.Text
		}
		out = append(out, reading{q.X, q.Y, text})
	}
	return out
}

// plottersOf draws one trace. A line has a gap where there is no number.
func plottersOf(t figure.Trace, y scale) (out []plot.Plotter) {
	switch t.Kind {
	case figure.Band:
		return []plot.Plotter{bandPlotter(t, y)}
	case figure.Points:
		return pointPlotters(t, y)
	}
	var line *plotter.Line
	for _, q := range t.Points {
		switch {
		case math.IsNaN(q.Y):
			line = nil
			continue
		case line == nil:
			line = &plotter.Line{LineStyle: lineStyle(t.Group)}
			out = append(out, line)
		}
		line.XYs = append(line.XYs, plotter.XY{X: q.X, Y: q.Y})
	}
	return out
}

// bandPlotter fills between Lo and Hi. A band of one place is a bar.
func bandPlotter(t figure.Trace, y scale) plot.Plotter {
	edge := lists.Map(t.Points, func(q figure.Point) plotter.XY { return plotter.XY{X: q.X, Y: y.limit(q.Hi)} })
	for _, q := range slices.Backward(t.Points) {
		edge = append(edge, plotter.XY{X: q.X, Y: y.limit(q.Lo)})
	}
	if len(edge) == 2 {
		return &plotter.Line{XYs: edge, LineStyle: draw.LineStyle{Color: wash(t.Group), Width: 4}}
	}
	return &plotter.Polygon{XYs: []plotter.XYs{edge}, Color: wash(t.Group)}
}

// pointPlotters draws points over their error bars. A bar that leaves the panel has no cap there. One that its point
// hides is not drawn.
func pointPlotters(t figure.Trace, y scale) []plot.Plotter {
	points := &plotter.Scatter{GlyphStyle: glyphStyle(t.Group)}
	bars := &plotter.YErrorBars{LineStyle: draw.LineStyle{Color: hue(t.Group), Width: 0.6}, CapWidth: 2 * points.Radius}
	for _, q := range t.Points {
		if math.IsNaN(q.Y) {
			continue
		}
		at := plotter.XY{X: q.X, Y: q.Y}
		points.XYs = append(points.XYs, at)
		if q.Lo < q.Hi && y.share(y.limit(q.Hi))-y.share(y.limit(q.Lo)) > hidden {
			low, high := at.Y-y.limit(q.Lo), y.limit(q.Hi)-at.Y
			if y.Log {
				low = math.Min(low, at.Y*(1-1e-12)) // at.Y − low must not round to zero
			}
			bars.XYs = append(bars.XYs, at)
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{math.Max(low, 0), math.Max(high, 0)})
		}
	}
	return []plot.Plotter{bars, points}
}

func markPlotters(m figure.Mark, x, y scale) []plot.Plotter {
	var out []plot.Plotter
	if m.Lo < m.Hi {
		lo, hi := x.limit(m.Lo), x.limit(m.Hi)
		out = append(out, &plotter.Polygon{Color: wash(6),
			XYs: []plotter.XYs{{{X: lo, Y: y.lo}, {X: lo, Y: y.hi}, {X: hi, Y: y.hi}, {X: hi, Y: y.lo}}}})
	}
	return append(out, &plotter.Line{XYs: plotter.XYs{{X: m.X, Y: y.lo}, {X: m.X, Y: y.hi}},
		LineStyle: draw.LineStyle{Color: faint, Width: 0.8, Dashes: []vg.Length{3, 2}}})
}

// markLabels puts the labels of marks above the panel. A label that would touch another goes into the row above it; one
// that finds no room is left out. A label reaches as far to the left of its mark as the mark stands from the left end
// of the panel, in shares of both, so that none leaves the panel.
func markLabels(marks []figure.Mark, x, y scale, l Layout) (out []plot.Plotter) {
	width := l.width - 80           // or a little less: what the numbers of the Y axis leave of the page
	var ends [maxMarkRows]vg.Length // of the labels in each row
	for _, m := range marks {
		style := smallStyle()
		share := x.share(m.X)
		style.Color, style.XAlign = faint, text.XAlignment(-share)
		label := clip(m.Label, style, l.width/2)
		left := vg.Length(share) * (width - style.Width(label))
		row := slices.IndexFunc(ends[:], func(end vg.Length) bool { return end <= left })
		if label == "" || row < 0 {
			continue
		}
		out = append(out, &plotter.Labels{XYs: plotter.XYs{{X: m.X, Y: y.hi}}, Labels: []string{label},
			TextStyle: []text.Style{style}, Offset: vg.Point{Y: 4 + vg.Length(row)*markLine}})
		ends[row] = left + style.Width(label) + 6
	}
	return out
}

const (
	legendGap     vg.Length = 14
	thumbnail     vg.Length = 20 // width of what is drawn before a name
	maxLegendRows int       = 8
)

type entry struct {
	name   string
	group  int
	kinds  []string
	thumbs []plot.Thumbnailer
}

// entriesOf lists what has a name, each once, whatever its kinds. The panel below adds the shape of its points where
// the panel above has no points of that colour.
func entriesOf(f figure.Figure) (out []entry) {
	bands, points := map[int]int{}, map[int]bool{}
	add := func(t figure.Trace) {
		var thumbs []plot.Thumbnailer
		switch t.Kind {
		case figure.Band: // one band inside another looks darker
			bands[t.Group]++
			thumbs = slices.Repeat([]plot.Thumbnailer{&plotter.Polygon{Color: wash(t.Group)}}, min(bands[t.Group], 4))
		case figure.Line:
			thumbs = append(thumbs, &plotter.Line{LineStyle: lineStyle(t.Group)})
		default:
			thumbs = append(thumbs, &plotter.Scatter{GlyphStyle: glyphStyle(t.Group)})
		}
		i := slices.IndexFunc(out, func(e entry) bool { return e.name == t.Name && e.group == t.Group })
		switch {
		case t.Name == "":
		case i < 0:
			out = append(out, entry{t.Name, t.Group, []string{t.Kind}, thumbs})
		case !slices.Contains(out[i].kinds, t.Kind):
			out[i].kinds, out[i].thumbs = append(out[i].kinds, t.Kind), append(out[i].thumbs, thumbs...)
		}
	}
	for _, t := range f.Traces {
		add(t)
		points[t.Group] = points[t.Group] || t.Kind == figure.Points
	}
	if f.Below != nil {
		for _, t := range f.Below.Traces {
			if !points[t.Group] {
				add(t)
			}
		}
	}
	return out
}

// setLegend puts entries into columns of one width, as many as fit. Beyond the rows allowed they are counted.
func (p *page) setLegend(all []entry) {
	room, style, widest := p.inner(), smallStyle(), vg.Length(0)
	for i := range all {
		all[i].name = clip(all[i].name, style, room-thumbnail)
		widest = max(widest, style.Width(" "+all[i].name)+thumbnail+legendGap)
	}
	cols := max(int((room+legendGap)/max(widest, 1)), 1)
	if most := cols * maxLegendRows; len(all) > most {
		all = append(all[:most-1], entry{name: fmt.Sprintf("and %d more", len(all)-most+1)})
	}
	rows := (len(all) + cols - 1) / cols
	for column := range slices.Chunk(all, max(rows, 1)) {
		l := plot.NewLegend()
		l.Top, l.Left, l.TextStyle, l.Padding, l.ThumbnailWidth = true, true, style, 2.5, thumbnail
		l.XOffs = vg.Length(len(p.legend)) * widest
		for _, e := range column {
			l.Add(e.name, e.thumbs...)
		}
		p.legend = append(p.legend, l)
		p.legendHeight = max(p.legendHeight, l.Rectangle(draw.Canvas{}).Size().Y+4)
	}
}
