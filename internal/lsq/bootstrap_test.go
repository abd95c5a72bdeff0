package lsq

import (
	"errors"
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
		m, err := NewRoundMedians([][][]float64{{{1, 2, 3}, {4, 5, 9}}, {{7, 8}, nil}})
		if err != nil {
			t.Fatal(err)
		}
		b, err := m.Bootstrap(101, seed, func(med [][]float64) []float64 { return []float64{med[0][0] + med[0][1]} })
		if err != nil {
			t.Fatal(err)
		}
		return b
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
	m, err := NewRoundMedians(data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Bootstrap(20000, 3, func(med [][]float64) []float64 { return []float64{stat.Mean(med[0], nil)} })
	if err != nil {
		t.Fatal(err)
	}
	means := slices.Concat(r...)
	slices.Sort(means)
	near(t, "standard error", stat.PopStdDev(means, nil)/want, 1, 0.02)
	near(t, "lower", (means[500]-mean)/want, -1.96, 0.1)
	near(t, "upper", (means[19500]-mean)/want, 1.96, 0.1)
}

func TestBootstrapErrors(t *testing.T) {
	for name, c := range map[string]struct {
		data [][][]float64
		want error
	}{
		"no points": {nil, ErrShort},
		"no rounds": {[][][]float64{{}}, ErrShort},
		"ragged":    {[][][]float64{{{1}}, {{1}, {2}}}, ErrShape},
		"NaN":       {[][][]float64{{{1, math.NaN()}}}, ErrNotFinite},
	} {
		if _, err := NewRoundMedians(c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewMedianResampler(nil); !errors.Is(err, ErrShort) {
		t.Errorf("empty sample: %v", err)
	}
	m, err := NewRoundMedians([][][]float64{{{1}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Bootstrap(0, 1, func([][]float64) []float64 { return nil }); !errors.Is(err, ErrShape) {
		t.Errorf("no replicates: %v", err)
	}
}

func TestRoundMedians(t *testing.T) {
	m, err := NewRoundMedians([][][]float64{{{1, 2, 3}, {10}}, {nil, {20, 30}}})
	if err != nil {
		t.Fatal(err)
	}
	got := m.Medians()
	if got[0][0] != 2 || got[0][1] != 10 || !math.IsNaN(got[1][0]) || got[1][1] != 25 {
		t.Errorf("medians %v", got)
	}
	if _, err := m.Bootstrap(200, 1, func(med [][]float64) []float64 {
		for k := range med[0] { // the same round for all points
			if (med[0][k] == 10) == math.IsNaN(med[1][k]) {
				t.Errorf("rounds differ between points: %v", med)
			}
		}
		return []float64{1}
	}); err != nil {
		t.Fatal(err)
	}
}
