package bench

import (
	"context"
	"fmt"

	"calib/internal/dataset"
	"calib/internal/units"
)

// Bcast is a broadcast of one message from host 0 to all others over a binomial tree: traffic that no model is fitted on,
// to hold predictions and exported platforms against. A host that has the whole message sends it on, to the largest
// subtree first. A time is that from the announced start to the last host's last byte.
type Bcast struct{}

const (
	bcastReps    = 20
	bcastMinReps = 3
	bcastBudget  = 600 * units.Millisecond // length of a batch at effort 1
	bcastBytes   = 16 * units.MiB          // of a batch at effort 1, over the root's link
	bcastWarm    = 64 * units.KiB          // of the first broadcast, which tells how long one takes
	bcastMost    = 4 * units.MiB
)

var (
	bcastSizes = []units.Bytes{1, 64, units.KiB, 4 * units.KiB, 16 * units.KiB, 64 * units.KiB, 256 * units.KiB, units.MiB,
		4 * units.MiB}
	bcastSizesQuick = []units.Bytes{1, 4 * units.KiB, 64 * units.KiB}
)

// Name implements Experiment.
func (Bcast) Name() string { return "bcast" }

// Synchronised implements Synchronised: the start and the last arrival are on two clocks.
func (Bcast) Synchronised() {}

// Design implements Experiment.
func (Bcast) Design(l Limits) []Point {
	if l.Hosts < 2 {
		return nil
	}
	sizes := bcastSizes
	if l.thin() {
		sizes = bcastSizesQuick
	}
	var out []Point
	for _, m := range l.within(sizes, bcastMost) {
		out = append(out, Point{"bytes": int64(m), "hosts": int64(l.Hosts)})
	}
	return out
}

// Teams implements Experiment: all hosts.
func (Bcast) Teams(_ Limits, p Point) []Step { return hostsUpTo(int(p["hosts"])) }

// Cost implements Experiment.
func (Bcast) Cost(l Limits, p Point) Cost {
	reps := 2 + mostBcasts(NewRecorder(Task{Reps: l.Effort}), p["bytes"])
	children := len(childrenOf(0, int(p["hosts"])))
	return Cost{Bytes: units.Bytes(int64(reps*children) * p["bytes"]), Messages: reps * (children + 2*int(p["hosts"]))}
}

func mostBcasts(r *Recorder, size int64) int {
	return max(bcastMinReps, min(r.Reps(bcastReps, bcastMinReps), r.Reps(int(bcastBytes), 0)/int(size)))
}

// Run implements Experiment. It ends with the repetitions, or when a receive meets the group's deadline.
func (Bcast) Run(ctx context.Context, g Group, p Point, r *Recorder) error {
	if g.Size() != int(p["hosts"]) || r.time == nil {
		return fmt.Errorf("bcast: team of %d without a timeline: want %d hosts and synchronised clocks", g.Size(), p["hosts"])
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	x := tree{crew: crew{g, r}, parent: parentOf(g.Rank()), children: childrenOf(g.Rank(), g.Size()), signal: []byte{0}}
	var err error
	msg := r.payload(p["bytes"])
	short := min(len(msg), int(bcastWarm))
	trial := x.r.Buffer(1)
	if trial[0], err = x.once(msg[:short]); err != nil {
		return err
	}
	if err := x.last(trial); err != nil {
		return err
	}
	est := units.Nanos(float64(trial[0]) * float64(len(msg)) / float64(short))
	budget := units.Nanos(r.Reps(int(bcastBudget), 0))
	reps := min(mostBcasts(r, p["bytes"]), max(bcastMinReps, int(budget/max(est, 1))))
	s, err := x.announce(start{Reps: reps})
	if err != nil {
		return err
	}
	if short < len(msg) { // opens the windows
		if _, err := x.once(msg); err != nil {
			return err
		}
	}
	return x.timed(s.Reps, msg, p)
}

// tree is one rank's place in the binomial tree that rank 0 is the root of.
type tree struct {
	crew
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

func (x tree) timed(reps int, msg []byte, p Point) error {
	before, err := x.sent()
	if err != nil {
		return err
	}
	ns := x.r.Buffer(reps)
	for i := range ns {
		if ns[i], err = x.once(msg); err != nil {
			return err
		}
	}
	if err := x.last(ns); err != nil {
		return err
	}
	after, err := x.sent()
	if err != nil {
		return err
	}
	retrans, err := x.reduce(after.Retrans-before.Retrans, sum)
	if err != nil || x.g.Rank() != 0 {
		return err
	}
	all := make([]int, x.g.Size())
	for k := range all {
		all[k] = k
	}
	x.r.Add(Batch{Phase: "binomial", Point: p, Ranks: all, NS: ns,
		TCP: &dataset.TCP{Retrans: retrans, SndBuf: after.SndBuf, Congestion: after.Congestion}})
	return nil
}

// sent sums the counters of the connections to this rank's children.
func (x tree) sent() (t dataset.TCP, err error) {
	for _, k := range x.children {
		c, err := x.g.Counters(k)
		if err != nil {
			return t, err
		}
		t = t.Add(c)
	}
	return t, nil
}

// once broadcasts msg, and returns when the last byte was here, since the announced start; at rank 0 it is how late that was
// kept, below 0. It ends when every rank has the message, so that the next broadcast does not meet it.
func (x tree) once(msg []byte) (int64, error) {
	s, err := x.announce(start{})
	if err != nil {
		return 0, err
	}
	var took units.Nanos
	if x.g.Rank() == 0 {
		err = x.g.WaitUntil(s.At)
		took = s.At - x.g.Now()
	} else {
		var at units.Nanos
		at, err = x.g.RecvAt(x.parent, msg)
		took = at - s.At
	}
	if err != nil {
		return 0, err
	}
	for _, k := range x.children {
		if err := x.g.Send(k, msg); err != nil {
			return 0, err
		}
	}
	return int64(took), x.settle()
}

// last makes of what once returned on every rank, at rank 0, the times from its first byte to the last byte of all.
func (x tree) last(ns []int64) error {
	b := make([]byte, 8*len(ns))
	if x.g.Rank() != 0 {
		putWords(b, ns)
		return x.g.Send(0, b)
	}
	most, theirs := make([]int64, len(ns)), make([]int64, len(ns))
	for k := 1; k < x.g.Size(); k++ {
		if err := x.g.Recv(k, b); err != nil {
			return err
		}
		getWords(b, theirs)
		for i, v := range theirs {
			most[i] = max(most[i], v)
		}
	}
	for i := range ns {
		ns[i] += most[i]
	}
	return nil
}

// settle returns at rank 0 when every rank has come to it.
func (x tree) settle() error {
	if x.g.Rank() != 0 {
		return x.g.Send(0, x.signal)
	}
	for k := 1; k < x.g.Size(); k++ {
		if err := x.g.Recv(k, x.signal); err != nil {
			return err
		}
	}
	return nil
}
