package run

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"calib/bench"
	"calib/internal/exit"
	"calib/internal/launch"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/reports"
	"calib/run/coord"
	"calib/run/plan"
)

// simulation is a short run in virtual time.
func simulation(t *testing.T, out string) Config {
	t.Helper()
	const text = "experiments: [clock, pingpong]\nsizes: 1,700,1400\neffort: 0.05\nrounds: {min: 2, max: 2}\n"
	p, err := plan.Parse([]byte(text), "short")
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		Plan: p, Where: Where{Sim: "switch:4"}, Out: out, Agents: func() ([]launch.Binary, error) { return nil, nil },
		Show: progress.New(io.Discard, progress.Quiet, time.Now),
	}
}

// goesOn is the configuration by which a run goes on.
func goesOn(t *testing.T, dir *rundir.Dir) Config {
	t.Helper()
	config, err := Stored(dir.Run().Detail)
	if err != nil {
		t.Fatal(err)
	}
	config.Resume, config.Show = dir.Path(), progress.New(io.Discard, progress.Quiet, time.Now)
	return config
}

// A run leaves its directory closed, with what it then holds, or is taken back whole.
func TestStates(t *testing.T) {
	refused := errors.New("refused")
	for _, c := range []struct {
		name   string
		change func(*Config)
		cut    bool
		left   bool
		code   int
		params bool
	}{
		{"whole", func(*Config) {}, false, true, 0, true},
		{"measured only", func(c *Config) { c.MeasureOnly = true }, false, true, 0, false},
		{"not fitted", func(c *Config) {
			c.Plan.Limits.Sizes, c.Plan.Experiments = c.Plan.Limits.Sizes[:1], []string{"pingpong"}
		}, false, true, exit.Failed, false},
		{"refused", func(c *Config) { c.Confirm = func(int) error { return refused } }, false, false, exit.Failed, false},
		{"no hosts", func(c *Config) { c.Where.Sim = "nosuch" }, false, false, exit.Usage, false},
		{"target that is not measured", func(c *Config) { c.Targets = "g=2%"; c.Plan.Rounds.Max = 9 }, false, true,
			exit.Usage, false},
		{"interrupted", func(*Config) {}, true, false, exit.Interrupted, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "run")
			config := simulation(t, out)
			c.change(&config)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.cut {
				cancel()
			}
			r, err := Run(ctx, config)
			code := exit.OK
			if err != nil {
				code = exit.CodeOf(err)
			}
			if (r.Dir != nil) != c.left || code != c.code {
				t.Fatalf("directory %v, exit code %d (%v), want %v and %d", r.Dir, code, err, c.left, c.code)
			}
			if !c.left {
				if _, err := os.Stat(out); err == nil {
					t.Error("a run that was only planned left its directory")
				}
				return
			}
			if run := r.Dir.Run(); run.ExitCode == nil || *run.ExitCode != code || run.Status == rundir.StatusRunning {
				t.Errorf("run.json has status %s, exit code %v", run.Status, run.ExitCode)
			}
			if _, err := r.Dir.ReadParams(); (err == nil) != c.params {
				t.Errorf("parameters: %v", err)
			}
		})
	}
}

// A run goes on by what it has stored: nothing is left to measure of a whole one, and it is fitted again.
func TestStoredGoesOn(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	r, err := Run(t.Context(), simulation(t, out))
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(r.Dir.File(rundir.SamplesFile))
	if err != nil {
		t.Fatal(err)
	}
	if r, err = Run(t.Context(), goesOn(t, r.Dir)); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(r.Dir.File(rundir.SamplesFile))
	if err != nil || string(after) != string(before) {
		t.Errorf("samples of %d bytes became %d, %v", len(before), len(after), err)
	}
}

// A run that cannot go on, as a host is missing or it is interrupted, stays as it was.
func TestCannotGoOn(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	r, err := Run(t.Context(), simulation(t, out))
	if err != nil {
		t.Fatal(err)
	}
	config := goesOn(t, r.Dir)
	stored := func() (all [2]string) {
		for i, name := range []string{rundir.RunFile, rundir.SamplesFile} {
			b, err := os.ReadFile(r.Dir.File(name))
			if err != nil {
				t.Fatal(err)
			}
			all[i] = string(b)
		}
		return all
	}
	before := stored()
	for network, code := range map[string]int{"switch:3": exit.Failed, "switch:4": exit.Interrupted} {
		ctx, cancel := context.WithCancel(t.Context())
		if code == exit.Interrupted {
			cancel()
		}
		config.Where.Sim = network
		if _, err := Run(ctx, config); err == nil || exit.CodeOf(err) != code {
			t.Errorf("%s: %v, want exit code %d", network, err, code)
		}
		cancel()
		if after := stored(); after != before {
			t.Errorf("%s: the directory became %s", network, after[0])
		}
	}
}

