package draw

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/fit"
	"calib/reports/figure"
)

// Measures of a page, in points of 1/72 inch.
const (
	pageWidth   vg.Length = 480 // fits a page of A4 or letter
	margin      vg.Length = 10
	mainHeight  vg.Length = 230
	belowHeight vg.Length = 80
	panelGap    vg.Length = 12
	tickSize    vg.Length = 4
	labelRoom   vg.Length = 90 // the widest label of an axis
	legendLine  vg.Length = 12
	noteLine    vg.Length = 11
	titleLine   vg.Length = 14
	markLine    vg.Length = 10
)

// page is a figure laid out: everything has its size before anything is drawn.
type page struct {
	width, height vg.Length
	fonts
	c draw.Canvas

	title, notes []string
	legend       [][]key
	panels       []*panel
	matrix       *matrix
}

func newPage(f figure.Figure) *page {
	p := &page{width: pageWidth, fonts: newFonts()}
	inner := p.width - 2*margin
	p.title = wrap(f.Title, p.fonts.title, inner, 3)
	body := vg.Length(0)
	left := 0
	if f.Heat != nil {
		p.matrix = newMatrix(f, p.fonts)
		p.legend = p.flow(p.matrix.keys())
		body = p.matrix.height()
	} else {
		p.legend = p.flow(keys(f))
		p.panels, left = newPanels(f, p.fonts)
		for i, q := range p.panels {
			if i > 0 {
				body += panelGap
			}
			body += q.above() + q.height
		}
		body += p.panels[len(p.panels)-1].under()
	}
	p.notes = wrap(f.Says, p.note, inner, 14)
	switch {
	case p.matrix != nil:
		p.notes = append(p.notes, wrap(p.matrix.note(), p.note, inner, 2)...)
	case left == 1:
		p.notes = append(p.notes, "1 number is not shown: it has no place on the axes.")
	case left > 1:
		p.notes = append(p.notes, fmt.Sprintf("%d numbers are not shown: they have no place on the axes.", left))
	}
	p.height = 2*margin + vg.Length(len(p.title))*titleLine + vg.Length(len(p.legend))*legendLine + 6 + body + 8 +
		vg.Length(len(p.notes))*noteLine
	return p
}

// draw paints the page on a canvas of its size, from the top down.
func (p *page) draw(c vg.Canvas) {
	p.c = draw.NewCanvas(c, p.width, p.height)
	p.fill(color.White, p.c.Min, p.c.Max)
	y := p.height - margin
	for _, line := range p.title {
		y -= titleLine
		p.say(p.fonts.title, ink(), margin, y+3, left, line)
	}
	for _, row := range p.legend {
		y -= legendLine
		for _, k := range row {
			p.drawKey(k, y)
		}
	}
	y -= 6
	if p.matrix != nil {
		y = p.drawMatrix(p.matrix, y)
	}
	for i, q := range p.panels {
		if i > 0 {
			y -= panelGap
		}
		y -= q.above()
		q.box.Max.Y, q.box.Min.Y = y, y-q.height
		p.drawPanel(q, i == len(p.panels)-1)
		y -= q.height
	}
	if n := len(p.panels); n > 0 {
		y -= p.panels[n-1].under()
	}
	y -= 8
	for _, line := range p.notes {
		y -= noteLine
		p.say(p.note, ink(), margin, y+3, left, line)
	}
}

// fill paints a rectangle.
func (p *page) fill(c color.Color, lo, hi vg.Point) {
	p.c.FillPolygon(c, []vg.Point{lo, {X: hi.X, Y: lo.Y}, hi, {X: lo.X, Y: hi.Y}})
}

// frame draws the outline of a rectangle.
func (p *page) frame(s draw.LineStyle, lo, hi vg.Point) {
	p.c.StrokeLines(s, []vg.Point{lo, {X: hi.X, Y: lo.Y}, hi, {X: lo.X, Y: hi.Y}, lo})
}

// newPanels are the figure and the one below it, on one X axis, and how many numbers have no place on it.
func newPanels(f figure.Figure, fonts fonts) ([]*panel, int) {
	figs := []figure.Figure{f}
	if f.Below != nil {
		below := *f.Below
		below.X, below.Marks = f.X, f.Marks
		figs = append(figs, below)
	}
	var xs []float64
	left := 0
	for _, g := range figs {
		for _, t := range g.Traces {
			for i, x := range t.X {
				if drawable(f.X, x) && hasNumber(g.Y, t, i) {
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
	x := newScale(f.X, xs, nil, 7)
	var out []*panel
	room := vg.Length(0)
	for i, g := range figs {
		q := newPanel(g, x, i > 0)
		out = append(out, q)
		for _, t := range q.y.ticks {
			room = max(room, fonts.small.Width(clip(t.label, fonts.small, labelRoom)))
		}
	}
	for i, q := range out {
		q.box = vg.Rectangle{Min: vg.Point{X: margin + 14 + room + tickSize + 3}, Max: vg.Point{X: pageWidth - margin - 12}}
		q.thin(fonts.small)
		if i == 0 {
			q.placeMarks(fonts.small)
		}
	}
	return out, left
}

// thin takes labels off the X axis until none touches the next.
func (q *panel) thin(f font.Face) {
	w := q.box.Max.X - q.box.Min.X
	for try := 0; try < 6; try++ {
		end, touch, n := vg.Length(-1e6), false, 0
		for _, t := range q.x.ticks {
			if t.label == "" {
				continue
			}
			half := f.Width(t.label) / 2
			at := vg.Length(q.x.at(t.at)) * w
			touch = touch || at-half < end+5
			end = at + half
			n++
		}
		if !touch || n < 2 {
			return
		}
		kept := make([]tick, len(q.x.ticks))
		n = 0
		for i, t := range q.x.ticks {
			if t.label != "" {
				if n%2 == 1 {
					t.label, t.minor = "", true
				}
				n++
			}
			kept[i] = t
		}
		q.x.ticks = kept
	}
}

// given reports whether number i of t is meant to be seen: NaN is a gap.
func given(t figure.Trace, i int) bool {
	if t.Kind == figure.Band {
		return i < len(t.Lo) && i < len(t.Hi) && t.Lo[i] == t.Lo[i] && t.Hi[i] == t.Hi[i]
	}
	return i < len(t.Y) && t.Y[i] == t.Y[i]
}

// hasNumber reports whether number i of t has a place on the Y axis.
func hasNumber(y fit.Axis, t figure.Trace, i int) bool {
	if t.Kind == figure.Band {
		return given(t, i) && drawable(y, t.Hi[i])
	}
	return i < len(t.Y) && drawable(y, t.Y[i])
}
