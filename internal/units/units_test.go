package units

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{3.456e-4, "s", "345.6 µs"}, {0, "s", "0 s"}, {1, "s", "1 s"}, {-0.002, "s", "-2 ms"}, {1.42e-6, "s/B", "1.42 µs/B"},
		{117e6, "B/s", "117 MB/s"}, {999.94, "B", "999.9 B"}, {999.96, "B", "1000 B"}, {1023.96, "B", "1 KiB"},
		{1420, "B", "1420 B"}, {64 << 10, "B", "64 KiB"}, {1234567, "B", "1.177 MiB"}, {0, "B", "0 B"}, {1e-15, "s", "1 fs"},
		{1e-18, "s", "0.001 fs"}, {123456e9, "B/s", "1.235e+05 GB/s"}, {8.3e-9, "s", "8.3 ns"},
		{math.NaN(), "s", "–"}, {math.Inf(1), "s", "∞"}, {math.Inf(-1), "s", "-∞"},
	} {
		if got := Format(c.v, c.unit); got != c.want {
			t.Errorf("Format(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func TestNanos(t *testing.T) {
	if got := (3*Second + 5*Millisecond).Seconds(); math.Abs(got-3.005) > 1e-12 {
		t.Errorf("Seconds: %v", got)
	}
	if got := (859520 * Nanos(1)).String(); got != "859.5 µs" {
		t.Errorf("String: %q", got)
	}
}

func TestBytesString(t *testing.T) {
	for b, want := range map[Bytes]string{
		0: "0B", 1: "1B", 1023: "1023B", KiB: "1KiB", 1536: "1.5KiB", 1448: "1.41KiB", 64 * KiB: "64KiB", MiB: "1MiB",
		MiB - 1: "1024KiB", 1000 * KiB: "1000KiB", 1000*KiB + 1: "1000KiB", GiB: "1GiB", 3*GiB + 1: "3GiB", -5: "-5B",
	} {
		if got := b.String(); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", int64(b), got, want)
		}
	}
}

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]Bytes{
		"0": 0, "1": 1, "64B": 64, " 64 KiB ": 64 * KiB, "1k": 1000, "1KB": 1000, "2mib": 2 * MiB, "1.5KiB": 1536,
		"0.5MB": 500_000,
		"1GiB":  GiB, "1g": 1e9, "1TiB": 1 << 40, "1048575GiB": (1<<20 - 1) * GiB,
	} {
		if got, err := ParseBytes(s); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "B", "-1", "+1", "1.5", "1.5B", "1e3", "0x10", "1,5", "1,5KiB", "2P", "2e", "1 2",
		"1..2", "∞", "nan", "1048576GiB",
		strings.Repeat("9", 400), "KiB", "1KiBs", "."} {
		if got, err := ParseBytes(s); err == nil || !strings.Contains(err.Error(), "size \"") {
			t.Errorf("ParseBytes(%q) = %d, %v; want an error that shows it", s, got, err)
		}
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		unit      string
		magnitude float64
		factor    float64
		name      string
	}{
		{"s", 3e-4, 1e-6, "µs"}, {"s", 1e-3 * (1 - 1e-12), 1e-3, "ms"}, {"s", 9.9e-4, 1e-6, "µs"}, {"s", 0, 1, "s"},
		{"B/s", 5e12, 1e9, "GB/s"}, {"s/B", 1e-20, 1e-15, "fs/B"}, {"1", 1e-6, 1, ""}, {"%", 1e6, 1, "%"}, {"", 7, 1, ""},
	} {
		if factor, name := Scale(c.unit, c.magnitude); factor != c.factor || name != c.name {
			t.Errorf("Scale(%q, %g) = %g, %q; want %g, %q", c.unit, c.magnitude, factor, name, c.factor, c.name)
		}
	}
	for magnitude, want := range map[float64]string{0: "B", 1023: "B", 1024: "KiB", 5 << 30: "GiB", 1 << 50: "TiB"} {
		if _, name := ScaleAxis("B", magnitude); name != want {
			t.Errorf("ScaleAxis(B, %g) = %q, want %q", magnitude, name, want)
		}
	}
}

