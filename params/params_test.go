package params_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"calib/params"
)

// encode returns p as params.json holds it.
func encode(t testing.TB, p *params.Params) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := params.Encode(&buf, p); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// validate returns what a params.json breaks of its schema.
func validate(b []byte) error {
	s, _, err := params.JSONSchemas()
	if err != nil {
		return err
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	return r.Validate(v)
}

func TestFormatsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/reference/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "`"+params.Schema+"`") {
		t.Errorf("docs/reference/formats.md does not name %s", params.Schema)
	}
}

// sparcParams is the fixture, which the tests of package fit/models write.
func sparcParams(t testing.TB) *params.Params {
	t.Helper()
	b, err := os.ReadFile("testdata/params.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := params.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(b), string(encode(t, p))); diff != "" {
		t.Fatalf("what was read is written otherwise:\n%s", diff)
	}
	return p
}

// brokenParams returns the fixture with a number that is not finite in every place that can hold one.
func brokenParams(t testing.TB) *params.Params {
	nan, inf := math.NaN(), math.Inf(1)
	p := sparcParams(t)
	a := p.Parameters["a"]
	a.Value, a.CI95 = &nan, &[2]float64{nan, inf}
	p.Parameters["a"] = a
	b := p.Parameters["b"]
	b.Bound = &params.Bound{0, inf}
	p.Parameters["b"] = b
	g := p.Functions["g_s"]
	g.Coeff = map[string]float64{"c0": nan, "c1": 1}
	p.Functions["g_s"] = g
	p.Fits[1].Quality = &params.Quality{R2: &nan, MeanError: nan, MaxError: inf, LeaveOneOut: &inf, Condition: &inf}
	p.Fits[1].Domain = map[string][2]float64{"bytes": {1, inf}}
	p.Fits[1].Series = []params.Series{{Name: "T(x)", Quantity: params.Time, XName: "bytes",
		Points: []params.Residual{{X: 1, Measured: 1, Lo: nan, Hi: inf, Fitted: nan, N: 3}}}}
	p.Findings = []params.Finding{params.Notef("clock-offsets", "a value without a number").With("median",
		nan).With("worst", 1)}
	p.Pairs = []params.Pair{{From: "h1", To: "h2", Latency: &nan, LatencyCI: &[2]float64{nan, nan}, Rate: &inf,
		RateCI: &[2]float64{0, inf}}}
	p.Validation[0].Predicted = nan
	return p
}

