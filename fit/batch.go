package fit

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"calib/internal/dataset"
)

// batch is what was timed together: one line of pingpong, or the n lines of one paired batch.
type batch struct {
	id    batchID // of a paired batch
	lines []*dataset.Sample
	point dataset.Point
	round int
	dir   int
}

// spoiling flags mark timings of something else than the network without loss; such a batch is never fitted.
var spoiling = [...]string{dataset.FlagRetrans, dataset.FlagDeadlock, dataset.FlagTimeout, dataset.FlagUnsteady}

// disturbing flags mark timings that may be late. Medians bear them, but where they are few nothing is lost without them.
var disturbing = [...]string{dataset.FlagPreempt, dataset.FlagSteal, dataset.FlagWindow}

const (
	// fewDisturbed is the share of a point's batches up to which disturbed ones are left out rather than borne.
	fewDisturbed = 0.25
	// manyLeftOut is the share of raw timings left out above which a fit warns.
	manyLeftOut = 0.1
)

// Reasons in Fit.LeftOutWhy beside the flags themselves.
const (
	whySlowHost   = "slow host"
	whyIncomplete = "incomplete batch"
	whyDirection  = "other direction missing"
)

func (b *batch) timings() int {
	n := 0
	for _, l := range b.lines {
		n += len(l.NS)
	}
	return n
}

func (b *batch) flag(flags []string) string {
	for _, f := range flags {
		for _, l := range b.lines {
			if l.Has(f) {
				return f
			}
		}
	}
	return ""
}

// hasAny reports whether one of the hosts took part.
func (b *batch) hasAny(hosts map[int]bool) bool {
	for _, l := range b.lines {
		if slices.ContainsFunc(l.Ranks, func(r int) bool { return hosts[r] }) {
			return true
		}
	}
	return false
}

// batchID tells paired batches of one phase apart.
type batchID struct {
	slot, round, number, dir int
	point                    string
}

// batches groups the lines of one experiment and phase; a line without a batch number belongs to batch 0 of its slot.
// Order is that of the first line of each.
func batches(d *dataset.Dataset, exp, phase string) []batch {
	var out []batch
	index := map[batchID]int{}
	for _, s := range d.Select(exp, phase) {
		dir := int(s.Aux["dir"])
		k := batchID{s.Slot, s.Round, int(s.Aux["batch"]), dir, s.Point.Key()}
		i, seen := index[k]
		if !seen {
			i = len(out)
			index[k] = i
			out = append(out, batch{id: k, point: s.Point, round: s.Round, dir: dir})
		}
		out[i].lines = append(out[i].lines, s)
	}
	return out
}

// lineBatches makes every line of one experiment and phase a batch of its own.
func lineBatches(d *dataset.Dataset, exp, phase string) []batch {
	var out []batch
	for _, s := range d.Select(exp, phase) {
		out = append(out, batch{lines: []*dataset.Sample{s}, point: s.Point, round: s.Round, dir: int(s.Aux["dir"])})
	}
	return out
}

// fewDisturbances lists, for each point, the disturbing flags that only few of its batches carry. Each is looked at by
// itself: where every batch was preempted, the one from which the hypervisor took time still stands out.
func fewDisturbances(in []batch) map[string][]string {
	total, with := map[string]int{}, map[string]map[string]int{}
	for i := range in {
		if in[i].flag(spoiling[:]) != "" {
			continue
		}
		key := in[i].point.Key()
		total[key]++
		for _, f := range disturbing {
			if in[i].flag([]string{f}) != "" {
				if with[key] == nil {
					with[key] = map[string]int{}
				}
				with[key][f]++
			}
		}
	}
	few := map[string][]string{}
	for key, counts := range with {
		for _, f := range disturbing {
			if n := counts[f]; n > 0 && float64(n) <= fewDisturbed*float64(total[key]) {
				few[key] = append(few[key], f)
			}
		}
	}
	return few
}

