package resample

import (
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func TestBootstrapDeterministic(t *testing.T) {
	run := func(procs int, seed uint64) [][]float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		m := cells{{{1, 2, 3}, {4, 5, 9}}, {{7, 8}, nil}}
		return m.bootstrap(m.medians(), 101, seed, func(med [][]float64) []float64 {
			return []float64{med[0][0] + med[0][1]}
		})
	}
	if !reflect.DeepEqual(run(1, 5), run(7, 5)) {
		t.Error("results depend on GOMAXPROCS")
	}
	if reflect.DeepEqual(run(1, 5), run(1, 6)) {
		t.Error("results do not depend on the seed")
	}
}

// TestBootstrapStdErr compares with the known standard error of a mean: with one sample a round, rounds are what
// varies.
func TestBootstrapStdErr(t *testing.T) {
	v := []float64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29}
	data := [][][]float64{nil}
	for _, a := range v {
		data[0] = append(data[0], []float64{a})
	}
	mean, sd := stat.PopMeanStdDev(v, nil)
	want := sd / math.Sqrt(10)
	m := cells(data)
	r := m.bootstrap(m.medians(), 20000, 3, func(med [][]float64) []float64 { return []float64{stat.Mean(med[0], nil)} })
	means := slices.Concat(r...)
	slices.Sort(means)
	near(t, "standard error", stat.PopStdDev(means, nil)/want, 1, 0.02)
	near(t, "lower", (means[500]-mean)/want, -1.96, 0.1)
	near(t, "upper", (means[19500]-mean)/want, 1.96, 0.1)
}

func TestRoundMedians(t *testing.T) {
	m := cells{{{1, 2, 3}, {10}}, {nil, {20, 30}}}
	got := m.medians()
	if got[0][0] != 2 || got[0][1] != 10 || !math.IsNaN(got[1][0]) || got[1][1] != 25 {
		t.Errorf("medians %v", got)
	}
	m.bootstrap(m.medians(), 200, 1, func(med [][]float64) []float64 {
		for k := range med[0] { // the same round for all points
			if (med[0][k] == 10) == math.IsNaN(med[1][k]) {
				t.Errorf("rounds differ between points: %v", med)
			}
		}
		return nil
	})
}

func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s is %g, want %g within %g%%", what, got, want, 100*rel)
	}
}
