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
	maxCells            = 128 // rows or columns that are drawn: more would be finer than print
	maxCell   vg.Length = 42
	maxMatrix vg.Length = 330 // the height of all cells
	nameRoom  vg.Length = 90  // the longest name of a host
)

// matrix is the cells of a heat map that are drawn. It is a plotter.GridXYZ with row 0 at the top.
type matrix struct {
	figure.Heat
	block  int         // hosts to a row and column that is drawn
	cells  [][]float64 // NaN is none
	cols   int
	scale  scale // of the numbers
	digits int   // of the number in a cell
	cell   vg.Length
	gaps   bool // a pair was not measured
}

func newMatrix(h figure.Heat) *matrix {
	m := &matrix{Heat: h}
	n := max(len(h.Rows), len(h.Cols), 1)
	m.block = (n + maxCells - 1) / maxCells
	m.cols = (len(h.Cols) + m.block - 1) / m.block
	var values []float64
	for r := range (len(h.Rows) + m.block - 1) / m.block {
		var row []float64
		for c := range m.cols {
			v := m.worst(r, c)
			row = append(row, v)
			m.gaps = m.gaps || math.IsNaN(v) && (r != c || m.block > 1)
		}
		m.cells, values = append(m.cells, row), append(values, row...)
	}
	lo, hi := span(values)
	m.scale = newScale(figure.Axis{Unit: h.Unit, Log: lo > 0 && hi > 10*lo}, values, nil)
	if !m.scale.empty {
		m.stretch(lo, hi)
	}
	names := vg.Length(0)
	for _, s := range h.Rows {
		names = max(names, smallStyle().Width(clip(s, smallStyle(), nameRoom)))
	}
	m.cell = min((pageWidth-2*margin-names-110)/vg.Length(max(m.cols, 1)), maxMatrix/vg.Length(max(len(m.cells), 1)), maxCell)
	return m
}

// stretch ends the scale of colours where the data end, so that no colour is unused. Hosts that hardly differ must not look
// as if they did: the scale is at least a fifth of its numbers wide.
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

// worst is the number of a drawn cell: the worst of its block.
func (m *matrix) worst(row, col int) float64 {
	worst := math.NaN()
	for r := row * m.block; r < min((row+1)*m.block, len(m.Heat.Z)); r++ {
		for c := col * m.block; c < min((col+1)*m.block, len(m.Heat.Z[r])); c++ {
			if v := m.Heat.Z[r][c]; math.IsNaN(worst) || (m.Better == figure.BetterHigher) == (v < worst) && !math.IsNaN(v) {
				worst = v
			}
		}
	}
	return worst
}

// Dims, Z, X and Y make it a plotter.GridXYZ. Z is how far along the scale of colours a number lies, from 0 to 1.
func (m *matrix) Dims() (c, r int)   { return m.cols, len(m.cells) }
func (m *matrix) X(c int) float64    { return float64(c) }
func (m *matrix) Y(r int) float64    { return float64(r) }
func (m *matrix) Z(c, r int) float64 { return m.share(m.cells[len(m.cells)-1-r][c]) }

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

// note says what a cell is where it is more than one pair.
func (m *matrix) note() string {
	if m.block == 1 {
		return ""
	}
	return fmt.Sprintf("Each cell is the worst of %d × %d pairs.", m.block, m.block)
}

// entries are what the legend explains.
func (m *matrix) entries() []entry {
	var out []entry
	if len(m.outlines().XYs) > 0 {
		out = append(out, entry{name: "stands out", thumbs: []plot.Thumbnailer{m.outlines()}})
	}
	if m.gaps {
		out = append(out, entry{name: "not measured", thumbs: []plot.Thumbnailer{&plotter.Polygon{Color: emptyGrey}}})
	}
	return out
}

// outlines are drawn around the cells that stand out, each within its cell.
func (m *matrix) outlines() *plotter.Polygon {
	width := min(1.6, max(m.cell/5, 0.5))
	out := &plotter.Polygon{LineStyle: draw.LineStyle{Color: alarm, Width: width}}
	half := 0.5 - float64(width/m.cell/2)
	seen := map[[2]int]bool{}
	for _, f := range m.Flagged {
		at := [2]int{f.Row / m.block, f.Col / m.block}
		if f.Row < 0 || f.Col < 0 || f.Row >= len(m.Rows) || f.Col >= len(m.Cols) || seen[at] {
			continue
		}
		seen[at] = true
		x, y := float64(at[1]), float64(len(m.cells)-1-at[0])
		out.XYs = append(out.XYs, plotter.XYs{{X: x - half, Y: y - half}, {X: x + half, Y: y - half}, {X: x + half, Y: y + half}, {X: x - half, Y: y + half}})
	}
	return out
}

// tiles are the plot of the cells and that of the scale of colours.
func (m *matrix) tiles(to, from string) ([]*tile, error) {
	if m.scale.empty || len(m.cells) == 0 || m.cols == 0 {
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
	rows, cols := max(len(m.cells), 1), max(m.cols, 1)
	every := max(int(math.Ceil(float64(8.5/m.cell))), 1) * m.block
	names := func(all []string, place func(int) float64) plot.ConstantTicks {
		var out plot.ConstantTicks
		for i := 0; i < len(all); i += every {
			out = append(out, plot.Tick{Value: place(i / m.block), Label: clip(all[i], smallStyle(), nameRoom)})
		}
		return out
	}
	p.X.Tick.Marker = names(m.Cols, func(c int) float64 { return float64(c) })
	p.Y.Tick.Marker = names(m.Rows, func(r int) float64 { return float64(rows - 1 - r) })
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(cols)-0.5, -0.5, float64(rows)-0.5
	p.X.Tick.Width, p.Y.Tick.Width, p.X.Padding, p.Y.Padding = 0, 0, 5, 3
	p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/2, text.XRight, text.YCenter
	return &tile{Plot: p, size: vg.Point{X: max(m.cell*vg.Length(cols), 60), Y: max(m.cell*vg.Length(rows), 60)}, xTitle: to, yTitle: from}
}

// numbers are the words in the cells; none where cells are small.
func (m *matrix) numbers(colours palette.ColorMap) (*plotter.Labels, error) {
	out := &plotter.Labels{}
	if m.cell < 24 {
		return out, nil
	}
	for r, row := range m.cells {
		for c, v := range row {
			if math.IsNaN(v) {
				continue
			}
			behind, err := colours.At(m.share(v))
			if err != nil {
				return nil, fmt.Errorf("colour of %g: %w", v, err)
			}
			style := smallStyle()
			style.Color, style.XAlign, style.YAlign = over(behind), text.XCenter, text.YCenter
			out.XYs = append(out.XYs, plotter.XY{X: float64(c), Y: float64(len(m.cells) - 1 - r)})
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
	return &tile{Plot: p, size: vg.Point{X: 12, Y: height}, yTitle: unit}
}
