package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"calib/fit/resample"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/glossary"
	"calib/internal/lists"
	"calib/params"
)

// Batch is what was timed together: one line of pingpong, or the n lines of one paired batch.
type Batch struct {
	ID    BatchID
	Lines []*dataset.Sample
	Point dataset.Point
	Round int
	Dir   int
}

// Untimed flags mark timings that are not those of messages.
var Untimed = []string{dataset.FlagDeadlock, dataset.FlagTimeout, dataset.FlagUnsteady, dataset.FlagDrift}

// spoiling flags mark timings of something else than a network without loss. Only tails are fitted to such a batch.
var spoiling = append([]string{dataset.FlagRetrans}, Untimed...)

// disturbing flags mark timings that may be late. A median is hardly moved by some late timings, so that batches with
// these flags may be used; where only few have them, they are left out all the same.
var disturbing = []string{dataset.FlagPreempt, dataset.FlagSteal, dataset.FlagWindow}

const (
	// fewDisturbed is the share of a point's batches up to which disturbed ones are left out.
	fewDisturbed = 0.25
	// manyLeftOut is the share of raw timings left out above which a fit warns.
	manyLeftOut = 0.1
)

// Reasons in LeftOutWhy beside the flags themselves. Timings are not missed where they are of messages that are too
// large, which are another model's, of hosts that share a CPU, or of another class of pairs.
const (
	WhySlowHost   = "slow host"
	WhyOtherClass = "hosts of another kind or of two groups"
	WhyIncomplete = "incomplete batch"
	WhyLarge      = "larger than a packet"
	WhySpilled    = "larger than the nearest cache"
	WhyOneCPU     = "two hosts that share a CPU"
	whyDirection  = "other direction missing"
)

// Timings counts the raw timings of b.
func (b *Batch) Timings() int {
	return lists.Sum(b.Lines, func(l *dataset.Sample) int { return len(l.NS) })
}

func linesOf(sets [][]*Batch) []*dataset.Sample {
	return lists.Flat(slices.Concat(sets...), func(b *Batch) []*dataset.Sample { return b.Lines })
}

// Flagged returns the first of some flags that a line of b carries, or "".
func (b *Batch) Flagged(flags ...string) string {
	for _, f := range flags {
		if slices.ContainsFunc(b.Lines, func(l *dataset.Sample) bool { return l.Has(f) }) {
			return f
		}
	}
	return ""
}

// Team names the hosts of b, whoever of them sends.
func (b *Batch) Team() string {
	return resample.Team(lists.Flat(b.Lines, func(l *dataset.Sample) []int { return l.Ranks }))
}

// First is the host that is first of its ranks; -1 without ranks.
func (b *Batch) First() int {
	if ranks := b.Lines[0].Ranks; len(ranks) > 0 {
		return ranks[0]
	}
	return -1
}

// complete reports whether every pair's line is there and, for bursts, has every repetition.
func (b *Batch) complete(sameLength bool) bool {
	n := int(b.Point[names.FactorPairs])
	if n < 1 || len(b.Lines) != n {
		return false
	}
	for _, l := range b.Lines {
		if len(l.Ranks) != 2 || len(l.NS) == 0 || sameLength && len(l.NS) != len(b.Lines[0].NS) {
			return false
		}
		if !sameLength && (slices.Min(l.NS) < 0 || slices.Max(l.NS) == 0) {
			return false // no rate
		}
	}
	return true
}

// BatchID tells batches of one phase apart.
type BatchID struct {
	slot, round, number, dir, of int
	point                        string
}

// Batches groups the lines of one experiment and phase; a line without a batch number belongs to batch 0 of its slot.
// Order is that of the first line of each. by tells apart what else shares a slot, such as teams side by side.
func (p *Prepared) Batches(exp, phase string, by ...func(*Batch) int) []*Batch {
	var out []*Batch
	index := map[BatchID]*Batch{}
	for _, b := range p.LineBatches(exp, phase) {
		for _, of := range by {
			b.ID.of = of(b)
		}
		if first := index[b.ID]; first != nil {
			first.Lines = append(first.Lines, b.Lines...)
			continue
		}
		index[b.ID] = b
		out = append(out, b)
	}
	return out
}

