package experiments

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/needs"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// meter counts what one rank does.
type meter struct {
	bench.Group
	out, in     units.Bytes
	sends, nows int
}

func (m *meter) Send(to int, b []byte) error {
	m.out += units.Bytes(len(b))
	m.sends++
	return m.Group.Send(to, b)
}

func (m *meter) Recv(from int, b []byte) error {
	m.in += units.Bytes(len(b))
	return m.Group.Recv(from, b)
}

func (m *meter) Now() units.Nanos {
	m.nows++
	return m.Group.Now()
}

// meters hands out a meter for each group. The ranks of one net.Run ask one after the other, but tests need not know.
type meters struct {
	mu  sync.Mutex
	all []*meter
}

func (m *meters) wrap(g bench.Group) bench.Group {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &meter{Group: g}
	m.all = append(m.all, w)
	return w
}

// Cost bounds what passes over every host's link in either direction. Beside it, a slot may exchange a little with
// every rank for its own ends: clocks, orders, results.
func TestCostBoundsTraffic(t *testing.T) {
	const spareBytes = 4 * units.KiB // for each rank
	forEach(t, func(t *testing.T, e *bench.Experiment) {
		forEachSlot(e, confHosts, func(l bench.Limits, p bench.Point, s bench.Slot) {
			var ms meters
			benchtest.MustRun(t, e, benchtest.Net(benchtest.Spec(l.Hosts)), s, float64(l.Effort), ms.wrap)
			cost := e.Cost(l, p)
			for _, m := range ms.all {
				size := m.Size()
				if got, most := max(m.out, m.in), cost.Bytes+spareBytes*units.Bytes(size); got > most {
					t.Errorf("%s: rank %d of %d moved %v, the bound is %v", p.Key(), m.Rank(), size, got, most)
				}
			}
		})
	})
}

// What a design costs is about what it takes, so that a plan neither leaves out what it has time for nor overruns. The
// copies take time on real hosts only. A batch that finds its point out of reach says so at once: that is no error. The
// check of hosts and the look at a network precede every plan.
func TestCostIsAboutTheTime(t *testing.T) {
	for _, name := range []string{"sparc1994", "hku2000"} {
		spec, err := netspec.Preset(name, 4)
		if err != nil {
			t.Fatal(err)
		}
		first, many := benchtest.OneWay(spec, 0, 1, 1), benchtest.OneWay(spec, 0, 1, 200*spec.MSS)
		l := bench.Limits{Hosts: 4, Effort: 0.25, MaxBytes: 64 * units.KiB, Segment: units.Bytes(spec.MSS), Path: bench.Path{
			Latency: units.Nanos(first * 1e9), PerByte: (many - first) * 1e9 / float64(200*spec.MSS),
			Together: spec.Mode != netspec.Shared,
		}}
		forEach(t, func(t *testing.T, e *bench.Experiment) {
			var took, expected float64
			for _, p := range e.Design(l) {
				team := e.Teams(l, p)[0][0]
				var lead bench.Group
				var begin units.Nanos
				benchtest.MustRun(t, e, benchtest.Net(*spec), bench.Slot{Teams: [][]int{team}, Points: []bench.Point{p}},
					float64(l.Effort),
					func(g bench.Group) bench.Group {
						if g.Rank() == 0 {
							lead, begin = g, g.Now()
						}
						return g
					})
				cost := e.Cost(l, p).Time
				if e.Clocks {
					cost += l.OnPath().Synchronising(len(team))
				}
				if is := (lead.Now() - begin).Seconds(); is > 0.1*cost.Seconds() {
					took, expected = took+is, expected+cost.Seconds()
				}
			}
			if r := took / expected; !slices.Contains(Before, e) && (r < 0.5 || r > 2) {
				t.Errorf("%s: the design took %.2f s, %.2f times its cost", name, took, r)
			}
		})
	}
}

