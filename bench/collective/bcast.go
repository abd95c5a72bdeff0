// Package collective measures collective operations, to compare predictions and exported platforms with. No model is
// fitted on them.
package collective

import (
	"calib/bench"
	"calib/bench/pattern"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Bcast is a broadcast of one message from host 0 to all others over a binomial tree. A host that has the whole message
// sends it on, to the largest subtree first. A time is that from the first byte at host 0 to the last host's last byte.
var Bcast = &bench.Experiment{
	Name: names.Bcast, Clocks: true, Stamps: true, // the start and the last arrival are on two clocks
	Points: func(l bench.Limits) []bench.Point {
		sizes := l.SizesUpTo(bcastMost, bench.Thinned(l, bcastSizes, bcastSizesQuick))
		return bench.SizePoints(sizes, bench.Point{names.FactorHosts: int64(l.Hosts)})
	},
	Ranges: bench.Ranges{names.FactorHosts: bench.TeamSize, names.FactorBytes: bench.Sizes},
	Size:   hostsOf,
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		hosts, size := hostsOf(p), p[names.FactorBytes]
		path, most, children := l.OnPath(), maxBcasts(l.Effort, size), len(pattern.BinomialChildren(0, hosts))
		return bench.Cost{
			Bytes: units.Bytes(int64((untimed+most)*children) * size),
			Time:  repeatedTime(path, hosts, units.Nanos(children)*path.Message(size, 1), l.Effort.Time(bcastTime, 0), bcastLeast, most),
		}
	},
	Run: func(x bench.Team) { // the root alone begins by its clock
		msg := x.R.Payload(x.P[names.FactorBytes])
		parent, children := pattern.BinomialParent(x.Rank()), pattern.BinomialChildren(x.Rank(), x.Size())
		o := operation{Team: x, peers: children, first: x.Root()}
		o.part = func(start units.Nanos, m int) (began, ended units.Nanos) {
			began = start
			if x.Root() {
				x.WaitUntil(start)
				began = x.Now()
				ended = began
			} else {
				ended = x.RecvAt(parent, msg[:m])
			}
			for _, k := range children {
				x.Send(k, msg[:m])
			}
			return began, ended
		}
		o.add(names.PhaseBinomial, o.measure(len(msg), bounds{
			short: int(bcastShort), most: maxBcasts(x.R.Effort, int64(len(msg))), least: bcastLeast, time: x.R.Time(bcastTime, 0),
		}), nil)
	},
}

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

func maxBcasts(e bench.Effort, size int64) int {
	return max(bcastLeast, min(e.Reps(bcastReps, bcastLeast), int(e.Bytes(bcastBytes, 0))/int(size)))
}

func hostsOf(p bench.Point) int { return int(p[names.FactorHosts]) }