func TestEncodeDecodeEncode(t *testing.T) {
	for name, p := range map[string]*params.Params{"fixture": sparcParams(t), "broken": brokenParams(t), "empty": {}} {
		first := encode(t, p)
		decoded, err := params.Decode(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		said := len(decoded.Findings)
		again := encode(t, decoded)
		// Numbers that were null stay null; the second writing may only repeat the findings about them.
		reread, err := params.Decode(bytes.NewReader(again))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		reread.Findings = reread.Findings[:said]
		if !bytes.Equal(encode(t, decoded), again) {
			t.Errorf("%s: encoding is not deterministic", name)
		}
		decoded.Findings, reread.Findings = nil, nil
		if !bytes.Equal(encode(t, decoded), encode(t, reread)) {
			t.Errorf("%s: a second round trip changed the numbers", name)
		}
	}
}

func TestNotFiniteBecomesNull(t *testing.T) {
	p := brokenParams(t)
	b := encode(t, p)
	if err := validate(b); err != nil {
		t.Errorf("schema: %v", err)
	}
	if !math.IsNaN(*p.Parameters["a"].Value) {
		t.Error("Encode changed its argument")
	}
	got, err := params.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	a := got.Parameters["a"]
	if a.Value != nil || a.CI95 != nil || a.Status != params.StatusUnidentifiable ||
		a.Why != "the fit gave NaN, not a number" {
		t.Errorf("a = %+v", a)
	}
	if bound := got.Parameters["b"].Bound; bound == nil || bound[0] != 0 || !math.IsInf(bound[1], 1) {
		t.Errorf("bound of b = %v, want [0, +Inf]", bound)
	}
	if _, ok := got.Functions["g_s"]; ok {
		t.Error("a function without a finite coefficient was written")
	}
	r := got.Times()[0]
	if r.Measured != 1 || !math.IsNaN(r.Lo) || !math.IsNaN(r.Hi) || !math.IsNaN(r.Fitted) {
		t.Errorf("point = %+v", r)
	}
	want := params.Warnf("not-finite", "numbers that are not finite are left out, or null in points: 18, the first "+
		"parameters.a.value")
	if diff := cmp.Diff(want, got.Findings[1]); diff != "" || len(got.Findings) != 2 {
		t.Errorf("%d findings: %s", len(got.Findings), diff)
	}
	if diff := cmp.Diff(map[string]float64{"worst": 1}, got.Findings[0].Values); diff != "" {
		t.Errorf("a value that is not a number is left out:\n%s", diff)
	}
}

func TestDecodeParamsErrors(t *testing.T) {
	swap := func(old, new string) string {
		b := string(encode(t, sparcParams(t)))
		if !strings.Contains(b, old) {
			t.Fatalf("fixture has no %s", old)
		}
		return strings.Replace(b, old, new, 1)
	}
	for _, c := range []struct{ name, in, want string }{
		{"empty", " \n", "it is empty"},
		{"cut off", `{"schema":"calib.params/5",`, ": unexpected end of JSON input"},
		{"syntax", "{\n\"schema\":\n!}", "line 3: invalid character '!'"},
		{"older", `{"schema":"calib.params/2"}`, `schema "calib.params/2", this build reads "calib.params/5"`},
		{"no schema", `{"parameters":{}}`, `no member "schema"`},
		{"newer", `{"schema":"calib.params/6"}`, `schema "calib.params/6", this build reads "calib.params/5"`},
		{"array", `[]`, ": an array where an object belongs"},
		{"kind", swap(`"value": 0.00085952`, `"value": "fast"`), "line 23: parameters.value: a string where a number belongs"},
		{"kind in a fit", swap(`"used": 40000`, `"used": "x"`), ": fits.used: a string where a whole number belongs"},
		{"status", swap(`"status": "ok"`, `"status": "fine"`), `parameter a: status "fine", want one of ["ok"`},
		{"no value", swap(`"value": 0.00085952`, `"value": null`), "parameter a: status ok, but no value"},
		{"interval", swap(`0.0008571`, `1`), "parameter a: interval [1, 0.0008619] ends before it starts"},
		{"a fixed time of centuries", swap(`"value": 0.00085952`, `"value": 85952000000`), "parameter a: 8.5952e+10 s: want -3600 to 3.1536e+08"},
		{"a day earlier", swap(`"value": 0.00085952`, `"value": -86400`), "parameter a: -86400 s: want -3600 to 3.1536e+08"},
		{"a size below zero", `{"schema":"calib.params/5","parameters":{
"m":{"unit":"B","status":"ok",
"value":-1}}}`, "parameter m: -1 B: want 0 to"},
		{"a pair", `{"schema":"calib.params/5",
"pairs":[{"from":"a","to":"b","rate":-5}]}`, "pair a → b: -5 B/s: want 0 to"},
		{"measured pattern", `{"schema":"calib.params/5","validation":[{"bytes":-1}]}`, "validation[0]: -1 B"},
		{"null parameter", `{"schema":"calib.params/5","parameters":{"a":null}}`, `parameter a: status ""`},
		{"null fit", `{"schema":"calib.params/5","fits":[null]}`, "fits[0]: no model"},
	} {
		_, err := params.Decode(strings.NewReader(c.in))
		if !errors.Is(err, params.ErrParams) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to contain %q", c.name, err, c.want)
		}
	}
}

