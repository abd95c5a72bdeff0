package draw

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/reports/figure"
)

const (
	lineWidth vg.Length = 1.3
	barWidth  vg.Length = 0.6
	dot       vg.Length = 2
)

// drawTraces draws areas first and points last, so that nothing measured is hidden by what is fitted.
func (p *page) drawTraces(q *panel) {
	for _, kind := range []string{figure.Band, figure.Line, figure.Points} {
		for _, t := range q.fig.Traces {
			if t.Kind != kind {
				continue
			}
			switch kind {
			case figure.Band:
				p.drawBand(q, t)
			case figure.Line:
				p.drawLine(q, t)
			default:
				p.drawPoints(q, t)
			}
		}
	}
}

// runs cuts 0..n-1 into stretches where ok holds.
func runs(n int, ok func(int) bool) [][2]int {
	var out [][2]int
	from := -1
	for i := 0; i <= n; i++ {
		switch in := i < n && ok(i); {
		case in && from < 0:
			from = i
		case !in && from >= 0:
			out = append(out, [2]int{from, i})
			from = -1
		}
	}
	return out
}

// drawBand fills between Lo and Hi. What lies outside the panel ends at its edge.
func (p *page) drawBand(q *panel, t figure.Trace) {
	ok := func(i int) bool { return drawable(q.x.axis, t.X[i]) && hasNumber(q.y.axis, t, i) }
	for _, r := range runs(len(t.X), ok) {
		var edge []vg.Point
		for i := r[0]; i < r[1]; i++ {
			edge = append(edge, vg.Point{X: q.px(t.X[i]), Y: q.py(t.Hi[i])})
		}
		for i := r[1] - 1; i >= r[0]; i-- {
			edge = append(edge, vg.Point{X: q.px(t.X[i]), Y: q.py(t.Lo[i])})
		}
		if r[1]-r[0] == 1 { // a band of one place is a bar
			p.c.StrokeLines(draw.LineStyle{Color: wash(t.Group), Width: 4}, edge)
			continue
		}
		p.c.FillPolygon(wash(t.Group), edge)
	}
}

func lineStyle(group int) draw.LineStyle {
	return draw.LineStyle{Color: hue(group), Width: lineWidth, Dashes: dashes(group)}
}

// drawLine joins the points of t, with a gap where there is none to draw.
func (p *page) drawLine(q *panel, t figure.Trace) {
	ok := func(i int) bool { return drawable(q.x.axis, t.X[i]) && hasNumber(q.y.axis, t, i) }
	for _, r := range runs(len(t.X), ok) {
		var line []vg.Point
		for i := r[0]; i < r[1]; i++ {
			line = append(line, vg.Point{X: q.px(t.X[i]), Y: q.py(t.Y[i])})
		}
		if len(line) == 1 { // a line of one place is a stub
			line = []vg.Point{{X: line[0].X - 3, Y: line[0].Y}, {X: line[0].X + 3, Y: line[0].Y}}
		}
		p.c.StrokeLines(lineStyle(t.Group), line)
	}
}

// drawPoints draws points over their error bars. A bar that leaves the panel has no cap there.
func (p *page) drawPoints(q *panel, t figure.Trace) {
	bar := draw.LineStyle{Color: hue(t.Group), Width: barWidth}
	for i := range t.X {
		if !drawable(q.x.axis, t.X[i]) || !hasNumber(q.y.axis, t, i) {
			continue
		}
		at := vg.Point{X: q.px(t.X[i]), Y: q.py(t.Y[i])}
		if i < len(t.Lo) && i < len(t.Hi) && t.Lo[i] < t.Hi[i] {
			p.c.StrokeLine2(bar, at.X, q.py(t.Lo[i]), at.X, q.py(t.Hi[i]))
			for _, end := range []float64{t.Lo[i], t.Hi[i]} {
				if s := q.y.at(end); s >= 0 && s <= 1 {
					p.c.StrokeLine2(bar, at.X-dot, q.py(end), at.X+dot, q.py(end))
				}
			}
		}
		p.glyph(t.Group, at)
	}
}

func (p *page) glyph(group int, at vg.Point) {
	p.c.DrawGlyphNoClip(draw.GlyphStyle{Color: hue(group), Radius: dot, Shape: shape(group)}, at)
}

// keep is v where it is a number, and else the other.
func keep(v, other float64) float64 {
	if math.IsNaN(v) {
		return other
	}
	return v
}

// swatch paints a small area of a colour.
func (p *page) swatch(c color.Color, x, y, w vg.Length) {
	p.fill(c, vg.Point{X: x, Y: y}, vg.Point{X: x + w, Y: y + 7})
}
