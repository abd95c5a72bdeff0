package params_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/params"
)

// A file of the version before says the same as one of today: its function L is L_cluster, LogGP's L is L.
func TestOlderFile(t *testing.T) {
	l := 4e-4
	p := &params.Params{Schema: params.Schema, Run: params.Run{ID: "r"},
		Parameters: map[string]params.Parameter{"L": {Value: &l, Unit: "s", Status: params.StatusOK, Model: "loggp"}},
		Functions: map[string]params.Function{"L_cluster": {Form: params.Bilinear, Unit: "s", Model: "cluster",
			Coeff: map[string]float64{"l0": 1e-4, "l1": 1e-6, "tau": 1e-9}, Status: params.StatusOK}},
		Correlations: []params.Correlation{{Names: []string{"L_cluster.l0", "L_cluster.l1"}, Rows: [][]float64{{}, {-0.5}}}},
		Fits:         []*params.Fit{{Model: "cluster"}}}
	p.Fits[0].Series = []params.Series{{Name: "L_cluster(m, 2)", Symbol: "L_cluster", Quantity: params.TransferTime}}
	var file, points bytes.Buffer
	if err := params.Encode(&file, p); err != nil {
		t.Fatal(err)
	}
	if err := params.EncodePoints(&points, p); err != nil {
		t.Fatal(err)
	}
	read := func(file, points string) string {
		p, err := params.Decode(strings.NewReader(file))
		if err == nil {
			err = p.ReadPoints(strings.NewReader(points))
		}
		text, fault := json.Marshal(p)
		if err != nil || fault != nil || p.Correlation("L_cluster.l0", "L_cluster.l1") != -0.5 {
			t.Fatal(err, fault, p)
		}
		return string(text) + p.Fits[0].Series[0].Name + p.Fits[0].Series[0].Symbol
	}
	before := strings.NewReplacer("calib.params/5", "calib.params/3", "L_cluster(m, ", "L(m,", "L_cluster", "L")
	older := before.Replace(file.String())
	if d := cmp.Diff(read(file.String(), points.String()), read(older, before.Replace(points.String()))); d != "" {
		t.Error(d)
	}
	for old, name := range map[string]string{"L": "L", "L.l0": "L_cluster.l0", "L(m,p)": "L_cluster", "B_L": "B_L",
		"T.1KiB": "T.1KiB"} {
		if got := params.Renamed(old); got != name {
			t.Errorf("%s is %s, want %s", old, got, name)
		}
	}
}
