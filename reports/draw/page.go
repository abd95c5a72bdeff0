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
	pageWidth vg.Length = 480 // fits a page of A4 or letter
	margin    vg.Length = 10
	panelGap  vg.Length = 12
	noteLine  vg.Length = 11
	titleLine vg.Length = 14
)

// page is a figure laid out: everything has its size before anything is drawn.
type page struct {
	height       vg.Length
	title, notes []string
	legend       []plot.Legend // its columns
	legendHeight vg.Length
	tiles        []*tile
}

// tile is a plot and where its data are, with Y from the upper end of the plots.
type tile struct {
	*plot.Plot
	size vg.Point // of the data
	at   vg.Point // the lower left corner of the data, Y from the upper end of all tiles
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
}

func newPage(f figure.Figure) (*page, error) {
	const inner = pageWidth - 2*margin
	p := &page{title: wrap(f.Title, titleStyle(), inner, 3), notes: wrap(f.Says, noteStyle(), inner, 14)}
	var body vg.Length
	if f.Heat != nil {
		m := newMatrix(*f.Heat)
		tiles, err := m.tiles(f.X.Name, f.Y.Name)
		if err != nil {
			return nil, err
		}
		body = p.beside(tiles)
		p.setLegend(m.entries())
	} else {
		body = p.stack(newPanels(f))
		p.setLegend(entriesOf(f))
	}
	p.height = 2*margin + vg.Length(len(p.title))*titleLine + p.legendHeight + 6 + body + 8 + vg.Length(len(p.notes))*noteLine
	return p, nil
}

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
	c := draw.NewCanvas(to, pageWidth, p.height)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	y := p.height - margin
	for _, line := range p.title {
		y -= titleLine
		c.FillText(titleStyle(), vg.Point{X: margin, Y: y + 5}, line)
	}
	for i := range p.legend {
		p.legend[i].Draw(draw.Crop(c, margin, 0, 0, y-p.height))
	}
	y -= p.legendHeight + 6
	for _, t := range p.tiles {
		t.draw(c, y)
	}
	for i := range p.notes {
		line := p.notes[len(p.notes)-1-i]
		c.FillText(noteStyle(), vg.Point{X: margin, Y: margin + vg.Length(i)*noteLine + 3}, line)
	}
}
