package draw

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/fit"
	"calib/reports/figure"
)

// matrix is a heat map laid out.
type matrix struct {
	heat       figure.Heat
	x, y       fit.Axis
	rows, cols int // that are drawn
	block      int // hosts to a row and column that is drawn
	colour     scale
	digits     int // of the number in a cell
	cell       vg.Length
	names      vg.Length // room of row names
	under      vg.Length // room of column names
	gaps       bool
	flags      map[[2]int]bool
}

// maxCells is how many rows or columns are drawn: more would be finer than print.
const maxCells = 128

func newMatrix(f figure.Figure, fonts fonts) *matrix {
	m := &matrix{heat: *f.Heat, x: f.X, y: f.Y, flags: map[[2]int]bool{}}
	n := max(len(m.heat.Rows), len(m.heat.Cols), 1)
	m.block = (n + maxCells - 1) / maxCells
	m.rows, m.cols = (len(m.heat.Rows)+m.block-1)/m.block, (len(m.heat.Cols)+m.block-1)/m.block
	var values []float64
	for r := range m.rows {
		for c := range m.cols {
			v := m.value(r, c)
			values = append(values, v)
			m.gaps = m.gaps || !drawable(fit.Axis{}, v) && (r != c || m.block > 1)
		}
	}
	lo, hi, any := span(fit.Axis{}, values)
	axis := fit.Axis{Unit: m.heat.Unit, Log: any && lo >= 1/extreme && hi > 10*lo}
	m.colour = newScale(axis, values, nil, 6)
	if any {
		m.stretch(lo, hi)
	}
	for _, q := range m.heat.Flagged {
		if q.Row >= 0 && q.Col >= 0 && q.Row < len(m.heat.Rows) && q.Col < len(m.heat.Cols) {
			m.flags[[2]int{q.Row / m.block, q.Col / m.block}] = true
		}
	}
	for _, s := range m.heat.Rows {
		m.names = max(m.names, fonts.small.Width(clip(s, fonts.small, labelRoom)))
	}
	for _, s := range m.heat.Cols {
		m.under = max(m.under, fonts.small.Width(clip(s, fonts.small, labelRoom)))
	}
	room := pageWidth - 2*margin - 14 - m.names - 6 - 90
	m.cell = min(room/vg.Length(max(m.cols, 1)), 330/vg.Length(max(m.rows, 1)), 42)
	return m
}

// stretch ends the scale of colours where the data end, so that no colour is lost. Hosts that hardly differ must not look as
// if they did: the scale is at least a fifth of its numbers.
func (m *matrix) stretch(lo, hi float64) {
	size := math.Max(math.Abs(lo), math.Abs(hi))
	m.digits = 3
	if size < 1/extreme {
		return
	}
	if hi > lo {
		m.digits = min(max(2+int(math.Ceil(math.Log10(size/(hi-lo)))), 3), 5)
	}
	if d := 0.2 * size; hi-lo < d {
		mid := lo + (hi-lo)/2
		lo, hi = mid-d/2, mid+d/2
	}
	if lo < hi {
		m.colour.lo, m.colour.hi = lo, hi
		m.colour.ticks, m.colour.unit = ticks(m.colour, 6)
	}
}

// value is the number of a drawn cell: the worst of its block.
func (m *matrix) value(row, col int) float64 {
	worst := math.NaN()
	for r := row * m.block; r < min((row+1)*m.block, len(m.heat.Z)); r++ {
		for c := col * m.block; c < min((col+1)*m.block, len(m.heat.Z[r])); c++ {
			v := m.heat.Z[r][c]
			if !drawable(fit.Axis{}, v) {
				continue
			}
			if m.heat.Better == fit.BetterHigher {
				worst = math.Min(keep(worst, v), v)
			} else {
				worst = math.Max(keep(worst, v), v)
			}
		}
	}
	return worst
}

// words is v as a cell shows it, in the unit of the scale and with the digits that tell cells apart.
func (m *matrix) words(v float64) string {
	size := math.Max(math.Abs(m.colour.lo), math.Abs(m.colour.hi))
	by, _ := prefix(size, m.heat.Unit)
	after := m.digits - 1 - int(math.Floor(math.Log10(size/by)))
	if m.colour.axis.Log || size == 0 || after < 0 || after > 5 {
		return strconv.FormatFloat(v/by, 'g', m.digits, 64)
	}
	return strconv.FormatFloat(v/by, 'f', after, 64)
}

// share is the darkness of v: dark is bad.
func (m *matrix) share(v float64) float64 {
	if m.colour.lo >= m.colour.hi {
		return 0.3
	}
	s := m.colour.inside(v)
	if m.heat.Better == fit.BetterHigher {
		return 1 - s
	}
	return s
}

