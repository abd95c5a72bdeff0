package params

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// pointed is a run whose first fit has points, one of them without an interval.
func pointed() *Params {
	return &Params{Run: Run{ID: "r", Hosts: []string{"h1", "h2"}}, Fits: []*Fit{
		{Model: "m", Hosts: []string{"h1", "h2"}, Series: []Series{{Name: "T(x)", Quantity: Time, XName: "bytes",
			Factors: map[string]float64{"pairs": 1},
			Points: []Residual{{X: 1, Measured: 2, Lo: 1, Hi: 3, Fitted: 2, N: 9},
				{X: 8, Measured: 4, Lo: math.NaN(), Hi: math.NaN()}}}}},
		{Model: "n", Hosts: []string{"h2"}},
	}}
}

// saved writes both files of p to a new directory, with a change to the points, and returns the path of params.json.
func saved(t *testing.T, p *Params, old, new string) string {
	t.Helper()
	var file, points bytes.Buffer
	if err := errors.Join(EncodeShort(&file, p), EncodePoints(&points, p)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := strings.Replace(points.String(), old, new, 1)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "params.json"), file.Bytes(), 0o600),
		os.WriteFile(filepath.Join(dir, PointsFile), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "params.json")
}

func TestPointsTravel(t *testing.T) {
	p := pointed()
	path := saved(t, p, "", "")
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Fits {
		if diff := cmp.Diff(p.Fits[i].Series, got.Fits[i].Series, cmpopts.EquateNaNs()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(p.Fits[i].Hosts, got.Fits[i].Hosts); diff != "" {
			t.Error(diff)
		}
	}
	if err := os.Remove(filepath.Join(filepath.Dir(path), PointsFile)); err != nil {
		t.Fatal(err)
	}
	alone, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.Fits[0].Series[0].Points, alone.Times(), cmpopts.EquateNaNs()); diff != "" ||
		alone.Fits[0].Series != nil {
		t.Errorf("params.json alone has the times of messages only: %s", diff)
	}
}

