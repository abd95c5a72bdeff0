package reports

import (
	"strconv"
	"strings"

	"calib/internal/units"
)

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
