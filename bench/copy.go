package bench

import (
	"context"
	"fmt"
	"slices"

	"calib/internal/plane"
	"calib/internal/units"
)

// Copy measures what it costs a host to move m bytes within its own memory: M_ctc, M_ctm and M_mtm of the cluster model
// (Tam and Wang 2000, section 3.2), which are the local part of communicating. "cold" is where the bytes are and go: 0 cache
// to cache, 1 cache to memory, 2 memory to memory. "loop" copies byte by byte, as converting representations does, where a
// bulk copy is what a message buffer costs and no copy at all is free (Strumpen and Casavant, figure 10).
type Copy struct{}

// Name implements Experiment.
func (Copy) Name() string { return "copy" }

// Values of "cold".
const (
	copyCTC = iota // cache to cache
	copyCTM        // cache to memory
	copyMTM        // memory to memory
	copyKinds
)

// copySpilled is the phase of copies that outgrew the nearest cache.
const copySpilled = "spilled"

const (
	copyTop = 64 * units.KiB
	// copyNear bounds what is copied within the cache: half of 48 KiB, a common size of the nearest.
	copyNear = 24 * units.KiB

	// A timing is of as many copies as take copyTime together, so that reading the clock does not show, and no more than
	// copyMany.
	copyTime = 50 * units.Microsecond
	copyMany = 1 << 16

	copyReps   = 20                     // timings a batch at effort 1,
	copyFew    = 3                      // at least,
	copyBudget = 30 * units.Millisecond // and for no longer
)

var (
	copySizes      = []units.Bytes{64, 181, 512, 1448, 4096, 11585, 24 * units.KiB, 64 * units.KiB}
	copySizesQuick = []units.Bytes{64, 1448, 11585, 64 * units.KiB}
)

// Design implements Experiment: every size, from and to everywhere, in bulk and byte by byte.
func (Copy) Design(l Limits) []Point {
	if l.Hosts < 1 {
		return nil
	}
	sizes := copySizes
	if l.thin() {
		sizes = copySizesQuick
	}
	var out []Point
	for _, m := range l.within(sizes, copyTop) {
		for cold := range copyKinds {
			for loop := range 2 {
				if cold != copyCTC || m <= copyNear {
					out = append(out, Point{"bytes": int64(m), "cold": int64(cold), "loop": int64(loop)})
				}
			}
		}
	}
	return out
}

// Teams implements Experiment: every host by itself, all in one step.
func (Copy) Teams(l Limits, _ Point) []Step {
	var all Step
	for h := range l.Hosts {
		all = append(all, []int{h})
	}
	return []Step{all}
}

// Cost implements Experiment: nothing passes over any link.
func (Copy) Cost(Limits, Point) Cost { return Cost{} }

// Run implements Experiment. It ends after a fixed number of timings. Where source and destination do not both fit into
// this host's nearest cache, what should have been copied within it is of phase copySpilled: the next cache took part.
func (Copy) Run(ctx context.Context, g Group, p Point, r *Recorder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h := g.Machine()
	c := plane.Copy{
		Bytes: units.Bytes(p["bytes"]), ColdFrom: p["cold"] == copyMTM, ColdTo: p["cold"] != copyCTC, Loop: p["loop"] != 0,
	}
	total, n, err := timeCopies(g, h, c, r.Buffer(r.Reps(copyReps, copyFew)))
	if err != nil {
		return fmt.Errorf("copy %d bytes: %w", c.Bytes, err)
	}
	b := Batch{Point: p, Ranks: []int{0}, NS: make([]int64, len(total)), Aux: map[string]float64{"averaged": float64(n)}}
	for i, t := range total {
		b.NS[i] = (t + int64(n)/2) / int64(n)
	}
	// A copy within the cache takes a few nanoseconds: the whole ones in NS are too coarse for it.
	slices.Sort(total)
	b.Aux["median_ns"] = float64(total[len(total)/2]) / float64(n)
	if caches := h.Caches(); len(caches) > 0 {
		b.Aux["cache_bytes"], b.Aux["last_cache_bytes"] = float64(caches[0]), float64(caches[len(caches)-1])
		if p["cold"] == copyCTC && 2*c.Bytes > caches[0] {
			b.Phase = copySpilled
		}
	}
	r.Add(b)
	return nil
}

// timeCopies fills total with times of n copies each, and returns as many as there was time for.
func timeCopies(g Group, h plane.Machine, c plane.Copy, total []int64) (taken []int64, n int, err error) {
	n, err = copiesAtOnce(h, c)
	if err != nil {
		return nil, 0, err
	}
	end := g.Now() + copyBudget
	for i := range total {
		t, err := h.Copy(c, n)
		if err != nil {
			return nil, 0, err
		}
		total[i] = int64(t)
		if i+1 >= copyFew && g.Now() >= end {
			return total[:i+1], n, nil
		}
	}
	return total, n, nil
}

// copiesAtOnce finds how many copies take copyTime, doubling from one up to copyMany.
func copiesAtOnce(h plane.Machine, c plane.Copy) (int, error) {
	for n := 1; ; n *= 2 {
		t, err := h.Copy(c, n)
		if err != nil || t >= copyTime || n >= copyMany {
			return n, err
		}
	}
}
