package draw

import (
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/internal/units"
	"calib/params"
	"calib/reports/figure"
)

const (
	maxCell     vg.Length = 42
	maxMatrix   vg.Length = 330 // the height of all cells
	nameRoom    vg.Length = 90  // the longest name of a host, and no more than a fifth of the page
	pictureSize           = 512 // pixels of the cells, about
	colourSteps           = 64
)

const MaxTitles = 256 // how many cells of a matrix have titles: each takes as many bytes as the numbers of ten cells

type matrix struct {
	figure.Heat
	scale    scale // of the numbers
	digits   int   // of the number in a cell
	cell     vg.Length
	nameRoom vg.Length
	gaps     bool // a pair was not measured
}

func newMatrix(h figure.Heat, l Layout) *matrix {
	m := &matrix{Heat: h, nameRoom: min(nameRoom, l.width/5)}
	var values []float64
	for r, row := range m.Z {
		values = append(values, row...)
		for c, v := range row {
			m.gaps = m.gaps || math.IsNaN(v) && (r != c || m.Block > 1)
		}
	}
	lo, hi := span(values)
	m.scale = newScale(figure.Axis{Unit: m.Unit, Log: lo > 0 && hi > 10*lo}, values, nil)
	if lo <= hi {
		m.stretch(lo, hi)
	}
	names := vg.Length(0)
	for _, s := range m.Names {
		names = max(names, smallStyle().Width(clip(s, smallStyle(), m.nameRoom)))
	}
	m.cell = min(min(l.inner()-names-96, maxMatrix)/vg.Length(len(m.Names)), maxCell)
	return m
}

// stretch ends the scale of colours where the data end, so that no colour is unused. Hosts that hardly differ must not
// look as if they did: the scale is at least a fifth of its numbers wide.
func (m *matrix) stretch(lo, hi float64) {
	size := math.Max(math.Abs(lo), math.Abs(hi))
	m.digits = 3
	if size == 0 {
		return
	}
	if hi > lo {
		m.digits = min(max(2+int(math.Ceil(math.Log10(size/(hi-lo)))), 3), 5)
	}
	if d := 0.2 * size; hi-lo < d {
		mid := lo + (hi-lo)/2
		lo, hi = mid-d/2, mid+d/2
	}
	m.scale.lo, m.scale.hi = lo, hi
}

// up is the place of a row: the first is above.
func (m *matrix) up(row int) float64 { return float64(len(m.Names) - 1 - row) }

func (m *matrix) share(v float64) float64 { return math.Min(math.Max(m.scale.share(v), 0), 1) }

// words is v as a cell shows it, in the unit of the scale and with the digits that tell cells apart.
func (m *matrix) words(v float64) string {
	size := math.Max(math.Abs(m.scale.lo), math.Abs(m.scale.hi))
	by, _ := units.ScaleAxis(m.Unit, size)
	after := m.digits - 1 - int(math.Floor(math.Log10(size/by)))
	if m.scale.Log || size == 0 || after < 0 || after > 5 {
		return strconv.FormatFloat(v/by, 'g', m.digits, 64)
	}
	return strconv.FormatFloat(v/by, 'f', after, 64)
}

func (m *matrix) entries() (out []entry) {
	if outlines := m.outlines(); len(outlines.XYs) > 0 {
		out = append(out, entry{name: "stands out", thumbs: []plot.Thumbnailer{outlines}})
	}
	if m.gaps {
		out = append(out, entry{name: "not measured", thumbs: []plot.Thumbnailer{&plotter.Polygon{Color: emptyGrey}}})
	}
	return out
}

// outlines are drawn around the cells that stand out, each within its cell where that is large enough.
func (m *matrix) outlines() *plotter.Polygon {
	width := min(1.6, max(m.cell/5, 0.5))
	out := &plotter.Polygon{LineStyle: draw.LineStyle{Color: alarm, Width: width}}
	half := max(0.5-float64(width/m.cell/2), 0)
	for _, f := range m.Flagged {
		x, y := float64(f.Col), m.up(f.Row)
		l, r, lo, hi := x-half, x+half, y-half, y+half
		out.XYs = append(out.XYs, plotter.XYs{{X: l, Y: lo}, {X: r, Y: lo}, {X: r, Y: hi}, {X: l, Y: hi}})
	}
	return out
}

