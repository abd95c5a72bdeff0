package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/glossary"
	"calib/internal/units"
)

// The conformance suite: every experiment in All, on the simulator, for teams of every kind. It knows nothing of any
// single experiment.

// confLimits keeps a design small enough to run whole, many times.
func confLimits(hosts int) bench.Limits {
	return bench.Limits{Hosts: hosts, MaxBytes: 24 * units.KiB, Effort: 0.1, Seed: 42}
}

var confHosts = []int{1, 2, 3, 4, 5, 9}

// forEach runs f as a subtest for every experiment.
func forEach(t *testing.T, f func(t *testing.T, e *bench.Experiment)) {
	for _, e := range slices.Concat(All, Before) {
		t.Run(e.Name, func(t *testing.T) { f(t, e) })
	}
}

// forEachSlot calls f for every point and step of every design that confHosts give.
func forEachSlot(e *bench.Experiment, hosts []int, f func(l bench.Limits, p bench.Point, s bench.Slot)) {
	for _, h := range hosts {
		l := confLimits(h)
		for _, p := range e.Design(l) {
			for _, step := range e.Teams(l, p) {
				f(l, p, bench.Slot{ID: 17, Round: 3, Teams: step, Points: []bench.Point{p}})
			}
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All {
		name := e.Name
		if name == "" || seen[name] {
			t.Errorf("name %q is empty or taken", name)
		}
		seen[name] = true
		if got, ok := Lookup(name); !ok || got != e {
			t.Errorf("Lookup(%q) does not find it", name)
		}
	}
}

func TestDesigns(t *testing.T) {
	forEach(t, func(t *testing.T, e *bench.Experiment) {
		for _, hosts := range append([]int{0, 33, 256}, confHosts...) {
			for _, effort := range []bench.Effort{0, 0.1, 1, 3} {
				l := bench.Limits{Hosts: hosts, Effort: effort, Seed: 7}
				points := e.Design(l)
				if hosts >= 2 && len(points) == 0 {
					t.Errorf("%d hosts, effort %g: no points", hosts, effort)
				}
				if !reflect.DeepEqual(points, e.Design(l)) {
					t.Errorf("%d hosts, effort %g: two designs differ", hosts, effort)
				}
				seen := map[string]bool{}
				for _, p := range points {
					if seen[p.Key()] {
						t.Errorf("%d hosts: point %s occurs twice", hosts, p.Key())
					}
					seen[p.Key()] = true
				}
			}
		}
		for _, p := range e.Design(bench.Limits{Hosts: 4, Seed: 7, MaxBytes: 20_000}) {
			if x := p[names.FactorBytes]; x > 20_000 {
				t.Errorf("point %s is above the limit of 20000 bytes", p.Key())
			}
		}
	})
}

func TestTeams(t *testing.T) {
	forEach(t, func(t *testing.T, e *bench.Experiment) {
		for _, hosts := range append([]int{33, 256}, confHosts...) {
			for _, pairs := range []bench.Pairs{0, bench.AllPairs} {
				l := confLimits(hosts)
				l.Pairs = pairs
				for _, p := range e.Design(l) {
					steps := e.Teams(l, p)
					if len(steps) == 0 || !reflect.DeepEqual(steps, e.Teams(l, p)) {
						t.Fatalf("%d hosts, %s: no teams, or not the same twice", hosts, p.Key())
					}
					for _, step := range steps {
						if err := disjointTeams(step, hosts); err != nil {
							t.Fatalf("%d hosts, %s: %v", hosts, p.Key(), err)
						}
					}
				}
			}
		}
	})
}

func disjointTeams(step bench.Step, hosts int) error {
	seen := map[int]bool{}
	for _, team := range step {
		if len(team) == 0 {
			return fmt.Errorf("step %v has an empty team", step)
		}
		for _, h := range team {
			if h < 0 || h >= hosts || seen[h] {
				return fmt.Errorf("step %v: host %d is out of range or busy twice", step, h)
			}
			seen[h] = true
		}
	}
	if len(step) == 0 {
		return errors.New("a step without teams")
	}
	return nil
}

// Every point of every design runs on every team, and what it records is well formed and survives the file.
func TestSamples(t *testing.T) {
	forEach(t, func(t *testing.T, e *bench.Experiment) {
		var all []dataset.Sample
		forEachSlot(e, confHosts, func(l bench.Limits, p bench.Point, s bench.Slot) {
			for i, samples := range benchtest.MustRun(t, e, benchtest.Net(benchtest.Spec(l.Hosts)), s, float64(l.Effort), nil) {
				if len(samples) == 0 {
					t.Errorf("%s, team %v: nothing recorded", p.Key(), s.Teams[i])
				}
				for _, line := range samples {
					if err := checkSample(line, e, s, s.Teams[i]); err != nil {
						t.Errorf("%s, team %v: %v (%+v)", p.Key(), s.Teams[i], err, line)
					}
				}
				all = append(all, samples...)
			}
		})
		path := filepath.Join(t.TempDir(), "samples.jsonl")
		w, err := dataset.Create(path, dataset.Header{Hosts: make([]dataset.Host, 16)})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Append(all), w.Close()); err != nil {
			t.Fatal(err)
		}
		d, err := dataset.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Samples) != len(all) {
			t.Errorf("%d of %d lines came back from the file", len(d.Samples), len(all))
		}
	})
}

