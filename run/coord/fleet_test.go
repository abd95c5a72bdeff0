package coord_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/run/coord"
	"calib/run/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errBroken  = errors.New("broken")
	errTimeout = errors.New("timed out")
)

// fleet is a set of fake agents that answer every task at once with canned samples, unless a test says otherwise.
type fleet struct {
	run   func(ctx context.Context, host int, t bench.Task) error // nil: all goes well
	hello func(ctx context.Context, host int) error
	cut   func(a, b int) bool // no byte passes between two hosts: no experiment on both ends, and no check does

	mu    sync.Mutex
	tasks []bench.Task // as they were begun
	dead  map[int]bool
	seen  map[int]int // slot → tasks begun
}

func newFleet() *fleet { return &fleet{dead: map[int]bool{}, seen: map[int]int{}} }

// kill makes a host fail every call from now on.
func (f *fleet) kill(host int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead[host] = true
}

func (f *fleet) alive(host int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead[host] {
		return errors.New("it is dead")
	}
	return nil
}

func (f *fleet) agents(n int) []coord.Agent {
	var out []coord.Agent
	for h := range n {
		out = append(out, member{f, h})
	}
	return out
}

type member struct {
	f    *fleet
	host int
}

func (m member) Hello(ctx context.Context, closer bool) (dataset.Host, error) {
	if err := m.f.alive(m.host); err != nil {
		return dataset.Host{}, err
	}
	if m.f.hello != nil {
		return dataset.Host{}, m.f.hello(ctx, m.host)
	}
	return dataset.Host{}, nil
}

func (m member) Prepare(context.Context, plane.Session) error { return nil }
func (m member) Close() error                                 { return nil }

func (m member) Run(ctx context.Context, t bench.Task) ([]dataset.Sample, error) {
	if t.Exp != names.Probe {
		m.f.mu.Lock()
		m.f.tasks = append(m.f.tasks, t)
		m.f.seen[t.Slot]++
		m.f.mu.Unlock()
	}
	if err := m.f.alive(m.host); err != nil {
		return nil, err
	}
	for _, other := range t.Team {
		if m.f.cut != nil && other != m.host && m.f.cut(min(m.host, other), max(m.host, other)) {
			select {
			case <-time.After(time.Duration(t.Deadline)):
				return nil, errTimeout
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
	if t.Exp == names.Probe {
		return nil, nil
	}
	if m.f.run != nil {
		if err := m.f.run(ctx, m.host, t); err != nil {
			return nil, err
		}
	}
	return canned(t), nil
}

// canned is what an agent of an even network measures: the same time at every point.
func canned(t bench.Task) []dataset.Sample {
	var out []dataset.Sample
	for _, p := range t.Points {
		out = append(out, dataset.Sample{
			Exp: t.Exp, Point: p, Ranks: t.Team, Round: t.Round, Slot: t.Slot,
			Aux: map[string]float64{"rank": float64(t.Rank)}, NS: []int64{1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000},
		})
	}
	return out
}

// walk is a walk of a plan of ping-pongs over fake agents, with what came of it.
type walk struct {
	fleet *fleet
	hosts int
	plan  plan.Plan
	cfg   coord.Config
	look  plan.Look // where the walk is steered

	slots [][]dataset.Sample // as the sink took them
	notes []string
}

// newWalk plans all pairs of so many hosts: on an even number n, n−1 slots a round of n/2 teams each.
func newWalk(hosts, rounds int) *walk {
	w := &walk{fleet: newFleet(), hosts: hosts, plan: plan.Plan{
		Name: "test", Experiments: []string{"pingpong"}, Rounds: plan.Rounds{Min: rounds, Max: rounds}, Target: 0.05, Seed: 7,
		Limits: bench.Limits{Sizes: []units.Bytes{1, 64}, Pairs: bench.AllPairs, Effort: 1},
	}}
	w.cfg = coord.Config{
		Run:      "test",
		Deadline: func(bench.Slot) units.Nanos { return 30 * units.Second },
		Sink:     func(b []dataset.Sample) error { w.slots = append(w.slots, b); return nil },
		Note:     func(s string) { w.notes = append(w.notes, s) },
		Progress: func(coord.Progress) {},
		Slot:     func(bench.Slot, time.Duration) {},
	}
	for h := range hosts {
		w.cfg.Names = append(w.cfg.Names, strconv.Itoa(h))
	}
	return w
}

func (w *walk) do(t testing.TB, ctx context.Context) (*coord.Result, error) {
	t.Helper()
	s, err := plan.New(w.plan, w.hosts, experiments.All)
	if err != nil {
		t.Fatal(err)
	}
	w.cfg.Schedule = s
	if w.look != nil {
		w.cfg.Steering = plan.NewSteering(s, w.look, []string{"pingpong"}, dataset.Header{},
			func(text string) { t.Log(text) })
	}
	return coord.Walk(ctx, w.fleet.agents(w.hosts), w.cfg)
}

// must is do where no error is expected.
func (w *walk) must(t testing.TB) *coord.Result {
	t.Helper()
	r, err := w.do(t, t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// saved lists the slots that were saved, in order.
func (w *walk) saved() []int {
	var out []int
	for _, b := range w.slots {
		out = append(out, b[0].Slot)
	}
	return out
}

// planned lists all slots of the plan, in order.
func (w *walk) planned(t testing.TB) []bench.Slot {
	t.Helper()
	s, err := plan.New(w.plan, w.hosts, experiments.All)
	if err != nil {
		t.Fatal(err)
	}
	var out []bench.Slot
	for r := range s.MaxRounds() {
		out = append(out, plan.NewPace(s).Round(r, nil)...)
	}
	return out
}
