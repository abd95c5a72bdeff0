package fit

import (
	"fmt"
	"math"

	"calib/internal/dataset"
	"calib/internal/units"
)

// HKUCopy is what copying m bytes within a host costs, as lines c0 + c1·m: M_ctc from cache to cache, M_ctm from cache to
// memory, M_mtm from memory to memory, all at once, and M_ctc_loop, M_ctm_loop, M_mtm_loop byte by byte, as a program
// does that converts representations. Hosts are taken together. Source: Tam, Wang 2000, section 3.2 and table 1.
type HKUCopy struct{}

// Name implements Model.
func (HKUCopy) Name() string { return "hku-copy" }

// Needs implements Model.
func (HKUCopy) Needs() []string { return []string{"copy"} }

// copies lists the functions by the factor cold of copy.
var copies = [...]struct{ name, label string }{
	{"M_ctc", "copying from cache to cache"},
	{"M_ctm", "copying from cache to memory"},
	{"M_mtm", "copying from memory to memory"},
}

// Fit implements Model. It returns ErrNeeds where no kind of copy was measured at two sizes.
func (m HKUCopy) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	f := newFit(m.Name(), "copy", sourceHKU)
	c := f.loadCopies(d)
	if len(c.table.points) == 0 {
		return nil, needs(m.Name(), "no copies")
	}
	r, err := c.table.resample(s.replicates(), s.seed(d, m.Name()))
	if err != nil {
		return nil, err
	}
	f.sayRounds(r.rounds)
	var costs []*costFit
	for _, suffix := range []string{"", "_loop"} {
		for _, kind := range copies {
			data := c.costData(r, kind.name+suffix, math.Inf(1))
			if len(data.sizes) < 2 {
				continue
			}
			label := kind.label
			if suffix != "" {
				label += ", byte by byte"
			}
			cost, err := f.fitCost(kind.name+suffix, label, data, false)
			if err != nil {
				return nil, fmt.Errorf("model %s: %w", m.Name(), err)
			}
			if off, at := furthest(data, cost.At); off > 2*bent {
				f.note("%s is not quite a line: %.0f%% off at %g bytes", kind.name+suffix, 100*off, at)
			}
			costs = append(costs, cost)
		}
	}
	if len(costs) == 0 {
		return nil, needs(m.Name(), "copies measured at fewer than two sizes")
	}
	return f.finishCosts(costs), nil
}

// loadCopies gathers the copies by kind, and notes the caches they were made with.
func (f *Fit) loadCopies(d *dataset.Dataset) *curves {
	c := &curves{}
	var used []batch
	var kept []batch
	for _, b := range lineBatches(d, "copy", "") {
		if b.lines[0].Phase == "spilled" {
			f.leaveOut(&b, "larger than the nearest cache")
			continue
		}
		kept = append(kept, b)
	}
	lines := f.usable(kept)
	near, last := [2]float64{math.Inf(1), 0}, [2]float64{math.Inf(1), 0}
	for i := range lines {
		b := &lines[i]
		cold := b.point["cold"]
		if cold < 0 || cold >= int64(len(copies)) {
			f.leaveOut(b, "unknown kind of copy")
			continue
		}
		name := copies[cold].name
		if b.point["loop"] != 0 {
			name += "_loop"
		}
		times := seconds(b.lines[0].NS)
		if v := b.lines[0].Aux["median_ns"]; v > 0 { // a copy may take a few nanoseconds, of which raw times have no fractions
			times = []float64{v * 1e-9}
		}
		c.add(name, float64(b.point["bytes"]), b, b.timings(), times...)
		used = append(used, *b)
		if v := b.lines[0].Aux["cache_bytes"]; v > 0 {
			near = [2]float64{math.Min(near[0], v), math.Max(near[1], v)}
		}
		if v := b.lines[0].Aux["last_cache_bytes"]; v > 0 {
			last = [2]float64{math.Min(last[0], v), math.Max(last[1], v)}
		}
	}
	f.account(d, used)
	if near[1] > 0 {
		f.note("nearest data cache: %s", byteRange(near))
	}
	if last[1] > 0 {
		f.note("last cache before memory: %s", byteRange(last))
	}
	return c
}

// byteRange prints sizes from the smallest to the largest host's.
func byteRange(r [2]float64) string {
	if r[0] == r[1] {
		return units.Bytes(r[0]).String()
	}
	return units.Bytes(r[0]).String() + " to " + units.Bytes(r[1]).String()
}