// documented returns an error that names what a line holds and formats.yaml of package glossary does not: its phase, a
// factor or an auxiliary value.
func documented(s dataset.Sample) error {
	known := glossary.Files()
	if known.Phases[s.Exp][s.Phase] == "" {
		return fmt.Errorf("formats.yaml has no phase %q of experiment %q", s.Phase, s.Exp)
	}
	for name := range s.Point {
		if known.Factors[name].Is == "" {
			return fmt.Errorf("%s: formats.yaml has no factor %q", s.Exp, name)
		}
	}
	for name := range s.Aux {
		if known.Aux[name].Is == "" {
			return fmt.Errorf("%s: formats.yaml has no auxiliary value %q", s.Exp, name)
		}
	}
	return nil
}

func checkSample(s dataset.Sample, e *bench.Experiment, slot bench.Slot, team []int) error {
	if _, ok := Lookup(s.Exp); !ok {
		return fmt.Errorf("experiment %q is none", s.Exp)
	}
	if s.Exp == e.Name && len(s.Point) > 0 && s.Point.Key() != slot.Points[0].Key() {
		return errors.New("another point")
	}
	if err := documented(s); err != nil {
		return err
	}
	if s.Round != slot.Round || s.Slot != slot.ID {
		return errors.New("another round or slot")
	}
	if len(s.Ranks) == 0 {
		return errors.New("no ranks")
	}
	for i, h := range s.Ranks {
		if !slices.Contains(team, h) || slices.Contains(s.Ranks[:i], h) {
			return errors.New("ranks are not distinct members of the team")
		}
	}
	if len(s.NS) == 0 {
		return errors.New("no times")
	}
	for _, ns := range s.NS {
		// The difference of two clocks has a sign; a duration on this network is neither negative nor an hour.
		if s.Phase != names.PhaseOffset && (ns < 0 || ns > 3_600_000_000_000) {
			return fmt.Errorf("a time of %d ns", ns)
		}
	}
	for name, v := range s.Aux {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s is %g", name, v)
		}
	}
	known := []string{dataset.FlagRetrans, dataset.FlagPreempt, dataset.FlagSteal, dataset.FlagDeadlock,
		dataset.FlagTimeout, dataset.FlagUnsteady}
	for _, f := range s.Flags {
		if !slices.Contains(known, f) {
			return fmt.Errorf("flag %q is none", f)
		}
	}
	return nil
}

// The same network and the same slot give the same samples, on any number of processors.
func TestSamplesAreDeterministic(t *testing.T) {
	forEach(t, func(t *testing.T, e *bench.Experiment) {
		forEachSlot(e, []int{4}, func(l bench.Limits, p bench.Point, s bench.Slot) {
			run := func(procs int) [][]dataset.Sample {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				return byTeam(benchtest.MustRun(t, e, benchtest.Net(benchtest.Spec(l.Hosts)), s, float64(l.Effort), nil))
			}
			if a, b := run(1), run(4); !reflect.DeepEqual(a, b) {
				t.Errorf("%s: two runs differ", p.Key())
			}
		})
	})
}

// byTeam puts lines of different ranks, which end in any order, into one.
func byTeam(teams [][]dataset.Sample) [][]dataset.Sample {
	for _, lines := range teams {
		slices.SortStableFunc(lines, func(a, b dataset.Sample) int {
			return slices.Compare(a.Ranks, b.Ranks)
		})
	}
	return teams
}

// A cancelled context ends every rank, with that error and no samples.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	forEach(t, func(t *testing.T, e *bench.Experiment) {
		forEachSlot(e, []int{2, 4}, func(l bench.Limits, p bench.Point, s bench.Slot) {
			samples, errs := benchtest.Run(ctx, t, e, benchtest.Net(benchtest.Spec(l.Hosts)), s, float64(l.Effort), nil)
			for _, err := range errs {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v, want cancelled", p.Key(), err)
				}
			}
			for _, lines := range samples {
				if len(lines) > 0 {
					t.Errorf("%s: a cancelled rank has samples", p.Key())
				}
			}
		})
	})
}
