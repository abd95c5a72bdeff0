package tuning

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/plot"
	"calib/internal/stats"
	"calib/params"
)

// Buffer is the table T(M, s) [s] of a message of M bytes with socket buffers of s bytes asked for, one way and with
// both sides sending at once, and the smallest buffer that is good enough: smallest_buffer_<M> [B], one way, and
// smallest_buffer_interleaved_<M> [B], both sides at once with sending and receiving interleaved, are the smallest s
// asked for whose T is within 5% of the best of all, the kernel's own choice (s = 0) included. Where only the kernel's
// own choice is as good, they are bounds.
//
// Exchanges in which both sides send before they receive, and that deadlocked, are listed as notes with the buffers
// that the kernel granted. Source: Strumpen 1994, section 3.1 (buffer size, simultaneous send; figure 20).
var Buffer = fit.Model{Name: "buffer", Needs: []string{names.Buffer}, Fit: fitBuffer, Draw: bufferPlots}

// nearBest is by how much T may exceed the best for a buffer to be good enough.
const nearBest = 0.05

// exchanges are the phases of buffer in words.
var exchanges = map[string]string{
	names.PhaseOneWay: "one way", names.PhaseBoth: "both ways", names.PhaseInterleaved: "both ways, interleaved",
}

type bufferKey struct {
	phase         string
	bytes, buffer int64
}

func (k bufferKey) compare(b bufferKey) int {
	return cmp.Or(cmp.Compare(k.phase, b.phase), cmp.Compare(k.bytes, b.bytes), cmp.Compare(k.buffer, b.buffer))
}

// granted are the buffers that the kernel gave for one setting [B].
type granted struct{ snd, rcv []float64 }

func (g *granted) add(t *dataset.TCP) {
	g.snd, g.rcv = append(g.snd, float64(t.SndBuf)), append(g.rcv, float64(t.RcvBuf))
}

func (g *granted) String() string {
	return fmt.Sprintf("%.4g/%.4g KiB", stats.Median(g.snd)/1024, stats.Median(g.rcv)/1024)
}

type bufferData struct {
	*fit.Result
	table   resample.Table[bufferKey]
	granted map[int64]*granted // by buffer asked for
	est     *resample.Estimates
}

// fitBuffer returns fit.ErrNeeds without a usable timing.
func fitBuffer(p *fit.Prepared) (*params.Fit, error) {
	d := &bufferData{Result: p.New("buffer", names.Buffer, "Strumpen 1994, section 3.1"), granted: map[int64]*granted{}}
	phases := []string{names.PhaseOneWay, names.PhaseBoth, names.PhaseInterleaved}
	used := d.EachLine(names.Buffer, phases, func(phase string, b *fit.Batch) {
		k := bufferKey{phase, b.Point[names.FactorBytes], b.Point[names.FactorBuffer]}
		addLine(&d.table, k, b)
		if t := b.Lines[0].TCP; t != nil && t.SndBuf > 0 && t.RcvBuf > 0 {
			if d.granted[k.buffer] == nil {
				d.granted[k.buffer] = &granted{}
			}
			d.granted[k.buffer].add(t)
		}
	})
	d.Account(used)
	var err error
	if d.est, err = fit.Resample(d.Result, &d.table, "no message sent without loss and without deadlock"); err != nil {
		return nil, err
	}
	keys := slices.SortedFunc(maps.Keys(d.table.Index), bufferKey.compare)
	for _, same := range fit.Runs(keys, func(a, b bufferKey) bool { return a.phase == b.phase && a.bytes == b.bytes }) {
		d.settings(same)
	}
	d.noteGranted()
	d.noteDeadlocks(p.Samples(names.Buffer, names.PhaseBoth))
	d.JudgeTable()
	return d.Fit, nil
}

// settings records the table of one phase and M, and the smallest buffer that is good enough. keys ascend in the
// buffer.
func (d *bufferData) settings(keys []bufferKey) {
	phase, size := keys[0].phase, keys[0].bytes
	buffers := lists.Map(keys, func(k bufferKey) float64 { return float64(k.buffer) })
	points := lists.Map(keys, func(k bufferKey) int { return d.table.Index[k] })
	d.WidenDomain("buffer", buffers...)
	x := slices.Clone(buffers)
	if g := d.granted[0]; x[0] == 0 && g != nil {
		x[0] = stats.Median(g.snd)
	}
	d.WidenDomain("bytes", float64(size))
	d.AddSeries(params.Series{Name: "T(" + fit.SizeWords(size) + ", s), " + exchanges[phase],
		Quantity: params.BufferedTime,
		Factors:  map[string]float64{"bytes": float64(size)}, XName: "bytes"}, x, d.est.Select(points), nil)
	if phase == names.PhaseBoth {
		return // what finishes depends on the buffer: interleaved is the form that always does
	}
	name := smallestBuffer(phase, size)
	label := "smallest socket buffer within 5% of the best for " + fit.SizeWords(size) + ", " + exchanges[phase]
	largest := buffers[len(buffers)-1]
	pick := func(times []float64) int { return smallestGood(buffers, times) }
	if at := pick(resample.Pick(d.est.Values, points)); buffers[at] == 0 {
		d.Bound(name, "B", label, largest, math.Inf(1),
			"no buffer asked for comes within 5% of what the kernel chooses by itself")
		return
	}
	asked := slices.Clone(buffers)
	if asked[0] == 0 {
		asked[0] = largest // a replicate in which only the kernel's own choice is good: at least the largest
	}
	choose(d.Result, name, label, d.est, asked, points, pick)
}