// LineBatches makes every line of one experiment and phase a batch of its own.
func (p *Prepared) LineBatches(exp, phase string) []*Batch {
	var out []*Batch
	for _, s := range p.Samples(exp, phase) {
		id := BatchID{s.Slot, s.Round, int(s.Aux[names.AuxBatch]), int(s.Aux[names.AuxDirection]), 0, s.Point.Key()}
		out = append(out, &Batch{ID: id, Lines: []*dataset.Sample{s}, Point: s.Point, Round: s.Round, Dir: id.dir})
	}
	return out
}

// Spoiled reports whether b timed something else than a network without loss.
func (b *Batch) Spoiled() bool { return b.Flagged(spoiling...) != "" }

// standsOut returns a function that finds a disturbing flag of a batch which few batches of its point have; "" is none.
// Each flag is looked at by itself: where every batch was preempted, the one from which the hypervisor took time still
// stands out.
func standsOut(in []*Batch) func(*Batch) string {
	total, with := map[string]int{}, map[[2]string]int{} // by point; by point and flag
	for _, b := range in {
		key := b.Point.Key()
		total[key]++
		for _, f := range disturbing {
			if b.Flagged(f) != "" {
				with[[2]string{key, f}]++
			}
		}
	}
	return func(b *Batch) string {
		key := b.Point.Key()
		few := func(f string) bool { return float64(with[[2]string{key, f}]) <= fewDisturbed*float64(total[key]) }
		return b.Flagged(lists.Where(disturbing, few)...)
	}
}

// Usable returns the batches a fit may use, and counts and explains the others in r.
func (r *Result) Usable(in []*Batch) []*Batch { return r.usable(in, spoiling) }

// EvenLossy is Usable, and keeps batches in which segments were sent again.
func (r *Result) EvenLossy(in []*Batch) []*Batch { return r.usable(in, Untimed) }

func (r *Result) usable(in []*Batch, spoiling []string) []*Batch {
	shares := func(l *dataset.Sample) bool { return dataset.CrowdedTeam(r.Prepared.crowded, l.Ranks) }
	crowded := func(b *Batch) bool { return slices.ContainsFunc(b.Lines, shares) }
	others := slices.ContainsFunc(in, func(b *Batch) bool { return !crowded(b) && b.Flagged(spoiling...) == "" })
	in = r.Unflagged(r.Without(in, WhyOneCPU, func(b *Batch) bool { return others && crowded(b) }), spoiling)
	in = r.Sift(in, standsOut(in))
	disturbed := 0
	for _, b := range in {
		if b.Flagged(disturbing...) != "" {
			disturbed += b.Timings()
		}
	}
	if disturbed > 0 {
		r.Count(disturbed, "timings", func(n int) params.Finding {
			return params.Notef(params.DisturbedTimings, "%d timings come from batches during which the timing thread was "+
				"preempted or the hypervisor stole time; they are too many to leave out, and move the medians little", n)
		})
	}
	return slices.DeleteFunc(in, func(b *Batch) bool { return b.Timings() == 0 })
}

// Unflagged leaves out the batches with one of some flags.
func (r *Result) Unflagged(in []*Batch, flags []string) []*Batch {
	return r.Sift(in, func(b *Batch) string { return b.Flagged(flags...) })
}

// Sift leaves out the batches for which why gives a reason.
func (r *Result) Sift(in []*Batch, why func(*Batch) string) (out []*Batch) {
	for _, b := range in {
		if reason := why(b); reason != "" {
			r.LeaveOut(b, reason)
		} else {
			out = append(out, b)
		}
	}
	return out
}

// LeaveOut counts the timings of b as left out.
func (r *Result) LeaveOut(b *Batch, why string) {
	if r.LeftOutWhy == nil {
		r.LeftOutWhy = map[string]int{}
	}
	r.LeftOut += b.Timings()
	r.LeftOutWhy[why] += b.Timings()
}

// Account states what was used: how many timings, of which hosts, and what a reader must know of them.
func (r *Result) Account(used ...[]*Batch) {
	r.Used += lists.Sum(slices.Concat(used...), (*Batch).Timings)
	hosts := lists.Flat(linesOf(used), func(l *dataset.Sample) []int { return l.Ranks })
	slices.Sort(hosts)
	r.Hosts = append(r.Hosts, r.Prepared.hostNames(slices.Compact(hosts))...)
	unusable, parts := 0, []string(nil)
	for why, n := range r.LeftOutWhy {
		if why != WhyLarge && why != WhySpilled && why != WhyOneCPU && why != WhyOtherClass {
			unusable += n
			parts = append(parts, fmt.Sprintf("%s: %d", cmp.Or(glossary.Files().Flags[why], why), n))
		}
	}
	if share := float64(unusable) / float64(r.Used+unusable); share > manyLeftOut {
		slices.Sort(parts)
		r.Add(params.Warnf(params.ManyLeftOut, "%.0f%% of the timings are left out (%s)", 100*share,
			strings.Join(parts, ", ")).With("share", share))
	}
}

