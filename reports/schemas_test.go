package reports

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"calib/internal/dataset"
	"calib/params"
)

func resolved(t *testing.T, name string) *jsonschema.Resolved {
	t.Helper()
	all, err := Schemas()
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(all[name]) // as a user gets it
	if err != nil {
		t.Fatal(err)
	}
	s := &jsonschema.Schema{}
	if err := json.Unmarshal(b, s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

func check(t *testing.T, r *jsonschema.Resolved, doc []byte) error {
	t.Helper()
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	return r.Validate(v)
}

func TestSamplesMatchTheirSchemas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.jsonl")
	w, err := dataset.Create(path, dataset.Header{Run: "r", Seed: 1, Plan: "quick", Hosts: []dataset.Host{
		{Name: "h1", Addr: "10.0.0.1:0", Env: map[string]string{"kernel": "6"}}, {Name: "h2"}}})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Append([]dataset.Sample{
		{Exp: "pingpong", Point: dataset.Point{"bytes": 64}, Ranks: []int{0, 1}, NS: []int64{48000, 47000}},
		{Exp: "clock", Flags: []string{dataset.FlagSteal}, TCP: &dataset.TCP{Retrans: 1},
			Aux: map[string]float64{"x_ns": 1.5}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(bytes.TrimSpace(b), []byte("\n")) {
		name := "sample"
		if i == 0 {
			name = "header"
		}
		if err := check(t, resolved(t, name), line); err != nil {
			t.Errorf("line %d: %v\n%s", i+1, err, line)
		}
	}
	if check(t, resolved(t, "sample"), []byte(`{"exp":"","point":{},"ranks":[],"round":0,"slot":0,"part":0,"parts":0,"ns":[]}`)) == nil {
		t.Error("a sample without an experiment is accepted")
	}
	if check(t, resolved(t, "header"), []byte(`{"schema":"calib.samples/2","run":"","seed":1,"plan":"","hosts":[]}`)) == nil {
		t.Error("a header of another version is accepted")
	}
}

func TestResultMatchesItsSchema(t *testing.T) {
	nan := math.NaN()
	p := fixture(t)
	p.Pairs[0].Rate = &nan
	for _, c := range []struct {
		name string
		r    Result
		want string
	}{
		{"run", Result{Command: "run", Run: "d", Files: map[string]string{"params.json": "d/params.json"}, Params: p},
			"done"},
		{"plan", Result{Command: "plan", Plan: &forecast}, "done"},
		{"data", Result{Command: "hosts expand", Data: []string{"h1", "h2"}}, "done"},
		{"failure", Result{Command: "fit", Exit: 1, Error: "open x: no such file"}, "failed"},
		{"usage", Result{Command: "fit", Exit: 2}, "usage"},
		{"regression", Result{Command: "gate", Exit: 3}, "regression"},
		{"partial", Result{Command: "run", Exit: 4, Warnings: []string{"host h3 died"}}, "partial"},
		{"inconclusive", Result{Command: "compare", Exit: 5}, "inconclusive"},
		{"interrupted", Result{Command: "run", Exit: 130}, "interrupted"},
		{"unknown", Result{Command: "run", Exit: 77}, "failed"},
	} {
		var b bytes.Buffer
		if err := c.r.Encode(&b); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := check(t, resolved(t, "result"), b.Bytes()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if !strings.Contains(b.String(), `"outcome": "`+c.want+`"`) {
			t.Errorf("%s: outcome is not %s:\n%s", c.name, c.want, b.String())
		}
	}
}

// The params in a result are the params of the file, byte for byte but for the indent.
func TestResultParamsAreTheFile(t *testing.T) {
	p := fixture(t)
	var doc, file bytes.Buffer
	if err := (Result{Command: "fit", Params: p}).Encode(&doc); err != nil {
		t.Fatal(err)
	}
	if err := params.Encode(&file, p); err != nil {
		t.Fatal(err)
	}
	var r struct{ Params json.RawMessage }
	if err := json.Unmarshal(doc.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if err := json.Compact(&a, r.Params); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&b, file.Bytes()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("params in the result differ from params.json")
	}
}
