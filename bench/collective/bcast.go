// Package collective measures collective operations, to compare predictions and exported platforms with. No model is
// fitted on them.
package collective

import (
	"context"

	"calib/bench"
	"calib/bench/pattern"
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

// Ranges implements bench.Experiment.
func (Bcast) Ranges() bench.Ranges {
	return bench.Ranges{names.FactorHosts: bench.TeamSize, names.FactorBytes: bench.Sizes}
}

// Teams implements bench.Experiment: all hosts.
func (Bcast) Teams(_ bench.Limits, p bench.Point) []bench.Step {
	return bench.FirstHosts(int(p[names.FactorHosts]))
}

// Cost implements bench.Experiment.
func (Bcast) Cost(l bench.Limits, p bench.Point) bench.Cost {
	hosts, size := int(p[names.FactorHosts]), p[names.FactorBytes]
	reps := untimed + maxBcasts(l.Effort, size)
	children := len(pattern.BinomialChildren(0, hosts))
	path, most := l.OnPath(), maxBcasts(l.Effort, size)
	return bench.Cost{
		Bytes: units.Bytes(int64(reps*children) * size), Messages: reps * (children + 2*hosts),
		Time: repeatedTime(path, hosts, units.Nanos(children)*path.Message(size, 1), l.Effort.Time(bcastTime, 0), bcastLeast, most),
	}
}

func maxBcasts(e bench.Effort, size int64) int {
	return max(bcastLeast, min(e.Reps(bcastReps, bcastLeast), int(e.Bytes(bcastBytes, 0))/int(size)))
}

// Run implements bench.Experiment. The root alone begins by its clock.
func (Bcast) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	if err := bench.CheckSize(g, int(p[names.FactorHosts])); err != nil {
		return err
	}
	msg := r.Payload(p[names.FactorBytes])
	x := tree{g, pattern.BinomialParent(g.Rank()), pattern.BinomialChildren(g.Rank(), g.Size())}
	o := operation{
		Team: bench.Team{G: g, R: r, P: p}, peers: x.children, first: g.Rank() == 0,
		part: func(start units.Nanos, m int) (began, ended units.Nanos, err error) { return x.pass(start, msg[:m]) },
	}
	t, err := o.measure(len(msg), bounds{
		short: int(bcastShort), most: maxBcasts(r.Effort, int64(len(msg))), least: bcastLeast, time: r.Time(bcastTime, 0),
	})
	if err != nil {
		return err
	}
	o.add(names.PhaseBinomial, t, nil)
	return nil
}

// tree is one rank's place in the binomial tree that rank 0 is the root of.
type tree struct {
	bench.Group
	parent   int
	children []int // in the order they are served: the largest subtree first
}

// pass broadcasts msg. A rank ends with the arrival of the last byte.
func (x tree) pass(start units.Nanos, msg []byte) (began, ended units.Nanos, err error) {
	began = start
	if x.Rank() == 0 {
		err = x.WaitUntil(start)
		began = x.Now()
		ended = began
	} else {
		ended, err = x.RecvAt(x.parent, msg)
	}
	for _, k := range x.children {
		if err == nil {
			err = x.Send(k, msg)
		}
	}
	return began, ended, err
}
