// Package draw renders figures: to SVG and PNG files, as one would print them in a paper, and to SVG inside HTML pages.
// Colours can be told apart by the colour-blind, and differ in dash or shape in black and white. Labels stand beside
// the data and never on it. A file has a white ground, and under the figure the sentence that says what to see; it
// grows in height for its words. Each point and cell of an SVG has its value as a title, which viewers show.
//
// What is drawn is settled (figure.Settle): it has no infinities, and on a logarithmic axis nothing is zero or below.
//
// gonum.org/v1/plot draws. This package keeps what it does worse, measured with v0.17.0:
//
//   - ticks: plot.LogTicks labels decades with bare numbers and none below one decade, and plot.TimeTicks puts dates at
//     round counts of seconds; here a label has its unit (1 KiB, 10 µs), and a date is the start of a day or month.
//   - the sizes of panels: plot.Align makes all data areas equally high, and a panel of residuals needs a third.
//   - the columns of the legend: plot.Legend has one; here several legends stand side by side above the data.
//   - labels of marks above a panel, and the fit of an axis to data whose intervals reach far out.
//   - SVG: vgsvg writes three times as many bytes, and styles that the policy of an HTML page forbids.
package draw

import (
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"calib/internal/files"
	"calib/reports/figure"
)

const (
	SVG = "svg"
	PNG = "png"
)

const dpi = 300

// Write draws f as SVG, or else as PNG. Equal figures are equal bytes.
func Write(w io.Writer, f figure.Figure, format string) error {
	p := newPage(f, paper, false)
	var out io.WriterTo
	if format == SVG {
		out = strings.NewReader(p.svg(f))
	} else {
		c := vgimg.NewWith(vgimg.UseWH(p.width, p.total), vgimg.UseDPI(dpi))
		p.draw(c)
		out = vgimg.PngCanvas{Canvas: c}
	}
	if _, err := out.WriteTo(w); err != nil {
		return fmt.Errorf("draw %s: %w", f.ID, err)
	}
	return nil
}

// Files draws each figure into dir, which it makes where it is not there, as a file named after its ID, which is of the
// letters of figure.Slug and the figure's alone, and returns the paths. A file is there whole or not at all; an error
// ends the work, and the files named by then are complete.
func Files(dir string, figs []figure.Figure, format string) (out []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of the figures: %w", err)
	}
	for _, f := range figs {
		path := filepath.Join(dir, f.ID+"."+format)
		if err := files.ReplaceBy(path, func(w io.Writer) error { return Write(w, f, format) }); err != nil {
			return out, err
		}
		out = append(out, path)
	}
	return out, nil
}

// Inline is f as an element of an HTML page, which has its title and the sentence under it as text. The element takes
// no ground, and has no style of its own: the page may colour it by its attributes.
func Inline(f figure.Figure, l Layout) string { return newPage(f, l, true).svg(f) }

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
