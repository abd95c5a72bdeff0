package draw

import (
	"math"
	"strconv"
	"strings"

	"calib/internal/units"
)

const (
	unitTime = "time" // Unix seconds
	unitByte = "B"
)

// ticks puts about n labels on a scale, and names the unit that they all share.
func ticks(s scale, n int) ([]tick, string) {
	unit := s.axis.Unit
	if unit == unitTime {
		if t, word := timeTicks(s.lo, s.hi, n); t != nil {
			return t, word
		}
		unit = "s"
	}
	switch {
	case !s.axis.Log:
		return linearTicks(s.lo, s.hi, unit, n)
	case unit == unitByte:
		return byteTicks(s.lo, s.hi, n), ""
	}
	return logTicks(s.lo, s.hi, unit, n), ""
}

// prefix is the multiple of a unit in which numbers up to size read best.
func prefix(size float64, unit string) (float64, string) {
	type p struct {
		by   float64
		name string
	}
	all := []p{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}, {1e-12, "p"}}
	switch {
	case unit == "1":
		return 1, ""
	case !units.Prefixed(unit):
		return 1, unit
	case unit == unitByte:
		all = []p{{1 << 40, "Ti"}, {1 << 30, "Gi"}, {1 << 20, "Mi"}, {1 << 10, "Ki"}, {1, ""}}
	case unit[0] == 's': // nobody says kilosecond
		all = all[4:]
	}
	for _, q := range all {
		if size >= q.by {
			return q.by, q.name + unit
		}
	}
	last := all[len(all)-1]
	return last.by, last.name + unit
}

// step is a round step that cuts width into about n parts.
func step(width float64, n int) float64 {
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

func linearTicks(lo, hi float64, unit string, n int) ([]tick, string) {
	size := math.Max(math.Abs(lo), math.Abs(hi))
	if unit == unitByte {
		size /= 4 // whole steps
	}
	by, name := prefix(size, unit)
	d := step((hi-lo)/by, n)
	if unit == unitByte && (hi-lo)/float64(n) >= 1 {
		d = math.Exp2(math.Ceil(math.Log2((hi-lo)/float64(n)))) / by
	}
	var out []tick
	for _, v := range multiples(lo/by, hi/by, d) {
		out = append(out, tick{at: v * by, label: plain(v, d)})
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
func logTicks(lo, hi float64, unit string, n int) []tick {
	a, b := math.Ceil(math.Log10(lo)-1e-9), math.Floor(math.Log10(hi)+1e-9)
	decades := int(b - a + 1)
	if hi/lo < 4 {
		var out []tick
		for _, v := range multiples(lo, hi, step(hi-lo, n)) {
			if v > 0 {
				out = append(out, tick{at: v, label: label(v, unit)})
			}
		}
		return out
	}
	every := max((decades+n)/(n+1), 1)
	var out []tick
	for e := a - 1; e <= b; e++ {
		ten := math.Pow(10, e)
		for m := 1.0; m < 10; m++ {
			v := m * ten
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) || every > 1 && (m > 1 || turn(int(e), every) != 0) {
				continue
			}
			t := tick{at: v, minor: m > 1 && (decades > 2 || m != 2 && m != 5)}
			if !t.minor {
				t.label = label(v, unit)
			}
			out = append(out, t)
		}
	}
	return out
}

// label prints one number with its unit.
func label(v float64, unit string) string {
	by, name := 1.0, ""
	if unit != "" {
		by, name = prefix(v, unit)
	}
	if r := v / by; unit == unitByte && r != math.Round(r*8)/8 { // 1200 B rather than 1.1719 KiB
		by, name = 1, unit
	}
	return strings.TrimSpace(strconv.FormatFloat(v/by, 'g', 5, 64) + " " + name)
}

// byteTicks labels powers of two.
func byteTicks(lo, hi float64, n int) []tick {
	a, b := math.Ceil(math.Log2(lo)-1e-9), math.Floor(math.Log2(hi)+1e-9)
	if b-a < 2 {
		return logTicks(lo, hi, unitByte, n)
	}
	every := 1
	for _, k := range []int{1, 2, 4, 5, 10, 20, 40, 80, 160} {
		every = k
		if int(b-a)/k < n {
			break
		}
	}
	var out []tick
	for e := a; e <= b; e++ {
		t := tick{at: math.Exp2(e), minor: turn(int(e), every) != 0}
		if !t.minor {
			t.label = label(t.at, unitByte)
		} else if b-a > 40 {
			continue
		}
		out = append(out, t)
	}
	return out
}
