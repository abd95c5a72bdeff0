package models

import (
	"errors"
	"testing"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/params"
)

// Streams without bursts, as other tools measure them, give the time per byte and nothing else.
func TestNetworkStreamsOnly(t *testing.T) {
	d := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Hosts: []dataset.Host{{Name: "u"}, {Name: "v"}}}}
	for i := range 3 {
		d.Samples = append(d.Samples, dataset.Sample{Exp: "paired", Phase: names.PhaseStream,
			Point: dataset.Point{"bytes": 131072, "pairs": 1},
			Ranks: []int{0, 1}, NS: []int64{1e9}, Aux: map[string]float64{"batch": float64(i),
				"chunk_bytes": 125e6 + float64(i-1)*1e6}})
	}
	f := fitWith(t, hyperbolic.Network, d, 200)
	near(t, "b'", value(t, f, "b_prime"), 8e-9, 1e-9)
	checkFit(t, hyperbolic.Network, f)
	if len(f.Parameters) != 3 || !warns(f.Findings, params.OneRound, "one round only") ||
		!notes(f.Findings, "streams-only", "streams only") || f.Domain["pairs"] != [2]float64{1, 1} {
		t.Errorf("%+v", f)
	}
	for i := range d.Samples {
		d.Samples[i].Flags = []string{dataset.FlagRetrans}
	}
	if _, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{})); !errors.Is(err, fit.ErrNeeds) {
		t.Errorf("streams with loss only: %v, want ErrNeeds", err)
	}
}
