package run

import (
	"compress/gzip"
	"math"
	"os"
	"testing"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

// Of stored runs of real agents the numbers of record have a value, or it is known why they are beyond reach.
func TestStoredRuns(t *testing.T) {
	for run, beyond := range map[string][]string{"shared": nil, "switch-full": {"a_c", "b_c"}, "lab": {"b_c"}} {
		d := stored(t, run)
		j := newLook(defaultTargets([]string{names.Paired, names.PRTT, names.Pingpong}, len(d.Header.Hosts), 1e-6),
			fit.Settings{Replicates: 100}, nil)
		states := look(t, j, d)
		for _, name := range beyond {
			if s := states[name]; !s.Beyond {
				t.Errorf("%s: %s, want beyond reach", run, s)
			}
		}
		for name, s := range states {
			if math.IsNaN(s.Value) && s.Why == "" {
				t.Errorf("%s: %s has neither a value nor a reason", run, name)
			}
		}
	}
}

// stored reads a dataset that package models keeps.
func stored(t *testing.T, run string) *dataset.Dataset {
	t.Helper()
	file, err := os.Open("../fit/models/testdata/" + run + "/samples.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
