package models

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/fit"
	"calib/internal/dataset"
	"calib/params"
)

var update = flag.Bool("update", false, "write params.json.gz of the stored datasets anew: read the differences first")

// TestIdentity fits stored datasets again and compares every number with the params.json that an earlier build made of
// them: values, intervals, bounds, statuses, residuals, domains, qualities and pairs to the last bit. The names of
// models may differ, and what findings say.
//
// testdata holds small datasets; CALIB_RUNS names further directories of runs with samples.jsonl and params.json.
func TestIdentity(t *testing.T) {
	runs, err := filepath.Glob("testdata/*/samples.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) == 0 {
		t.Fatal("no stored dataset in testdata")
	}
	if more := os.Getenv("CALIB_RUNS"); more != "" {
		found, err := filepath.Glob(filepath.Join(more, "*", "samples.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, found...)
	}
	for _, samples := range runs {
		dir := filepath.Dir(samples)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			got, errs := fit.Run(All, readDataset(t, samples), fit.Settings{})
			for _, err := range errs {
				t.Log(err)
			}
			if *update && strings.HasPrefix(dir, "testdata") {
				var points bytes.Buffer
				if err := params.EncodePoints(&points, got); err != nil {
					t.Fatal(err)
				}
				writePacked(t, dir, "params.json.gz", encodeParams(t, got))
				writePacked(t, dir, "points.json.gz", points.Bytes())
			}
			want, err := readParams(dir)
			if err != nil {
				t.Fatal(err)
			}
			c := &comparison{}
			c.params(want, travelled(t, got))
			for _, d := range c.differences {
				t.Error(d)
			}
			t.Logf("%d parameters, functions, points of series and fits are the same to the last bit", c.same)
		})
	}
}

// params.json has one table of parameters and one of functions: no two models may name one alike.
func TestNamesAreDistinct(t *testing.T) {
	runs, err := filepath.Glob("testdata/*/samples.jsonl.gz")
	if err != nil || len(runs) == 0 {
		t.Fatal("no stored dataset in testdata", err)
	}
	for _, samples := range runs {
		p, owner := fit.Prepare(readDataset(t, samples), fit.Settings{Replicates: 20}), map[string]string{}
		for _, m := range All {
			f, err := m.Fit(p)
			if err != nil {
				continue // the dataset has not what the model needs
			}
			for name := range f.Parameters {
				if other := owner[name]; other != "" {
					t.Errorf("%s: %s and %s both have a parameter %s", samples, other, m.Name, name)
				}
				owner[name] = m.Name
			}
			for name := range f.Functions {
				if other := owner[name+"()"]; other != "" {
					t.Errorf("%s: %s and %s both have a function %s", samples, other, m.Name, name)
				}
				owner[name+"()"] = m.Name
			}
		}
		t.Logf("%s: %d names", samples, len(owner))
	}
}

func readDataset(t testing.TB, path string) *dataset.Dataset {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	d, err := dataset.Read(r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func writePacked(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// readParams reads what writePacked wrote, or the files of a run.
func readParams(dir string) (*params.Params, error) {
	file, err := os.Open(filepath.Join(dir, "params.json.gz"))
	if err != nil {
		return params.Load(filepath.Join(dir, "params.json"))
	}
	defer file.Close()
	points, err := os.Open(filepath.Join(dir, "points.json.gz"))
	if err != nil {
		return nil, err
	}
	defer points.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	p, err := params.Decode(z)
	if err != nil {
		return nil, err
	}
	if err := z.Reset(points); err != nil {
		return nil, err
	}
	return p, p.ReadPoints(z)
}

// comparison gathers what differs between two params.json of one dataset.
type comparison struct {
	differences []string
	same        int // parameters, functions, points and fits that are the same
}

func (c *comparison) differ(format string, args ...any) {
	c.differences = append(c.differences, fmt.Sprintf(format, args...))
}

func (c *comparison) params(want, got *params.Params) {
	c.names("parameters", slices.Sorted(maps.Keys(want.Parameters)), slices.Sorted(maps.Keys(got.Parameters)))
	for name, w := range want.Parameters {
		g := got.Parameters[name]
		c.equal("parameter "+name, w, g)
	}
	c.names("functions", slices.Sorted(maps.Keys(want.Functions)), slices.Sorted(maps.Keys(got.Functions)))
	for name, w := range want.Functions {
		g := got.Functions[name]
		c.equal("function "+name, w, g)
	}
	c.equal("pairs", want.Pairs, got.Pairs)
	c.equal("run", want.Run, got.Run)
	c.equal("environment", want.Environment, got.Environment)
	if len(want.Fits) != len(got.Fits) {
		c.differ("%d fits, were %d", len(got.Fits), len(want.Fits))
		return
	}
	for i, w := range want.Fits {
		c.fit(w, got.Fits[i])
	}
}

func (c *comparison) fit(want, got *params.Fit) {
	w, g := *want, *got
	what := "fit " + w.Model + ": "
	var names [2][]string
	for i, f := range []*params.Fit{want, got} {
		for _, s := range f.Series {
			names[i] = append(names[i], s.Name)
		}
		slices.Sort(names[i])
	}
	c.names(what+"series", names[0], names[1])
	for _, a := range w.Series {
		c.series(what, a, got.Named(a.Name))
	}
	for _, f := range []*params.Fit{&w, &g} { // parameters are compared above; words may change
		f.Parameters, f.Functions, f.Series, f.Findings, f.Network = nil, nil, nil, nil, nil
	}
	c.equal(what, w, g)
}

func (c *comparison) series(what string, want, got params.Series) {
	if len(want.Points) != len(got.Points) || want.XName != got.XName || want.Unit != got.Unit {
		c.differ("%s%s: %d points of %s [%s], were %d of %s [%s]", what, want.Name, len(got.Points), got.XName, got.Unit,
			len(want.Points), want.XName, want.Unit)
		return
	}
	for i, w := range want.Points {
		g := got.Points[i]
		c.equal(fmt.Sprintf("%s%s at %g", what, want.Name, w.X), w, g)
	}
}

func (c *comparison) names(what string, want, got []string) {
	if !slices.Equal(want, got) {
		c.differ("%s: %v, were %v", what, got, want)
	}
}

func (c *comparison) equal(what string, want, got any) {
	same := cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
	if d := cmp.Diff(want, got, same); d != "" {
		c.differ("%s: %s", what, d)
		return
	}
	c.same++
}
