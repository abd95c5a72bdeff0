package units

import (
	"math"
	"strconv"
	"strings"
)

// multiple is a multiple of a unit: 1e-6 and "µs".
type multiple struct {
	Factor float64
	Name   string
}

// decimal has the prefixes alone, binary the whole names.
var (
	decimal = []multiple{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}, {1e-12, "p"}, {1e-15, "f"}}
	binary  = []multiple{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}
)

// largest is the largest multiple that is at most magnitude, which may be short of it by the share slack; the last of
// all where none is.
func largest(all []multiple, magnitude, slack float64) multiple {
	for _, m := range all {
		if magnitude >= m.Factor*(1-slack) {
			return m
		}
	}
	return all[len(all)-1]
}

// Prefixed reports whether numbers of a unit take SI prefixes: counts and shares do not.
func Prefixed(unit string) bool {
	switch unit {
	case "", "1", "%", "packets", "messages", "steps", "steps/B":
		return false
	}
	return true
}

// Scale returns the multiple of a unit that leaves one to three digits before the point of a number of that magnitude:
// Scale("s", 3e-4) is 1e-6 and "µs". To print several numbers in one unit (a value and its interval, a column, an
// axis), give it the largest of their magnitudes, and divide each by the factor. The factor is 1 for a magnitude of 0
// and for units without prefixes, of which "1" has no name.
func Scale(unit string, magnitude float64) (factor float64, name string) {
	return scale(unit, magnitude, 1e-9)
}

func scale(unit string, magnitude, slack float64) (factor float64, name string) {
	switch {
	case unit == "1":
		return 1, ""
	case !Prefixed(unit) || magnitude == 0:
		return 1, unit
	}
	m := largest(decimal, magnitude, slack)
	return m.Factor, m.Name + unit
}

// ScaleAxis is Scale for an axis. Bytes take powers of 1024, and seconds nothing above themselves: nobody says
// kilosecond.
func ScaleAxis(unit string, magnitude float64) (factor float64, name string) {
	all, suffix := decimal, unit
	switch {
	case !Prefixed(unit):
		return Scale(unit, 0)
	case unit == "B":
		all, suffix = binary, ""
	case strings.HasPrefix(unit, "s"):
		all = decimal[3:]
	}
	m := largest(all, math.Abs(magnitude), 0)
	return m.Factor, m.Name + suffix
}

// Format prints v with the SI prefix that leaves one to three digits before the point: Format(3.456e-4, "s") is "345.6
// µs". NaN and infinities print as "–" and "∞".
func Format(v float64, unit string) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "-∞"
	case v == 0:
		v = 0 // without a sign
	}
	factor, name := scale(unit, math.Abs(v), 5e-5) // 999.95 and more is printed as 1000
	return strings.TrimSuffix(strconv.FormatFloat(v/factor, 'g', 4, 64)+" "+name, " ")
}
