package models

import (
	"os"
	"testing"

	"calib/fit"
	"calib/internal/dataset"
)

// BenchmarkRun fits the run of CALIB_SAMPLES (a samples.jsonl), all models.
func BenchmarkRun(b *testing.B) {
	path := os.Getenv("CALIB_SAMPLES")
	if path == "" {
		b.Skip("CALIB_SAMPLES names no samples.jsonl")
	}
	d, err := dataset.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		fit.Run(All, d, fit.Settings{})
	}
}
