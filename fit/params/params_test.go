package params

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/internal/dataset"
)

var updateParams = flag.Bool("update-params", false, "rewrite testdata/params.json")

func encodeParams(t testing.TB, p *Params) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := Encode(&buf, p); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func validateParams(t testing.TB, b []byte) error {
	t.Helper()
	s, err := Schema()
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

func TestEncodeGolden(t *testing.T) {
	got := encodeParams(t, sparcParams())
	const path = "testdata/params.json"
	if *updateParams {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("params.json (run with -update-params if it is meant):\n%s", diff)
	}
	if err := validateParams(t, got); err != nil {
		t.Errorf("schema: %v", err)
	}
}

func TestEncodeDecodeEncode(t *testing.T) {
	for name, p := range map[string]*Params{"fixture": sparcParams(), "broken": brokenParams(), "empty": {}} {
		first := encodeParams(t, p)
		decoded, err := Decode(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		warned := len(decoded.Warnings)
		again := encodeParams(t, decoded)
		// Numbers that were null stay null; the second writing may only repeat the warnings about them.
		reread, err := Decode(bytes.NewReader(again))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		reread.Warnings = reread.Warnings[:warned]
		if !bytes.Equal(encodeParams(t, decoded), again) {
			t.Errorf("%s: encoding is not deterministic", name)
		}
		decoded.Warnings, reread.Warnings = nil, nil
		if !bytes.Equal(encodeParams(t, decoded), encodeParams(t, reread)) {
			t.Errorf("%s: a second round trip changed the numbers", name)
		}
	}
}

func TestNotFiniteBecomesNull(t *testing.T) {
	p := brokenParams()
	b := encodeParams(t, p)
	if err := validateParams(t, b); err != nil {
		t.Errorf("schema: %v", err)
	}
	if !math.IsNaN(*p.Parameters["a"].Value) {
		t.Error("Encode changed its argument")
	}
	got, err := Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	a := got.Parameters["a"]
	if a.Value != nil || a.CI95 != nil || a.Status != StatusUnidentifiable || a.Why != "the fit gave NaN, not a number" {
		t.Errorf("a = %+v", a)
	}
	if bound := got.Parameters["b"].Bound; bound == nil || bound[0] != 0 || !math.IsInf(bound[1], 1) {
		t.Errorf("bound of b = %v, want [0, +Inf]", bound)
	}
	if _, ok := got.Functions["g_s"]; ok {
		t.Error("a function without a finite coefficient was written")
	}
	r := got.Fits[1].Residuals[0]
	if r.Measured != 1 || !math.IsNaN(r.Lo) || !math.IsNaN(r.Hi) || !math.IsNaN(r.Fitted) {
		t.Errorf("residual = %+v", r)
	}
	want := []string{
		"parameter a is NaN: written as null",
		"ci95 of parameter a is [NaN, +Inf]: left out",
		"function g_s: c0 is NaN: the function is left out",
		"hockney: domain of bytes is [1, +Inf]: left out",
		"hockney: R² is NaN: written as null",
		"hockney: leave-one-out error is +Inf: written as null",
		"hockney: condition number is +Inf: written as null",
		"hockney: errors are NaN (mean) and +Inf (largest): written as null",
		"hockney: residual of T(x) at bytes = 1 has numbers that are not finite: written as null",
		"validation bcast-tree, 8 hosts, 4096 bytes is not finite: left out",
		"pair h1 → h2: latency is NaN: written as null",
		"pair h1 → h2: rate is +Inf: written as null",
		"pair h1 → h2: latency_ci95 is [NaN, NaN]: left out",
		"pair h1 → h2: rate_ci95 is [0, +Inf]: left out",
	}
	if diff := cmp.Diff(want, got.Warnings); diff != "" {
		t.Errorf("warnings:\n%s", diff)
	}
}

func TestCollect(t *testing.T) {
	fits := sparcFits()
	fits = append(fits, &Fit{Model: "other", Parameters: map[string]Parameter{"a": {Status: StatusBound}}})
	d := sparcDataset()
	d.Header.Hosts[3].Version = "v0.0.9"
	p := Collect(d, fits)
	if got := slices.Sorted(maps.Keys(p.Parameters)); !slices.Equal(got, []string{"a", "a_c", "b", "b_c", "other.a", "r_inf", "t_clock"}) {
		t.Errorf("parameters %q", got)
	}
	if p.Parameters["a"].Model != "hyperbolic-network" {
		t.Errorf("a belongs to %s, want the first model that named it", p.Parameters["a"].Model)
	}
	if len(p.Pairs) != 28 || p.Fits[1].Pairs != nil || len(fits[1].Pairs) != 28 {
		t.Error("pairs are listed once, and the fit given keeps its own")
	}
	if r := p.Run; r.Rounds != 5 || r.Batches != 20 || r.Timings != 60 || len(r.Hosts) != 8 {
		t.Errorf("run %+v", r)
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], `["v0.0.9" "v0.1.0"]`) {
		t.Errorf("warnings %q", p.Warnings)
	}
	want := []string{"cpu.model", "kernel", "tcp.congestion"}
	if got := slices.Sorted(maps.Keys(p.Environment.Common)); !slices.Equal(got, want) {
		t.Errorf("common %q, want %q", got, want)
	}
	governor := p.Environment.Differences["cpu.governor"]
	if _, there := governor["h7"]; there || len(governor) != 7 {
		t.Errorf("governor %v: h7 did not report one", governor)
	}
	if p.Environment.Differences["nic.mtu"]["h5"] != "9000" {
		t.Errorf("mtu %v", p.Environment.Differences["nic.mtu"])
	}
	if empty := Collect(&dataset.Dataset{}, nil); validateParams(t, encodeParams(t, empty)) != nil {
		t.Error("an empty collection does not match the schema")
	}
}

func TestDecodeParamsErrors(t *testing.T) {
	swap := func(old, new string) string {
		b := string(encodeParams(t, sparcParams()))
		if !strings.Contains(b, old) {
			t.Fatalf("fixture has no %s", old)
		}
		return strings.Replace(b, old, new, 1)
	}
	for _, c := range []struct{ name, in, want string }{
		{"empty", " \n", "the file is empty"},
		{"cut off", `{"schema":"calib.params/1",`, "line 1: unexpected end of JSON input"},
		{"syntax", "{\n\"schema\":\n!}", "line 3: invalid character '!'"},
		{"no schema", `{"parameters":{}}`, `no member "schema"`},
		{"newer", `{"schema":"calib.params/2"}`, `schema "calib.params/2", this build reads "calib.params/1"`},
		{"array", `[]`, "a array where a struct"},
		{"kind", swap(`"value": 0.00085952`, `"value": "fast"`), "parameters.a.value: a string where a float64 belongs"},
		{"kind in a fit", swap(`"used": 40000`, `"used": "x"`), "fits[0].used: a string where a int belongs"},
		{"status", swap(`"status": "ok"`, `"status": "fine"`), `parameter a: status "fine", want "ok"`},
		{"no value", swap(`"value": 0.00085952`, `"value": null`), "parameter a: status ok, but no value"},
		{"interval", swap(`0.0008571`, `1`), "parameter a: interval [1, 0.0008619] ends before it starts"},
		{"null parameter", `{"schema":"calib.params/1","parameters":{"a":null}}`, `parameter a: status ""`},
		{"null fit", `{"schema":"calib.params/1","fits":[null]}`, "fits[0]: no model"},
	} {
		_, err := Decode(strings.NewReader(c.in))
		if !errors.Is(err, ErrParams) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to contain %q", c.name, err, c.want)
		}
	}
}

