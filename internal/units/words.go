package units

import "strconv"

// Plural prints a number of things: "1 run", "3 runs".
func Plural[N ~int | ~int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.FormatInt(int64(n), 10) + " " + what + "s"
}

// GroupedPlural is Plural with thousands apart: "12,000 timings".
func GroupedPlural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Grouped(int64(n)) + " " + what + "s"
}

// Grouped prints a whole number with its thousands apart: "12,000".
func Grouped(n int64) string {
	s, sign := strconv.FormatInt(n, 10), ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
