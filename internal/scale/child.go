package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset"
	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/internal/rundir"
	"calib/internal/simagent"
	"calib/internal/units"
	"calib/run/coord"
	"calib/run/plan"
	"calib/transport/sim"
)

// measured is what coordinating one network took. Times are the coordinator's own [s], but Measuring. On a machine that does other
// work they are too long: CPU is what the process needed while no simulated host worked.
type measured struct {
	Hosts     int
	Schedule  float64 // laying out the schedule and its forecast, and once more as after a look
	Prepare   float64 // making all tickets
	Walk      float64 // slots: asking agents, collecting, stopping, writing to disk
	Record    float64 // run.json at the end
	CPU       float64 // of all threads
	Measuring float64 // while a simulated host worked
	Heap      float64 // most that was live between slots beyond the simulated hosts [B]
	Rounds    int
	Slots     int
	Timings   int
	Samples   int64 // bytes of samples.jsonl
}

func (m measured) own() float64 { return m.Schedule + m.Prepare + m.Walk + m.Record }

// child measures one network and prints what it took as JSON.
func child(text string) error {
	var s settings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	m, err := s.measure(s.Hosts[0])
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}

// network is a switch of some 250 Mbit/s: fast enough for a thousand senders to one root, slow enough to be simulated packet by packet.
func network(hosts int) netspec.Spec {
	const us = 1e-6
	return netspec.Spec{Name: "scale", Hosts: hosts, Mode: netspec.Switched, MSS: 1448, Seed: 1, L: 20 * us,
		Host: netspec.Block{A: 20 * us, B: 0.02 * us}, Medium: netspec.Block{A: 10 * us, B: 0.02 * us}}
}

// measure runs the plan on n simulated hosts, as calib measure does.
func (s *settings) measure(n int) (m measured, err error) {
	noise := sim.Noise{Jitter: 0.005, Round: 0.001}
	work := &work{}
	var agents []coord.Agent
	var hosts []dataset.Host
	for _, a := range simagent.New(network(n), sim.Options{Seed: 1, Noise: noise}) {
		host, err := a.Hello(context.Background())
		if err != nil {
			return m, err
		}
		agents, hosts = append(agents, timed{a, work}), append(hosts, host)
	}
	base := live()
	m.Hosts = n
	work.idle = cpu()

	begun := time.Now()
	if err := s.looked(n); err != nil {
		return m, err
	}
	schedule, err := plan.New(s.Plan, n, experiments.All)
	if err != nil {
		return m, err
	}
	forecast := schedule.Estimate()
	m.Schedule = time.Since(begun).Seconds()

	begun = time.Now()
	issuer := coord.NewIssuer(max(forecast.LinkBytes, units.GiB), begun.Add(time.Hour))
	const atOnce = 32 // as calib starts agents
	session := plane.Session{Run: "scale", Peers: make([]plane.Peer, n)}
	if err := errors.Join(coord.Prepare(context.Background(), agents, session, issuer, atOnce)...); err != nil {
		return m, err
	}
	m.Prepare = time.Since(begun).Seconds()
	return m, s.walk(&m, schedule, agents, hosts, work, base)
}

// looked plans as a run does once it has looked at the network: for its speed, within a budget. Simulated hosts are not looked at, so that
// this schedule is not the one that is walked.
func (s *settings) looked(n int) error {
	p := s.Plan
	p.Limits.Path, p.Budget = bench.Gigabit.Path, 5*60*units.Second
	schedule, err := plan.New(p, n, experiments.All)
	if err == nil {
		schedule.Estimate()
	}
	return err
}

// walk measures the schedule into a run directory.
func (s *settings) walk(m *measured, schedule *plan.Schedule, agents []coord.Agent, hosts []dataset.Host, work *work, base uint64) error {
	dir, err := rundir.Create(s.Dir, rundir.Run{ID: "scale", Plan: s.Plan.Name, Seed: s.Plan.Seed, Hosts: hosts})
	if err != nil {
		return err
	}
	defer dir.Close()
	path := dir.File(rundir.SamplesFile)
	sink, err := dataset.Create(path, dataset.Header{Run: "scale", Seed: s.Plan.Seed, Plan: s.Plan.Name, Hosts: hosts})
	if err != nil {
		return err
	}
	looking := time.Duration(0) // at the heap
	begun := time.Now()
	result, err := coord.Walk(context.Background(), agents, coord.Config{
		Run: "scale", Schedule: schedule,
		Deadline: func(bench.Slot) units.Nanos { return 3600 * units.Second },
		Sink: func(slot []dataset.Sample) error {
			for i := range slot {
				m.Timings += len(slot[i].NS)
			}
			const often = 50 // slots between two looks at the heap
			if m.Slots++; m.Slots%often == 1 {
				at, before := time.Now(), cpu()
				m.Heap = max(m.Heap, float64(live())-float64(base))
				looking += time.Since(at)
				work.idle += cpu() - before
			}
			return sink.Append(slot)
		},
	})
	total := time.Since(begun)
	if err == nil && result.Partial() {
		err = fmt.Errorf("%d slots failed, %d hosts lost: %v", len(result.Failures), len(result.Lost), result.Failures)
	}
	if err := errors.Join(err, sink.Close()); err != nil {
		return err
	}
	m.Rounds, m.Measuring = result.Rounds, work.total.Seconds()
	m.Walk = (total - looking - work.total).Seconds()

	begun = time.Now()
	err = dir.Update(func(r *rundir.Run) {
		r.Stops = result.Stops
		r.End(rundir.StatusComplete, 0, time.Now())
	})
	m.Record = time.Since(begun).Seconds()
	m.CPU = (work.own + cpu() - work.idle).Seconds()
	m.Heap = max(m.Heap, float64(live())-float64(base))
	if info, err := os.Stat(path); err == nil {
		m.Samples = info.Size()
	}
	return err
}

// live is what the collector cannot free [B].
func live() uint64 {
	runtime.GC()
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// work adds up the time in which at least one simulated host had a task, and the CPU time of the process in which none had.
type work struct {
	mu    sync.Mutex
	busy  int
	since time.Time
	total time.Duration
	idle  time.Duration // CPU time when the last task ended
	own   time.Duration
}

func (w *work) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy == 0 {
		w.since = time.Now()
		w.own += cpu() - w.idle
	}
	w.busy++
}

func (w *work) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy--; w.busy == 0 {
		w.total += time.Since(w.since)
		w.idle = cpu()
	}
}

// timed is a simulated host whose work is timed.
type timed struct {
	coord.Agent
	work *work
}

func (a timed) Run(ctx context.Context, t bench.Task) ([]dataset.Sample, error) {
	a.work.begin()
	defer a.work.end()
	return a.Agent.Run(ctx, t)
}