func (m *matrix) height() vg.Length { return max(m.cell*vg.Length(m.rows), 60) + m.under + 24 }

func (m *matrix) keys() []key {
	var out []key
	if len(m.flags) > 0 {
		out = append(out, key{name: "stands out", ring: true})
	}
	if m.gaps {
		out = append(out, key{name: "not measured", area: none()})
	}
	return out
}

func (m *matrix) note() string {
	if m.block == 1 {
		return ""
	}
	return fmt.Sprintf("Each cell is the worst of %d × %d pairs.", m.block, m.block)
}

// drawMatrix draws cells, names and the scale of colours, and returns the y of its lower end.
func (p *page) drawMatrix(m *matrix, top vg.Length) vg.Length {
	x0 := margin + 14 + m.names + 6
	corner := func(r, c int) vg.Point {
		return vg.Point{X: x0 + vg.Length(c)*m.cell, Y: top - vg.Length(r)*m.cell}
	}
	for r := range m.rows {
		for c := range m.cols {
			a, b := corner(r, c), corner(r+1, c+1)
			v := m.value(r, c)
			if !drawable(fit.Axis{}, v) {
				p.fill(none(), vg.Point{X: a.X, Y: b.Y}, vg.Point{X: b.X, Y: a.Y})
				continue
			}
			col := shade(m.share(v))
			p.fill(col, vg.Point{X: a.X, Y: b.Y}, vg.Point{X: b.X, Y: a.Y})
			if m.cell >= 24 {
				p.say(p.small, over(col), (a.X+b.X)/2, (a.Y+b.Y)/2-3, centre, m.words(v))
			}
		}
	}
	line := ringStyle()
	line.Width = min(line.Width, max(m.cell/5, 0.5))
	for r := range m.rows {
		for c := range m.cols {
			if m.flags[[2]int{r, c}] {
				a, b := corner(r, c), corner(r+1, c+1)
				in := line.Width / 2
				p.frame(line, vg.Point{X: a.X + in, Y: b.Y + in}, vg.Point{X: b.X - in, Y: a.Y - in})
			}
		}
	}
	end := corner(m.rows, m.cols)
	p.frame(draw.LineStyle{Color: ink(), Width: 0.6}, vg.Point{X: x0, Y: end.Y}, vg.Point{X: end.X, Y: top})
	p.drawNames(m, x0, top, end)
	p.drawColours(m, end.X+18, top)
	return top - m.height()
}

// drawNames names rows and columns, as many as can be read.
func (p *page) drawNames(m *matrix, x0, top vg.Length, end vg.Point) {
	every := max(int(math.Ceil(float64(8.5/m.cell))), 1)
	for r := 0; r < m.rows; r += every {
		p.say(p.small, ink(), x0-4, top-(vg.Length(r)+0.5)*m.cell-2.8, right, clip(m.heat.Rows[r*m.block], p.small, labelRoom))
	}
	for c := 0; c < m.cols; c += every {
		p.sayUp(p.small, ink(), x0+(vg.Length(c)+0.5)*m.cell+2.8, end.Y-4, right, clip(m.heat.Cols[c*m.block], p.small, labelRoom))
	}
	p.sayUp(p.label, ink(), margin+8, (top+end.Y)/2, centre, clip(m.y.Name, p.label, top-end.Y))
	p.say(p.label, ink(), (x0+end.X)/2, end.Y-m.under-18, centre, clip(m.x.Name, p.label, 200))
}

// drawColours draws the scale: the bad end is dark.
func (p *page) drawColours(m *matrix, x, top vg.Length) {
	if m.colour.empty {
		p.say(p.label, faint(), x, top-20, left, "nothing to show")
		return
	}
	const steps = 64
	h := max(m.cell*vg.Length(m.rows), 60)
	for i := range steps {
		share := (float64(i) + 0.5) / steps
		if m.heat.Better == fit.BetterHigher {
			share = 1 - share
		}
		y := top - h + h*vg.Length(i)/steps
		p.fill(shade(share), vg.Point{X: x, Y: y}, vg.Point{X: x + 12, Y: y + h/steps + 0.2})
	}
	line := draw.LineStyle{Color: ink(), Width: 0.6}
	p.frame(line, vg.Point{X: x, Y: top - h}, vg.Point{X: x + 12, Y: top})
	for _, t := range m.colour.ticks {
		y := top - h + h*vg.Length(m.colour.inside(t.at))
		if t.label != "" {
			p.c.StrokeLine2(line, x+12, y, x+15, y)
			p.say(p.small, ink(), x+17, y-2.8, left, clip(t.label, p.small, 70))
		}
	}
	p.say(p.small, ink(), x, top-h-12, left, m.colour.unit)
}
