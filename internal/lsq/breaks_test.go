package lsq

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// Breaks that are given are taken as they are: a value on a break belongs to the segment below it, and each segment is
// fitted alone.
func TestGivenBreaks(t *testing.T) {
	x := []float64{1, 2, 3, 4, 10, 20, 30, 100, 200, 300}
	y := []float64{11, 12, 13, 14, 120, 140, 160, 50, 50, 50}
	s, err := FitSegments(x, y, SegmentOptions{Breaks: []float64{4, 50}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Segment{{Lo: 1, Hi: 4, Line: Line{C0: 10, C1: 1}, Distinct: 4},
		{Lo: 10, Hi: 30, Line: Line{C0: 100, C1: 2}, Distinct: 3},
		{Lo: 100, Hi: 300, Line: Line{C0: 50}, Distinct: 3, Flat: true}}
	if len(s.Segments) != len(want) {
		t.Fatalf("%+v", s.Segments)
	}
	for i, w := range want {
		g := s.Segments[i]
		near(t, "intercept", g.C0, w.C0, 1e-12)
		near(t, "slope", g.C1, w.C1, 1e-12)
		if g.Lo != w.Lo || g.Hi != w.Hi || g.Distinct != w.Distinct || g.Flat != w.Flat {
			t.Errorf("segment %d: %+v, want %+v", i, g, w)
		}
	}
	if got := s.Breaks; !slices.Equal(got, []float64{4, 50}) {
		t.Errorf("breaks %v, want those given", got)
	}
	near(t, "on the break", s.At(4), 14, 1e-12)
	near(t, "above it", s.At(4.5), 109, 1e-12)
	fall := []float64{11, 12, 13, 14, 160, 140, 120, 50, 50, 50}
	if s, err := FitSegments(x, fall, SegmentOptions{Breaks: []float64{4, 50}}); err != nil || !s.Segments[1].Flat {
		t.Errorf("a fall between breaks: %+v, %v", s, err)
	}
}

func TestBreaksThatDoNotSuit(t *testing.T) {
	x := []float64{1, 10, 100, 1000, 10000, 100000, 1e6}
	for _, c := range []struct {
		breaks []float64
		want   string // "" is none
	}{
		{nil, ""},
		{[]float64{100}, ""},
		{[]float64{999}, ""},
		{[]float64{1000, 100}, "0 of the sizes measured, 1 to 1000000, are above 1000 and up to 100, where a line needs 3"},
		{[]float64{100, 100}, "above 100 and up to 100"},
		{[]float64{0.5}, "0 of the sizes measured, 1 to 1000000, are above -Inf and up to 0.5"},
		{[]float64{100, 1e6}, "0 of the sizes measured, 1 to 1000000, are above 1000000 and up to +Inf"},
		{[]float64{math.Inf(1)}, "above +Inf and up to +Inf"},
		{[]float64{math.NaN()}, "above NaN"},
		{[]float64{10}, "2 of the sizes"},
		{[]float64{100, 5000}, "1 of the sizes measured, 1 to 1000000, are above 100 and up to 5000"},
		{[]float64{10000}, "2 of the sizes"},
	} {
		_, err := FitSegments(x, x, SegmentOptions{Breaks: c.breaks})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%v: %v", c.breaks, err)
		case c.want != "" && (!errors.Is(err, ErrBreaks) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v: %v, want %s", c.breaks, err, c.want)
		}
	}
}

// As many segments are tried as there are distinct x for.
func TestMostSegments(t *testing.T) {
	for n, want := range map[int]int{3: 3, 94: 3, 119: 3, 120: 4, 179: 5, 180: 6, 490: 6} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		if d := newPartition(x, x, x, SegmentOptions{}); d.opt.Max != want {
			t.Errorf("%d x: up to %d segments, want %d", n, d.opt.Max, want)
		}
	}
}