func smallestBuffer(phase string, bytes int64) string {
	if phase == names.PhaseInterleaved {
		return "smallest_buffer_interleaved_" + fit.SizeName(bytes)
	}
	return "smallest_buffer_" + fit.SizeName(bytes)
}

// smallestGood is the index of the smallest buffer asked for within nearBest of the best time, that of buffer 0 where
// there is no other.
func smallestGood(buffers, times []float64) int {
	limit := (1 + nearBest) * slices.Min(times)
	for i, t := range times {
		if buffers[i] > 0 && t <= limit {
			return i
		}
	}
	return slices.Index(buffers, 0)
}

func (d *bufferData) noteGranted() {
	var parts []string
	for _, b := range slices.Sorted(maps.Keys(d.granted)) {
		asked := "none asked for"
		if b > 0 {
			asked = fit.SizeWords(b)
		}
		parts = append(parts, fmt.Sprintf("%s: %s", asked, d.granted[b]))
	}
	if len(parts) > 0 {
		d.Note("buffers-granted", "buffers granted (send/receive, median) for those asked for: %s", strings.Join(parts, "; "))
	}
}

// noteDeadlocks notes the exchanges that deadlocked, by size and buffer.
func (d *bufferData) noteDeadlocks(exchanges []*dataset.Sample) {
	keyOf := func(l *dataset.Sample) bufferKey {
		return bufferKey{names.PhaseBoth, l.Point[names.FactorBytes], l.Point[names.FactorBuffer]}
	}
	exchanges = slices.Clone(exchanges)
	slices.SortStableFunc(exchanges, func(a, b *dataset.Sample) int { return keyOf(a).compare(keyOf(b)) })
	for _, same := range fit.Runs(exchanges, func(a, b *dataset.Sample) bool { return keyOf(a) == keyOf(b) }) {
		k, stuck, given := keyOf(same[0]), 0, granted{}
		for _, l := range same {
			if l.Has(dataset.FlagDeadlock) {
				stuck++
				if l.TCP != nil {
					given.add(l.TCP)
				}
			}
		}
		if stuck == 0 {
			continue
		}
		buffers := "the kernel's own buffers"
		if k.buffer > 0 {
			buffers = "buffers of " + fit.SizeWords(k.buffer)
		}
		if len(given.snd) > 0 {
			buffers += " (granted " + given.String() + ")"
		}
		d.Add(params.Notef("deadlock", "both sides send %s before they receive: deadlock with %s, in %d of %d batches",
			fit.SizeWords(k.bytes), buffers, stuck, len(same)).With("bytes", float64(k.bytes)).With("buffer", float64(k.buffer)))
	}
}

func bufferPlots(f *params.Fit) []plot.Plot {
	var out []plot.Plot
	all := f.Of(params.BufferedTime)
	for _, s := range all {
		bytes := int64(s.Factors["bytes"])
		id, words := "buffer-"+fit.SizeID(bytes), fit.SizeWords(bytes)
		if slices.ContainsFunc(out, func(p plot.Plot) bool { return p.ID == id }) {
			continue
		}
		same := slices.DeleteFunc(slices.Clone(all), func(t params.Series) bool { return int64(t.Factors["bytes"]) != bytes })
		oneway, both := smallestBuffer(names.PhaseOneWay, bytes), smallestBuffer(names.PhaseInterleaved, bytes)
		out = append(out, plot.Plot{
			ID: id, Section: fit.SectionTuning, Title: "A message of " + words + " by the socket buffer",
			Says: fit.Sentences("The smallest buffer within 5% of the best is "+describeBuffer(f, oneway)+" one way, and "+
				describeBuffer(f, both)+" with both sides sending",
				"The kernel's own buffer is drawn at the size that it granted"),
			X: plot.Axis{Name: "socket buffer asked for", Unit: "B", Log: true}, Y: fit.TimeAxis("time", true),
			Series: fit.SeriesNames(same),
			Marks:  slices.Concat(markChoice(f, oneway, "smallest good buffer, one way:"), markChoice(f, both, "both ways:")),
		})
	}
	return out
}

// describeBuffer prints a smallest buffer, or its bound.
func describeBuffer(f *params.Fit, name string) string {
	switch p := f.Parameters[name]; {
	case p.Value != nil:
		return fit.SizeWords(int64(*p.Value))
	case p.Bound != nil:
		return "above " + fit.SizeWords(int64(p.Bound[0]))
	}
	return "not known"
}