// BothDirections leaves out the batches of a round in which a point has one direction only, where other rounds have
// both: the clock offset would not cancel.
func (r *Result) BothDirections(in []*Batch) []*Batch {
	type id struct {
		point string
		round int
	}
	dirs, whole := map[id]int{}, map[string]bool{}
	key := func(b *Batch) id { return id{b.Point.Key(), b.Round} }
	for _, b := range in {
		k := key(b)
		dirs[k] |= 1 << (b.Dir & 1)
		whole[k.point] = whole[k.point] || dirs[k] == 3
	}
	return r.Without(in, whyDirection, func(b *Batch) bool {
		k := key(b)
		return whole[k.point] && dirs[k] != 3
	})
}

// PacketBytes returns the payload of one packet [B]: the smallest segment the kernel reported on these lines, or that
// of Ethernet with time stamps where it reported none (known is then false).
func PacketBytes(sets ...[]*Batch) (size float64, known bool) {
	for _, l := range linesOf(sets) {
		if l.TCP != nil && l.TCP.MSS > 0 && (!known || float64(l.TCP.MSS) < size) {
			size, known = float64(l.TCP.MSS), true
		}
	}
	if !known {
		return DefaultPacket, false
	}
	return size, true
}

// DefaultPacket is the payload of a packet on Ethernet with time stamps [B].
const DefaultPacket = 1448.0

// Packet is PacketBytes, and notes where the kernel did not report it.
func (r *Result) Packet(sets ...[]*Batch) float64 {
	size, known := PacketBytes(sets...)
	if !known {
		r.Note("packet-assumed", "the kernel did not report the segment size: a packet is taken to hold %g B", size)
	}
	return size
}

// WithoutSlow leaves out the batches of slow hosts and pairs and of other classes, and keeps them where nothing else
// was measured.
func (r *Result) WithoutSlow(in []*Batch) []*Batch { return r.prefer(in, r.Prepared.Slow().OutOf) }

// Prefer leaves out the batches that are worse than others, and keeps them where there are no others.
func (r *Result) Prefer(in []*Batch, why string, worse func(*Batch) bool) []*Batch {
	return r.prefer(in, because(why, worse))
}

func (r *Result) prefer(in []*Batch, why func(*Batch) string) []*Batch {
	if !slices.ContainsFunc(in, func(b *Batch) bool { return why(b) == "" }) {
		return in
	}
	return r.Sift(in, why)
}

func (r *Result) Without(in []*Batch, why string, some func(*Batch) bool) []*Batch {
	return r.Sift(in, because(why, some))
}

// because is the reason why, for some batches.
func because(why string, some func(*Batch) bool) func(*Batch) string {
	return func(b *Batch) string {
		if some(b) {
			return why
		}
		return ""
	}
}

// Complete leaves out the batches that are not complete.
func (r *Result) Complete(in []*Batch, sameLength bool) []*Batch {
	return r.Without(in, WhyIncomplete, func(b *Batch) bool { return !b.complete(sameLength) })
}

// Runs are the parts of all in which same holds of neighbours, each as long as it can be.
func Runs[T any](all []T, same func(a, b T) bool) (out [][]T) {
	from := 0
	for i := range all {
		if i+1 == len(all) || !same(all[i], all[i+1]) {
			out, from = append(out, all[from:i+1]), i+1
		}
	}
	return out
}

// Lines returns the usable lines of one experiment and phase between hosts that are not slow. Phase "" is any.
func (r *Result) Lines(exp, phase string) []*Batch {
	return r.WithoutSlow(r.Usable(r.Prepared.LineBatches(exp, phase)))
}

// EachLine calls do with the Lines of some phases, and returns them.
func (r *Result) EachLine(exp string, phases []string, do func(phase string, b *Batch)) (used []*Batch) {
	for _, phase := range phases {
		for _, b := range r.Lines(exp, phase) {
			do(phase, b)
			used = append(used, b)
		}
	}
	return used
}