// Sixteen times the repetitions must not mean more allocations: those belong before and after the timed section.
func TestRepetitionsDoNotAllocate(t *testing.T) {
	needs.Allocations(t)
	const perCall = 0.02
	measure := func(e *bench.Experiment, s bench.Slot, effort float64) (mallocs float64, calls int) {
		var ms meters
		var before, after runtime.MemStats
		n := benchtest.Net(benchtest.Spec(4))
		runtime.ReadMemStats(&before)
		benchtest.MustRun(t, e, n, s, effort, ms.wrap)
		runtime.ReadMemStats(&after)
		for _, m := range ms.all {
			calls += m.sends + m.nows
		}
		return float64(after.Mallocs - before.Mallocs), calls
	}
	forEach(t, func(t *testing.T, e *bench.Experiment) {
		forEachSlot(e, []int{4}, func(_ bench.Limits, p bench.Point, s bench.Slot) {
			few, fewCalls := measure(e, s, 0.1)
			many, manyCalls := measure(e, s, 1.6)
			if extra := many - few; extra > 64+perCall*float64(manyCalls-fewCalls) {
				t.Errorf("%s: %d more calls made %g more allocations", p.Key(), manyCalls-fewCalls, extra)
			}
		})
	})
}

var errDied = errors.New("died")

// dying fails at its n-th message: it either leaves, or falls silent for longer than any deadline. And it ends, hard, a
// rank that goes on calling after a hundred errors.
type dying struct {
	bench.Group
	left   int // messages until death; negative is never
	silent bool
	errors int
}

func (m *dying) note(err error) error {
	if err != nil {
		if m.errors++; m.errors > 100 {
			runtime.Goexit()
		}
	}
	return err
}

func (m *dying) die() error {
	if m.left != 0 {
		m.left--
		return nil
	}
	if m.silent {
		return m.note(errors.Join(m.WaitUntil(m.Now()+1000*units.Second), errDied))
	}
	return m.note(errors.Join(m.Group.(io.Closer).Close(), errDied))
}

func (m *dying) Send(to int, b []byte) error {
	if err := m.die(); err != nil {
		return err
	}
	return m.note(m.Group.Send(to, b))
}

func (m *dying) Recv(from int, b []byte) error {
	if err := m.die(); err != nil {
		return err
	}
	return m.note(m.Group.Recv(from, b))
}

// When a rank dies or falls silent, at whatever message, every rank of its team ends: with an error and no samples, or,
// where it had nothing more to do with the dead, whole.
func TestPeerDies(t *testing.T) {
	forEach(t, func(t *testing.T, e *bench.Experiment) {
		for _, hosts := range []int{2, 5} {
			l := confLimits(hosts)
			points := e.Design(l)
			for i, p := range points {
				if i != 0 && i != len(points)/2 && i != len(points)-1 {
					continue
				}
				team := e.Teams(l, p)[0][0]
				for victim := range team {
					for _, at := range []int{0, 1, 13, 24, 26, 31, 60, 200} {
						for _, silent := range []bool{false, true} {
							s := bench.Slot{Teams: [][]int{team}, Points: []bench.Point{p}}
							if err := runWithDeath(t, e, hosts, s, float64(l.Effort), victim, at, silent); err != nil {
								t.Errorf("%s, rank %d of %d ends at message %d (silent %t): %v",
									p.Key(), victim, len(team), at, silent, err)
							}
						}
					}
				}
			}
		}
	})
}

func runWithDeath(t *testing.T, e *bench.Experiment, hosts int, s bench.Slot, effort float64, victim, at int,
	silent bool) error {
	n := sim.New(benchtest.Spec(hosts), sim.Options{
		ClockOffset: units.Second, Deadline: 5 * units.Second, Cost: sim.Cost{Now: 25},
	})
	dead := &dying{left: at, silent: silent}
	type end struct {
		rank    int
		samples []dataset.Sample
		err     error
	}
	ends := make(chan end, len(s.Teams[0]))
	err := n.Run(s.Teams[0], func(rank int, g *sim.Group) error {
		m := &dying{Group: g, left: -1}
		if rank == victim {
			dead.Group = g
			m = dead
		}
		samples, err := bench.Perform(t.Context(), e, m,
			bench.Task{Exp: e.Name, Team: s.Teams[0], Rank: rank, Points: s.Points, Reps: effort}, nil)
		ends <- end{rank, samples, err}
		return nil
	})
	if err != nil {
		return err
	}
	close(ends)
	died := dead.left == 0 && dead.errors > 0
	count := 0
	for x := range ends {
		count++
		switch {
		case x.err != nil && len(x.samples) > 0:
			return fmt.Errorf("rank %d failed and has samples", x.rank)
		case x.rank == victim && died != errors.Is(x.err, errDied):
			return fmt.Errorf("the victim's error is %v", x.err)
		case x.err != nil && !died:
			return fmt.Errorf("rank %d: %w, though nobody died", x.rank, x.err)
		}
	}
	if count != len(s.Teams[0]) {
		return errors.New("a rank went on calling after a hundred errors")
	}
	return nil
}
