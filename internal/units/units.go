// Package units holds the two quantities calib counts in, whole nanoseconds and whole bytes, and how they are read and
// printed. Everything computed from them is a float64 in SI units (seconds, bytes, seconds per byte); a unit is then
// part of the name or the doc comment, never a type, because fits mix them freely. It also makes other people's text
// safe to print.
package units

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Nanos is a duration, or an instant on one host's monotonic clock, in nanoseconds.
type Nanos int64

// Common durations.
const (
	Microsecond Nanos = 1_000
	Millisecond Nanos = 1_000_000
	Second      Nanos = 1_000_000_000
)

// Seconds returns n in seconds.
func (n Nanos) Seconds() float64 { return float64(n) * 1e-9 }

// String prints n with an SI prefix and four significant digits.
func (n Nanos) String() string { return Format(n.Seconds(), "s") }

// Bytes is a size in bytes.
type Bytes int64

// Binary multiples of a byte.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
)

// String prints b exactly where it is a whole binary multiple, and with three digits elsewhere.
func (b Bytes) String() string {
	scale, name := ScaleAxis("B", min(float64(b), float64(GiB))) // ParseBytes reads no larger unit
	switch v := float64(b) / scale; {
	case b%Bytes(scale) == 0:
		return fmt.Sprintf("%d%s", b/Bytes(scale), name)
	case v >= 999.5: // %g would write an exponent
		return fmt.Sprintf("%.0f%s", v, name)
	default:
		return fmt.Sprintf("%.3g%s", v, name)
	}
}

var byteSuffix = map[string]float64{
	"": 1, "b": 1,
	"k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
}

// ParseBytes reads a size: digits, then B, KB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024).
func ParseBytes(s string) (Bytes, error) {
	t := strings.TrimSpace(s)
	i := 0
	for i < len(t) && (t[i] >= '0' && t[i] <= '9' || t[i] == '.') {
		i++
	}
	mult, ok := byteSuffix[strings.ToLower(strings.TrimSpace(t[i:]))]
	v, err := strconv.ParseFloat(t[:i], 64)
	if err != nil || !ok {
		return 0, fmt.Errorf("size %q: want digits and B, KB, MB, GB, KiB, MiB or GiB, for example 64KiB", s)
	}
	v *= mult
	if v >= 1<<50 || v != math.Trunc(v) {
		return 0, fmt.Errorf("size %q: not a whole number of bytes below 1 PiB", s)
	}
	return Bytes(v), nil
}

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
