package units

import (
	"math"
	"strings"
)

// Scale returns the multiple of unit in which numbers up to size read best, and its name: 1e-6 and "µs" for 2e-5 of "s",
// 1024 and "KiB" for 5000 of "B". An axis or a table divides all its numbers by it. Bytes take powers of 1024, and seconds
// nothing above themselves: nobody says kilosecond.
func Scale(size float64, unit string) (by float64, name string) {
	size = math.Abs(size)
	switch {
	case unit == "1":
		return 1, ""
	case !Prefixed(unit):
		return 1, unit
	case unit == "B":
		for _, b := range []struct {
			by   Bytes
			name string
		}{{GiB << 10, "TiB"}, {GiB, "GiB"}, {MiB, "MiB"}, {KiB, "KiB"}} {
			if size >= float64(b.by) {
				return float64(b.by), b.name
			}
		}
		return 1, unit
	}
	p := prefixes[len(prefixes)-1]
	for _, q := range prefixes {
		if size >= q.scale && (q.scale <= 1 || !strings.HasPrefix(unit, "s")) {
			p = q
			break
		}
	}
	return p.scale, p.name + unit
}