func TestParseSizes(t *testing.T) {
	for s, want := range map[string][]Bytes{
		"1":                 {1},
		"64,1,64":           {1, 64},
		"1KiB..8KiB":        {1024, 2048, 4096, 8192},
		"3..20":             {3, 6, 12, 20},
		"5..5":              {5},
		" 1 , 2 .. 4 ":      {1, 2, 4},
		"1,64,1KiB..4KiB,2": {1, 2, 64, 1024, 2048, 4096},
	} {
		if got, err := ParseSizes(s); err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseSizes(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	for s, want := range map[string]string{
		"":                               `size ""`,
		"1,,2":                           `size ""`,
		"0":                              "at least 1 byte",
		"0..4":                           "at least 1 byte",
		"8..4":                           "the end is below the start",
		"1..":                            `size ""`,
		"..4":                            `size ""`,
		"1..x":                           `size "x"`,
		"1...4":                          `size ".4"`,
		strings.Repeat("1,", 5000) + "1": "the limit is 4096",
	} {
		if got, err := ParseSizes(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSizes(%.20q) = %v, %v; want %s", s, got, err, want)
		}
	}
}

func TestGeometric(t *testing.T) {
	never := func() float64 { t.Error("drawn without jitter"); return 0 }
	if got := Geometric(1, 1000, 1, 0, never); !slices.Equal(got, []Bytes{1, 10, 100, 1000}) {
		t.Errorf("one a decade: %v", got)
	}
	for _, c := range []struct {
		lo, hi Bytes
		per    int
		want   Bytes
	}{{0, 10, 0, 1}, {-3, -1, 3, 1}, {7, 7, 3, 7}, {9, 2, 3, 9}} {
		if got := Geometric(c.lo, c.hi, c.per, 0, never); !slices.Equal(got, []Bytes{c.want}) {
			t.Errorf("Geometric(%d, %d, %d) = %v, want %d alone", c.lo, c.hi, c.per, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		lo := Bytes(rapid.Int64Range(1, 1000).Draw(t, "lo"))
		hi := lo + Bytes(rapid.Int64Range(1, 1<<30).Draw(t, "span"))
		per := rapid.IntRange(1, 12).Draw(t, "per")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		got := Geometric(lo, hi, per, rapid.Float64Range(0, 1).Draw(t, "jitter"), rng.Float64)
		most := int(math.Ceil(math.Log10(float64(hi)/float64(lo))*float64(per))) + 1
		if got[0] != lo || got[len(got)-1] != hi || len(got) > most || !slices.IsSorted(got) {
			t.Fatalf("%v: want at most %d sizes from %d to %d", got, most, lo, hi)
		}
	})
}

// FuzzParseBytes: no text panics, and what is read is a size that can be written and read again.
func FuzzParseBytes(f *testing.F) {
	for _, s := range []string{"1", "64KiB", "1.5 kib", "1e9", "9999999999999999999", "µ", ".", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := ParseBytes(s)
		if err != nil {
			return
		}
		if b < 0 || b >= 1<<50 {
			t.Fatalf("ParseBytes(%q) = %d", s, b)
		}
		if text := b.String(); exact(b) {
			if again, err := ParseBytes(text); err != nil || again != b {
				t.Fatalf("%d prints as %q, which reads as %d, %v", b, text, again, err)
			}
		}
	})
}

// exact says that String does not round b.
func exact(b Bytes) bool {
	return b < KiB || b < MiB && b%KiB == 0 || b < GiB && b%MiB == 0 || b%GiB == 0
}

// FuzzParseSizes: no text panics or gives an unbounded or unsorted list.
func FuzzParseSizes(f *testing.F) {
	for _, s := range []string{"1,64,1KiB..4MiB", "1..1048575GiB", "..", ",", "3..3,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseSizes(s)
		if err != nil {
			return
		}
		if len(got) == 0 || len(got) > maxSizes || got[0] < 1 || !slices.IsSorted(got) ||
			len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("ParseSizes(%q) = %v", s, got)
		}
	})
}

func TestParseSet(t *testing.T) {
	for text, want := range map[string][]int{"2": {2}, "0-3,8": {0, 1, 2, 3, 8}, "8192": nil, "": nil, "3-1": nil,
		"a": nil, "1,": nil} {
		if got, err := ParseSet(text); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
