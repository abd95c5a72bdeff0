package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"calib/internal/units"
)

// row is a number that a paper states, beside the product's.
type row struct {
	place  string // figure, table or equation
	what   string
	golden string // path of the number in testdata/published.json, where that has it
	paper  stated
	ours   got
	how    string // the functions that computed it, or the run that it was measured in
	cause  string // of a difference above the paper's own error
}

// stated is a number as a paper states it.
type stated struct {
	text   string  // as printed, or an expression and what it comes to
	value  float64 // in SI units
	unit   printed
	within float64 // what a difference (row.off) may be: the paper's own error, or half a unit of the last digit printed
	// most is set where the paper states the largest error of its model: ours is one too, and may be smaller.
	most bool
}

// got is what the product computed or measured, in SI units.
type got struct {
	value float64
	ci    *[2]float64 // 95% interval of one that was measured
	note  string      // beside it
}

// computed is a number that a formula of the product gives.
func computed(v float64) got { return got{value: v} }

// printed is a unit of the papers.
type printed struct {
	name  string
	scale float64 // SI units in one
}

var (
	us      = printed{"µs", 1e-6}
	ms      = printed{"ms", 1e-3}
	usByte  = printed{"µs/B", 1e-6}
	packets = printed{"packets", 1}
	percent = printed{"%", 0.01}
	plain   = printed{"", 1}
)

// num is a number as printed, exact to half a unit of its last digit.
func num(text string, unit printed) stated {
	bare := strings.ReplaceAll(text, ",", "")
	v, err := strconv.ParseFloat(bare, 64)
	if err != nil {
		panic(err) // texts are literals
	}
	digits := 0
	if _, fraction, ok := strings.Cut(bare, "."); ok {
		digits = len(fraction)
	}
	s := stated{text: strings.TrimSpace(text + " " + unit.name), value: v * unit.scale, unit: unit}
	if v != 0 {
		s.within = 0.5 * math.Pow10(-digits) / math.Abs(v)
	}
	return s
}

// of is a number that an expression of the paper comes to.
func (s stated) of(expression string) stated {
	s.text = expression + " = " + s.text
	return s
}

// as is a number that the paper prints otherwise.
func (s stated) as(text string) stated {
	s.text = text
	return s
}

// about is a number that the paper states to a relative error of its own.
func (s stated) about(within float64) stated {
	s.within = within
	return s
}

// atMost is the largest error that the paper states of its model.
func atMost(text string) stated {
	s := num(text, percent)
	s.text, s.most, s.within = "at most "+s.text, true, s.within*s.value
	return s
}

// off is the relative distance of ours from the paper's number; the distance itself where that is zero or an error.
func (r row) off() float64 {
	d := r.ours.value - r.paper.value
	if r.paper.most || r.paper.value == 0 {
		return d
	}
	return d / r.paper.value
}

// slack is what the arithmetic may round.
const slack = 1e-9

// holds reports whether ours is within the paper's own error, or the interval of one that was measured holds the paper's.
func (r row) holds() bool {
	switch ci := r.ours.ci; {
	case r.paper.most:
		return r.off() <= r.paper.within+slack
	case ci != nil && ci[0] <= r.paper.value && r.paper.value <= ci[1]:
		return true
	}
	return math.Abs(r.off()) <= r.paper.within+slack
}

// difference is ours against the paper's number, as text.
func (r row) difference() string {
	var s string
	switch d := r.off(); {
	case r.paper.most && r.holds():
		s = "no larger"
	case r.paper.most:
		s = fmt.Sprintf("%.0f points above", 100*d)
	case math.Abs(d) < 0.5e-4:
		s = "0"
	case math.Abs(d) < 0.1:
		s = fmt.Sprintf("%+.2f%%", 100*d)
	default:
		s = fmt.Sprintf("%+.1f%%", 100*d)
	}
	if !r.holds() {
		s = "**" + s + "**"
	}
	return s
}

// text is ours in the paper's unit.
func (g got) text(unit printed, digits int) string {
	in := func(v float64) string { return digitsOf(v/unit.scale, digits) }
	s := in(g.value)
	if g.ci != nil {
		s += fmt.Sprintf(" [%s, %s]", in(g.ci[0]), in(g.ci[1]))
	}
	if s += " " + unit.name; g.note != "" {
		s = strings.TrimSpace(s) + ", " + g.note
	}
	return strings.TrimSpace(s)
}

// digitsOf writes a number with so many significant digits, and whole thousands apart.
func digitsOf(v float64, digits int) string {
	if math.Abs(v) >= math.Pow10(digits-1) && math.Abs(v) < 1e15 {
		return units.Grouped(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}

// Digits of computed and of measured numbers, and of errors.
const (
	computedDigits = 6
	measuredDigits = 4
	errorDigits    = 3
)

// line is the row in the table; place is left out where it is that of the row before.
func (r row) line(before string) string {
	place, digits := r.place, computedDigits
	if place == before {
		place = ""
	}
	switch {
	case r.paper.unit == percent:
		digits = errorDigits
	case r.ours.ci != nil:
		digits = measuredDigits
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |\n", place, r.what, r.paper.text, r.ours.text(r.paper.unit, digits), r.difference(),
		r.how, r.cause)
}
