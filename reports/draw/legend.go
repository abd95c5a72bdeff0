package draw

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/reports/figure"
)

// key is an entry of the legend, which stands between the title and the data.
type key struct {
	name   string
	group  int
	kinds  []string
	layers int         // of bands of this colour, up to this one: one inside the other looks darker
	area   color.Color // of a heat map's cells; nil is none
	ring   bool        // a heat map's outline
	x      vg.Length
}

const (
	sample        vg.Length = 20 // the width of what a key shows
	maxLegendRows int       = 8
)

// keys lists what has a name, each once, whatever its kinds. The panel below adds the shape of its points where the panel
// above has no points of that colour.
func keys(f figure.Figure) []key {
	var out []key
	bands, points := map[int]int{}, map[int]bool{}
	add := func(t figure.Trace) {
		i := slices.IndexFunc(out, func(k key) bool { return k.name == t.Name && k.group == t.Group })
		if t.Kind == figure.Band {
			bands[t.Group]++
		}
		switch {
		case t.Name == "":
		case i < 0:
			out = append(out, key{name: t.Name, group: t.Group, kinds: []string{t.Kind}, layers: bands[t.Group]})
		case !slices.Contains(out[i].kinds, t.Kind):
			out[i].kinds = append(out[i].kinds, t.Kind)
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

// flow sets keys in rows, and counts those that do not fit into the rows allowed.
func (p *page) flow(all []key) [][]key {
	const gap = 14
	end := p.width - margin
	var rows [][]key
	x := end
	for i, k := range all {
		k.name = clip(k.name, p.small, p.width/2)
		w := sample + 4 + p.small.Width(k.name)
		if x+w > end {
			if len(rows) == maxLegendRows {
				last := &rows[len(rows)-1]
				*last = append(slices.Clip((*last)[:len(*last)-1]), key{name: fmt.Sprintf("and %d more", len(all)-i+1), x: (*last)[len(*last)-1].x})
				return rows
			}
			rows, x = append(rows, nil), margin
		}
		k.x = x
		rows[len(rows)-1] = append(rows[len(rows)-1], k)
		x += w + gap
	}
	return rows
}

func (p *page) drawKey(k key, y vg.Length) {
	mid := y + 5
	switch {
	case k.ring:
		p.swatch(shade(0.4), k.x+5, y+1.5, 10)
		p.frame(ringStyle(), vg.Point{X: k.x + 5, Y: y + 1.5}, vg.Point{X: k.x + 15, Y: y + 8.5})
	case k.area != nil:
		p.swatch(k.area, k.x+5, y+1.5, 10)
	}
	for _, kind := range []string{figure.Band, figure.Line, figure.Points} {
		if !slices.Contains(k.kinds, kind) {
			continue
		}
		switch kind {
		case figure.Band:
			for range min(k.layers, 4) {
				p.swatch(wash(k.group), k.x, y+1.5, sample)
			}
		case figure.Line:
			p.c.StrokeLine2(lineStyle(k.group), k.x, mid, k.x+sample, mid)
		default:
			p.glyph(k.group, vg.Point{X: k.x + sample/2, Y: mid})
		}
	}
	p.say(p.small, ink(), k.x+sample+4, y+2, left, k.name)
}

func ringStyle() draw.LineStyle { return draw.LineStyle{Color: alarm(), Width: 1.6} }