func (m *matrix) tiles(to, from string) []*tile {
	colours := cellColours(m.Better == params.BetterHigher)
	cells := m.cellTile(to, from, picture{m, colours.Palette(colourSteps).Colors()}, m.numbers(colours), m.outlines())
	if n := len(m.Names); n*n > MaxTitles {
		middle := float64(n-1) / 2
		cells.readings = []reading{{x: middle, y: middle}}
		cells.reach = vg.Point{X: cells.size.X / 2, Y: cells.size.Y / 2}
	} else {
		cells.readings, cells.reach = m.readings(), vg.Point{X: m.cell / 2, Y: m.cell / 2}
	}
	return []*tile{cells, m.colourTile(colours, cells.size.Y)}
}

// picture is the cells of a matrix in their colours: one for all is a small part of what an element for each would be.
type picture struct {
	*matrix
	colours []color.Color
}

// Plot paints each cell as many pixels, so that no viewer smooths their edges away.
func (p picture) Plot(c draw.Canvas, _ *plot.Plot) {
	zoom := max(pictureSize/len(p.Names), 1)
	size := zoom * len(p.Names)
	img := image.NewPaletted(image.Rect(0, 0, size, size), append(slices.Clone(p.colours), emptyGrey))
	for y := range size {
		for x := range size {
			colour := len(p.colours)
			if v := p.Z[y/zoom][x/zoom]; !math.IsNaN(v) {
				colour = int(p.share(v)*float64(colour-1) + 0.5)
			}
			img.SetColorIndex(x, y, uint8(colour))
		}
	}
	c.DrawImage(c.Rectangle, img)
}

func (m *matrix) readings() (out []reading) {
	for r, row := range m.Z {
		for c, v := range row {
			if !math.IsNaN(v) {
				text := m.Names[r] + " → " + m.Names[c] + ": " + words(v, m.scale.Axis)
				out = append(out, reading{float64(c), m.up(r), text})
			}
		}
	}
	return out
}

// cellTile is a plot of cells with the names of hosts, as many as can be read.
func (m *matrix) cellTile(to, from string, parts ...plot.Plotter) *tile {
	p := newPlot()
	p.Add(parts...)
	p.Add(frame{})
	every := max(int(math.Ceil(float64(8.5/m.cell))), 1)
	var across, up plot.ConstantTicks
	for i := 0; i < len(m.Names); i += every {
		name := clip(m.Names[i], smallStyle(), m.nameRoom)
		across, up = append(across, plot.Tick{Value: float64(i), Label: name}),
			append(up, plot.Tick{Value: m.up(i), Label: name})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = across, up
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, m.up(0)+0.5, -0.5, m.up(0)+0.5
	p.X.Tick.Width, p.Y.Tick.Width, p.X.Padding, p.Y.Padding = 0, 0, 5, 3
	p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/2, text.XRight, text.YCenter
	size := max(m.cell*vg.Length(len(m.Names)), 60)
	p.X.Label.Text, p.Y.Label.Text = clip(to, p.X.Label.TextStyle, size), clip(from, p.Y.Label.TextStyle, size)
	return &tile{Plot: p, size: vg.Point{X: size, Y: size}}
}

// numbers are the words in the cells; none where cells are small.
func (m *matrix) numbers(colours palette.ColorMap) *plotter.Labels {
	out := &plotter.Labels{}
	if m.cell < 24 {
		return out
	}
	for r, row := range m.Z {
		for c, v := range row {
			if math.IsNaN(v) {
				continue
			}
			style := smallStyle()
			style.XAlign, style.YAlign = text.XCenter, text.YCenter
			if room := m.cell - 4; style.Width(m.words(v)) > room {
				style.Font.Size *= room / style.Width(m.words(v))
			}
			if behind, err := colours.At(m.share(v)); err == nil {
				style.Color = color.Black // which no theme changes
				if color.GrayModel.Convert(behind).(color.Gray).Y < 105 {
					style.Color = color.White
				}
			}
			out.XYs = append(out.XYs, plotter.XY{X: float64(c), Y: m.up(r)})
			out.Labels, out.TextStyle = append(out.Labels, m.words(v)), append(out.TextStyle, style)
		}
	}
	return out
}

func (m *matrix) colourTile(colours palette.ColorMap, height vg.Length) *tile {
	p := newPlot()
	p.Add(&plotter.ColorBar{ColorMap: colours, Vertical: true}, frame{})
	p.HideX()
	p.Y.Min, p.Y.Max = 0, 1
	marks, unit := ticks(m.scale.Axis, m.scale.lo, m.scale.hi, 6)
	for i := range marks {
		marks[i].Value = m.scale.share(marks[i].Value)
	}
	p.Y.Tick.Marker = plot.ConstantTicks(marks)
	p.Y.Label.Text = unit
	return &tile{Plot: p, size: vg.Point{X: 12, Y: height}}
}
