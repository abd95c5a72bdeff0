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
	if err := errors.Join(Encode(&file, p), EncodePoints(&points, p)); err != nil {
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
