package main

import (
	"fmt"
	"slices"

	"calib/internal/stats"
)

// ratios divides pair by pair.
func ratios(a, b []float64) []float64 {
	r := make([]float64, len(a))
	for i := range a {
		r[i] = a[i] / b[i]
	}
	return r
}

// row prints one line of the table: the median, the range, and a note.
func row(name string, v []float64, format, note string) {
	if len(v) == 0 {
		fmt.Printf("  %-22s %10s  %s\n", name, "–", note)
		return
	}
	text := func(x float64) string { return fmt.Sprintf(format, x) }
	fmt.Printf("  %-22s %10s  (%s to %s, %d runs)  %s\n", name, text(stats.Median(v)), text(slices.Min(v)), text(slices.Max(v)),
		len(v), note)
}

// verdict is whether a bar was met, in words.
func verdict(met bool, bar string) string {
	if met {
		return "bar " + bar + ": met"
	}
	return "bar " + bar + ": MISSED"
}
