package fit

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"calib/internal/dataset"
	"calib/internal/stats"
)

// Buffer is the table T(M, s) [s] of a message of M bytes with socket buffers of s bytes asked for, one way and with both
// sides sending at once, and the smallest buffer that is good enough: smallest_buffer_<M> [B], one way, and
// smallest_buffer_interleaved_<M> [B], both sides at once with sending and receiving interleaved, are the smallest s asked
// for whose T is within 5% of the best of all, the kernel's own choice (s = 0) included. Where only the kernel's own choice
// is as good, they are bounds.
//
// Exchanges in which both sides send before they receive, and that deadlocked, are listed as notes with the buffers that
// the kernel granted. Source: Strumpen 1994, section 3.1 (buffer size, simultaneous send; figure 20).
type Buffer struct{}

// Name implements Model.
func (Buffer) Name() string { return "buffer" }

// Needs implements Model.
func (Buffer) Needs() []string { return []string{"buffer"} }

// nearBest is by how much T may exceed the best for a buffer to be good enough.
const nearBest = 0.05

// Phases of buffer: one message, both sides send and then receive, both sides send and receive in turns.
const (
	phaseOneway      = "oneway"
	phaseBoth        = "both"
	phaseInterleaved = "interleaved"
)

type bufferKey struct {
	phase         string
	bytes, buffer int64
}

// granted are the buffers that the kernel gave for one setting.
type granted struct{ snd, rcv []float64 }

// bufferData is what buffer measured.
type bufferData struct {
	fit     *Fit
	grid    grid[bufferKey]
	granted map[int64]*granted // by buffer asked for
	times   *sampled
}

// Fit implements Model. It returns ErrNeeds without a usable timing.
func (m Buffer) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	p := &bufferData{fit: newFit(m.Name(), "buffer", "Strumpen 1994, section 3.1"), granted: map[int64]*granted{}}
	slow := findSlow(d)
	p.fit.Warnings = append(p.fit.Warnings, slow.said...)
	var used [][]batch
	for _, phase := range []string{phaseOneway, phaseBoth, phaseInterleaved} {
		lines := p.fit.linesOf(d, "buffer", phase, slow)
		used = append(used, lines)
		for i := range lines {
			k := bufferKey{phase, lines[i].point["bytes"], lines[i].point["buffer"]}
			p.grid.addLine(k, &lines[i])
			p.grant(k.buffer, lines[i].lines[0])
		}
	}
	if len(p.grid.points) == 0 {
		return nil, needs(m.Name(), "no message sent without loss and without deadlock")
	}
	p.fit.account(d, used...)
	var err error
	if p.times, err = p.grid.resample(s.replicates(), s.seed(d, m.Name())); err != nil {
		return nil, err
	}
	p.fit.sayRounds(p.times.rounds)
	keys := slices.SortedFunc(maps.Keys(p.grid.index), func(a, b bufferKey) int {
		return cmp.Or(cmp.Compare(a.phase, b.phase), cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.buffer, b.buffer))
	})
	for len(keys) > 0 {
		n := slices.IndexFunc(keys, func(k bufferKey) bool { return k.phase != keys[0].phase || k.bytes != keys[0].bytes })
		if n < 0 {
			n = len(keys)
		}
		p.settings(keys[:n])
		keys = keys[n:]
	}
	p.sayGranted()
	p.deadlocks(d)
	p.fit.judgeTable()
	return p.fit, nil
}

func (p *bufferData) grant(buffer int64, l *dataset.Sample) {
	if l.TCP == nil || l.TCP.SndBuf <= 0 || l.TCP.RcvBuf <= 0 {
		return
	}
	if p.granted[buffer] == nil {
		p.granted[buffer] = &granted{}
	}
	g := p.granted[buffer]
	g.snd, g.rcv = append(g.snd, float64(l.TCP.SndBuf)), append(g.rcv, float64(l.TCP.RcvBuf))
}

