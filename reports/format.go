package reports

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"calib/internal/units"
)

// Quantity is a number ready to print: every part of it in the same unit, with the same number of decimals.
type Quantity struct {
	Value string // "859.5"
	CI    string // "[857.1, 861.9]", or "" without an interval
	Unit  string // "µs"

	scale    float64
	decimals int
}

func (q Quantity) String() string {
	s := q.Value
	if q.Unit != "" {
		s += " " + Clean(q.Unit)
	}
	if q.CI != "" {
		s += " " + q.CI
	}
	return s
}

// Like prints another number in q's unit, with q's decimals, so that the two can be compared by eye.
func (q Quantity) Like(v float64) string { return fixed(v/q.scale, q.decimals) }

const maxDigits = 6 // bounds the significant digits of a printed value: no clock gives more

// Format prints v [in unit, SI] and its interval, which may be nil, in one unit and with the same decimals:
//
//   - The unit leaves one to three digits before the point of v. Where the interval holds zero, and half of it is wider
//     than v, it leaves them of the larger end.
//   - Half the interval is printed with two significant digits, so that no digit is shown that the next run would
//     change, but v with no fewer than two. Four are shown without an interval, or with one of no width.
//   - A v below a hundredth of half an interval that holds zero is zero.
//   - Sizes that units.ScaleSizes has a unit for are exact.
func Format(v float64, ci *[2]float64, unit string) Quantity {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Quantity{Value: strings.TrimSpace(units.Format(v, "")), scale: 1}
	}
	half, all, lead := 0.0, []float64{v}, math.Abs(v)
	if ci != nil {
		half, all = (ci[1]-ci[0])/2, append(all, ci[:]...)
	}
	if !(half >= 0) || math.IsInf(half, 0) {
		half = 0
	}
	near := half > 0 && ci[0] <= 0 && ci[1] >= 0 // to zero
	if near && lead < half {
		lead = max(math.Abs(ci[0]), math.Abs(ci[1]))
	}
	scale, name := scaleOf(lead, unit)
	d := decimals(lead/scale, half/scale)
	if ten := math.Pow10(d); math.Round(lead/scale*ten)/ten >= 1000 && units.Prefixed(unit) && scale < 1e9 {
		scale, name = scaleOf(scale*1000, unit)
		d = decimals(lead/scale, half/scale)
	}
	if v != 0 && !(near && math.Abs(v) < half/100) {
		d = min(max(d, 1-magnitude(math.Abs(v)/scale)), 12)
	}
	if by, size, exact := units.ScaleSizes(all...); exact && unit == "B" {
		scale, name, d = by, size, 0
	}
	q := Quantity{Value: fixed(v/scale, d), Unit: name, scale: scale, decimals: d}
	if ci != nil {
		q.CI = "[" + fixed(ci[0]/scale, d) + ", " + fixed(ci[1]/scale, d) + "]"
	}
	return q
}

// FormatBound prints an interval in which a value without an estimate must lie: "≤ 920 ns/B", "2 … 9 ns/B",
// and "–" where any value is possible.
func FormatBound(b [2]float64, unit string) string {
	lo, hi := b[0], b[1]
	switch {
	case math.IsInf(hi, 1) && lo <= 0:
		return "–" // every number of its kind
	case math.IsInf(hi, 1):
		return "≥ " + Format(lo, nil, unit).String()
	case math.IsInf(lo, -1) || lo == 0:
		return "≤ " + Format(hi, nil, unit).String()
	}
	scale, name := scaleOf(max(math.Abs(lo), math.Abs(hi)), unit)
	digits := func(v float64) string { return fixed(v/scale, decimals(math.Abs(v/scale), 0)) }
	return Clean(strings.TrimSpace(digits(lo) + " … " + digits(hi) + " " + name))
}

// Percent prints a relative number: "4.3%", "-4.3%".
func Percent(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fixed(100*v, 1) + "%"
}

// signedPercent is Percent with a plus before what is above zero: "+4.3%".
func signedPercent(v float64) string {
	s := Percent(v)
	if v > 0 && s != "0.0%" {
		return "+" + s
	}
	return s
}

// scaleOf is units.Scale, but not below pico: no clock tells such times apart.
func scaleOf(magnitude float64, unit string) (factor float64, name string) {
	if magnitude > 0 {
		magnitude = max(magnitude, 1e-12)
	}
	return units.Scale(unit, magnitude)
}

// decimals is the number of digits after the point for a value v with half an interval half, in the printed unit.
func decimals(v, half float64) int {
	d := 3 - magnitude(v)
	if half > 0 {
		d = min(1-magnitude(half), maxDigits-1-magnitude(v))
	}
	return min(max(d, 0), 12)
}

// magnitude is the power of ten of the first digit of v, and 0 of zero.
func magnitude(v float64) int { return int(math.Floor(math.Log10(cmp.Or(v, 1)) + 1e-12)) }

// fixed prints v with d decimals; never "-0.0".
func fixed(v float64, d int) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return strings.TrimSpace(units.Format(v, ""))
	}
	s := strconv.FormatFloat(v, 'f', d, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return s
}

// count prints a whole number with thousands apart, and any other with four digits.
func count(v float64) string {
	if v != float64(int64(v)) {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return units.Grouped(int64(v))
}

// sentence begins s with a capital, unless it begins with a symbol, and ends it with a full stop.
func sentence(s string) string {
	s = Clean(strings.TrimSpace(s))
	if s == "" {
		return s
	}
	r := []rune(s)
	if len(r) > 1 && r[0] >= 'a' && r[0] <= 'z' && r[1] >= 'a' && r[1] <= 'z' {
		r[0] += 'A' - 'a'
	}
	s = string(r)
	if !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}

// Clean makes a text from a file safe to print.
func Clean(s string) string { return units.OneLine(s) }

// Some lists names: all where they are at most so many, else the first few and the number of the others.
func Some(names []string, most, few int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
