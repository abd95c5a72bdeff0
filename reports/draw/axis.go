package draw

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/internal/lists"
	"calib/internal/units"
	"calib/reports/figure"
)

type scale struct {
	figure.Axis
	lo, hi float64
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
		to, from = math.Log10, func(v float64) float64 { return math.Pow(10, min(max(v, -300), 300)) } // neither 0 nor ∞
	}
	lo, hi := span(main)
	if lo > hi {
		return scale{Axis: a, lo: from(0), hi: from(1)}
	}
	wlo, whi := span(append(wide, lo, hi))
	lo, hi, wlo, whi = to(lo), to(hi), to(wlo), to(whi)
	if d := hi - lo; d > 0 {
		least := 0.05 * math.Max(math.Abs(lo), math.Abs(hi))
		if a.Log {
			least = math.Log10(1.05)
		}
		d = math.Max(d, least)
		wlo, whi = math.Max(wlo, lo-d), math.Min(whi, hi+d)
	}
	if d := minSpan(a, wlo, whi); whi-wlo < d {
		mid := wlo + (whi-wlo)/2
		wlo, whi = mid-d/2, mid+d/2
	}
	pad := 0.04 * (whi - wlo)
	return scale{Axis: a, lo: from(wlo - pad), hi: from(whi + pad)}
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
	if !s.Log && s.Unit != figure.UnitTime && s.lo+pad >= -1e-9*pad && s.lo < 0.3*s.hi {
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
	all, word := ticks(s.Axis, s.lo, s.hi, n)
	if s.whole {
		between := func(t plot.Tick) bool { return math.Abs(t.Value-math.Round(t.Value)) > 1e-9*math.Abs(t.Value) }
		all = slices.DeleteFunc(all, between)
		for i := range all {
			all[i].Label, _, _ = strings.Cut(all[i].Label, ".") // those between were taken away
		}
	}
	to.Tick.Marker = plot.ConstantTicks(all)
	if s.Name != "" && word != "" {
		word = " (" + word + ")"
	}
	to.Label.Text = clip(s.Name+word, to.Label.TextStyle, length)
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

type frame struct{}

func (frame) Plot(c draw.Canvas, _ *plot.Plot) {
	c.StrokeLines(frameStyle(), []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}, c.Min})
}

// ticks puts about n labels on an axis from lo to hi. word is what the title of the axis says behind its name: the unit
// that all labels share, or "" where each label has its own.
func ticks(a figure.Axis, lo, hi float64, n int) (all []plot.Tick, word string) {
	unit := a.Unit
	if unit == figure.UnitTime {
		unit = "s"
		if all, word = timeTicks(lo, hi, n); all != nil && !a.Log {
			return all, word
		}
	}
	switch {
	case !a.Log:
		return linearTicks(lo, hi, unit, n)
	case unit == "B":
		return byteTicks(lo, hi, n), ""
	}
	return logTicks(lo, hi, unit, n), ""
}

// roundStep is a step of 1, 2 or 5 times a power of ten that cuts width into at most about n parts.
func roundStep(width float64, n int) float64 {
	raw := width / float64(n)
	ten := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*ten*1.0001 {
			return m * ten
		}
	}
	return 10 * ten
}

// multiples lists those of d from lo to hi; none where there are too many, or where numbers are too coarse for d.
func multiples(lo, hi, d float64) (out []float64) {
	a, b := math.Ceil(lo/d-1e-6), math.Floor(hi/d+1e-6)
	if !(b-a <= 60) || !(d > 0) || math.Abs(a) > 1e12 || math.Abs(b) > 1e12 {
		return nil
	}
	for i := a; i <= b; i++ {
		out = append(out, i*d)
	}
	return out
}

func linearTicks(lo, hi float64, unit string, n int) (out []plot.Tick, name string) {
	size := math.Max(math.Abs(lo), math.Abs(hi))
	if unit == "B" {
		size /= 4 // whole steps
	}
	by, name := units.ScaleAxis(unit, size)
	d := roundStep((hi-lo)/by, n)
	if unit == "B" && (hi-lo)/float64(n) >= 1 {
		d = math.Exp2(math.Ceil(math.Log2((hi-lo)/float64(n)))) / by
	}
	return lists.Map(multiples(lo/by, hi/by, d), func(v float64) plot.Tick {
		return plot.Tick{Value: v * by, Label: plain(v, d)}
	}), name
}

