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
	thumbnail     vg.Length = 20 // width of what is drawn before a name
	maxLegendRows int       = 8
)

// entry is a name in the legend and what is drawn before it.
type entry struct {
	name   string
	group  int
	kinds  []string
	thumbs []plot.Thumbnailer
}

// entriesOf lists what has a name, each once, whatever its kinds. The panel below adds the shape of its points where
// the panel above has no points of that colour.
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

// setLegend puts entries into columns of one width, as many as fit beside each other. Beyond the rows allowed they are
// counted.
func (p *page) setLegend(all []entry) {
	room, style, widest := p.inner(), smallStyle(), vg.Length(0)
	for i := range all {
		all[i].name = clip(all[i].name, style, room-thumbnail)
		widest = max(widest, style.Width(" "+all[i].name)+thumbnail+legendGap)
	}
	cols := max(int((room+legendGap)/max(widest, 1)), 1)
	if most := cols * maxLegendRows; len(all) > most {
		all = append(all[:most-1], entry{name: fmt.Sprintf("and %d more", len(all)-most+1)})
	}
	rows := (len(all) + cols - 1) / cols
	for column := range slices.Chunk(all, max(rows, 1)) {
		l := plot.NewLegend()
		l.Top, l.Left, l.TextStyle, l.Padding, l.ThumbnailWidth = true, true, style, 2.5, thumbnail
		l.XOffs = vg.Length(len(p.legend)) * widest
		for _, e := range column {
			l.Add(e.name, e.thumbs...)
		}
		p.legend = append(p.legend, l)
		p.legendHeight = max(p.legendHeight, l.Rectangle(draw.Canvas{}).Size().Y+4)
	}
}
