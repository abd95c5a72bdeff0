package params_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"calib/fit/fittest"
	"calib/fit/params"
)

// TestVersionOne reads the fixture as calib.params/1 wrote it: but for what that version did not have, it is the fixture.
func TestVersionOne(t *testing.T) {
	b, err := os.ReadFile("testdata/params-1.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := params.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	want, err := params.Decode(bytes.NewReader(fittest.Encode(t, fittest.SparcParams())))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range want.Fits {
		for i := range f.Series {
			f.Series[i].Quantity, f.Series[i].Factors = "", nil
		}
		for i, q := range f.Findings {
			f.Findings[i] = params.Finding{Code: params.Unclassified, Level: q.Level, Message: q.Message}
		}
	}
	row := want.Validation[0]
	row.Model, row.Pattern = "", "bcast-tree"
	want.Validation, want.Run.Sampled = []params.Validation{row}, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calib.params/1 as read, beside the same fixture of %s:\n%s", params.Schema, diff)
	}
	if err := fittest.Validate(t, fittest.Encode(t, got)); err != nil {
		t.Errorf("written again: %v", err)
	}
}

// Every member of the stored files of calib.params/1 arrives: numbers as they are, models and parameters under the names they
// have now, residuals in the order of the file, and sentences as findings.
func TestVersionOneStored(t *testing.T) {
	files, err := filepath.Glob("testdata/version1/*/params.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("stored files %v: %v", files, err)
	}
	renamed := 0
	for _, path := range files {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			b := unzip(t, path)
			var raw fileOne
			if err := json.Unmarshal(b, &raw); err != nil {
				t.Fatal(err)
			}
			if raw.Schema != params.SchemaOne {
				t.Fatalf("schema %s, want %s", raw.Schema, params.SchemaOne)
			}
			got, err := params.Decode(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if got.Schema != params.Schema || got.Run.ID != raw.Run.ID || len(got.Fits) != len(raw.Fits) ||
				len(got.Pairs) != len(raw.Pairs) {
				t.Errorf("schema %s, run %q, %d fits, %d pairs; the file has run %q, %d fits, %d pairs", got.Schema, got.Run.ID,
					len(got.Fits), len(got.Pairs), raw.Run.ID, len(raw.Fits), len(raw.Pairs))
			}
			renamed += checkNamed(t, raw, got)
			for i, f := range raw.Fits {
				checkFitOne(t, f, got.Fits[i])
			}
			if n := len(fittest.Warnings(got.Findings)); n != len(raw.Warnings) {
				t.Errorf("%d warnings of the run, the file has %d", n, len(raw.Warnings))
			}
			checkKind(t, raw, got)
			if err := fittest.Validate(t, fittest.Encode(t, got)); err != nil {
				t.Errorf("written again: %v", err)
			}
		})
	}
	if renamed == 0 {
		t.Error("no model was renamed: the stored files have lost the cluster models")
	}
}

// fileOne is calib.params/1 as its own documentation had it.
type fileOne struct {
	Schema     string                      `json:"schema"`
	Run        params.Run                  `json:"run"`
	Parameters map[string]params.Parameter `json:"parameters"`
	Functions  map[string]params.Function  `json:"functions"`
	Fits       []fitOne                    `json:"fits"`
	Pairs      []params.Pair               `json:"pairs"`
	Warnings   []string                    `json:"warnings"`
}

type fitOne struct {
	Model      string                      `json:"model"`
	Parameters map[string]params.Parameter `json:"parameters"`
	Functions  map[string]params.Function  `json:"functions"`
	Residuals  []struct {
		Series   string  `json:"series"`
		X        float64 `json:"x"`
		XName    string  `json:"x_name"`
		Unit     string  `json:"unit"`
		Measured float64 `json:"measured"`
		Lo       float64 `json:"lo"`
		Hi       float64 `json:"hi"`
		Fitted   float64 `json:"fitted"`
		N        int     `json:"n"`
	} `json:"residuals"`
	Warnings []string      `json:"warnings"`
	Notes    []string      `json:"notes"`
	Plots    []params.Plot `json:"plots"`
}

// nowNamed is the name that a model of calib.params/1 has now.
func nowNamed(model string) string {
	for now, former := range params.FormerNames {
		if former == model {
			return now
		}
	}
	return model
}

// checkNamed compares the parameters and functions of the whole file, and counts the models that were renamed.
func checkNamed(t *testing.T, raw fileOne, got *params.Params) (renamed int) {
	t.Helper()
	if len(got.Parameters) != len(raw.Parameters) || len(got.Functions) != len(raw.Functions) {
		t.Errorf("%d parameters and %d functions, the file has %d and %d", len(got.Parameters), len(got.Functions),
			len(raw.Parameters), len(raw.Functions))
	}
	for name, want := range raw.Parameters {
		now := strings.Replace(name, "identity_hku", "identity_cluster", 1)
		if model := nowNamed(want.Model); model != want.Model {
			want.Model = model
			renamed++
		}
		if diff := cmp.Diff(want, got.Parameters[now]); diff != "" {
			t.Errorf("parameter %s: %s", name, diff)
		}
	}
	for name, want := range raw.Functions {
		want.Model = nowNamed(want.Model)
		if diff := cmp.Diff(want, got.Functions[name]); diff != "" {
			t.Errorf("function %s: %s", name, diff)
		}
	}
	return renamed
}

