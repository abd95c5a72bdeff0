// Package units holds the two quantities calib counts in, whole nanoseconds and whole bytes, and how they are read and
// printed. Everything computed from them is a float64 in SI units (seconds, bytes, seconds per byte); a unit is then
// part of the name or the doc comment, never a type, because fits mix them freely. It also makes other people's text
// safe to print.
package units

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// Nanos is a duration, or an instant on one host's monotonic clock, in nanoseconds.
type Nanos int64

const (
	Microsecond Nanos = 1_000
	Millisecond Nanos = 1_000_000
	Second      Nanos = 1_000_000_000
)

func (n Nanos) Seconds() float64 { return float64(n) * 1e-9 }

// String prints n with an SI prefix and four significant digits.
func (n Nanos) String() string { return Format(n.Seconds(), "s") }

type Bytes int64

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

// ParseBytes reads a size: digits, then B, KB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024).
func ParseBytes(s string) (Bytes, error) {
	t := strings.TrimSpace(s)
	name := strings.TrimLeft(t, "0123456789.")
	unit, bad := humanize.ParseBytes("1 " + name)
	v, err := strconv.ParseFloat(strings.TrimSuffix(t, name), 64)
	if err != nil || bad != nil {
		return 0, fmt.Errorf("size %q: want digits and B, KB, MB, GB, KiB, MiB or GiB, for example 64KiB", s)
	}
	v *= float64(unit)
	whole := math.Round(v) // 2.01 KB are 2,010 bytes, though 2.01·1000 is not
	if v >= 1<<50 || math.Abs(v-whole) > 1e-9 {
		return 0, fmt.Errorf("size %q: not a whole number of bytes below 1 PiB", s)
	}
	return Bytes(whole), nil
}

// ParseShare reads "2%" or "0.02".
func ParseShare(s string) (float64, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		v /= 100
	}
	return v, err
}

// maxCPU is the largest number of a CPU that Linux may be built for.
const maxCPU = 8191

// ParseSet reads numbers as Linux lists CPUs: "2", "0-3,8".
func ParseSet(s string) ([]int, error) {
	var out []int
	for _, part := range strings.Split(s, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		if !isRange {
			hi = lo
		}
		a, err := strconv.ParseUint(lo, 10, 16)
		b, bad := strconv.ParseUint(hi, 10, 16)
		if err != nil || bad != nil || a > b || b > maxCPU {
			return nil, fmt.Errorf("%q: want numbers from 0 to %d, such as 2 or 0-3,8", s, maxCPU)
		}
		for n := a; n <= b; n++ {
			out = append(out, int(n))
		}
	}
	return out, nil
}

// Plural prints a number of things, its thousands apart: "1 run", "12,000 timings".
func Plural[N ~int | ~int64](n N, what string) string {
	if n != 1 {
		what += "s"
	}
	return Grouped(n) + " " + what
}

// Grouped prints a whole number with its thousands apart: "12,000".
func Grouped[N ~int | ~int64](n N) string { return humanize.Comma(int64(n)) }

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
			hi = lo
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

// multiple is a multiple of a unit: 1e-6 and "µs".
type multiple struct {
	Factor float64
	Name   string
}

// decimal has the prefixes alone, binary the whole names.
var (
	decimal = []multiple{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"},
		{1e-6, "µ"}, {1e-9, "n"}, {1e-12, "p"}, {1e-15, "f"}}
	binary = []multiple{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}
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
// and for units without prefixes, of which "1" has no name. Bytes take powers of 1024.
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
	all := decimal
	if unit == "B" {
		all, unit = binary, ""
	}
	m := largest(all, magnitude, slack)
	return m.Factor, m.Name + unit
}

// ScaleAxis is Scale for an axis. Seconds take nothing above themselves: nobody says kilosecond.
func ScaleAxis(unit string, magnitude float64) (factor float64, name string) {
	magnitude = max(math.Abs(magnitude), decimal[len(decimal)-1].Factor)
	if strings.HasPrefix(unit, "s") {
		magnitude = min(magnitude, 1)
	}
	return scale(unit, magnitude, 0)
}

// ScaleSizes returns the largest multiple of a byte of which all these sizes [B] are whole numbers of few digits; false
// where there is none.
func ScaleSizes(sizes ...float64) (factor float64, name string, ok bool) {
	for _, m := range binary {
		none := func(v float64) bool { return v/m.Factor != math.Trunc(v/m.Factor) || math.Abs(v/m.Factor) >= 1e6 }
		if !slices.ContainsFunc(sizes, none) && (slices.Max(sizes) >= m.Factor || m.Factor == 1) {
			return m.Factor, m.Name, true
		}
	}
	return 1, "B", false
}

// Format prints v with the prefix that leaves one to three digits before the point: Format(3.456e-4, "s") is "345.6
// µs". A size is exact where ScaleSizes has a unit for it. NaN and infinities print as "–" and "∞".
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
	if by, name, ok := ScaleSizes(v); ok && unit == "B" {
		return fmt.Sprintf("%.0f %s", v/by, name)
	}
	factor, name := scale(unit, math.Abs(v), 5e-5) // 999.95 and more is printed as 1000
	return strings.TrimSuffix(strconv.FormatFloat(v/factor, 'g', 4, 64)+" "+name, " ")
}

// A name in a file of other people must not control the terminal that it is printed on.

// Controls reports a character that controls what prints it: of C0 and C1, DEL, and those that set the direction of
// text.
func Controls(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point)
}

// OneLine is s as one line: blanks for tabs and the ends of lines, and a dot for any other character that controls.
func OneLine(s string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(Printable(s)) }

// Printable is s with a dot for each character that controls, but for tabs and the ends of lines.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if Controls(r) && r != '\n' && r != '\t' {
			return '·'
		}
		return r
	}, s)
}

// PrintableWriter writes text to To, which may be a terminal, as Printable makes it. Ends of lines stay as they are.
// Any goroutine may write.
type PrintableWriter struct {
	To   io.Writer
	mu   sync.Mutex
	held string // of a character whose end is still to come
}

// RawWriter is what a PrintableWriter writes to: for text that is known to be printable and controls the terminal by
// itself. Any other w is itself.
func RawWriter(w io.Writer) io.Writer {
	if p, ok := w.(*PrintableWriter); ok {
		return p.To
	}
	return w
}

func (w *PrintableWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.held + string(b)
	end := len(s)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if utf8.RuneStart(s[i]) && !utf8.FullRuneInString(s[i:]) || s[i:] == "\r" {
			end = i
		}
	}
	w.held = s[end:]
	lines := strings.Split(s[:end], "\r\n")
	for i, l := range lines {
		lines[i] = Printable(l)
	}
	_, err := io.WriteString(w.To, strings.Join(lines, "\r\n"))
	return len(b), err
}
