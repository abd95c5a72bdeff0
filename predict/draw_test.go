package predict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"calib/internal/stats"
	"calib/params"
	"calib/predict/cost"
)

// Draws are about the value, as wide as the interval on each side, and independent of what other parameters there are.
func TestDrawn(t *testing.T) {
	v := 10.0
	p := &params.Params{
		Parameters: map[string]params.Parameter{"a": {Value: &v, CI95: &[2]float64{8, 16}}, "bound": {Estimate: &v}},
		Functions: map[string]params.Function{"f": {Coeff: map[string]float64{"c0": 5, "c1": 1},
			CI95: map[string][2]float64{"c0": {4, 6}}}},
	}
	var below, above, f []float64
	for k := range uint64(4000) {
		d := drawn(p, nil, rand.New(rand.NewPCG(1, k)))
		if a := *d.Parameters["a"].Value; a < v {
			below = append(below, (a-v)*(a-v))
		} else {
			above = append(above, (a-v)*(a-v))
		}
		f = append(f, d.Functions["f"].Coeff["c0"])
		if d.Functions["f"].Coeff["c1"] != 1 || d.Parameters["bound"].Value != nil {
			t.Fatal("what has no interval was drawn")
		}
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"below", math.Sqrt(stats.Mean(below)), 2 / Normal95}, {"above", math.Sqrt(stats.Mean(above)), 6 / Normal95},
		{"c0", stats.Mean(f), 5},
	} {
		if math.Abs(c.got/c.want-1) > 0.05 {
			t.Errorf("%s: %g, want %g", c.what, c.got, c.want)
		}
	}
	if *p.Parameters["a"].Value != 10 || p.Functions["f"].Coeff["c0"] != 5 {
		t.Error("the parameters themselves were changed")
	}
}

// Numbers that err together are drawn together: the sum of three that are one is three times as wide as each.
func TestDrawnTogether(t *testing.T) {
	v := 10.0
	q := params.Parameter{Value: &v, CI95: &[2]float64{8, 12}}
	p := &params.Params{
		Parameters: map[string]params.Parameter{"a": q, "b": q, "other": q},
		Functions: map[string]params.Function{"f": {Coeff: map[string]float64{"c0": 10},
			CI95: map[string][2]float64{"c0": {8, 12}}}},
		Correlations: []params.Correlation{{Names: []string{"a", "f.c0", "b"}, Rows: [][]float64{{}, {1}, {1, 1}}}},
	}
	p.Run.Seed = 1
	var all, sum, apart []float64
	for _, d := range draws(p)(4000) {
		a, b, c, other := *d.Parameters["a"].Value, *d.Parameters["b"].Value, d.Functions["f"].Coeff["c0"],
			*d.Parameters["other"].Value
		all, sum, apart = append(all, a), append(sum, a+b+c), append(apart, a+other)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{{"of three", stat.StdDev(sum, nil) / stat.StdDev(all, nil), 3},
		{"of two apart", stat.StdDev(apart, nil) / stat.StdDev(all, nil), math.Sqrt2}} {
		if math.Abs(c.got/c.want-1) > 0.05 {
			t.Errorf("sum %s: %g times as wide as one, want %g", c.what, c.got, c.want)
		}
	}
}

// A positive value stays positive, however wide its interval.
func TestMovedStaysPositive(t *testing.T) {
	if w := moved(1, [2]float64{-9, 11}, -3); w <= 0 {
		t.Errorf("%g", w)
	}
	if w := moved(-1, [2]float64{-2, 0}, -1.96); w != -2 {
		t.Errorf("%g", w)
	}
}

// teams notes which hosts a model is asked for.
type teams [][]int

func (t *teams) Time(traffic *cost.Traffic) (float64, error) {
	*t = append(*t, traffic.Teams...)
	return 1, nil
}

// A model is held against T(x) with hosts that T(x) is of: of the largest kind, and of one group.
func TestMisfitIsOfOneKind(t *testing.T) {
	p := &params.Params{Run: params.Run{Hosts: []string{"h0", "h1", "h2", "h3", "h4"}},
		Kinds:    [][]string{{"h1", "h3", "h4"}, {"h0", "h2"}},
		Measured: []params.Series{{Quantity: params.Time, Points: []params.Residual{{X: 1, Measured: 1, Lo: 1, Hi: 1}}}}}
	for _, c := range []struct {
		groups [][]string
		want   []int
	}{{nil, []int{1, 3}}, {[][]string{{"h0", "h1", "h2"}, {"h3", "h4"}}, []int{3, 4}}} {
		var asked teams
		if p.Groups = nil; c.groups != nil {
			p.Groups = &params.Groups{Hosts: c.groups}
		}
		if off := misfit(&asked, p); off != 0 || len(asked) != 1 || !slices.Equal(asked[0], c.want) {
			t.Errorf("%v: %v asked, want %v; off by %g", c.groups, asked, c.want, off)
		}
	}
}
