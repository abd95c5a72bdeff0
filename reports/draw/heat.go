package draw

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/internal/units"
	"calib/reports/figure"
)

const (
	maxCell   vg.Length = 42
	maxMatrix vg.Length = 330 // the height of all cells
	nameRoom  vg.Length = 90  // the longest name of a host
)

// matrix is the cells of a heat map that are drawn. It is a plotter.GridXYZ with row 0 at the top.
type matrix struct {
	figure.Heat
	scale  scale // of the numbers
	digits int   // of the number in a cell
	cell   vg.Length
	gaps   bool // a pair was not measured
}

func newMatrix(h figure.Heat) *matrix {
	m := &matrix{Heat: h}
	var values []float64
	for r := range m.Rows {
		for c := range m.Cols {
			v := m.value(r, c)
			values = append(values, v)
			m.gaps = m.gaps || math.IsNaN(v) && (r != c || m.Block > 1)
		}
	}
	lo, hi := span(values)
	m.scale = newScale(figure.Axis{Unit: m.Unit, Log: lo > 0 && hi > 10*lo}, values, nil)
	if !m.scale.empty {
		m.stretch(lo, hi)
	}
	names := vg.Length(0)
	for _, s := range m.Rows {
		names = max(names, smallStyle().Width(clip(s, smallStyle(), nameRoom)))
	}
	m.cell = min((pageWidth-2*margin-names-110)/vg.Length(max(len(m.Cols), 1)), maxMatrix/vg.Length(max(len(m.Rows), 1)), maxCell)
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

// value is the number of a cell; NaN is none.
func (m *matrix) value(row, col int) float64 {
	if row >= len(m.Heat.Z) || col >= len(m.Heat.Z[row]) {
		return math.NaN()
	}
	return m.Heat.Z[row][col]
}

// Dims, Z, X and Y make it a plotter.GridXYZ. Z is how far along the scale of colours a number lies, from 0 to 1.
func (m *matrix) Dims() (c, r int)   { return len(m.Cols), len(m.Rows) }
func (m *matrix) X(c int) float64    { return float64(c) }
func (m *matrix) Y(r int) float64    { return float64(r) }
func (m *matrix) Z(c, r int) float64 { return m.share(m.value(len(m.Rows)-1-r, c)) }

// share is how far along the scale of colours v lies.
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

// entries are what the legend explains.
func (m *matrix) entries() []entry {
	var out []entry
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
		if f.Row < 0 || f.Col < 0 || f.Row >= len(m.Rows) || f.Col >= len(m.Cols) {
			continue
		}
		x, y := float64(f.Col), float64(len(m.Rows)-1-f.Row)
		out.XYs = append(out.XYs, plotter.XYs{{X: x - half, Y: y - half}, {X: x + half, Y: y - half}, {X: x + half, Y: y + half}, {X: x - half, Y: y + half}})
	}
	return out
}

// tiles are the plot of the cells and that of the scale of colours.
func (m *matrix) tiles(to, from string) ([]*tile, error) {
	if m.scale.empty {
		return []*tile{m.cellTile(to, from, nothingToShow{})}, nil
	}
	colours, err := cellColours(m.Better == figure.BetterHigher)
	if err != nil {
		return nil, err
	}
	numbers, err := m.numbers(colours)
	if err != nil {
		return nil, err
	}
	heat := plotter.NewHeatMap(m, colours.Palette(256))
	heat.Min, heat.Max, heat.NaN = 0, 1, emptyGrey
	cells := m.cellTile(to, from, heat, numbers, m.outlines())
	return []*tile{cells, m.colourTile(colours, cells.size.Y)}, nil
}

// cellTile is a plot of cells with the names of hosts, as many as can be read.
func (m *matrix) cellTile(to, from string, parts ...plot.Plotter) *tile {
	p := newPlot()
	p.Add(parts...)
	p.Add(frame{})
	rows, cols := max(len(m.Rows), 1), max(len(m.Cols), 1)
	every := max(int(math.Ceil(float64(8.5/m.cell))), 1)
	names := func(all []string, place func(int) float64) plot.ConstantTicks {
		var out plot.ConstantTicks
		for i := 0; i < len(all); i += every {
			out = append(out, plot.Tick{Value: place(i), Label: clip(all[i], smallStyle(), nameRoom)})
		}
		return out
	}
	p.X.Tick.Marker = names(m.Cols, func(c int) float64 { return float64(c) })
	p.Y.Tick.Marker = names(m.Rows, func(r int) float64 { return float64(rows - 1 - r) })
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(cols)-0.5, -0.5, float64(rows)-0.5
	p.X.Tick.Width, p.Y.Tick.Width, p.X.Padding, p.Y.Padding = 0, 0, 5, 3
	p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/2, text.XRight, text.YCenter
	size := vg.Point{X: max(m.cell*vg.Length(cols), 60), Y: max(m.cell*vg.Length(rows), 60)}
	p.X.Label.Text = clip(to, p.X.Label.TextStyle, size.X)
	p.Y.Label.Text = clip(from, p.Y.Label.TextStyle, size.Y)
	return &tile{Plot: p, size: size}
}

// numbers are the words in the cells; none where cells are small.
func (m *matrix) numbers(colours palette.ColorMap) (*plotter.Labels, error) {
	out := &plotter.Labels{}
	if m.cell < 24 {
		return out, nil
	}
	for r := range m.Rows {
		for c := range m.Cols {
			v := m.value(r, c)
			if math.IsNaN(v) {
				continue
			}
			behind, err := colours.At(m.share(v))
			if err != nil {
				return nil, fmt.Errorf("colour of %g: %w", v, err)
			}
			style := smallStyle()
			style.Color, style.XAlign, style.YAlign = over(behind), text.XCenter, text.YCenter
			out.XYs = append(out.XYs, plotter.XY{X: float64(c), Y: float64(len(m.Rows) - 1 - r)})
			out.Labels, out.TextStyle = append(out.Labels, m.words(v)), append(out.TextStyle, style)
		}
	}
	return out, nil
}

// colourTile is a plot of the scale of colours.
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
