package overlap

import (
	"fmt"
	"slices"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Copy measures what it costs a host to move m bytes within its memory: M_ctc, M_ctm and M_mtm of the cluster model
// (Tam and Wang 2000, section 3.2), and the same byte by byte, as in converting representations.
var Copy = &bench.Experiment{
	Name: names.Copy, Alone: true,
	Points: func(l bench.Limits) []bench.Point {
		sizes := bench.Values(names.FactorBytes, l.SizesUpTo(copyMost, bench.Thinned(l, copySizes, copySizesQuick))...)
		cold := bench.Values(names.FactorCold, cacheToCache, cacheToMemory, memoryToMemory)
		return slices.DeleteFunc(bench.Cross(sizes, cold, bench.Values(names.FactorLoop, 0, 1)), func(p bench.Point) bool {
			return p[names.FactorCold] == cacheToCache && p[names.FactorBytes] > int64(maxInCache)
		})
	},
	Ranges: bench.Ranges{
		names.FactorBytes: {Least: 1, Most: int64(copyMost)}, names.FactorLoop: bench.Flag,
		names.FactorCold: {Least: 0, Most: memoryToMemory},
	},
	Size: bench.AnySize,
	// Every host by itself, all in one step. Where hosts disturb each other they may share a machine: then it is two
	// hosts, one after the other.
	Steps: func(l bench.Limits, _ bench.Point) []bench.Step {
		if l.OnPath().Together {
			return bench.EachAlone(l.Hosts)
		}
		var steps []bench.Step
		for h := range min(l.Hosts, 2) {
			steps = append(steps, bench.Step{{h}})
		}
		return steps
	},
	Cost: func(bench.Limits, bench.Point) bench.Cost { return bench.Cost{Time: copyTime} },
	Run:  copyBytes,
}

// Values of "cold".
const (
	cacheToCache = iota
	cacheToMemory
	memoryToMemory
)

const (
	copyMost = 64 * units.KiB
	// maxInCache bounds what is copied within the cache: half of 48 KiB, a common size of the nearest.
	maxInCache = 24 * units.KiB

	// A timing is of as many copies as take timedTogether, so that reading the clock does not show, and no more than
	// maxTogether.
	timedTogether = 50 * units.Microsecond
	maxTogether   = 1 << 16

	copyReps  = 20                     // timings a batch at effort 1,
	copyLeast = 3                      // at least,
	copyTime  = 30 * units.Millisecond // and for no longer
)

var (
	copySizes      = []units.Bytes{64, 181, 512, 1448, 4096, 11585, 24 * units.KiB, 64 * units.KiB}
	copySizesQuick = []units.Bytes{64, 1448, 11585, 64 * units.KiB}
)

// copyBytes ends after a fixed number of timings. Copies within the cache are of another phase where source and
// destination do not both fit into this host's nearest cache: the next cache took part.
func copyBytes(x bench.Team) {
	h := x.Machine()
	cold := x.P[names.FactorCold]
	c := plane.Copy{
		Bytes: units.Bytes(x.P[names.FactorBytes]), ColdFrom: cold == memoryToMemory, ColdTo: cold != cacheToCache,
		Loop: x.P[names.FactorLoop] != 0,
	}
	x.R.Charge(2 * int64(c.Bytes))
	if c.ColdTo {
		x.R.Charge(int64(h.Cold()))
	}
	total, n := x.R.Buffer(x.R.Reps(copyReps, copyLeast)), 0
	bench.During(fmt.Sprintf("copy %d B", c.Bytes), func() { total, n = timeCopies(x, h, c, total) })
	b := bench.Batch{
		Ranks: []int{0}, NS: x.R.Buffer(len(total)), Aux: map[string]float64{names.AuxAveraged: float64(n)},
	}
	for i, t := range total {
		b.NS[i] = (t + int64(n)/2) / int64(n)
	}
	// A copy within the cache takes a few nanoseconds: the whole ones in NS are too coarse for it.
	slices.Sort(total)
	b.Aux[names.AuxMedian] = float64(total[len(total)/2]) / float64(n)
	if caches := h.Caches(); len(caches) > 0 {
		b.Aux[names.AuxCache], b.Aux[names.AuxLastCache] = float64(caches[0]), float64(caches[len(caches)-1])
		if cold == cacheToCache && 2*c.Bytes > caches[0] {
			b.Phase = names.PhaseSpilled
		}
	}
	x.Add(b)
}

// timeCopies fills total with times of n copies each, and returns as many as there was time for. n copies, doubling
// from one up to maxTogether, take timedTogether.
func timeCopies(x bench.Team, h plane.Machine, c plane.Copy, total []int64) (taken []int64, n int) {
	for n = 1; bench.Must(h.Copy(c, n)) < timedTogether && n < maxTogether; {
		n *= 2
	}
	end := x.Now() + copyTime
	for i := range total {
		total[i] = int64(bench.Must(h.Copy(c, n)))
		if i+1 >= copyLeast && x.Now() >= end {
			return total[:i+1], n
		}
	}
	return total, n
}