// A run whose slots have other experiments in this calib is refused, and stays as it was.
func TestOtherScheduleCannotGoOn(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	config := simulation(t, out)
	config.MeasureOnly = true
	r, err := Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(r.Dir.File(rundir.RunFile))
	if err != nil {
		t.Fatal(err)
	}
	config = goesOn(t, r.Dir)
	config.Plan.Experiments = []string{"clock", "prtt"}
	_, err = Run(t.Context(), config)
	if exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), "with another schedule, began this run") {
		t.Errorf("got %v", err)
	}
	after, err := os.ReadFile(r.Dir.File(rundir.RunFile))
	if err != nil || string(after) != string(before) {
		t.Errorf("run.json became %s, %v", after, err)
	}
}

// A run that goes on keeps its warnings, each once.
func TestWarningsStay(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	config := simulation(t, out)
	config.Where.Sim, config.MeasureOnly = "switch:5", true
	r, err := Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	said := r.Dir.Run().Warnings
	if len(said) == 0 {
		t.Fatal("no warning of an odd number of hosts")
	}
	dir, err := rundir.Edit(out)
	if err != nil {
		t.Fatal(err)
	}
	const earlier = "the network was slow"
	if err := errors.Join(dir.Update(func(r *rundir.Run) { r.Warnings = append(r.Warnings, earlier) }),
		dir.Close()); err != nil {
		t.Fatal(err)
	}
	config = goesOn(t, r.Dir)
	config.MeasureOnly = true
	if r, err = Run(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if got, want := r.Dir.Run().Warnings, append(said, earlier); !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}

// A target that is read from an experiment that the budget leaves out is a note.
func TestTargetBeyondBudget(t *testing.T) {
	config := simulation(t, filepath.Join(t.TempDir(), "run"))
	config.MeasureOnly, config.Targets = true, "alpha=2%,g=2%"
	config.Plan.Experiments, config.Plan.Rounds.Max = []string{"clock", "pingpong", "prtt"}, 3
	config.Plan.Budget, config.Plan.Chosen = 20*units.Second, false
	config.Plan.Limits.Path = bench.Path{Latency: 20 * units.Millisecond, PerByte: 14600, Slot: 100 * units.Millisecond}
	r, err := Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	const want = "no target for g: there is no time for experiment prtt: give more (--budget), or name it in --only"
	if got := r.Dir.Run().Warnings; !slices.Contains(got, want) {
		t.Errorf("warnings %q", got)
	}
}

// A look at a network writes nothing.
func TestPreview(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	p, err := Preview(t.Context(), simulation(t, out))
	if err != nil || p.Hosts != 4 || p.Rounds != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("it made the run directory")
	}
}

// A forecast has the looks before the first round, and stays within the budget.
func TestForecastOfLooks(t *testing.T) {
	for _, c := range []struct {
		budget units.Nanos
		lo, hi float64 // min
	}{{0, 3, 6}, {300 * units.Second, 3, 5}, {120 * units.Second, 2, 2}} {
		p := reports.Plan{MinutesLo: 2, MinutesHi: 4}
		addLooks(&p, 60*units.Second, 120*units.Second, c.budget)
		if off := math.Abs(p.MinutesLo-c.lo) + math.Abs(p.MinutesHi-c.hi) + math.Abs(p.LookSeconds-120); off > 1e-9 {
			t.Errorf("budget %v: %+v", c.budget, p)
		}
	}
	r := &run{Config: Config{Probe: &coord.Probed{}, Plan: plan.Plan{Budget: 30 * units.Second}}}
	for hosts, want := range map[int]time.Duration{2: 0, 3: 3 * time.Second} {
		if got := r.screenTime(&fleet{agents: make([]coord.Agent, hosts)}); got != want {
			t.Errorf("%d hosts observe their pairs for %v, want %v", hosts, got, want)
		}
	}
}
