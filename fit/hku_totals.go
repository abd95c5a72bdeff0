package fit

import (
	"cmp"
	"fmt"
	"slices"

	"calib/internal/dataset"
	"calib/internal/stats"
	"calib/internal/units"
)

// gatherTotal is the time of gathers of one kind.
type gatherTotal struct {
	senders, bytes, window int64
	time                   float64 // s, median of the batches' medians
	lost                   float64 // segments sent again per gather
}

// gatherTotals sums up all gathers that came to an end, with loss or without, in order of senders, bytes and window.
func gatherTotals(d *dataset.Dataset) []gatherTotal {
	type kind struct{ senders, bytes, window int64 }
	times, again, count := map[kind][]float64{}, map[kind]float64{}, map[kind]float64{}
	for _, l := range d.Select("gather", phaseGather) {
		if l.Has(dataset.FlagTimeout) || l.Has(dataset.FlagDeadlock) || len(l.NS) == 0 {
			continue
		}
		k := kind{l.Point["senders"], l.Point["bytes"], l.Point["window"]}
		times[k] = append(times[k], stats.Median(seconds(l.NS)))
		count[k] += float64(len(l.NS))
		if l.TCP != nil {
			again[k] += float64(l.TCP.Retrans)
		}
	}
	var out []gatherTotal
	for k, v := range times {
		out = append(out, gatherTotal{k.senders, k.bytes, k.window, stats.Median(v), again[k] / count[k]})
	}
	sortTotals(out)
	return out
}

func sortTotals(g []gatherTotal) {
	slices.SortFunc(g, func(a, b gatherTotal) int {
		return cmp.Or(cmp.Compare(a.senders, b.senders), cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.window, b.window))
	})
}

// noteGathers notes, for the most senders and each size, the gather that all began at once beside the one with the best
// window of senders.
func (f *Fit) noteGathers(d *dataset.Dataset) {
	all := gatherTotals(d)
	if len(all) == 0 {
		return
	}
	most := all[len(all)-1].senders
	all = slices.DeleteFunc(all, func(g gatherTotal) bool { return g.senders != most })
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(g gatherTotal) bool { return g.bytes != all[0].bytes })
		if n < 0 {
			n = len(all)
		}
		f.noteGather(all[:n])
		all = all[n:]
	}
}

// noteGather notes the gathers of one size.
func (f *Fit) noteGather(same []gatherTotal) {
	last := same[len(same)-1]
	if last.window != last.senders {
		return
	}
	text := fmt.Sprintf("gather, %d senders, %s each: uncoordinated %s (%.3g segments lost)", last.senders,
		units.Bytes(last.bytes), units.Format(last.time, "s"), last.lost)
	if windows := same[:len(same)-1]; len(windows) > 0 {
		best := slices.MinFunc(windows, func(a, b gatherTotal) int { return cmp.Compare(a.time, b.time) })
		text += fmt.Sprintf(", window %d %s (%.3g lost)", best.window, units.Format(best.time, "s"), best.lost)
	}
	f.note("%s", text)
}