// checkFitOne compares one fit.
func checkFitOne(t *testing.T, raw fitOne, got *params.Fit) {
	t.Helper()
	if got.Model != nowNamed(raw.Model) || strings.HasPrefix(got.Model, "hku") {
		t.Errorf("model %s became %s", raw.Model, got.Model)
	}
	for name, want := range raw.Parameters {
		want.Model = nowNamed(want.Model)
		if diff := cmp.Diff(want, got.Parameters[strings.Replace(name, "identity_hku", "identity_cluster", 1)]); diff != "" {
			t.Errorf("%s: parameter %s: %s", got.Model, name, diff)
		}
	}
	if len(got.Parameters) != len(raw.Parameters) || len(got.Functions) != len(raw.Functions) {
		t.Errorf("%s: %d parameters and %d functions, the file has %d and %d", got.Model, len(got.Parameters), len(got.Functions),
			len(raw.Parameters), len(raw.Functions))
	}
	points := map[string]int{}
	for _, r := range raw.Residuals {
		s := got.Named(r.Series)
		i := points[r.Series]
		points[r.Series]++
		want := params.Residual{X: r.X, Measured: r.Measured, Lo: r.Lo, Hi: r.Hi, Fitted: r.Fitted, N: r.N}
		if i >= len(s.Points) || s.Points[i] != want || s.XName != r.XName || s.Unit != r.Unit {
			t.Errorf("%s: point %d of %s is not %+v", got.Model, i, r.Series, want)
		}
	}
	for _, s := range got.Series {
		if len(s.Points) != points[s.Name] {
			t.Errorf("%s: %d points of %s, the file has %d", got.Model, len(s.Points), s.Name, points[s.Name])
		}
	}
	checkSentences(t, raw, got)
	if diff := cmp.Diff(raw.Plots, got.Plots, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: plots: %s", got.Model, diff)
	}
}

// checkSentences compares what one fit had to say: all of it but the sentence that tells the kind of network.
func checkSentences(t *testing.T, raw fitOne, got *params.Fit) {
	t.Helper()
	notes := slices.DeleteFunc(slices.Clone(raw.Notes), tellsKind)
	var want []params.Finding
	for _, w := range raw.Warnings {
		want = append(want, params.Finding{Code: params.Unclassified, Level: params.Warning, Message: w})
	}
	for _, n := range notes {
		want = append(want, params.Finding{Code: params.Unclassified, Level: params.Note, Message: n})
	}
	if diff := cmp.Diff(want, got.Findings); diff != "" {
		t.Errorf("%s: findings: %s", got.Model, diff)
	}
}

// tellsKind reports whether a note of calib.params/1 tells the kind of network.
func tellsKind(note string) bool {
	return strings.HasPrefix(note, "behaves like") || strings.HasPrefix(note, "one pair only: whether the network behaves like")
}

// checkKind compares the kind of network with the sentence that told it.
func checkKind(t *testing.T, raw fileOne, got *params.Params) {
	t.Helper()
	told := ""
	for _, f := range raw.Fits {
		for _, n := range f.Notes {
			if tellsKind(n) {
				told = n
			}
		}
	}
	switch {
	case told == "":
		if got.Network != nil {
			t.Errorf("network %+v, the file does not tell", got.Network)
		}
	case strings.HasPrefix(told, "behaves like"):
		if got.Network.Words() != told {
			t.Errorf("network %+v, the file says %q", got.Network, told)
		}
	default:
		if got.Network == nil || *got.Network != (params.Network{Packets: params.Unknown, Streams: params.Unknown}) {
			t.Errorf("network %+v, the file says %q", got.Network, told)
		}
	}
}

func unzip(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The sentences in which calib.params/1 told the kind of network, each as it was written.
func TestVersionOneKinds(t *testing.T) {
	for note, want := range map[string]params.Network{
		"behaves like a switch: T does not depend on n; the port's cost sits in a": {Packets: params.Switch, Streams: params.Switch},
		"behaves like a switch for messages of one packet (a_c is zero or negligible), but streams share capacity: b' rises with n": {
			Packets: params.Switch, Streams: params.Shared},
		"behaves like a shared medium": {Packets: params.Shared, Streams: params.Shared},
		"behaves like a shared medium for messages of one packet; streams did not reach its limit": {
			Packets: params.Shared, Streams: params.Switch},
		"one pair only: whether the network behaves like a switch or like a shared medium cannot be seen": {
			Packets: params.Unknown, Streams: params.Unknown},
	} {
		file, err := json.Marshal(map[string]any{"schema": params.SchemaOne, "fits": []any{
			map[string]any{"model": "hyperbolic-network", "notes": []string{"another note", note}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := params.Decode(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if p.Network == nil || *p.Network != want || len(p.Fits[0].Findings) != 1 || p.Fits[0].Findings[0].Message != "another note" {
			t.Errorf("%q: network %+v, findings %v", note, p.Network, p.Fits[0].Findings)
		}
	}
}
