package main

import (
	"slices"
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.v); got != c.want {
			t.Errorf("median of %v: %v, want %v", c.v, got, c.want)
		}
	}
}

func TestRatios(t *testing.T) {
	if got := ratios([]float64{2, 9}, []float64{4, 3}); !slices.Equal(got, []float64{0.5, 3}) {
		t.Errorf("ratios %v", got)
	}
}

func TestWaitFor(t *testing.T) {
	if err := waitFor(strings.NewReader("one\ntwo is ready\nthree\n"), "ready"); err != nil {
		t.Error(err)
	}
	if err := waitFor(strings.NewReader("one\n"), "ready"); err == nil {
		t.Error("a server that ended is not ready")
	}
}