func TestSchemaRejects(t *testing.T) {
	whole := string(encode(t, sparcParams(t)))
	for _, c := range []struct{ name, old, new string }{
		{"schema", `"calib.params/5"`, `"calib.params/6"`},
		{"ok without a value", `"value": 0.00085952`, `"value": null`},
		{"status", `"status": "ok"`, `"status": "fine"`},
		{"misspelt member", `"batches"`, `"batchs"`},
		{"kind", `"rounds": 5`, `"rounds": "5"`},
	} {
		if validate([]byte(strings.Replace(whole, c.old, c.new, 1))) == nil {
			t.Errorf("%s: the schema accepts it", c.name)
		}
	}
}

// Every member of the file is described, and others are allowed.
func TestSchemaDescribes(t *testing.T) {
	s, _, err := params.JSONSchemas()
	if err != nil {
		t.Fatal(err)
	}
	var walk func(path string, s *jsonschema.Schema)
	walk = func(path string, s *jsonschema.Schema) {
		if s == nil {
			return
		}
		for name, member := range s.Properties {
			if member.Description == "" {
				t.Errorf("%s.%s: no description", path, name)
			}
			walk(path+"."+name, member)
		}
		walk(path+"[]", s.Items)
		walk(path+".*", s.AdditionalProperties)
	}
	walk("", s)
	b := strings.Replace(string(encode(t, sparcParams(t))), `"run": {`, `"later": 1, "run": {"later": [],`, 1)
	if err := validate([]byte(b)); err != nil {
		t.Errorf("members of a later build: %v", err)
	}
}

// Lines of a function are an array in the file, and coefficients in memory.
func TestSegmentsTravel(t *testing.T) {
	p := sparcParams(t)
	f := params.Function{Form: params.Pieces, Unit: "s", Domain: map[string][2]float64{"bytes": {1, 1e6}}, Model: "m",
		Source: "s", Label: "l",
		Coeff: map[string]float64{"from_1": 0, "c0_1": 1e-3, "c1_1": 1e-6, "from_2": 5000, "c0_2": 2e-3, "c1_2": 5e-7},
		CI95:  map[string][2]float64{"c1_2": {4e-7, 6e-7}}}
	p.Functions["T"] = f
	b := encode(t, p)
	if want := `{"from": 5000, "c0": 0.002, "c1": 5e-7, "c1_ci95": [4e-7, 6e-7]}`; !strings.Contains(string(b), want) {
		t.Errorf("the file has no %s", want)
	}
	if err := validate(b); err != nil {
		t.Error(err)
	}
	got, err := params.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, got.Functions["T"]); diff != "" {
		t.Error(diff)
	}
	if v, err := got.T(10_000); err != nil || v != 7e-3 {
		t.Errorf("T(10 kB) = %g, %v", v, err)
	}
	if _, err := got.T(1); err != nil {
		t.Error(err)
	}
	if _, err := sparcParams(t).T(1); !errors.Is(err, params.ErrNoValue) {
		t.Errorf("no T: %v", err)
	}
}

// Of many lines the first and the last are printed.
func TestWordsOfManyLines(t *testing.T) {
	s := make(params.Segments, 8)
	for i := range s {
		s[i] = params.Segment{From: 1000 * float64(i), C0: 1e-3, C1: 1e-6 * float64(i+1)}
	}
	if got, want := s.Words("T"), "T(x) = 1 ms + 1 µs/B·x; 6 lines; 1 ms + 8 µs/B·x above 7000 B"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := s[:6].Words("T"); strings.Contains(got, "lines") {
		t.Errorf("%q", got)
	}
}

func FuzzDecodeParams(f *testing.F) {
	for _, seed := range []string{
		`{"schema":"calib.params/5","parameters":{"b":{"value":null,"status":"bound","bound":[0,null]}}}`,
		`{"schema":"calib.params/5","fits":[{"model":"m","series":[{"points":[null]}]}]}`,
	} {
		f.Add([]byte(seed))
	}
	b, err := os.ReadFile("testdata/params.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := params.Decode(bytes.NewReader(b))
		if err != nil {
			if !errors.Is(err, params.ErrParams) {
				t.Errorf("error of no class: %v", err)
			}
			return
		}
		if _, err := params.Decode(bytes.NewReader(encode(t, p))); err != nil {
			t.Errorf("what was decoded and encoded does not decode: %v", err)
		}
	})
}
