// Package collective measures collective operations, to compare predictions and exported platforms with. No model is fitted
// on them.
package collective

import (
	"context"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Bcast is a broadcast of one message from host 0 to all others over a binomial tree. A host that has the whole message
// sends it on, to the largest subtree first. A time is that from the first byte at host 0 to the last host's last byte.
type Bcast struct{}

const (
	bcastReps  = 20
	bcastLeast = 3
	bcastTime  = 600 * units.Millisecond // length of a batch at effort 1
	bcastBytes = 16 * units.MiB          // of a batch at effort 1, over the root's link
	bcastShort = 64 * units.KiB          // of the first broadcast, which tells how long one takes
	bcastMost  = 4 * units.MiB
)

var (
	bcastSizes = []units.Bytes{1, 64, units.KiB, 4 * units.KiB, 16 * units.KiB, 64 * units.KiB, 256 * units.KiB, units.MiB,
		4 * units.MiB}
	bcastSizesQuick = []units.Bytes{1, 4 * units.KiB, 64 * units.KiB}
)

// Name implements bench.Experiment.
func (Bcast) Name() string { return names.Bcast }

// Synchronised implements bench.Synchronised: the start and the last arrival are on two clocks.
func (Bcast) Synchronised() {}

// Stamped implements bench.Stamped.
func (Bcast) Stamped() {}

// Design implements bench.Experiment.
func (Bcast) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	sizes := l.SizesUpTo(bcastMost, bench.Thinned(l, bcastSizes, bcastSizesQuick))
	return bench.SizePoints(sizes, bench.Point{names.FactorHosts: int64(l.Hosts)})
}

// Teams implements bench.Experiment: all hosts.
func (Bcast) Teams(_ bench.Limits, p bench.Point) []bench.Step {
	return bench.FirstHosts(int(p[names.FactorHosts]))
}

// Cost implements bench.Experiment.
func (Bcast) Cost(l bench.Limits, p bench.Point) bench.Cost {
	hosts, size := int(p[names.FactorHosts]), p[names.FactorBytes]
	reps := 2 + mostBcasts(l.Effort, size)
	children := len(childrenOf(0, hosts))
	return bench.Cost{Bytes: units.Bytes(int64(reps*children) * size), Messages: reps * (children + 2*hosts)}
}

func mostBcasts(e bench.Effort, size int64) int {
	return max(bcastLeast, min(e.Reps(bcastReps, bcastLeast), int(e.Bytes(bcastBytes, 0))/int(size)))
}

// Run implements bench.Experiment.
func (Bcast) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	if err := bench.CheckSize(g, int(p[names.FactorHosts])); err != nil {
		return err
	}
	x := tree{
		Team:   bench.Team{G: g, R: r, P: p},
		parent: parentOf(g.Rank()), children: childrenOf(g.Rank(), g.Size()), signal: []byte{0},
	}
	msg := r.Payload(p[names.FactorBytes])
	short := min(len(msg), int(bcastShort))
	trial := r.Buffer(1)
	var err error
	if trial[0], err = x.once(msg[:short]); err != nil {
		return err
	}
	if err := x.toLast(trial); err != nil {
		return err
	}
	estimate := units.Nanos(float64(trial[0]) * float64(len(msg)) / float64(short))
	reps := min(mostBcasts(r.Effort, int64(len(msg))), max(bcastLeast, int(r.Time(bcastTime, 0)/max(estimate, 1))))
	s, err := x.Announce(bench.Start{Reps: reps})
	if err != nil {
		return err
	}
	if short < len(msg) { // opens the windows
		if _, err := x.once(msg); err != nil {
			return err
		}
	}
	return x.timed(s.Reps, msg)
}

// tree is one rank's place in the binomial tree that rank 0 is the root of.
type tree struct {
	bench.Team
	parent   int
	children []int // in the order they are served: the largest subtree first
	signal   []byte
}

// parentOf is the rank without its lowest set bit.
func parentOf(rank int) int { return rank & (rank - 1) }

// childrenOf lists rank + 2^k, the largest k first, for every 2^k below the rank's lowest set bit.
func childrenOf(rank, size int) []int {
	low := rank & -rank
	if rank == 0 {
		low = 1
		for low < size {
			low <<= 1
		}
	}
	var out []int
	for bit := low >> 1; bit > 0; bit >>= 1 {
		if rank+bit < size {
			out = append(out, rank+bit)
		}
	}
	return out
}

// timed makes and records the repetitions.
func (x tree) timed(reps int, msg []byte) error {
	before, err := x.counters()
	if err != nil {
		return err
	}
	ns := x.R.Buffer(reps)
	for i := range ns {
		if ns[i], err = x.once(msg); err != nil {
			return err
		}
	}
	if err := x.toLast(ns); err != nil {
		return err
	}
	after, err := x.counters()
	if err != nil {
		return err
	}
	retrans, err := x.SumAtRoot(after.Retrans - before.Retrans)
	if err != nil || !x.Root() {
		return err
	}
	x.R.Add(bench.Batch{
		Phase: names.PhaseBinomial, Point: x.P, Ranks: x.Ranks(), NS: ns,
		TCP: &dataset.TCP{Retrans: retrans, SndBuf: after.SndBuf, Congestion: after.Congestion},
	})
	return nil
}

// counters sums those of the connections to this rank's children.
func (x tree) counters() (t dataset.TCP, err error) {
	for _, k := range x.children {
		c, err := x.G.Counters(k)
		if err != nil {
			return t, err
		}
		t = t.Add(c)
	}
	return t, nil
}

// once broadcasts msg, and returns the time from the announced start to the arrival of the last byte here; at rank 0, minus
// the time by which it started late. It ends when every rank has the message, so that the next broadcast does not overlap.
func (x tree) once(msg []byte) (int64, error) {
	s, err := x.Announce(bench.Start{})
	if err != nil {
		return 0, err
	}
	var took units.Nanos
	if x.Root() {
		err = x.G.WaitUntil(s.At)
		took = s.At - x.G.Now()
	} else {
		var at units.Nanos
		at, err = x.G.RecvAt(x.parent, msg)
		took = at - s.At
	}
	if err != nil {
		return 0, err
	}
	for _, k := range x.children {
		if err := x.G.Send(k, msg); err != nil {
			return 0, err
		}
	}
	if !x.Root() {
		return int64(took), x.G.Send(0, x.signal)
	}
	return int64(took), x.RecvAll(x.signal, func(int) {})
}

// toLast turns what once returned on every rank, at rank 0, into the times from its first byte to the last byte of all.
func (x tree) toLast(ns []int64) error {
	b := make([]byte, 8*len(ns))
	if !x.Root() {
		bench.PutNumbers(b, ns...)
		return x.G.Send(0, b)
	}
	most := make([]int64, len(ns))
	err := x.RecvAll(b, func(int) {
		for i := range most {
			most[i] = max(most[i], bench.GetNumber(b[8*i:]))
		}
	})
	for i := range ns {
		ns[i] += most[i]
	}
	return err
}