// usable returns the batches a fit may use, and counts and explains the others in f.
func (f *Fit) usable(in []batch) []batch {
	few := fewDisturbances(in)
	var out []batch
	borne := 0
	for i := range in {
		b := &in[i]
		if why := b.flag(spoiling[:]); why != "" {
			f.leaveOut(b, why)
			continue
		}
		if why := b.flag(few[b.point.Key()]); why != "" {
			f.leaveOut(b, why)
			continue
		}
		if b.flag(disturbing[:]) != "" {
			borne += b.timings()
		}
		if b.timings() > 0 {
			out = append(out, *b)
		}
	}
	if borne > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf(
			"%d timings come from batches during which the timing thread was preempted or the hypervisor stole time; "+
				"they are too many to leave out and bear on the medians little", borne))
	}
	return out
}

// leaveOut counts the timings of b as left out.
func (f *Fit) leaveOut(b *batch, why string) {
	if f.LeftOutWhy == nil {
		f.LeftOutWhy = map[string]int{}
	}
	f.LeftOut += b.timings()
	f.LeftOutWhy[why] += b.timings()
}

// account closes the books on what was used: counts, hosts and what a reader must hear of it.
func (f *Fit) account(d *dataset.Dataset, used ...[]batch) {
	hosts, late := map[int]bool{}, 0
	for _, set := range used {
		for i := range set {
			f.Used += set[i].timings()
			for _, l := range set[i].lines {
				for _, r := range l.Ranks {
					hosts[r] = true
				}
				if l.Has(dataset.FlagLate) {
					late += len(l.NS)
				}
			}
		}
	}
	order := make([]int, 0, len(hosts))
	for h := range hosts {
		order = append(order, h)
	}
	sort.Ints(order)
	for _, h := range order {
		f.Hosts = append(f.Hosts, hostName(d, h))
	}
	if total := f.Used + f.LeftOut; float64(f.LeftOut) > manyLeftOut*float64(total) {
		f.warn("%.0f%% of the timings are left out (%s)", 100*float64(f.LeftOut)/float64(total), f.reasons())
	}
	if late > 0 {
		f.warn("%d timings were taken while the emulated wire was late: not a valid accuracy run", late)
	}
}

// reasons lists LeftOutWhy in words, sorted.
func (f *Fit) reasons() string {
	var parts []string
	for why, n := range f.LeftOutWhy {
		parts = append(parts, fmt.Sprintf("%s: %d", why, n))
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}

// paired drops what has lost its other direction: batches of a point and round with one direction, where the point has
// rounds with both. The clock offset would not cancel in them.
func (f *Fit) paired(in []batch) []batch {
	type id struct {
		point string
		round int
	}
	dirs, whole := map[id]int{}, map[string]bool{}
	key := func(b *batch) id { return id{b.point.Key(), b.round} }
	for i := range in {
		k := key(&in[i])
		dirs[k] |= 1 << (in[i].dir & 1)
		whole[k.point] = whole[k.point] || dirs[k] == 3
	}
	var out []batch
	for i := range in {
		k := key(&in[i])
		if whole[k.point] && dirs[k] != 3 {
			f.leaveOut(&in[i], whyDirection)
			continue
		}
		out = append(out, in[i])
	}
	return out
}

func (f *Fit) warn(format string, args ...any) {
	f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...))
}

func (f *Fit) note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

// packetBytes returns the payload of one packet [B]: the smallest segment the kernel reported on these lines, or that of
// Ethernet with time stamps where it reported none (known is then false).
func packetBytes(sets ...[]batch) (p float64, known bool) {
	for _, set := range sets {
		for i := range set {
			for _, l := range set[i].lines {
				if l.TCP != nil && l.TCP.MSS > 0 && (!known || float64(l.TCP.MSS) < p) {
					p, known = float64(l.TCP.MSS), true
				}
			}
		}
	}
	if !known {
		return 1448, false
	}
	return p, true
}
