package compare

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"math"
	"testing"

	"pgregory.net/rapid"

	"calib/params"
)

// Whatever runs hold, a verdict can be written, and its outcome is one of four.
func TestAnyRuns(t *testing.T) {
	value := rapid.OneOf(rapid.Float64(), rapid.Float64Range(0.5, 2),
		rapid.SampledFrom([]float64{0, math.NaN(), math.Inf(-1), 5e-324, 1.7e308}))
	name := rapid.SampledFrom([]string{"a", "b", "latency"})
	host := rapid.SampledFrom([]string{"", "n1", "n2", "n3", "n4", "n5"})
	metric := rapid.Custom(func(t *rapid.T) params.Metric {
		return params.Metric{Name: name.Draw(t, "name"), From: host.Draw(t, "from"), To: host.Draw(t, "to"),
			Value:  value.Draw(t, "value"),
			Unit:   rapid.SampledFrom([]string{"s", "B/s", "", "1"}).Draw(t, "unit"),
			Better: rapid.SampledFrom([]string{"lower", "higher", ""}).Draw(t, "better")}
	})
	run := rapid.Custom(func(t *rapid.T) Run {
		return Run{ID: "r", Metrics: rapid.SliceOfN(metric, 0, 30).Draw(t, "metrics"),
			Environment: map[string]map[string]string{"n1": {"kernel": rapid.SampledFrom([]string{"1", "2"}).Draw(t, "kernel")}}}
	})
	rapid.Check(t, func(t *rapid.T) {
		v := Compare(rapid.SliceOfN(run, 0, 6).Draw(t, "old"), rapid.SliceOfN(run, 0, 6).Draw(t, "new"),
			Options{Allow: []string{AllowEnvironment}})
		var j, x, text bytes.Buffer
		if err := WriteVerdict(&j, v); err != nil || !json.Valid(j.Bytes()) {
			t.Fatal(err)
		}
		var s suite
		if err := JUnit(&x, v); err != nil || xml.Unmarshal(x.Bytes(), &s) != nil {
			t.Fatal(err)
		}
		if err := Text(&text, v); err != nil {
			t.Fatal(err)
		}
		switch v.Outcome {
		case OK, Regression, Inconclusive, NotComparable:
		default:
			t.Fatalf("outcome %q", v.Outcome)
		}
	})
}

func BenchmarkLargeMatrix(b *testing.B) {
	old, is := cluster(1, 64, 60, 0.02, nil), cluster(2, 64, 5, 0.02, of("n07", 1.5))
	o := Options{Noise: Noise(old)}
	for b.Loop() {
		Compare(old, is, o)
	}
}
