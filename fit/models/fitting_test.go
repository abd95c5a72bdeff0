package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"calib/fit"
	"calib/internal/dataset"
	"calib/params"
)

// near fails unless got is within rel of want, relative to it.
func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s = %g, want %g within %g%%", what, got, want, 100*rel)
	}
}

// within fails unless got is within d of want.
func within(t *testing.T, what string, got, want, d float64) {
	t.Helper()
	if !(math.Abs(got-want) <= d) {
		t.Errorf("%s = %g, want %g ± %g", what, got, want, d)
	}
}

// fitWith fits a model with a number of bootstrap replicates; 0 is the default.
func fitWith(t *testing.T, m fit.Model, d *dataset.Dataset, replicates int) *params.Fit {
	t.Helper()
	f, err := m.Fit(fit.Prepare(d, fit.Settings{Replicates: replicates}))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func value(t *testing.T, f *params.Fit, name string) float64 {
	t.Helper()
	p, ok := f.Parameters[name]
	if !ok || p.Value == nil {
		t.Fatalf("no value of %s: %+v, findings %v", name, p, f.Findings)
	}
	return *p.Value
}

// warns reports whether one of the findings is a warning of that code whose message holds text.
func warns(findings []params.Finding, code params.Code, text string) bool {
	return found(findings, params.Warning, code, text)
}

// notes reports whether one of the findings is a note of that code whose message holds text.
func notes(findings []params.Finding, code params.Code, text string) bool {
	return found(findings, params.Note, code, text)
}

func found(findings []params.Finding, level params.Level, code params.Code, text string) bool {
	for _, f := range findings {
		if f.Level == level && f.Code == code && strings.Contains(f.Message, text) {
			return true
		}
	}
	return false
}

func warnings(findings []params.Finding) []string {
	var out []string
	for _, f := range findings {
		if f.Level == params.Warning {
			out = append(out, f.Message)
		}
	}
	return out
}

// pairOf is a dataset of ping-pong between two hosts with T(x) given, in three rounds.
func pairOf(sizes []float64, at func(x float64) float64) *dataset.Dataset {
	d := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Hosts: []dataset.Host{{Name: "u"}, {Name: "v"}}}}
	for round := range 3 {
		for _, x := range sizes {
			ns := int64(math.Round(at(x) * 1e9))
			d.Samples = append(d.Samples, dataset.Sample{Exp: "pingpong", Point: dataset.Point{"bytes": int64(x)},
				Ranks: []int{0, 1}, Round: round, TCP: &dataset.TCP{MSS: 1448}, NS: []int64{ns, ns + 1, ns - 1}})
		}
	}
	return d
}

// encodeParams returns p as params.json holds it.
func encodeParams(t testing.TB, p *params.Params) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := params.Encode(&buf, p); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// travelled returns p as it is read from its files.
func travelled(t testing.TB, p *params.Params) *params.Params {
	t.Helper()
	var points bytes.Buffer
	got, err := params.Decode(bytes.NewReader(encodeParams(t, p)))
	if err == nil {
		err = errors.Join(params.EncodePoints(&points, p), got.ReadPoints(&points))
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// validate returns what a params.json breaks of its schema.
func validate(t testing.TB, b []byte) error {
	t.Helper()
	s, _, err := params.JSONSchemas()
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return r.Validate(v)
}

// datasetOf is an empty dataset of hosts h1, h2, …
func datasetOf(run string, seed uint64, hosts int) *dataset.Dataset {
	d := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Run: run, Seed: seed}}
	for i := range hosts {
		d.Header.Hosts = append(d.Header.Hosts, dataset.Host{Name: fmt.Sprintf("h%d", i+1)})
	}
	return d
}

// first are the n first ranks.
func first(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