// plain prints a multiple of d with the digits that d has.
func plain(v, d float64) string {
	digits := 0
	for scaled := d; digits < 9 && math.Abs(scaled-math.Round(scaled)) > 1e-6*scaled; digits++ {
		scaled *= 10
	}
	if math.Abs(v) >= 1e7 || digits == 9 {
		return strconv.FormatFloat(v, 'g', 7, 64)
	}
	if math.Abs(v) < d/2 {
		v = 0 // no minus sign
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// logTicks labels decades where there are enough of them, else 1, 2 and 5 where there is room, else round steps.
func logTicks(lo, hi float64, unit string, n int) (out []plot.Tick) {
	if hi/lo < 4 {
		for _, v := range multiples(lo, hi, roundStep(hi-lo, n)) {
			if v > 0 {
				out = append(out, plot.Tick{Value: v, Label: label(v, unit)})
			}
		}
		return out
	}
	a, b := int(math.Ceil(math.Log10(lo)-1e-9)), int(math.Floor(math.Log10(hi)+1e-9))
	decades := b - a + 1
	every := max((decades+n)/(n+1), 1)
	for e := a - 1; e <= b; e++ {
		for m := 1; m < 10; m++ {
			t := plot.Tick{Value: float64(m) * math.Pow(10, float64(e))}
			if t.Value < lo*(1-1e-9) || t.Value > hi*(1+1e-9) || every > 1 && (m > 1 || e%every != 0) {
				continue
			}
			if m == 1 || decades <= 2 && 3*decades <= n+1 && (m == 2 || m == 5) {
				t.Label = label(t.Value, unit)
			}
			out = append(out, t)
		}
	}
	return out
}

func byteTicks(lo, hi float64, n int) (out []plot.Tick) {
	a, b := int(math.Ceil(math.Log2(lo)-1e-9)), int(math.Floor(math.Log2(hi)+1e-9))
	if b-a < 2 {
		return logTicks(lo, hi, "B", n)
	}
	every := 1
	for _, every = range []int{1, 2, 4, 5, 10, 20, 40, 80, 160} {
		if (b-a)/every < n {
			break
		}
	}
	for e := a; e <= b; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if e%every == 0 {
			t.Label = label(t.Value, "B")
		} else if b-a > 40 {
			continue
		}
		out = append(out, t)
	}
	return out
}

func words(v float64, a figure.Axis) string {
	if a.Unit == figure.UnitTime {
		return plot.UTCUnixTime(v).Format("2006-01-02 15:04 UTC")
	}
	by, name := multiple(v, a)
	return strings.TrimSpace(strconv.FormatFloat(v/by, 'g', 4, 64) + " " + name)
}

// multiple is the multiple of the unit in which v is read best, and its name.
func multiple(v float64, a figure.Axis) (by float64, name string) {
	if v == 0 {
		return units.Scale(a.Unit, 0)
	}
	return units.ScaleAxis(a.Unit, v)
}

func label(v float64, unit string) string {
	by, name := units.ScaleAxis(unit, v)
	if r := v / by; unit == "B" && r != math.Round(r*8)/8 { // 1200 B rather than 1.1719 KiB
		by, name = 1, unit
	}
	return strings.TrimSpace(strconv.FormatFloat(v/by, 'g', 5, 64) + " " + name)
}

// timeTicks labels Unix seconds with dates in UTC; nil where years would not have four digits.
func timeTicks(lo, hi float64, n int) (out []plot.Tick, word string) {
	if lo < -6e10 || hi > 2.5e11 || !(hi > lo) {
		return nil, ""
	}
	const minute, hour, day = 60.0, 3600.0, 86400.0
	first := time.Unix(int64(math.Floor(lo)), 0).UTC()
	want := (hi - lo) / float64(n)
	for _, d := range []float64{1, 5, 15, 30, minute, 5 * minute, 15 * minute, 30 * minute, hour, 3 * hour, 6 * hour,
		12 * hour, day, 2 * day, 7 * day, 14 * day} {
		if want > d {
			continue
		}
		layout, word := time.DateOnly, "UTC"
		if d < day {
			layout, word = "01-02 15:04", "UTC, from "+first.Format(time.DateOnly)
		}
		if d < minute {
			layout = time.TimeOnly
		}
		return lists.Map(multiples(lo, hi, d), func(v float64) plot.Tick {
			return plot.Tick{Value: v, Label: plot.UTCUnixTime(v).Format(layout)}
		}), word
	}
	want /= 30.5 * day // months
	every, layout := 12*int(math.Ceil(roundStep(want/12, 1))), "2006"
	for _, months := range []int{6, 3, 1} {
		if want <= float64(months) {
			every, layout = months, "2006-01"
		}
	}
	for m := (first.Year()*12)/every*every - every; ; m += every {
		t := time.Date(0, time.Month(m+1), 1, 0, 0, 0, 0, time.UTC)
		if v := float64(t.Unix()); v > hi {
			return out, "UTC"
		} else if v >= lo {
			out = append(out, plot.Tick{Value: v, Label: t.Format(layout)})
		}
	}
}
