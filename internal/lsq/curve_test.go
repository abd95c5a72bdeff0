package lsq

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"calib/internal/lists"
)

// packets is the time of a message where each packet takes 100 and the sizes within the first one take more a byte.
func packets(x float64) float64 {
	return 1000 + 0.5*min(x, 1448) + 0.2*x + 100*math.Ceil(x/1448)
}

// Of few sizes lines from size to size, with a corner at one packet, are near where nothing was measured; segments of
// three sizes each are not.
func TestCurveOfFewSizes(t *testing.T) {
	x := []float64{1, 15, 137, 12557, 63382}
	s, err := FitCurve(x, lists.Map(x, packets), nil, 1448)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Joined || !slices.Equal(s.Breaks, []float64{15, 137, 1448, 12557}) || s.LeftOut <= 0 || s.LeftOut > 0.05 {
		t.Errorf("%+v", s)
	}
	for _, v := range []float64{1, 68, 1024, 1448, 3059, 30000, 63382} {
		near(t, "T", s.At(v)/packets(v), 1, 0.04)
	}
	segments, err := FitSegments(x, lists.Map(x, packets), SegmentOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if off := math.Abs(segments.At(1024)/packets(1024) - 1); off < 0.1 {
		t.Errorf("segments are %g off: the sizes show nothing", off)
	}
	again, err := s.Again(x, lists.Map(x, func(x float64) float64 { return 2 * packets(x) }))
	if err != nil || !again.Joined {
		t.Fatal(again, err)
	}
	near(t, "twice", again.At(1024), 2*s.At(1024), 1e-9)
}

// Segments stay where they are exact, for points left out as well, where breaks are given, and where values only
// scatter about one line.
func TestCurveOfSegments(t *testing.T) {
	x := []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}
	bent := lists.Map(x, func(x float64) float64 { return max(100, 10+5*x) + 0.01*x })
	for _, breaks := range [][]float64{nil, {16}} {
		if s, err := FitCurve(x, bent, breaks, 1448); err != nil || s.Joined || len(s.Segments) != 2 || s.LeftOut > 1e-12 {
			t.Errorf("breaks %v: %+v, %v", breaks, s, err)
		}
	}
	rng, joined := rand.New(rand.NewPCG(3, 5)), 0
	for range 100 {
		noisy := lists.Map(x, func(x float64) float64 { return (100 + x) * (1 + 0.05*rng.NormFloat64()) })
		s, err := FitCurve(x, noisy, nil, 1448)
		if err != nil {
			t.Fatal(err)
		}
		if s.Joined {
			joined++
		}
	}
	t.Logf("%d of 100 noisy lines are joined from size to size", joined)
	if joined > 25 {
		t.Errorf("%d of 100 noisy lines are joined from size to size", joined)
	}
	if s, err := FitCurve(x[:2], bent[:2], nil, 1448); err == nil || s != nil {
		t.Errorf("two sizes: %+v", s)
	}
}

// Lines from size to size never fall: what falls is pooled.
func TestJoinedNeverFalls(t *testing.T) {
	s, err := joined(math.Inf(1))([]float64{1, 2, 3, 4, 5}, []float64{2, 4, 2, 2, 8})
	if err != nil {
		t.Fatal(err)
	}
	pooled := (4./16 + 2./4 + 2./4) / (1./16 + 1./4 + 1./4) // weights are 1/y²
	for i, want := range []float64{2, pooled, pooled, pooled, 8} {
		near(t, "value", s.At(float64(i+1)), want, 1e-12)
	}
	// The line below a corner ends at the value above it.
	s, err = joined(4)([]float64{1, 2, 5, 6}, []float64{1, 2, 3, 9})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "at the corner", s.At(4), 3, 1e-12)
	near(t, "below it", s.At(3), 2.5, 1e-12)
}
