package coord_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/run/coord"
	"calib/run/plan"
)

// TestAllPairsOf256: every pair of 256 hosts once in 255 slots, and no host asked for two things at once.
func TestAllPairsOf256(t *testing.T) {
	const hosts = 256
	w := newWalk(hosts, 1)
	w.plan.Limits.Sizes = []units.Bytes{1}
	pairs := map[[2]int]int{}
	w.cfg.Sink = func(b []dataset.Sample) error {
		w.slots = append(w.slots, b)
		seen := map[int]bool{}
		for _, s := range b {
			if s.Aux["rank"] != 0 {
				continue
			}
			pairs[[2]int{s.Ranks[0], s.Ranks[1]}]++
			for _, h := range s.Ranks {
				if seen[h] {
					t.Errorf("slot %d: host %d twice", s.Slot, h)
				}
				seen[h] = true
			}
		}
		if len(seen) != hosts {
			t.Errorf("slot %d: %d hosts", b[0].Slot, len(seen))
		}
		return nil
	}
	r := w.must(t)
	if r.Slots != hosts-1 || len(pairs) != hosts*(hosts-1)/2 {
		t.Errorf("%d slots, %d pairs", r.Slots, len(pairs))
	}
	for p, n := range pairs {
		if n != 1 || p[0] >= p[1] {
			t.Errorf("pair %v: %d times", p, n)
		}
	}
}

// instant is an agent that costs nothing: what a walk over it takes is the coordinator's own.
type instant struct{ ns []int64 }

func (a instant) Hello(context.Context, bool) (dataset.Host, error) { return dataset.Host{}, nil }
func (a instant) Prepare(context.Context, plane.Session) error      { return nil }
func (a instant) Close() error                                      { return nil }

func (a instant) Run(_ context.Context, t bench.Task) ([]dataset.Sample, error) {
	if t.Rank != 0 {
		return nil, nil
	}
	out := make([]dataset.Sample, len(t.Points))
	for i, p := range t.Points {
		out[i] = dataset.Sample{Exp: t.Exp, Point: p, Ranks: t.Team, Round: t.Round, Slot: t.Slot, NS: slices.Clone(a.ns)}
	}
	return out, nil
}

// BenchmarkWalk1000 walks plans over a thousand hosts that answer at once: schedule, tickets, slots and the stopper's
// statistics. heap-MB is the most that was live between slots beyond what was before.
func BenchmarkWalk1000(b *testing.B) {
	const hosts = 1000
	standard, err := plan.Builtin(plan.Standard)
	if err != nil {
		b.Fatal(err)
	}
	standard.Budget, standard.Rounds.Max = 0, standard.Rounds.Min
	matrix := plan.Plan{
		Name: "matrix", Experiments: []string{"pingpong"}, Rounds: plan.Rounds{Min: 1, Max: 1}, Seed: 1,
		Limits: bench.Limits{Pairs: bench.AllPairs, Sizes: []units.Bytes{64}, Effort: 1},
	}
	for _, spec := range []plan.Plan{standard, matrix} {
		b.Run(spec.Name, func(b *testing.B) {
			agents := make([]coord.Agent, hosts)
			for i := range agents {
				agents[i] = instant{ns: make([]int64, 50)}
			}
			var most uint64
			var slots int
			for b.Loop() {
				heap, n := walkOnce(b, agents, spec)
				most, slots = max(most, heap), n
			}
			b.ReportMetric(float64(most)/1e6, "heap-MB")
			b.ReportMetric(float64(slots), "slots")
		})
	}
}

// walkOnce returns the most bytes that were live, and the slots.
func walkOnce(b *testing.B, agents []coord.Agent, spec plan.Plan) (most uint64, slots int) {
	b.Helper()
	base := live()
	s, err := plan.New(spec, len(agents), experiments.All)
	if err != nil {
		b.Fatal(err)
	}
	issuer := coord.NewIssuer(units.GiB, time.Now().Add(time.Hour))
	session := plane.Session{Run: "test", Peers: make([]plane.Peer, len(agents))}
	for _, err := range coord.Prepare(b.Context(), agents, session, issuer, 32) {
		if err != nil {
			b.Fatal(err)
		}
	}
	every := s.Slots()
	r, err := coord.Walk(b.Context(), agents, coord.Config{
		Progress: func(coord.Progress) {}, Slot: func(bench.Slot, time.Duration) {}, Note: func(string) {},
		Run: "test", Schedule: s,
		Deadline: func(bench.Slot) units.Nanos { return units.Second },
		Sink: func([]dataset.Sample) error {
			if slots++; slots%every == 0 { // at the end of a round
				most = max(most, live()-base)
			}
			return nil
		},
	})
	if err != nil || r.Partial() {
		b.Fatal(r, err)
	}
	return most, slots
}

// live is what the collector cannot free.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}
