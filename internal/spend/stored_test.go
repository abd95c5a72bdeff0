package spend

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

// Of stored runs of real agents it is known how every target depends on the points, or why it is beyond reach.
func TestStoredRuns(t *testing.T) {
	for run, beyond := range map[string][]string{"shared": nil, "switch-full": {"a_c", "b_c"}, "lab": {"b_c"}} {
		d := stored(t, run)
		targets := DefaultTargets([]string{names.Paired, names.PRTT})
		for _, name := range []string{"alpha", "b", "g_s.c0", "g_r.c1", "o_s"} {
			targets[name] = 1e-6 // never met
		}
		last := 0
		for i := range d.Samples {
			last = max(last, d.Samples[i].Round)
		}
		j := NewJudge(targets, fit.Settings{Replicates: 100}, 1)
		look(t, j, until(d, last-1), last-1)
		states := look(t, j, d, last)
		for _, name := range beyond {
			if s := states[name]; !s.Beyond {
				t.Errorf("%s: %s, want beyond reach", run, s)
			}
		}
		for _, w := range j.unmet {
			if len(w.worth) == 0 && d.Select(w.exps[0], "") != nil {
				t.Errorf("%s: not known how %v depend on points of %v", run, w.parameters, w.exps)
			}
		}
	}
}

// until is a run up to a round.
func until(d *dataset.Dataset, round int) *dataset.Dataset {
	out := &dataset.Dataset{Header: d.Header}
	for _, s := range d.Samples {
		if s.Round <= round {
			out.Samples = append(out.Samples, s)
		}
	}
	return out
}

// stored reads a dataset that package models keeps.
func stored(t *testing.T, run string) *dataset.Dataset {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "fit", "models", "testdata", run, "samples.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Read(z)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
