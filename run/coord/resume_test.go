package coord_test

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"calib/agent/simagent"
	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/run/coord"
	"calib/run/plan"
	"calib/transport/sim"
)

// simulated are the agents of a noisy network, the same at every call. Its time stands still while nobody measures.
func simulated(t testing.TB, hosts int) []coord.Agent {
	t.Helper()
	spec, err := netspec.Preset("sparc1994", hosts)
	if err != nil {
		t.Fatal(err)
	}
	var out []coord.Agent
	for _, a := range simagent.New(*spec, sim.Options{Seed: 3, Noise: sim.Noise{Jitter: 0.03, Round: 0.01}}) {
		out = append(out, a)
	}
	return out
}

// saveTo walks the whole plan and saves to a file; it stops after some slots, if stop is not 0.
func saveTo(t *testing.T, agents []coord.Agent, path string, stop int) *coord.Result {
	t.Helper()
	spec := plan.Plan{
		Name: "test", Rounds: plan.Rounds{Min: 6, Max: 6}, Target: 0.02, Seed: 5,
		Limits: bench.Limits{Sizes: []units.Bytes{1, 700}, Effort: 0.1},
	}
	s, err := plan.New(spec, 4, experiments.All)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var have []dataset.Sample
	out, err := dataset.Create(path, dataset.Header{Run: "test", Hosts: make([]dataset.Host, 4)})
	if err != nil {
		var d *dataset.Dataset
		if out, d, err = dataset.Resume(path); err != nil {
			t.Fatal(err)
		}
		have = d.Samples
	}
	defer out.Close()
	saved := 0
	r, err := coord.Walk(ctx, agents, coord.Config{
		Progress: func(coord.Progress) {}, Slot: func(bench.Slot, time.Duration) {}, Note: func(string) {},
		Run: "test", Schedule: s, Have: have,
		Deadline: func(bench.Slot) units.Nanos { return 600 * units.Second },
		Sink: func(b []dataset.Sample) error {
			if saved++; saved == stop {
				cancel()
			}
			return out.Append(b)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// text is a dataset's samples in the order of their slots, as bytes.
func text(t *testing.T, path string) string {
	t.Helper()
	d, err := dataset.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(d.Samples, func(a, b dataset.Sample) int { return cmp.Compare(a.Slot, b.Slot) })
	b, err := json.Marshal(d.Samples)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestResume: a run that was cut off any number of times ends with the samples of one that was not, to the byte.
func TestResume(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "samples.jsonl")
	r := saveTo(t, simulated(t, 4), whole, 0)
	if r.Interrupted || r.Had != 0 || r.Slots < 6*5 {
		t.Fatalf("result %+v", r)
	}
	want, slots := text(t, whole), r.Slots
	for _, cuts := range [][]int{{1}, {7}, {slots - 1}, {2, 3, 11}} {
		path, agents := filepath.Join(t.TempDir(), "samples.jsonl"), simulated(t, 4)
		had := 0
		for _, n := range cuts {
			if r := saveTo(t, agents, path, n); !r.Interrupted || r.Slots != n || r.Had != had {
				t.Fatalf("cuts %v: result %+v, had %d", cuts, r, had)
			}
			had += n
		}
		if r := saveTo(t, agents, path, 0); r.Interrupted || r.Had != had || r.Had+r.Slots != slots {
			t.Errorf("cuts %v: resumed %+v, want %d slots", cuts, r, slots)
		}
		if got := text(t, path); got != want {
			t.Errorf("cuts %v: other samples than without (%d and %d bytes)", cuts, len(got), len(want))
		}
	}
}