func TestSchemaRejects(t *testing.T) {
	whole := string(encodeParams(t, sparcParams()))
	for _, c := range []struct{ name, old, new string }{
		{"schema", `"calib.params/1"`, `"calib.params/2"`},
		{"ok without a value", `"value": 0.00085952`, `"value": null`},
		{"status", `"status": "ok"`, `"status": "fine"`},
		{"misspelt member", `"batches"`, `"batchs"`},
		{"kind", `"rounds": 5`, `"rounds": "5"`},
	} {
		if validateParams(t, []byte(strings.Replace(whole, c.old, c.new, 1))) == nil {
			t.Errorf("%s: the schema accepts it", c.name)
		}
	}
}

// Every numeric field that the codec treats as nullable exists under that name.
func TestShadowedNames(t *testing.T) {
	for shadow, of := range map[reflect.Type]reflect.Type{
		reflect.TypeFor[jsonResidual]():  reflect.TypeFor[Residual](),
		reflect.TypeFor[jsonQuality]():   reflect.TypeFor[Quality](),
		reflect.TypeFor[jsonParameter](): reflect.TypeFor[Parameter](),
	} {
		for i := 1; i < shadow.NumField(); i++ {
			f := shadow.Field(i)
			if g, ok := of.FieldByName(f.Name); !ok || g.Tag.Get("json") != f.Tag.Get("json") {
				t.Errorf("%s.%s: tag %q does not match %q", of, f.Name, f.Tag, g.Tag)
			}
		}
	}
	for i := range reflect.TypeFor[Residual]().NumField() {
		f := reflect.TypeFor[Residual]().Field(i)
		if _, ok := reflect.TypeFor[jsonResidual]().FieldByName(f.Name); f.Type.Kind() == reflect.Float64 && !ok {
			t.Errorf("Residual.%s could carry NaN into JSON", f.Name)
		}
	}
}

func FuzzDecodeParams(f *testing.F) {
	f.Add([]byte(`{"schema":"calib.params/1","parameters":{"b":{"value":null,"status":"bound","bound":[0,null]}}}`))
	f.Add([]byte(`{"schema":"calib.params/1","fits":[{"model":"m","residuals":[null]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Decode(bytes.NewReader(b))
		if err != nil {
			if !errors.Is(err, ErrParams) {
				t.Errorf("error of no class: %v", err)
			}
			return
		}
		if _, err := Decode(bytes.NewReader(encodeParams(t, p))); err != nil {
			t.Errorf("what was decoded and encoded does not decode: %v", err)
		}
	})
}
