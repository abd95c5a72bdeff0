package reports

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFormat(t *testing.T) {
	ci := func(lo, hi float64) *[2]float64 { return &[2]float64{lo, hi} }
	for _, c := range []struct {
		v    float64
		ci   *[2]float64
		unit string
		want string
	}{
		{859.52e-6, ci(857.1e-6, 861.9e-6), "s", "859.5 µs [857.1, 861.9]"},
		{0.92e-6, ci(0.9191e-6, 0.9209e-6), "s/B", "920.00 ns/B [919.10, 920.90]"},
		{345.6e-6, ci(320e-6, 371e-6), "s", "346 µs [320, 371]"},
		{345.6e-6, ci(100e-6, 600e-6), "s", "346 µs [100, 600]"},
		{1.42e-6, nil, "s/B", "1.420 µs/B"},
		{1.42e-6, ci(1.42e-6, 1.42e-6), "s/B", "1.420 µs/B [1.420, 1.420]"},
		{3e-9, ci(-4e-6, 5e-6), "s", "0.0 µs [-4.0, 5.0]"},
		{-3e-9, ci(-4e-6, 5e-6), "s", "0.0 µs [-4.0, 5.0]"},
		{0, nil, "s", "0.000 s"},
		{0, ci(0, 0), "s", "0.000 s [0.000, 0.000]"},
		{999.97e-6, ci(999.0e-6, 1001.0e-6), "s", "1.0000 ms [0.9990, 1.0010]"},
		{999.97e-6, ci(990e-6, 1010e-6), "s", "1.000 ms [0.990, 1.010]"},
		{704.1e3, ci(702.6e3, 705.4e3), "B/s", "704.1 kB/s [702.6, 705.4]"},
		{1.25e11, nil, "B/s", "125.0 GB/s"},
		{1.25e12, nil, "B/s", "1250 GB/s"},
		{0.0123, ci(0.011, 0.0136), "1", "0.0123 [0.0110, 0.0136]"},
		{12345, nil, "1", "12345"},
		{1.0000001, ci(1.00000009, 1.00000011), "s", "1.00000 s [1.00000, 1.00000]"},
		// The unit is that of the value, however wide the interval, and the value has two digits.
		{97e-6, ci(74e-6, 2.503e-3), "s", "97 µs [74, 2503]"},
		{0.634e-9, ci(0.49e-9, 1.854e-9), "s/B", "634 ps/B [490, 1854]"},
		{0.0119, ci(-0.158, 0.124), "1", "0.012 [-0.158, 0.124]"},
		{-1.233e-6, ci(-22.3e-6, 19.83e-6), "s", "-1.2 µs [-22.3, 19.8]"},
		{50e-9, ci(-4e-6, 5e-6), "s", "0.050 µs [-4.000, 5.000]"},
		// Sizes are exact where they are whole, and otherwise in powers of 1024, too.
		{4096, ci(4096, 4<<20), "B", "4 KiB [4, 4096]"},
		{64 << 10, ci(64<<10, 4<<20), "B", "64 KiB [64, 4096]"},
		{1 << 20, ci(16<<10, 1<<20), "B", "1024 KiB [16, 1024]"},
		{4 << 20, nil, "B", "4 MiB"},
		{1448, nil, "B", "1448 B"},
		{123456.7, ci(110000, 130000), "B", "120.6 KiB [107.4, 127.0]"},
		{1234567, nil, "B", "1.177 MiB"},
		{0, nil, "B", "0 B"},
		{math.NaN(), nil, "s", "–"},
		{math.Inf(-1), nil, "s", "-∞"},
		{1e-3, ci(0, math.Inf(1)), "s", "1.000 ms [0.000, ∞]"},
	} {
		if got := Format(c.v, c.ci, c.unit).String(); got != c.want {
			t.Errorf("Format(%v, %v, %q) = %q, want %q", c.v, c.ci, c.unit, got, c.want)
		}
	}
}

func TestFormatBound(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		b    [2]float64
		unit string
		want string
	}{
		{[2]float64{0, 9.2e-7}, "s/B", "≤ 920.0 ns/B"},
		{[2]float64{-inf, 9.2e-7}, "s/B", "≤ 920.0 ns/B"},
		{[2]float64{2e-6, inf}, "s", "≥ 2.000 µs"},
		{[2]float64{2e-6, 1e-5}, "s", "2.000 … 10.00 µs"},
		{[2]float64{-1, 2}, "1", "-1.000 … 2.000"},
		{[2]float64{-inf, inf}, "s", "–"},
		{[2]float64{0, inf}, "packets", "–"},
	} {
		if got := FormatBound(c.b, c.unit); got != c.want {
			t.Errorf("FormatBound(%v) = %q, want %q", c.b, got, c.want)
		}
	}
}

func TestPercent(t *testing.T) {
	for v, want := range map[float64]string{0.043: "+4.3%", -0.0004: "0.0%", 0.0001: "0.0%", -0.01: "-1.0%",
		12: "+1200.0%"} {
		if got := signedPercent(v); got != want {
			t.Errorf("signedPercent(%v) = %q, want %q", v, got, want)
		}
	}
	if got := Percent(math.NaN()); got != "–" {
		t.Errorf("NaN prints as %q", got)
	}
}

// Whatever the number, value and interval share their decimals, and no value outside 1e-12…1e12 prints long.
func TestFormatShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Pow(10, rapid.Float64Range(-11.9, 11.9).Draw(t, "exponent"))
		rel := math.Pow(10, rapid.Float64Range(-7, 0.5).Draw(t, "width"))
		q := Format(v, &[2]float64{v * (1 - rel), v * (1 + rel)}, "s")
		lo, hi, ok := strings.Cut(strings.Trim(q.CI, "[]"), ", ")
		if !ok || places(lo) != places(q.Value) || places(hi) != places(q.Value) {
			t.Fatalf("%v ± %v: %s", v, rel, q)
		}
		if n := len(strings.Trim(strings.Replace(q.Value, ".", "", 1), "-")); n > maxDigits+1 {
			t.Fatalf("%v ± %v: %s has %d digits", v, rel, q, n)
		}
		if whole, _, _ := strings.Cut(q.Value, "."); len(whole) > 3 {
			t.Fatalf("%v ± %v: %s has more than three digits before the point", v, rel, q)
		}
	})
}

func places(s string) int {
	_, frac, _ := strings.Cut(s, ".")
	return len(frac)
}

func TestClean(t *testing.T) {
	if got := Clean("h1\x1b[2J\tä生\r\n"); got != "h1·[2J ä生· " {
		t.Errorf("clean = %q", got)
	}
}
