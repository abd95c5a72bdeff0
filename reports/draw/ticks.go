package draw

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"calib/internal/units"
	"calib/reports/figure"
)

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
func multiples(lo, hi, d float64) []float64 {
	a, b := math.Ceil(lo/d-1e-6), math.Floor(hi/d+1e-6)
	if !(b-a <= 60) || !(d > 0) || math.Abs(a) > 1e12 || math.Abs(b) > 1e12 {
		return nil
	}
	var out []float64
	for i := a; i <= b; i++ {
		out = append(out, i*d)
	}
	return out
}

func linearTicks(lo, hi float64, unit string, n int) ([]plot.Tick, string) {
	size := math.Max(math.Abs(lo), math.Abs(hi))
	if unit == "B" {
		size /= 4 // whole steps
	}
	by, name := units.ScaleAxis(unit, size)
	d := roundStep((hi-lo)/by, n)
	if unit == "B" && (hi-lo)/float64(n) >= 1 {
		d = math.Exp2(math.Ceil(math.Log2((hi-lo)/float64(n)))) / by
	}
	var out []plot.Tick
	for _, v := range multiples(lo/by, hi/by, d) {
		out = append(out, plot.Tick{Value: v * by, Label: plain(v, d)})
	}
	return out, name
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

// logTicks labels decades where there are enough of them, else 1, 2 and 5, else round steps.
func logTicks(lo, hi float64, unit string, n int) []plot.Tick {
	var out []plot.Tick
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
			v := float64(m) * math.Pow(10, float64(e))
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) || every > 1 && (m > 1 || turn(e, every) != 0) {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 || decades <= 2 && (m == 2 || m == 5) {
				t.Label = label(v, unit)
			}
			out = append(out, t)
		}
	}
	return out
}

// byteTicks labels powers of two.
func byteTicks(lo, hi float64, n int) []plot.Tick {
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
	var out []plot.Tick
	for e := a; e <= b; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if turn(e, every) == 0 {
			t.Label = label(t.Value, "B")
		} else if b-a > 40 {
			continue
		}
		out = append(out, t)
	}
	return out
}

// words is a value of an axis, with its unit.
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

// label prints one number with its unit.
func label(v float64, unit string) string {
	by, name := units.ScaleAxis(unit, v)
	if r := v / by; unit == "B" && r != math.Round(r*8)/8 { // 1200 B rather than 1.1719 KiB
		by, name = 1, unit
	}
	return strings.TrimSpace(strconv.FormatFloat(v/by, 'g', 5, 64) + " " + name)
}
