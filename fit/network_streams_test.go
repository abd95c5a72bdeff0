package fit

import (
	"errors"
	"testing"

	"calib/internal/dataset"
)

// Streams without bursts, as other tools measure them, give the time per byte and nothing else.
func TestNetworkStreamsOnly(t *testing.T) {
	d := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Hosts: []dataset.Host{{Name: "u"}, {Name: "v"}}}}
	for i := range 3 {
		d.Samples = append(d.Samples, dataset.Sample{Exp: "paired", Phase: phaseStream, Point: dataset.Point{"bytes": 131072, "pairs": 1},
			Ranks: []int{0, 1}, NS: []int64{1e9}, Aux: map[string]float64{"batch": float64(i), "chunk_bytes": 125e6 + float64(i-1)*1e6}})
	}
	f := fitOf(t, Network{}, d)
	near(t, "b'", value(t, f, "b_prime"), 8e-9, 1e-9)
	checkFit(t, Network{}, f)
	if len(f.Parameters) != 3 || !says(f.Warnings, "one round only") || !says(f.Notes, "streams only") || f.Domain["pairs"] != [2]float64{1, 1} {
		t.Errorf("%+v", f)
	}
	for i := range d.Samples {
		d.Samples[i].Flags = []string{dataset.FlagRetrans}
	}
	if _, err := (Network{}).Fit(d, Settings{}); !errors.Is(err, ErrNeeds) {
		t.Errorf("streams with loss only: %v, want ErrNeeds", err)
	}
}
