package draw

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/reports/figure"
)

const (
	legendGap     vg.Length = 14
	maxLegendRows int       = 8
)

// entry is a name in the legend and what is drawn before it.
type entry struct {
	name   string
	group  int
	kinds  []string
	thumbs []plot.Thumbnailer
}

// entriesOf lists what has a name, each once, whatever its kinds. The panel below adds the shape of its points where the
// panel above has no points of that colour.
func entriesOf(f figure.Figure) []entry {
	var out []entry
	bands, points := map[int]int{}, map[int]bool{}
	add := func(t figure.Trace) {
		var thumbs []plot.Thumbnailer
		switch t.Kind {
		case figure.Band: // one band inside another looks darker
			bands[t.Group]++
			for range min(bands[t.Group], 4) {
				thumbs = append(thumbs, &plotter.Polygon{Color: wash(t.Group)})
			}
		case figure.Line:
			thumbs = append(thumbs, &plotter.Line{LineStyle: lineStyle(t.Group)})
		default:
			thumbs = append(thumbs, &plotter.Scatter{GlyphStyle: glyphStyle(t.Group)})
		}
		i := slices.IndexFunc(out, func(e entry) bool { return e.name == t.Name && e.group == t.Group })
		switch {
		case t.Name == "":
		case i < 0:
			out = append(out, entry{t.Name, t.Group, []string{t.Kind}, thumbs})
		case !slices.Contains(out[i].kinds, t.Kind):
			out[i].kinds, out[i].thumbs = append(out[i].kinds, t.Kind), append(out[i].thumbs, thumbs...)
		}
	}
	for _, t := range f.Traces {
		add(t)
		points[t.Group] = points[t.Group] || t.Kind == figure.Points
	}
	if f.Below != nil {
		for _, t := range f.Below.Traces {
			if !points[t.Group] {
				add(t)
			}
		}
	}
	return out
}

// setLegend puts entries into as many columns as fit beside each other. Beyond the rows allowed they are counted.
func (p *page) setLegend(all []entry) {
	if len(all) == 0 {
		return
	}
	for cols := len(all); ; cols-- {
		rows := (len(all) + cols - 1) / cols
		shown := all
		if rows > maxLegendRows {
			rows = maxLegendRows
			n := cols*rows - 1
			shown = append(slices.Clone(all[:n]), entry{name: fmt.Sprintf("and %d more", len(all)-n)})
		}
		if p.fillLegend(slices.Collect(slices.Chunk(shown, rows))) || cols == 1 {
			return
		}
	}
}

// fillLegend makes the columns of the legend, and reports whether they fit into the page.
func (p *page) fillLegend(columns [][]entry) bool {
	p.legend, p.widths, p.legendHeight = nil, nil, 0
	room := pageWidth - 2*margin + legendGap
	for _, column := range columns {
		l := plot.NewLegend()
		l.Top, l.Left, l.TextStyle, l.Padding = true, true, smallStyle(), 2.5
		for _, e := range column {
			l.Add(clip(e.name, l.TextStyle, pageWidth-2*margin-30), e.thumbs...)
		}
		size := l.Rectangle(draw.Canvas{}).Size()
		p.legend, p.widths = append(p.legend, l), append(p.widths, size.X+legendGap)
		p.legendHeight = max(p.legendHeight, size.Y+4)
		room -= size.X + legendGap
	}
	return room >= 0
}
