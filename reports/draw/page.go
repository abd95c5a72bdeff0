package draw

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/reports/figure"
)

// Measures of a page, in points of 1/72 inch.
const (
	margin    vg.Length = 10
	panelGap  vg.Length = 12
	noteLine  vg.Length = 11
	titleLine vg.Length = 14
)

// Layout is the size of a drawing in points: its width, and the height of its data. Its letters keep their size.
type Layout struct{ width, height vg.Length }

// Layouts. A drawing in an HTML page is scaled to its place: its letters must be legible on a phone too.
var (
	paper = Layout{480, 230} // a file: fits a page of A4 or letter
	Page  = Layout{340, 180}
	Small = Layout{230, 100} // a figure beside others
)

// page is a figure laid out: everything has its size before anything is drawn.
type page struct {
	Layout
	ground       bool      // white, rather than what is behind
	edge         vg.Length // above and under all
	total        vg.Length // height of all
	title, notes []string
	legend       []plot.Legend // its columns
	legendHeight vg.Length
	tiles        []*tile
}

// reading is a value of a plot in words, and where it is. Without words it is a matrix, whose values are elsewhere.
type reading struct {
	x, y float64
	text string
}

// tile is a plot and where its data are, with Y from the upper end of the plots.
type tile struct {
	*plot.Plot
	size vg.Point // of the data
	at   vg.Point // the lower left corner of the data, Y from the upper end of all tiles

	readings []reading
	reach    vg.Point // half the size of what shows one
}

// room is what a tile needs around its data for numbers, titles and what stands above.
func (t *tile) room() (left, right, under, above vg.Length) {
	left, under = 300, 300
	for range 4 { // a little of the room depends on the size of the canvas
		c := draw.NewCanvas(nil, t.size.X+left+right, t.size.Y+under+above)
		data := t.DataCanvas(c)
		left, right, under, above = data.Min.X, c.Max.X-data.Max.X, data.Min.Y, c.Max.Y-data.Max.Y
	}
	return left, right, under, above
}

// draw paints the tile, whose upper end is at top.
func (t *tile) draw(c draw.Canvas, top vg.Length) {
	left, right, under, above := t.room()
	c.Min = t.at.Add(vg.Point{Y: top})
	c.Max = c.Min.Add(t.size)
	t.Draw(draw.Crop(c, -left, right, -under, above))
	svg, ok := c.Canvas.(*canvas)
	if !ok {
		return
	}
	x, y := t.Transforms(&c)
	for _, r := range t.readings {
		if at := (vg.Point{X: x(r.x), Y: y(r.y)}); c.Contains(at) {
			svg.value(at, t.reach, r.text)
		}
	}
}

// newPage lays out f. Where the page is part of another, that one has its title and its words.
func newPage(f figure.Figure, l Layout, part bool) *page {
	p := &page{Layout: l, ground: !part, edge: 2}
	if !part {
		p.edge = margin
		p.title, p.notes = wrap(f.Title, titleStyle(), l.inner(), 3), wrap(f.Says, noteStyle(), l.inner(), 14)
	}
	var body vg.Length
	if f.Heat != nil {
		m := newMatrix(*f.Heat, l)
		body = p.beside(m.tiles(f.X.Name, f.Y.Name))
		p.setLegend(m.entries())
	} else {
		body = p.stack(newPanels(f, l))
		p.setLegend(entriesOf(f))
	}
	p.total = 2*p.edge + vg.Length(len(p.title))*titleLine + p.legendHeight + 6 + body + vg.Length(len(p.notes))*noteLine
	if len(p.notes) > 0 {
		p.total += 8
	}
	return p
}

// inner is the width within the margins.
func (l Layout) inner() vg.Length { return l.width - 2*margin }

// stack places tiles one under another, their data one under another too, and returns the height of all.
func (p *page) stack(tiles []*tile) vg.Length {
	var left, right, y vg.Length
	for _, t := range tiles {
		l, r, _, _ := t.room()
		left, right = max(left, l), max(right, r, 4)
	}
	for i, t := range tiles {
		if i > 0 {
			y -= panelGap
		}
		t.size.X -= left + right
		_, _, under, above := t.room()
		y -= above + t.size.Y
		t.at = vg.Point{X: margin + left, Y: y}
		y -= under
	}
	p.tiles = tiles
	return -y
}

// beside places tiles from left to right, and returns the height of all.
func (p *page) beside(tiles []*tile) vg.Length {
	x, height := margin, vg.Length(0)
	for _, t := range tiles {
		left, right, under, above := t.room()
		t.at = vg.Point{X: x + left, Y: -above - t.size.Y}
		x = t.at.X + t.size.X + right + panelGap
		height = max(height, above+t.size.Y+under)
	}
	p.tiles = tiles
	return height
}

// draw paints the page on a canvas of its size, from the top down.
func (p *page) draw(to vg.Canvas) {
	c := draw.NewCanvas(to, p.width, p.total)
	if p.ground {
		c.SetColor(color.White)
		c.Fill(c.Rectangle.Path())
	}
	y := p.total - p.edge
	for _, line := range p.title {
		y -= titleLine
		c.FillText(titleStyle(), vg.Point{X: margin, Y: y + 5}, line)
	}
	for i := range p.legend {
		p.legend[i].Draw(draw.Crop(c, margin, 0, 0, y-p.total))
	}
	y -= p.legendHeight + 6
	for _, t := range p.tiles {
		t.draw(c, y)
	}
	for i := range p.notes {
		line := p.notes[len(p.notes)-1-i]
		c.FillText(noteStyle(), vg.Point{X: margin, Y: p.edge + vg.Length(i)*noteLine + 3}, line)
	}
}
