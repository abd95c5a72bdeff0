package hyperbolic

import (
	"math"
	"testing"

	"calib/params"
)

func TestKind(t *testing.T) {
	for _, c := range []struct {
		growth, lo, hi float64
		want           params.Kind
		falls          bool
	}{
		{0.01, -0.02, 0.04, params.Switch, false},
		{0.03, 0.01, 0.05, params.Unknown, false}, // little contention, but some
		{0.01, -0.02, 0.12, params.Unknown, false},
		{0.01, -0.50, 0.04, params.Unknown, false},
		{-0.1, -12, 11, params.Unknown, false},
		{0.15, 0.05, 0.25, params.Unknown, false},
		{0.30, 0.11, 0.50, params.Shared, false},
		{-0.3, -0.5, -0.2, params.Unknown, true},
		{math.NaN(), 0, 0, params.Switch, false}, // known is asked first
	} {
		e := effect{growth: c.growth, lo: c.lo, hi: c.hi}
		if e.kind() != c.want || e.falls() != c.falls {
			t.Errorf("%+v: %s, falls %v", e, e.kind(), e.falls())
		}
	}
}

// A change whose interval holds less than nothing is no share.
func TestGrowthWords(t *testing.T) {
	for want, e := range map[string]effect{
		"+83% [-35%, +201%]":                         {0.83, -0.35, 2.01, 1e-3, "s"},
		"+830 µs [-5.35 ms, +7.01 ms] of 1 ms":       {0.83, -5.35, 7.01, 1e-3, "s"},
		"-100 ns/B [-1.2 µs/B, +1.1 µs/B] of 1 µs/B": {-0.1, -1.2, 1.1, 1e-6, "s/B"},
	} {
		if got := e.words(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestBestBreak(t *testing.T) {
	n := []float64{1, 2, 3, 4, 5, 6}
	one := []float64{1, 1, 1, 1, 1, 1}
	for _, tc := range []struct {
		b, bc float64
		flat  int
	}{{1.42, 0.92, 1}, {3.5, 1, 3}, {5.5, 1, 5}} {
		v := make([]float64, len(n))
		for i := range n {
			v[i] = max(tc.b, n[i]*tc.bc)
		}
		got, flat := bestBreak(n, v, one), 0
		for _, x := range n {
			if x*got.bc < got.b {
				flat++
			}
		}
		if flat != tc.flat || !got.consistent || math.Abs(got.b-tc.b) > 1e-12*tc.b || math.Abs(got.bc-tc.bc) > 1e-12*tc.bc {
			t.Errorf("%+v: %+v", tc, got)
		}
	}
}

func TestSmallAndLargeSizes(t *testing.T) {
	flat := func(n int, v float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = v
		}
		return out
	}
	if got := smallSizes([]float64{1, 500, 1000, 3000}, flat(4, 1), 1448); got != 3 {
		t.Errorf("flat: %d small sizes, want those within a packet", got)
	}
	if got := smallSizes([]float64{1, 500, 1000, 3000}, []float64{1, 1.5, 2, 3}, 1448); got != 2 {
		t.Errorf("steep: %d small sizes, want two", got)
	}
	if got := smallSizes([]float64{1, 5000, 10000}, flat(3, 1), 1448); got != 1 {
		t.Errorf("one within a packet: %d small sizes", got)
	}
	sizes := []float64{1, 10, 100, 1000, 10000, 100000, 1000000}
	if got := largeSizes(sizes, flat(7, 1), nil, 0); got != 4 {
		t.Errorf("flat T: large from %d, want the last three", got)
	}
	few, times := []float64{1, 701, 1401, 16001, 64001}, []float64{2.11, 3.77, 5.42, 26.99, 95.03}
	if got := largeSizes(few, times, nil, 1448); got != 3 {
		t.Errorf("few sizes: large from %d, want those above a packet", got)
	}
}
