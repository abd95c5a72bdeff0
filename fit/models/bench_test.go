package models

import (
	"cmp"
	"os"
	"testing"

	"calib/fit"
)

// BenchmarkRun fits all models to the samples.jsonl that CALIB_SAMPLES names, or else to a stored dataset.
func BenchmarkRun(b *testing.B) {
	d := readDataset(b, cmp.Or(os.Getenv("CALIB_SAMPLES"), "testdata/switch-full/samples.jsonl.gz"))
	for b.Loop() {
		fit.Run(All, d, fit.Settings{})
	}
}
