package lsq

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// exhaustive is the least cost of covering x[i:] by exactly k segments, by trying every partition and
// fitting each by QR.
func exhaustive(t *testing.T, x, y []float64, i, k, least int) float64 {
	t.Helper()
	if k == 0 {
		if i == len(x) {
			return 0
		}
		return math.Inf(1)
	}
	best := math.Inf(1)
	for j := i + least; j <= len(x); j++ {
		sol, err := Linear(line(x[i:j]), y[i:j], nil)
		if err != nil {
			t.Fatal(err)
		}
		if sol.Coef[1] <= 0 {
			if sol, err = Linear(slices.Repeat([][]float64{{1}}, j-i), y[i:j], nil); err != nil {
				t.Fatal(err)
			}
		}
		best = min(best, sol.RSS+exhaustive(t, x, y, j, k-1, least))
	}
	return best
}

func TestSegmentedIsOptimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 20 {
		var x, y []float64
		for i := range 13 {
			x = append(x, float64(i*i))
			y = append(y, math.Abs(float64(i*i)-40)+3*float64(i)+10*rng.Float64())
		}
		d := newPartition(x, y, slices.Repeat([]float64{1}, len(x)), SegmentOptions{Max: 4})
		d.search()
		for k := 1; k <= 4; k++ {
			want := exhaustive(t, x, y, 0, k, 3)
			got := d.covers[k][len(x)].cost
			if math.IsInf(want, 1) != math.IsInf(got, 1) || (!math.IsInf(want, 1) && math.Abs(got-want) > 1e-9*want) {
				t.Errorf("%d segments: cost %g, exhaustive search %g", k, got, want)
			}
		}
	}
}

// TestSegmentedRecoversExact checks that exact piecewise lines come back, over sizes that span six decades and times in
// seconds.
func TestSegmentedRecoversExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 3).Draw(t, "segments")
		var x, y []float64
		var want []Segment
		size, level := 1.0, 1e-4
		for range k {
			slope := rapid.Float64Range(1e-9, 1e-6).Draw(t, "slope")
			n := rapid.IntRange(3, 9).Draw(t, "n")
			level += 1e-4 * rapid.Float64Range(1, 5).Draw(t, "jump") // segments do not line up
			seg := Segment{Lo: size, Line: Line{C0: level, C1: slope}}
			for range n {
				x, y = append(x, size), append(y, level+slope*size)
				seg.Hi = size
				size *= rapid.Float64Range(1.3, 2.5).Draw(t, "ratio")
			}
			level += slope * seg.Hi
			want = append(want, seg)
		}
		got, err := FitSegments(x, y, SegmentOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Segments) != k {
			t.Fatalf("%d segments of %d: %+v", len(got.Segments), k, got)
		}
		for i, s := range got.Segments {
			if s.Lo != want[i].Lo || s.Hi != want[i].Hi {
				t.Errorf("segment %d spans [%g, %g], want [%g, %g]", i, s.Lo, s.Hi, want[i].Lo, want[i].Hi)
			}
			near(t, "slope", s.C1/want[i].C1, 1, 1e-6)
		}
		for i := range x {
			near(t, "prediction", got.At(x[i])/y[i], 1, 1e-9)
		}
	})
}

// TestSegmentedChoosesByBIC measures how often noise on one line buys a second, and how often a kink is found.
func TestSegmentedChoosesByBIC(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	const trials = 300
	for _, c := range []struct {
		kink     float64
		segments int
		least    float64 // share of trials that find this number
	}{{0, 1, 0.9}, {1, 2, 0.95}} {
		found := 0
		for range trials {
			var x, y []float64
			for i := range 40 {
				v := float64(i)
				x = append(x, v)
				y = append(y, (10+v+c.kink*max(0, v-20))*(1+0.03*rng.NormFloat64()))
			}
			s, err := FitSegments(x, y, SegmentOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Segments) == c.segments {
				found++
			}
		}
		t.Logf("kink %g: %d of %d trials choose %d segments", c.kink, found, trials, c.segments)
		if float64(found) < c.least*trials {
			t.Errorf("kink %g: %d of %d trials choose %d segments", c.kink, found, trials, c.segments)
		}
	}
}

func TestSegmentedNeverFalls(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	fall := []float64{9, 8, 7, 6, 5, 4, 3, 2, 1}
	if s, err := FitSegments(x[:4], fall[:4], SegmentOptions{}); err != nil || !s.Segments[0].Flat {
		t.Errorf("a falling line: %+v, %v", s, err)
	}
	noisy := []float64{5, 5.1, 4.9, 5, 4.95, 8, 10, 12, 14} // flat, then rising
	s, err := FitSegments(x, noisy, SegmentOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Segments) != 2 || !s.Segments[0].Flat || s.Segments[0].C1 != 0 || s.Segments[1].Flat {
		t.Fatalf("flat then rising: %+v", s)
	}
	near(t, "level", s.Segments[0].C0, 4.99, 1e-3)
	near(t, "slope", s.Segments[1].C1, 2, 1e-12)
	near(t, "break half way, the lines cross elsewhere", s.Breaks[0], 5.5, 1e-12)
	if s, err = FitSegments(x, []float64{7, 7, 7, 7, 7, 7, 7, 7, 7}, SegmentOptions{}); err != nil || !s.Segments[0].Flat {
		t.Errorf("a constant: %+v, %v", s, err)
	}
}

func TestSegmentedSwitch(t *testing.T) {
	x := []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}
	var y []float64
	for _, v := range x {
		y = append(y, max(100, 10+5*v)+0.01*v)
	}
	s, err := FitSegments(x, y, SegmentOptions{Max: 2})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the kink of max(100, 10+5x)", s.Breaks[0], 18, 1e-9)
	near(t, "below", s.At(10), 100.1, 1e-9)
	near(t, "above", s.At(1000), 5020, 1e-9)
	if len(s.Segments) != 2 || s.Segments[0].Distinct+s.Segments[1].Distinct != 10 {
		t.Errorf("%+v", s)
	}
}

func TestFitSegmentsErrors(t *testing.T) {
	x, y := []float64{1, 2, 3}, []float64{1, 2, 3}
	for name, c := range map[string]struct{ x, y []float64 }{
		"NaN":   {x, []float64{1, math.NaN(), 3}},
		"short": {x[:2], y[:2]},
		"empty": {nil, nil},
	} {
		if s, err := FitSegments(c.x, c.y, SegmentOptions{}); err == nil || s != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
