package draw

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/reports/figure"
)

// scale is an axis with the range that it shows.
type scale struct {
	figure.Axis
	lo, hi float64
	empty  bool // nothing to show
	whole  bool // ticks are whole numbers
}

// span is the range of v without its gaps; lo > hi where there are only gaps.
func span(v []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, x := range v {
		if !math.IsNaN(x) {
			lo, hi = math.Min(lo, x), math.Max(hi, x)
		}
	}
	return lo, hi
}

// newScale holds all of main with a margin of 4%, and of wide, the ends of intervals, what is no further out than main
// is wide, or than a twentieth of its size: what hardly varies shows how sure it is.
func newScale(a figure.Axis, main, wide []float64) scale {
	to, from := func(v float64) float64 { return v }, func(v float64) float64 { return v }
	if a.Log {
		to, from = math.Log10, func(v float64) float64 { return math.Pow(10, math.Min(math.Max(v, -300), 300)) } // neither 0 nor ∞
	}
	lo, hi := span(main)
	if lo > hi {
		return scale{Axis: a, lo: from(0), hi: from(1), empty: true}
	}
	wlo, whi := span(append(wide, lo, hi))
	lo, hi, wlo, whi = to(lo), to(hi), to(wlo), to(whi)
	if d := hi - lo; d > 0 {
		if a.Log {
			d = math.Max(d, math.Log10(1.05))
		} else {
			d = math.Max(d, 0.05*math.Max(math.Abs(lo), math.Abs(hi)))
		}
		wlo, whi = math.Max(wlo, lo-d), math.Min(whi, hi+d)
	}
	lo, hi = wlo, whi
	if d := minSpan(a, lo, hi); hi-lo < d {
		mid := lo + (hi-lo)/2
		lo, hi = mid-d/2, mid+d/2
	}
	pad := 0.04 * (hi - lo)
	return scale{Axis: a, lo: from(lo - pad), hi: from(hi + pad)}
}

// minSpan is the smallest range that is drawn about lo..hi, so that a single number has an axis. On a logarithmic
// axis lo and hi are logarithms.
func minSpan(a figure.Axis, lo, hi float64) float64 {
	size := math.Max(math.Abs(lo), math.Abs(hi))
	switch {
	case a.Log:
		return 2 * math.Log10(1.15)
	case a.Unit == figure.UnitTime:
		return math.Max(60, 1e-12*size)
	case size == 0:
		return 1
	case hi-lo > 1e-6*size:
		return 0
	}
	return 0.2 * size
}

// fromZero lets a linear axis that nearly reaches zero reach it.
func (s scale) fromZero() scale {
	pad := 0.04 / 1.08 * (s.hi - s.lo)
	if !s.Log && !s.empty && s.Unit != figure.UnitTime && s.lo+pad >= -1e-9*pad && s.lo < 0.3*s.hi {
		s.lo = 0
	}
	return s
}

// limit brings v so near that it can be drawn, where it lies far outside of the axis.
func (s scale) limit(v float64) float64 {
	if s.Log {
		return math.Min(math.Max(v, s.lo*1e-3), s.hi*1e3)
	}
	d := 100 * (s.hi - s.lo)
	return math.Min(math.Max(v, s.lo-d), s.hi+d)
}

// share is how far along the axis v lies, from 0 to 1.
func (s scale) share(v float64) float64 {
	if s.Log {
		return plot.LogScale{}.Normalize(s.lo, s.hi, v)
	}
	return plot.LinearScale{}.Normalize(s.lo, s.hi, v)
}

// set gives an axis of a plot this range, about n labels, and a title of at most a length.
func (s scale) set(to *plot.Axis, n int, length vg.Length) {
	to.Min, to.Max = s.lo, s.hi
	if s.Log {
		to.Scale = plot.LogScale{}
	}
	all, word := []plot.Tick(nil), ""
	if !s.empty {
		all, word = ticks(s.Axis, s.lo, s.hi, n)
	}
	if s.whole {
		all = slices.DeleteFunc(all, func(t plot.Tick) bool { return math.Abs(t.Value-math.Round(t.Value)) > 1e-9*math.Abs(t.Value) })
		for i := range all {
			all[i].Label, _, _ = strings.Cut(all[i].Label, ".") // those between were taken away
		}
	}
	to.Tick.Marker = plot.ConstantTicks(all)
	title := cmp.Or(s.Name, word)
	if s.Name != "" && word != "" {
		title += " (" + word + ")"
	}
	to.Label.Text = clip(title, to.Label.TextStyle, length)
}

// newPlot is a plot without data in the style of all figures. It has no axis lines, because every plot has a frame.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding, a.Width, a.Tick.LineStyle, a.Tick.Length = 0, 0, frameStyle(), 4
		a.Tick.Label.Font, a.Tick.Label.Color = smallStyle().Font, ink
		a.Label.TextStyle.Font, a.Label.TextStyle.Color, a.Label.Padding = labelStyle().Font, ink, 3
	}
	return p
}

func frameStyle() draw.LineStyle { return draw.LineStyle{Color: ink, Width: 0.6} }

// frame is the outline of a plot.
type frame struct{}

// Plot draws the frame.
func (frame) Plot(c draw.Canvas, _ *plot.Plot) {
	c.StrokeLines(frameStyle(), []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}, c.Min})
}

// nothingToShow says so in the middle of an empty plot.
type nothingToShow struct{}

// Plot writes the words.
func (nothingToShow) Plot(c draw.Canvas, _ *plot.Plot) {
	style := labelStyle()
	style.Color, style.XAlign = faint, text.XCenter
	c.FillText(style, c.Center(), "nothing to show")
}
