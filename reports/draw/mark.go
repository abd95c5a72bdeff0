package draw

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/reports/figure"
)

const (
	markLine    vg.Length = 10 // from the label of a mark to the one above it
	maxMarkRows int       = 6
)

// markPlotters draws the marks of a figure: their intervals as areas, dashed lines, and labels where these are wanted.
func markPlotters(f figure.Figure, x, y scale, labelled bool) []plot.Plotter {
	var areas, lines []plot.Plotter
	labels := &markLabels{}
	for _, m := range f.Marks {
		if !drawable(f.X, m.X) {
			continue
		}
		if m.Lo < m.Hi && m.Lo < x.hi && m.Hi > x.lo {
			lo, hi := x.limit(m.Lo), x.limit(m.Hi)
			areas = append(areas, &plotter.Polygon{Color: wash(6),
				XYs: []plotter.XYs{{{X: lo, Y: y.lo}, {X: lo, Y: y.hi}, {X: hi, Y: y.hi}, {X: hi, Y: y.lo}}}})
		}
		lines = append(lines, &plotter.Line{XYs: plotter.XYs{{X: m.X, Y: y.lo}, {X: m.X, Y: y.hi}},
			LineStyle: draw.LineStyle{Color: faint, Width: 0.8, Dashes: []vg.Length{3, 2}}})
		labels.marks = append(labels.marks, markLabel{x: m.X, text: clip(m.Label, smallStyle(), pageWidth/2)})
	}
	out := append(areas, lines...)
	if labelled {
		out = append(out, labels)
	}
	return out
}

// markLabels stands above a panel. A label that would touch another goes into the row above it, with a line down to its mark.
type markLabels struct{ marks []markLabel }

type markLabel struct {
	x    float64
	text string
}

// place is the X share of the mark and the row of its label, from 1; 0 has no room for one. The label is as far to the left
// of its mark as the mark is to the right of the panel's left end, so that none leaves the panel.
func (l *markLabels) place(p *plot.Plot) (shares []float64, rows []int, used int) {
	const width = pageWidth - 80 // or a little less: what is left of the page beside the numbers of the Y axis
	var ends [maxMarkRows]vg.Length
	for _, m := range l.marks {
		share, row := p.X.Norm(m.x), 0
		w := smallStyle().Width(m.text)
		left := vg.Length(share) * (width - w)
		for i := range ends {
			if m.text != "" && (ends[i] == 0 || ends[i]+6 <= left) {
				row, ends[i] = i+1, left+w
				break
			}
		}
		shares, rows, used = append(shares, share), append(rows, row), max(used, row)
	}
	return shares, rows, used
}

// Plot draws the labels above c.
func (l *markLabels) Plot(c draw.Canvas, p *plot.Plot) {
	shares, rows, _ := l.place(p)
	foot := func(i int) vg.Length { return c.Max.Y + 2 + vg.Length(rows[i]-1)*markLine }
	for i := range l.marks {
		if x := c.X(shares[i]); rows[i] > 1 {
			c.StrokeLine2(draw.LineStyle{Color: gridGrey, Width: 0.6}, x, c.Max.Y, x, foot(i))
		}
	}
	for i, m := range l.marks {
		if rows[i] == 0 {
			continue
		}
		style := smallStyle()
		style.Color, style.XAlign = faint, text.XAlignment(-shares[i])
		at := vg.Point{X: c.X(shares[i]), Y: foot(i)}
		box := style.Rectangle(m.text).Add(at)
		c.FillPolygon(color.White, []vg.Point{box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y}})
		c.FillText(style, at.Add(vg.Point{Y: style.FontExtents().Descent}), m.text)
	}
}

// GlyphBoxes makes the plot leave room for the rows.
func (l *markLabels) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	_, _, used := l.place(p)
	return []plot.GlyphBox{{Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: vg.Length(used) * markLine}}}}
}
