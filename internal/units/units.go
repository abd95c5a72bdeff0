// Package units holds the two quantities calib counts in, whole nanoseconds and whole bytes, and how they are read and
// printed. Everything computed from them is a float64 in SI units (seconds, bytes, seconds per byte); a unit is then
// part of the name or the doc comment, never a type, because fits mix them freely. It also makes other people's text
// safe to print.
package units

import (
	"fmt"
	"math"
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
