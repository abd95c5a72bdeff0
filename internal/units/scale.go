package units

import (
	"math"
	"strings"
)

// Multiple is a multiple of a unit: 1e-6 and "µs".
type Multiple struct {
	By   float64
	Name string
}

// Multiples lists the multiples in which numbers of a unit are shown, the largest first. Bytes take powers of 1024, and
// seconds nothing above themselves: nobody says kilosecond. A unit without prefixes has the one multiple 1.
func Multiples(unit string) []Multiple {
	switch {
	case unit == "1":
		return []Multiple{{1, ""}}
	case !Prefixed(unit):
		return []Multiple{{1, unit}}
	case unit == "B":
		return []Multiple{{float64(GiB << 10), "TiB"}, {float64(GiB), "GiB"}, {float64(MiB), "MiB"}, {float64(KiB), "KiB"}, {1, "B"}}
	}
	var out []Multiple
	for _, p := range prefixes {
		if p.scale <= 1 || !strings.HasPrefix(unit, "s") {
			out = append(out, Multiple{p.scale, p.name + unit})
		}
	}
	return out
}

// Scale returns the multiple of unit in which numbers up to size read best, and its name: 1e-6 and "µs" for 2e-5 of "s",
// 1024 and "KiB" for 5000 of "B". An axis or a table divides all its numbers by it.
func Scale(size float64, unit string) (by float64, name string) {
	all := Multiples(unit)
	for _, m := range all {
		if math.Abs(size) >= m.By {
			return m.By, m.Name
		}
	}
	last := all[len(all)-1]
	return last.By, last.Name
}