// settings records the table of one phase and M, and the smallest buffer that is good enough. keys ascend in the buffer.
func (p *bufferData) settings(keys []bufferKey) {
	phase, size := keys[0].phase, keys[0].bytes
	words := map[string]string{phaseOneway: "one way", phaseBoth: "both ways", phaseInterleaved: "both ways, interleaved"}
	var buffers []float64
	var points []int
	for _, k := range keys {
		x := float64(k.buffer)
		if g := p.granted[0]; k.buffer == 0 && g != nil {
			x = stats.Median(g.snd)
		}
		p.fit.tabulated(p.times, "T("+sizeWords(size)+", s), "+words[phase], x, p.grid.index[k])
		p.fit.widenDomain("bytes", float64(size))
		p.fit.widenDomain("buffer", float64(k.buffer))
		buffers, points = append(buffers, float64(k.buffer)), append(points, p.grid.index[k])
	}
	name, label := "smallest_buffer_", "smallest socket buffer within 5% of the best for "+sizeWords(size)+", "+words[phase]
	switch phase {
	case phaseBoth:
		return // what finishes depends on the buffer: interleaved is the form that always does
	case phaseInterleaved:
		name = "smallest_buffer_interleaved_"
	}
	largest := buffers[len(buffers)-1]
	pick := func(times []float64) int { return smallestGood(buffers, times) }
	if at := pick(p.times.pick(points)); buffers[at] == 0 {
		p.fit.Parameters[name+sizeName(size)] = Parameter{
			Unit: "B", Status: StatusBound, Bound: &[2]float64{largest, math.Inf(1)},
			Why:   "no buffer asked for comes within 5% of what the kernel chooses by itself",
			Model: p.fit.Model, Experiment: p.fit.Experiment, Source: p.fit.Source, Label: label,
		}
		return
	}
	asked := slices.Clone(buffers)
	if asked[0] == 0 {
		asked[0] = largest // a replicate in which only the kernel's own choice is good: at least the largest
	}
	p.fit.chosen(name+sizeName(size), "B", label, p.times.choose(asked, points, pick))
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

// sayGranted notes what the kernel made of each buffer asked for.
func (p *bufferData) sayGranted() {
	text := ""
	for _, b := range slices.Sorted(maps.Keys(p.granted)) {
		asked := "none asked for"
		if b > 0 {
			asked = sizeWords(b)
		}
		text += fmt.Sprintf("; %s: %s", asked, p.granted[b])
	}
	if text != "" {
		p.fit.note("buffers granted (send/receive, median) for those asked for: %s", text[2:])
	}
}

func (g *granted) String() string {
	return fmt.Sprintf("%.4g/%.4g KiB", stats.Median(g.snd)/1024, stats.Median(g.rcv)/1024)
}

// deadlocks notes the exchanges that deadlocked, by size and buffer.
func (p *bufferData) deadlocks(d *dataset.Dataset) {
	type tally struct{ stuck, tries int }
	seen := map[bufferKey]*tally{}
	grants := map[bufferKey]*granted{}
	for _, l := range d.Select("buffer", phaseBoth) {
		k := bufferKey{phaseBoth, l.Point["bytes"], l.Point["buffer"]}
		if seen[k] == nil {
			seen[k], grants[k] = &tally{}, &granted{}
		}
		seen[k].tries++
		if l.Has(dataset.FlagDeadlock) {
			seen[k].stuck++
			if l.TCP != nil {
				grants[k].snd, grants[k].rcv = append(grants[k].snd, float64(l.TCP.SndBuf)), append(grants[k].rcv, float64(l.TCP.RcvBuf))
			}
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(seen), func(a, b bufferKey) int {
		return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.buffer, b.buffer))
	}) {
		if seen[k].stuck == 0 {
			continue
		}
		buffers := "the kernel's own buffers"
		if k.buffer > 0 {
			buffers = "buffers of " + sizeWords(k.buffer)
		}
		if len(grants[k].snd) > 0 {
			buffers += " (granted " + grants[k].String() + ")"
		}
		p.fit.note("both sides send %s before they receive: deadlock with %s, in %d of %d batches",
			sizeWords(k.bytes), buffers, seen[k].stuck, seen[k].tries)
	}
}
