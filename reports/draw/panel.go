package draw

import (
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/fit"
	"calib/reports/figure"
)

// panel is one pair of axes and what is drawn between them.
type panel struct {
	fig    figure.Figure
	x, y   scale
	box    vg.Rectangle
	height vg.Length
	marks  []placedMark
	rows   int // of mark labels, above the panel
}

// placedMark is a mark with the row of its label; row 0 has no room for one.
type placedMark struct {
	fit.Mark
	label string
	row   int
	x     vg.Length // of the label's left end
}

// maxMarkRows bounds the rows of mark labels.
const maxMarkRows = 6

func newPanel(f figure.Figure, x scale, below bool) *panel {
	var main, wide []float64
	for _, t := range f.Traces {
		for i := range t.X {
			if !drawable(f.X, t.X[i]) {
				continue
			}
			if t.Kind != figure.Band && i < len(t.Y) {
				main = append(main, t.Y[i])
			}
			if i < len(t.Lo) && i < len(t.Hi) {
				wide = append(wide, t.Lo[i], t.Hi[i])
			}
		}
	}
	q := &panel{fig: f, x: x, height: mainHeight}
	n := 7
	if below {
		q.height, n = belowHeight, 4
		main = append(main, 0)
	}
	q.y = newScale(f.Y, main, wide, n)
	if !below {
		q.y = q.y.fromZero(n)
	}
	for _, m := range f.Marks {
		if drawable(f.X, m.X) {
			q.marks = append(q.marks, placedMark{Mark: m})
		}
	}
	return q
}

// above is the room over the panel: labels of marks.
func (q *panel) above() vg.Length { return vg.Length(q.rows) * markLine }

// under is the room below the panel for labels and the title of the X axis.
func (q *panel) under() vg.Length { return 28 }

// placeMarks gives every mark's label a row where it touches no other.
func (q *panel) placeMarks(f font.Face) {
	ends := make([]vg.Length, maxMarkRows+1)
	for i := range q.marks {
		m := &q.marks[i]
		m.label = clip(m.Label, f, pageWidth/2)
		w := f.Width(m.label)
		if m.label == "" {
			continue
		}
		m.x = min(max(q.px(m.X)-w/2, margin), pageWidth-margin-w)
		for row := 1; row <= maxMarkRows; row++ {
			if ends[row] == 0 || ends[row]+6 <= m.x {
				m.row, ends[row] = row, m.x+w
				break
			}
		}
		q.rows = max(q.rows, m.row)
	}
}

// px and py are the place of a number on the page.
func (q *panel) px(v float64) vg.Length {
	return q.box.Min.X + vg.Length(q.x.inside(v))*(q.box.Max.X-q.box.Min.X)
}

func (q *panel) py(v float64) vg.Length {
	return q.box.Min.Y + vg.Length(q.y.inside(v))*(q.box.Max.Y-q.box.Min.Y)
}

func (p *page) drawPanel(q *panel, last bool) {
	p.drawGrid(q)
	p.drawMarkAreas(q)
	p.drawMarks(q)
	if q.x.empty || q.y.empty {
		p.say(p.label, faint(), (q.box.Min.X+q.box.Max.X)/2, (q.box.Min.Y+q.box.Max.Y)/2, centre, "nothing to show")
	} else {
		p.drawTraces(q)
	}
	p.frame(draw.LineStyle{Color: ink(), Width: 0.6}, q.box.Min, q.box.Max)
	p.drawLabels(q, last)
}

// drawGrid draws lines behind the data, and zero where it is inside a linear panel.
func (p *page) drawGrid(q *panel) {
	thin := draw.LineStyle{Color: grid(), Width: 0.4}
	for _, t := range q.x.ticks {
		if !t.minor {
			p.c.StrokeLine2(thin, q.px(t.at), q.box.Min.Y, q.px(t.at), q.box.Max.Y)
		}
	}
	for _, t := range q.y.ticks {
		if !t.minor {
			p.c.StrokeLine2(thin, q.box.Min.X, q.py(t.at), q.box.Max.X, q.py(t.at))
		}
	}
	if !q.y.axis.Log && q.y.lo < 0 && q.y.hi > 0 {
		p.c.StrokeLine2(draw.LineStyle{Color: faint(), Width: 0.6}, q.box.Min.X, q.py(0), q.box.Max.X, q.py(0))
	}
}

// drawLabels draws ticks, their labels and the titles of the axes.
func (p *page) drawLabels(q *panel, last bool) {
	line := draw.LineStyle{Color: ink(), Width: 0.6}
	length := func(t tick) vg.Length {
		if t.minor {
			return tickSize / 2
		}
		return tickSize
	}
	for _, t := range q.x.ticks {
		x := q.px(t.at)
		p.c.StrokeLine2(line, x, q.box.Min.Y, x, q.box.Min.Y-length(t))
		if last {
			p.say(p.small, ink(), x, q.box.Min.Y-tickSize-9, centre, clip(t.label, p.small, labelRoom))
		}
	}
	for _, t := range q.y.ticks {
		y := q.py(t.at)
		p.c.StrokeLine2(line, q.box.Min.X-length(t), y, q.box.Min.X, y)
		p.say(p.small, ink(), q.box.Min.X-tickSize-2, y-2.8, right, clip(t.label, p.small, labelRoom))
	}
	if last {
		p.say(p.label, ink(), (q.box.Min.X+q.box.Max.X)/2, q.box.Min.Y-26, centre,
			clip(q.x.title(), p.label, q.box.Max.X-q.box.Min.X))
	}
	p.sayUp(p.label, ink(), margin+8, (q.box.Min.Y+q.box.Max.Y)/2, centre, clip(q.y.title(), p.label, q.height))
}

// drawMarkAreas paints the intervals of marks.
func (p *page) drawMarkAreas(q *panel) {
	for _, m := range q.marks {
		if m.Lo < m.Hi && q.x.at(m.Lo) < 1 && q.x.at(m.Hi) > 0 {
			p.fill(wash(6), vg.Point{X: q.px(m.Lo), Y: q.box.Min.Y}, vg.Point{X: q.px(m.Hi), Y: q.box.Max.Y})
		}
	}
}

// drawMarks draws the lines of marks, and their labels above the panel with a lead from the line to its label.
func (p *page) drawMarks(q *panel) {
	line := draw.LineStyle{Color: faint(), Width: 0.8, Dashes: []vg.Length{3, 2}}
	top := q.box.Max.Y
	base := func(m placedMark) vg.Length { return top + vg.Length(m.row-1)*markLine }
	for _, m := range q.marks {
		x := q.px(m.X)
		p.c.StrokeLine2(line, x, q.box.Min.Y, x, top)
		if m.row > 1 {
			p.c.StrokeLine2(draw.LineStyle{Color: grid(), Width: 0.6}, x, top, x, base(m)+1)
		}
	}
	for _, m := range q.marks {
		if m.row > 0 {
			lo := vg.Point{X: m.x - 1, Y: base(m) + 1}
			p.fill(color.White, lo, vg.Point{X: m.x + p.small.Width(m.label) + 1, Y: lo.Y + 8.5})
			p.say(p.small, faint(), m.x, base(m)+3, left, m.label)
		}
	}
}
