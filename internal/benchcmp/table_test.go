package main

import (
	"slices"
	"strings"
	"testing"
)

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
