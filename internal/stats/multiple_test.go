package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestNeeded(t *testing.T) {
	if m, n := NeededEach(1, 1, 0.05); m != 4 || n != 4 {
		t.Errorf("%d against %d", m, n)
	}
	if m, n := NeededEach(20, 1, 0.05); m != 20 || n != 2 {
		t.Errorf("%d against %d", m, n)
	}
	if m, n := NeededEach(0, 0, 0.05/40); m != 6 || n != 7 {
		t.Errorf("%d against %d", m, n)
	}
	if n, ok := NeededMore(20, 0.05); n != 2 || !ok {
		t.Error(n, ok)
	}
	if n, ok := NeededMore(1, 0.001); n != 0 || ok {
		if !ok || SmallestP(1, n) > 0.001 {
			t.Error(n, ok)
		}
	}
	if SmallestP(0, 5) != 1 || SmallestP(1, 1) != 1 {
		t.Error("no test with nothing")
	}
}

func TestSplits(t *testing.T) {
	seen := map[[3]int]bool{}
	for d := range splits(7, 3, 1) {
		if !(d[0] < d[1] && d[1] < d[2] && d[2] < 7) {
			t.Fatal(d)
		}
		seen[[3]int(d)] = true
	}
	if len(seen) != 35 {
		t.Errorf("%d of 35 splits", len(seen))
	}
}

// One quantity of 1,000 has changed: the runs of a few are enough, where a rank test adjusted for 1,000 never is.
func TestMaxT(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	rows := make([][]float64, 1000)
	for i := range rows {
		rows[i] = make([]float64, 12)
		for j := range rows[i] {
			rows[i][j] = 1 + 0.02*rng.NormFloat64()
			if i == 77 && j >= 7 {
				rows[i][j] *= 1.2
			}
		}
	}
	p := MaxT(rows, 7, 1)
	for i, v := range p {
		if (v <= 0.05) != (i == 77) {
			t.Errorf("p of %d is %v", i, v)
		}
	}
	if got := SmallestP(7, 5) * 1000; got <= 0.05 {
		t.Errorf("%v: the example shows nothing", got)
	}
	for _, c := range []struct {
		rows [][]float64
		m    int
	}{{[][]float64{{1, 2}}, 0}, {[][]float64{{1, 2}}, 2}, {[][]float64{{1, 1, 1, 1}}, 2}} {
		if got := MaxT(c.rows, c.m, 1); got[0] != 1 {
			t.Errorf("%v of %v", got, c)
		}
	}
}

// Under no change, any of 30 quantities that share half their noise is rejected at the level, together.
func TestMaxTLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const trials = 500
	wrong := 0
	for range trials {
		rows := make([][]float64, 30)
		shared := make([]float64, 10)
		for j := range shared {
			shared[j] = rng.NormFloat64()
		}
		for i := range rows {
			rows[i] = make([]float64, len(shared))
			for j := range rows[i] {
				rows[i][j] = shared[j] + rng.NormFloat64()
			}
		}
		if slices.Min(MaxT(rows, 5, 1)) <= 0.05 {
			wrong++
		}
	}
	if wrong < 9 || wrong > 42 { // 5% ± 3.4 standard deviations
		t.Errorf("%d of %d at 5%%", wrong, trials)
	}
}
