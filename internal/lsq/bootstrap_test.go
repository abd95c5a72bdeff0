package lsq

import (
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

func TestBootstrapIndices(t *testing.T) {
	sizes := []int{3, 0, 5, 1}
	r, err := Bootstrap(sizes, 200, 1, func(d *Draw) ([]float64, error) {
		if len(d.Rounds) != 4 {
			return nil, errors.New("rounds")
		}
		for k, round := range d.Rounds {
			if len(d.Index[k]) != sizes[round] {
				return nil, errors.New("samples")
			}
			for _, i := range d.Index[k] {
				if i < 0 || i >= sizes[round] {
					return nil, errors.New("index")
				}
			}
		}
		return []float64{float64(d.Rounds[0])}, nil
	})
	if err != nil || r.Failed != 0 || r.Err != nil || len(r.Values) != 200 {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestBootstrapDeterministic(t *testing.T) {
	run := func(procs int, seed uint64) [2][][]float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		a, err := Bootstrap([]int{4, 9, 2}, 101, seed, func(d *Draw) ([]float64, error) {
			return []float64{float64(d.Rounds[0]*100 + d.Index[0][0]*10 + d.Index[2][1])}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewRoundMedians([][][]float64{{{1, 2, 3}, {4, 5, 9}}, {{7, 8}, nil}})
		if err != nil {
			t.Fatal(err)
		}
		b, err := m.Bootstrap(101, seed, func(med [][]float64) ([]float64, error) {
			return []float64{med[0][0] + med[0][1]}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return [2][][]float64{a.Values, b.Values}
	}
	if !reflect.DeepEqual(run(1, 5), run(7, 5)) {
		t.Error("results depend on GOMAXPROCS")
	}
	if reflect.DeepEqual(run(1, 5), run(1, 6)) {
		t.Error("results do not depend on the seed")
	}
}

// TestBootstrapStdErr compares with the known standard error of a mean, with one
// sample per round (rounds are what vary) and with one round (samples are).
func TestBootstrapStdErr(t *testing.T) {
	v := []float64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29}
	var mean, sum float64
	for _, a := range v {
		mean += a / 10
	}
	for _, a := range v {
		sum += (a - mean) * (a - mean)
	}
	want := math.Sqrt(sum / 10 / 10)
	for name, sizes := range map[string][]int{"rounds": slices.Repeat([]int{1}, 10), "samples": {10}} {
		r, err := Bootstrap(sizes, 20000, 3, func(d *Draw) ([]float64, error) {
			var s float64
			for k, round := range d.Rounds {
				for _, i := range d.Index[k] {
					s += v[round+i] / 10 // one of the two is always zero
				}
			}
			return []float64{s}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		se, err := r.StdErr()
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, se[0]/want, 1, 0.02)
		ci, err := r.Percentile(0.95)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name+" lower", (ci[0][0]-mean)/want, -1.96, 0.1)
		near(t, name+" upper", (ci[0][1]-mean)/want, 1.96, 0.1)
	}
}

func TestReplicatesCountFailures(t *testing.T) {
	boom := errors.New("boom")
	r, err := Bootstrap([]int{1, 1}, 1000, 1, func(d *Draw) ([]float64, error) {
		switch {
		case d.Rounds[0] == 0 && d.Rounds[1] == 0:
			return nil, boom
		case d.Rounds[0] == 1 && d.Rounds[1] == 1:
			return []float64{1, math.NaN()}, nil
		}
		return []float64{1, 2}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed < 400 || r.Failed > 600 || r.FailedAt[1] != r.Failed || r.FailedAt[0] >= r.Failed || !errors.Is(r.Err, boom) {
		t.Errorf("failed %d, %v, %v", r.Failed, r.FailedAt, r.Err)
	}
	if ci, err := r.Percentile(0.9); err != nil || ci[1] != [2]float64{2, 2} {
		t.Errorf("%v, %v", ci, err)
	}
	r, err = Bootstrap([]int{1}, 10, 1, func(*Draw) ([]float64, error) { return nil, boom })
	if !errors.Is(err, ErrReplicates) || r == nil || !errors.Is(r.Err, boom) || r.Failed != 10 {
		t.Errorf("all fail: %+v, %v", r, err)
	}
	r, err = Bootstrap([]int{1}, 10, 1, func(*Draw) ([]float64, error) { return []float64{0, math.NaN()}, nil })
	if !errors.Is(err, ErrReplicates) || r.FailedAt[0] != 0 {
		t.Errorf("a component never finite: %+v, %v", r, err)
	}
	if _, err := r.Percentile(0.9); !errors.Is(err, ErrReplicates) {
		t.Errorf("interval of nothing: %v", err)
	}
	if _, err := r.StdErr(); !errors.Is(err, ErrReplicates) {
		t.Errorf("standard error of nothing: %v", err)
	}
}

func TestBootstrapErrors(t *testing.T) {
	one := func(*Draw) ([]float64, error) { return []float64{1}, nil }
	if _, err := Bootstrap(nil, 10, 1, one); !errors.Is(err, ErrShort) {
		t.Errorf("no rounds: %v", err)
	}
	if _, err := Bootstrap([]int{1, -1}, 10, 1, one); !errors.Is(err, ErrShape) {
		t.Errorf("negative size: %v", err)
	}
	if _, err := Bootstrap([]int{1}, 0, 1, one); !errors.Is(err, ErrShape) {
		t.Errorf("no replicates: %v", err)
	}
	if _, err := Bootstrap([]int{1, 1}, 50, 1, func(d *Draw) ([]float64, error) {
		return make([]float64, 1+d.Rounds[0]), nil
	}); !errors.Is(err, ErrShape) {
		t.Errorf("varying estimates: %v", err)
	}
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
	r, err := Bootstrap([]int{1}, 10, 1, one)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Percentile(1.5); !errors.Is(err, ErrShape) {
		t.Errorf("level: %v", err)
	}
	if _, err := r.Basic([]float64{1, 2}, 0.9); !errors.Is(err, ErrShape) {
		t.Errorf("estimates: %v", err)
	}
}

func TestIntervals(t *testing.T) {
	r, err := collect([][]float64{{5}, {1}, {4}, {2}, {3}}, make([]error, 5))
	if err != nil {
		t.Fatal(err)
	}
	ci, err := r.Percentile(0.5)
	if err != nil || ci[0] != [2]float64{2, 4} {
		t.Errorf("quartiles of 1..5: %v, %v", ci, err)
	}
	basic, err := r.Basic([]float64{2.5}, 0.5)
	if err != nil || basic[0] != [2]float64{1, 3} {
		t.Errorf("basic: %v, %v", basic, err)
	}
	se, err := r.StdErr()
	if err != nil || math.Abs(se[0]-math.Sqrt(2.5)) > 1e-15 {
		t.Errorf("standard error: %v, %v", se, err)
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
	if _, err := m.Bootstrap(200, 1, func(med [][]float64) ([]float64, error) {
		for k := range med[0] { // the same round for all points
			if (med[0][k] == 10) == math.IsNaN(med[1][k]) {
				t.Errorf("rounds differ between points: %v", med)
			}
		}
		return []float64{1}, nil
	}); err != nil {
		t.Fatal(err)
	}
}
