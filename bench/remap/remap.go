// Package remap measures all-to-all remaps: every rank repeatedly sends a message to another rank, and they share what
// lies between.
package remap

import (
	"context"
	"fmt"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Experiment is the all-to-all remap of LoGPC (Moritz and Frank 2001, section 5.1): each rank repeatedly sends a
// message to another one. Synchronous (sync 1), it waits for the reply, which is as long as the request, and serves the
// requests of others meanwhile. Asynchronous (sync 0), it goes on: it sends, and receives one message for each that it
// sends, once it is its window ahead. Destinations are drawn, go round as (i+p) mod P, or are always the next rank; a
// span leaves those out that are further away. Recorded are the intervals between injections of each rank, while all
// inject (injecting P), or rank 0 alone does (injecting 1).
type Experiment struct{}

const (
	// A batch is as many injections of each rank as take batchTime at effort 1, within these bounds.
	maxInjections = 2048
	minInjections = 12
	batchTime     = 250 * units.Millisecond
	minTime       = 60 * units.Millisecond
	// maxTime is the longest batch. One of which the least injections would take longer is skipped.
	maxTime = 6 * units.Second
	// trialInjections tell how long a batch takes. Before them come as many that open connections and windows.
	trialInjections = 4
)

const (
	short = units.Bytes(1)
	long  = 16 * units.KiB
)

// Name implements bench.Experiment.
func (Experiment) Name() string { return names.Remap }

// Synchronised implements bench.Synchronised: all ranks begin together, and an injection counts if all are still at it.
func (Experiment) Synchronised() {}

// Stamped implements bench.Stamped: a rank that wakes up must not take the CPU from one that serves.
func (Experiment) Stamped() {}

// Design implements bench.Experiment: on all hosts every kind of destinations, rank 0 alone, and, unless the design is
// thin, drawn destinations on half of the hosts; each synchronous and asynchronous, for every size.
func (Experiment) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	sizes := l.SizesOr([]units.Bytes{short, long})
	all := int64(l.Hosts)
	var out []bench.Point
	for _, sync := range []int64{1, 0} {
		add := func(hosts, injecting int64, destinations, span int64) {
			out = append(out, bench.SizePoints(sizes, bench.Point{names.FactorSync: sync, names.FactorHosts: hosts,
				names.FactorInjecting: injecting, names.FactorDestinations: destinations, names.FactorSpan: span})...)
		}
		add(all, 1, names.DestinationsDrawn, 0)
		for _, s := range spans(l) {
			add(all, all, names.DestinationsDrawn, s)
			add(all, all, names.DestinationsRound, s)
		}
		add(all, all, names.DestinationsNext, 0)
		if half := (all + 1) / 2; half > 2 && !l.Thin() {
			add(half, half, names.DestinationsDrawn, 0)
			add(half, half, names.DestinationsNext, 0)
		}
	}
	return out
}

// spans lists the localities: none, neighbours only, and a quarter of the way round.
func spans(l bench.Limits) []int64 {
	out := []int64{0}
	if l.Hosts > 3 {
		out = append(out, 1)
	}
	if quarter := int64(l.Hosts / 4); quarter > 1 && !l.Thin() {
		out = append(out, quarter)
	}
	return out
}

// Ranges implements bench.Experiment.
func (Experiment) Ranges() bench.Ranges {
	return bench.Ranges{
		names.FactorSync: bench.Flag, names.FactorHosts: bench.TeamSize, names.FactorInjecting: bench.TeamSize,
		names.FactorDestinations: {Least: 0, Most: names.DestinationsNext}, names.FactorSpan: {Least: 0, Most: bench.MaxHosts},
		names.FactorBytes: bench.Sizes,
	}
}

// Teams implements bench.Experiment: the first hosts.
func (Experiment) Teams(_ bench.Limits, p bench.Point) []bench.Step {
	return bench.FirstHosts(int(p[names.FactorHosts]))
}

// guessed is how long an injection takes at least.
const guessed = 20 * units.Microsecond

// Cost implements bench.Experiment. A batch is bounded by its time: this is what it holds if an injection takes the
// time guessed.
func (Experiment) Cost(l bench.Limits, p bench.Point) bench.Cost {
	n := min(int(l.Effort.Time(batchTime, minTime)/guessed), l.Effort.Reps(maxInjections, windows*mostAhead)) + 2*trialInjections
	messages := n * int(1+p[names.FactorSync])
	path := l.OnPath()
	one := units.Nanos(1+p[names.FactorSync]) * path.Message(p[names.FactorBytes], int(p[names.FactorInjecting])/2)
	batch := min(bench.Repeated(one, l.Effort.Time(batchTime, minTime), minInjections, n), maxTime)
	return bench.Cost{
		Bytes: units.Bytes(int64(messages)*p[names.FactorBytes]) + controlBytes, Messages: messages,
		Time: 4*path.Start(int(p[names.FactorHosts])) + 2*trialInjections*one + batch,
	}
}

// controlBytes is what a batch exchanges on one connection beside its messages: announcements, agreements, counters.
const controlBytes = 512

// Run implements bench.Experiment.
func (Experiment) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	hosts := int(p[names.FactorHosts])
	if err := bench.CheckSize(g, hosts); err != nil {
		return err
	}
	x := remap{Team: bench.Team{G: g, R: r, P: p}, engine: newEngine(g, r, int(p[names.FactorBytes]))}
	if _, err := x.once(trialInjections); err != nil {
		return fmt.Errorf("first remap: %w", err)
	}
	trial, err := x.once(trialInjections)
	if err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	slowest, err := x.Max(int64(trial.ended-trial.began) / trialInjections)
	if err != nil {
		return err
	}
	least := minInjections
	if p[names.FactorSync] == 0 {
		least = max(least, windows*aheadOf(int(p[names.FactorBytes])))
	}
	n := injections(r.Effort, units.Nanos(max(slowest, 1)), least)
	if n == 0 {
		if x.Root() {
			r.Add(bench.Batch{Phase: names.PhaseSkipped, Point: p, Ranks: x.Ranks(), NS: []int64{slowest * int64(least)}})
		}
		return nil
	}
	before, err := x.counters()
	if err != nil {
		return err
	}
	seen, err := x.once(n)
	if err != nil {
		return err
	}
	return x.add(seen, before)
}

// windows is how many windows of asynchronous injections a batch has at least: the first fills the network.
const windows = 4

// injections is how many each rank makes, if one takes each; 0 if the least take too long.
func injections(e bench.Effort, each units.Nanos, least int) int {
	if each*units.Nanos(least) > maxTime {
		return 0
	}
	return max(least, min(e.Reps(maxInjections, minInjections), int(e.Time(batchTime, minTime)/each)))
}

// remap is one rank's part of a point.
type remap struct {
	bench.Team
	*engine
}

// counters sums those of this rank's connections.
func (x remap) counters() (t dataset.TCP, err error) {
	for k := range x.G.Size() {
		if k == x.G.Rank() {
			continue
		}
		c, err := x.G.Counters(k)
		if err != nil {
			return t, err
		}
		t = t.Add(c)
	}
	return t, nil
}
