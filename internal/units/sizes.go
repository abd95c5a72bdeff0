package units

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// maxSizes bounds a size list, so that a slip in a range does not plan a year of measuring.
const maxSizes = 4096

// ParseSizes reads a comma-separated list of sizes and ranges: "1,64,1KiB..4MiB" is 1, 64 and every doubling from 1 KiB
// to 4 MiB, both ends included. The result is sorted and without duplicates.
func ParseSizes(s string) ([]Bytes, error) {
	var out []Bytes
	for _, field := range strings.Split(s, ",") {
		lo, hi, isRange := strings.Cut(strings.TrimSpace(field), "..")
		a, err := ParseBytes(lo)
		if err != nil {
			return nil, err
		}
		if a < 1 {
			return nil, fmt.Errorf("size %q: a message has at least 1 byte", field)
		}
		if !isRange {
			out = append(out, a)
			continue
		}
		b, err := ParseBytes(hi)
		if err != nil {
			return nil, err
		}
		if b < a {
			return nil, fmt.Errorf("size range %q: the end is below the start", field)
		}
		for x := a; x < b; x *= 2 {
			out = append(out, x)
		}
		out = append(out, b)
	}
	if len(out) > maxSizes {
		return nil, fmt.Errorf("sizes %q: %d sizes, the limit is %d", s, len(out), maxSizes)
	}
	return unique(out), nil
}

// Geometric returns about perDecade sizes a decade from lo to hi, both included, moved off the powers of two by jitter
// (a fraction of the step, drawn by next, a source of uniform numbers in [0,1)), so that a size never sits on a
// boundary of buffers or segments by construction. jitter 0 leaves the plain geometric series.
func Geometric(lo, hi Bytes, perDecade int, jitter float64, next func() float64) []Bytes {
	if lo < 1 || hi <= lo || perDecade < 1 {
		return unique([]Bytes{max(lo, 1)})
	}
	n := int(math.Ceil(math.Log10(float64(hi)/float64(lo)) * float64(perDecade)))
	step := math.Log(float64(hi)/float64(lo)) / float64(n)
	out := []Bytes{lo, hi}
	for i := 1; i < n; i++ {
		e := float64(i)
		if jitter > 0 {
			e += jitter * (next() - 0.5)
		}
		out = append(out, Bytes(math.Round(float64(lo)*math.Exp(e*step))))
	}
	return unique(out)
}

func unique(in []Bytes) []Bytes {
	slices.Sort(in)
	return slices.Compact(in)
}