func TestPointsRefused(t *testing.T) {
	if p, err := Load(saved(t, pointed(), `"r"`, `"another"`)); err != nil || p.Fits[0].Series != nil {
		t.Errorf("points of another run: %v, %v", p, err)
	}
	for _, bad := range [][2]string{{PointsSchema, "calib.points/9"}, {"}", ""}, {`"x": 1`, `"x": "one"`}} {
		if _, err := Load(saved(t, pointed(), bad[0], bad[1])); !errors.Is(err, ErrParams) ||
			!strings.Contains(err.Error(), PointsFile) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzReadPoints(f *testing.F) {
	f.Add([]byte(`{"schema":"calib.points/1","run":"r","fits":[{"model":"m","series":[{"points":[null,{"x":1}]}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := pointed()
		if err := p.ReadPoints(bytes.NewReader(b)); err != nil {
			if !errors.Is(err, ErrParams) {
				t.Errorf("error of no class: %v", err)
			}
			return
		}
		if err := EncodePoints(&bytes.Buffer{}, p); err != nil {
			t.Error(err)
		}
	})
}

// behind is a run with all that points.json holds.
func behind() *Params {
	v := 0.1234567890123
	p := pointed()
	p.Fits[0].Series[0].Points = p.Fits[0].Series[0].Points[:1]
	p.Schema, p.Network = Schema, &Network{Switch, Unknown}
	p.Parameters = map[string]Parameter{"a": {Value: &v, Unit: "s", CI95: &[2]float64{0.1, 0.2}, Status: StatusOK,
		Model: "m", Experiment: "paired", Source: "a paper", Label: "a time",
		Budget: []Term{{Name: "rounds", Type: TypeA, U: 1.0 / 3}}}}
	p.Functions = map[string]Function{"a": {Form: Line, Coeff: map[string]float64{"c0": 1, "c1": 2}, Unit: "s", Model: "m",
		Source: "another", Label: "a cost", Status: StatusOK}}
	p.Fits[0].Quality, p.Fits[0].Rounds = &Quality{MeanError: 1.0 / 7}, 6
	p.Fits[0].Findings = []Finding{Notef("delay-in-a", "a note"), Warnf("round-trip", "a warning"),
		Notef(NetworkUnknown, "like a switch").With("packets", 0.25).With("margin", 0.5)}
	loss := Loss{Segments: 9, Again: 1, Rate: 1.0 / 9}
	p.Pairs = []Pair{{From: "h1", To: "h2"}, {From: "h1", To: "h3", Loss: &loss}}
	for _, m := range []string{SimWarm, SimCold, "loggp"} {
		v := Validation{Model: m, Pattern: "p2p-direct", Measured: 1, Error: float64(len(m)) / 100}
		p.Validation = append(p.Validation, v)
	}
	p.Distribute()
	return p
}

// What params.json leaves out comes back from points.json, to the last bit.
func TestSplit(t *testing.T) {
	p := behind()
	path := saved(t, p, "", "")
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	v := 0.123456789 // what params.json holds has nine digits
	a := p.Parameters["a"]
	a.Value = &v
	p.Parameters["a"] = a
	p.Distribute()
	p.Measured, got.Measured = nil, nil
	if diff := cmp.Diff(p, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if got.Fits[0].Parameters["a"].Budget == nil {
		t.Error("the fit has no budget of its parameter")
	}

	if err := os.Remove(filepath.Join(filepath.Dir(path), PointsFile)); err != nil {
		t.Fatal(err)
	}
	alone, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	best, ok := BestSimulation(p.Validation)
	if now, _ := BestSimulation(alone.Validation); !ok || now != best || len(alone.Validation) != 1 {
		t.Errorf("params.json alone takes simulation %+v, want %+v", now, best)
	}
	kind, guessed, delay := p.PacketKind()
	if k, g, d := alone.PacketKind(); k != kind || g != guessed || d != delay || len(alone.AllFindings(Warning)) != 1 {
		t.Errorf("params.json alone: network %v %v %v, %v", k, g, d, alone.AllFindings(Warning))
	}
	q := alone.Parameters["a"]
	if q.Source != "a paper" || q.Budget != nil || !strings.HasPrefix(q.Label, "Fixed time of a host") {
		t.Errorf("params.json alone: a is %+v", q)
	}
	if alone.Pairs[1].Loss != nil || alone.Fits[0].Quality != nil {
		t.Error("params.json holds what points.json does")
	}
}

// The points of the version before have the series of fits only: what else a fit has is in its params.json.
func TestOlderPoints(t *testing.T) {
	p := behind()
	var file bytes.Buffer
	if err := Encode(&file, p); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	err = got.ReadPoints(strings.NewReader(`{"schema": "calib.points/1", "run": "r", "fits": [{"model": "m", "series": [{"name":
		"T(x)", "points": []}]}]}`))
	if err != nil || got.Fits[0].Series[0].Name != "T(x)" {
		t.Fatal(err, got.Fits[0])
	}
	got.Fits[0].Series, got.Measured = p.Fits[0].Series, nil
	if diff := cmp.Diff(p, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestForgedPoints(t *testing.T) {
	for _, bad := range [][2]string{{`"u": 0.3`, `"u": -0.3`}, {`"measured": 1,`, `"measured": 1e99,`}} {
		if _, err := Load(saved(t, behind(), bad[0], bad[1])); !errors.Is(err, ErrParams) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Numbers keep their order, whole numbers are exact, and texts are as they were.
func TestRounded(t *testing.T) {
	text := "0.12345678901 is\n 0.12345678901,"
	var b bytes.Buffer
	in := []any{1.0 / 3, -2e-7 / 3, 123456789.4, 123456789.0, 123456790.0, 12667223793.353215, 4294967297.0, 1e300 / 7,
		text}
	if err := encode(&b, in, true); err != nil {
		t.Fatal(err)
	}
	want := `[0.333333333, -6.66666667e-08, 123456789, 123456789, 123456790, 12667223793, 4294967297, 1.42857143e+299, ` +
		`"0.12345678901 is\n 0.12345678901,"]` + "\n"
	if b.String() != want {
		t.Errorf("%s\nwant %s", b.String(), want)
	}
}

// A file that cannot be read is named, with what is wrong with it and, where the samples are beside it, how to make it
// anew.
func TestLoadSaysHowToMend(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write("params.json", "")
	what := "read " + path + ": not a valid params.json: it is empty"
	if _, err := Load(path); !errors.Is(err, ErrParams) || err.Error() != what {
		t.Errorf("alone: %v", err)
	}
	write("samples.jsonl", "")
	if _, err := Load(path); !errors.Is(err, ErrParams) ||
		err.Error() != what+"; calib fit "+dir+" makes it anew from samples.jsonl" {
		t.Errorf("of a run: %v", err)
	}
	write("params.json", "\x7fELF\x00")
	if _, err := Load(path); !errors.Is(err, ErrParams) || !strings.HasSuffix(err.Error(), "anew from samples.jsonl") {
		t.Errorf("no text: %v", err)
	}
}
