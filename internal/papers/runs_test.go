package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"calib/fit/params"
	"calib/internal/netspec"
)

// Every run has a network and a plan, and its stored measurement says what was run.
func TestRuns(t *testing.T) {
	m, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		spec, err := netspec.Resolve(r.network)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
			continue
		}
		if _, err := os.Stat(filepath.Join(root, planIn, r.name+".yaml")); err != nil {
			t.Error(err)
		}
		s, stored := m[r.name]
		if !stored {
			continue
		}
		if s.Name != r.name || s.Slowdown != max(1, spec.Slowdown) || s.Date == "" || !strings.Contains(s.Command, r.network) || s.Timings == 0 {
			t.Errorf("%s: %s of %s, %g times slower, %d timings: %s", r.name, s.Name, s.Date, s.Slowdown, s.Timings, s.Command)
		}
	}
}

// Of a parameter file a run keeps what its rows need, and nothing else.
func TestKeep(t *testing.T) {
	v := 1.0
	p := &params.Params{
		Run:         params.Run{ID: "20260102-030405-abcd", Rounds: 3, Timings: 40},
		Environment: params.Environment{Common: map[string]string{"cpu.model": "X", "cpu.cores": "2", "kernel": "6.1"}},
		Parameters:  map[string]params.Parameter{"a": {Value: &v}, "b": {Value: &v}},
		Functions:   map[string]params.Function{"g_s": {}, "O_s": {}},
		Validation:  []params.Validation{{Model: "hockney"}, {Model: "loggp"}},
		Fits:        []*params.Fit{{Series: []params.Series{{Quantity: params.GatherTime}, {Quantity: params.Time}}}},
	}
	r := labRun{keeps: keeps{parameters: []string{"a", "none"}, functions: []string{"g_s"}, times: true, gathers: true}}
	m := r.keep(p)
	if len(m.Parameters) != 1 || len(m.Functions) != 1 || len(m.Times) != 1 || len(m.Gathers) != 1 || m.Rounds != 3 || m.Date != "2026-01-02 03:04 UTC" || m.Timings != 40 ||
		m.Machine != "X, 2 CPUs, Linux 6.1" {
		t.Errorf("%+v", m)
	}
	if got := (labRun{}).keep(p); len(got.Parameters)+len(got.Functions)+len(got.Times)+len(got.Gathers) != 0 {
		t.Errorf("%+v", got)
	}
}

// Times are divided by how much slower the lab's copy is, counts are not; what is missing says how to measure it.
func TestScaled(t *testing.T) {
	v, slow := 20e-6, measurement{Name: "slow", Slowdown: 20}
	slow.Parameters = map[string]params.Parameter{"a": {Value: &v, CI95: &[2]float64{10e-6, 40e-6}, Status: params.StatusProvisional}}
	r, err := slow.parameter("a", "a", "", num("1", us))
	if err != nil || !near(r.ours.value, 1e-6) || !near(r.ours.ci[0], 0.5e-6) || !near(r.ours.ci[1], 2e-6) || !strings.HasSuffix(r.ours.text(us, 4), ", provisional") {
		t.Errorf("%+v, %v", r, err)
	}
	if got := slow.scaled(1935, packets); got != 1935 {
		t.Errorf("1,935 packets became %g", got)
	}
	if _, err := slow.parameter("b", "b", "", num("1", us)); err == nil || !strings.Contains(err.Error(), "make papers RUNS=slow") {
		t.Errorf("%v", err)
	}
	if err := measure(t.Context(), root, "none", "", []string{"nothing"}); err == nil || !strings.Contains(err.Error(), `no run "nothing"`) {
		t.Errorf("%v", err)
	}
}

// A stored command has no path of the machine that it ran on.
func TestCommand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(path, []byte(`{"args":["run","--hosts","/run/a.hosts","--launch","ip netns exec {host}","--out","/x/y","--seed","1"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "calib lab run --strict switch:4 -- calib run --hosts {hosts} --launch 'ip netns exec {host}' --seed 1"
	if got, err := (labRun{network: "switch:4"}).command(path); err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}
