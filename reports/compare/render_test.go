package compare

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"calib/params"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (run with -update if it is meant):\n%s", name, diff)
	}
}

// verdicts are one of each outcome.
func verdicts() map[string]*Verdict {
	old := cluster(1, 4, 10, 0.01, nil)
	card := func(name, from, to string) float64 {
		switch name {
		case "a":
			return 1.4
		case "f_best":
			return 2
		}
		return of("n02", 2.1)(name, from, to)
	}
	moved := cluster(2, 4, 8, 0.01, nil)
	for i := range moved {
		moved[i].Environment["n01"]["kernel"] = "6.8"
		moved[i].Plan = "quick"
	}
	evil := cluster(1, 2, 8, 0.01, nil)
	worse := cluster(2, 2, 8, 0.01, of("n01", 3))
	for _, r := range append(append([]Run{}, evil...), worse...) {
		for i := range r.Metrics {
			if m := &r.Metrics[i]; m.From != "" {
				m.From, m.To = "<n|00>\x1b[31m", "\"&]]>"
			}
		}
	}
	return map[string]*Verdict{
		"ok":           Compare(old, cluster(2, 4, 8, 0.01, nil), Options{}),
		"regression":   Compare(old, cluster(2, 4, 8, 0.01, card), Options{}),
		"inconclusive": Compare(old[:1], cluster(2, 4, 1, 0.01, of("n02", 2.1)), Options{}),
		"incomparable": Compare(old, moved, Options{}),
		"nohosts":      Compare(old, []Run{{ID: "x"}}, Options{}),
		"hostile":      Compare(evil, worse, Options{}),
	}
}

func TestRenderers(t *testing.T) {
	for name, v := range verdicts() {
		for ext, write := range map[string]func(io.Writer, *Verdict) error{"txt": Text, "md": Markdown, "xml": JUnit,
			"json": WriteVerdict} {
			var b bytes.Buffer
			if err := write(&b, v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if ext != "json" || name == "inconclusive" {
				golden(t, name+"."+ext, b.Bytes())
			}
			if strings.Contains(b.String(), "\x1b") {
				t.Errorf("%s.%s moves the cursor", name, ext)
			}
		}
	}
}

// suite is what readers of JUnit count in a file.
type suite struct {
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Cases    []struct{} `xml:"testcase"`
}

// A number that is no longer ok is a skipped case: the build's page shows what the exit code says.
func TestJUnitLost(t *testing.T) {
	v := Compare(cluster(1, 6, 5, 0.01, nil), cluster(2, 6, 5, 0.01, nil), Options{})
	v.Lost, v.Outcome = []Lost{{Name: "a", Status: "inconsistent"}}, Inconclusive
	var b bytes.Buffer
	if err := JUnit(&b, v); err != nil || !strings.Contains(b.String(), `name="a is ok"`) ||
		!strings.Contains(b.String(), `skipped="1"`) {
		t.Errorf("%v, %s", err, b.String())
	}
}

// A name of a file from elsewhere may hold what XML cannot.
func TestJUnitLostName(t *testing.T) {
	v := Compare(cluster(1, 6, 5, 0.01, nil), cluster(2, 6, 5, 0.01, nil), Options{})
	v.Lost = []Lost{{Name: "a\x1b[31m", Status: "inconsistent"}}
	var b bytes.Buffer
	if err := errors.Join(JUnit(&b, v), xml.Unmarshal(b.Bytes(), &suite{})); err != nil {
		t.Errorf("%v, %s", err, b.String())
	}
}

func TestJUnitCounts(t *testing.T) {
	for name, want := range map[string][4]int{"ok": {10, 0, 0, 0}, "regression": {10, 2, 0, 0},
		"incomparable": {11, 0, 1, 0}} {
		var b bytes.Buffer
		if err := JUnit(&b, verdicts()[name]); err != nil {
			t.Fatal(err)
		}
		var s suite
		if err := xml.Unmarshal(b.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		if got := [4]int{s.Tests, s.Failures, s.Errors, s.Skipped}; got != want || s.Tests != len(s.Cases) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A schema can be derived of what is written, and allows it.
func TestSchemas(t *testing.T) {
	s, err := jsonschema.For[Verdict](nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = jsonschema.For[Floor](nil); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range verdicts() {
		var b bytes.Buffer
		if err := WriteVerdict(&b, v); err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(decoded(t, b.Bytes())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriteErrors(t *testing.T) {
	v := verdicts()["regression"]
	for _, write := range []func(io.Writer, *Verdict) error{Text, Markdown, JUnit, WriteVerdict} {
		if write(full{}, v) == nil {
			t.Error("a full disk went unnoticed")
		}
	}
	if FloorText(full{}, Noise(cluster(1, 4, 4, 0.01, nil))) == nil {
		t.Error("a full disk went unnoticed")
	}
}

func TestFloorText(t *testing.T) {
	var b bytes.Buffer
	if err := FloorText(&b, Noise(cluster(1, 4, 10, 0.01, nil))); err != nil {
		t.Fatal(err)
	}
	golden(t, "floor.txt", b.Bytes())
}

func decoded(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// A share such as loss becomes more, no time slower.
func TestSaysOfShares(t *testing.T) {
	loss := Change{Name: params.LossMetric, Unit: "1", Better: params.BetterLower, Old: 0.001, New: 0.004}
	ratio := loss.New / loss.Old
	loss.Ratio = &ratio
	if got := loss.Says(); got != "more by 4.0×" {
		t.Error(got)
	}
	loss.Unit = "s"
	if got := loss.Says(); got != "slower by 4.0×" {
		t.Error(got)
	}
}
