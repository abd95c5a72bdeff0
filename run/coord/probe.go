package coord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"calib/bench"
	"calib/fit/fault"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/doctor"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/internal/units"
)

// Probed is what a first look at the network has found. Medians are over the pairs that were looked at.
type Probed struct {
	Pairs    int         `json:"pairs"`      // that were looked at alone
	Latency  units.Nanos `json:"latency_ns"` // of a byte, one way, with the software at both ends
	PerByte  float64     `json:"ns_per_byte"`
	Slowest  float64     `json:"slowest_ns_per_byte"` // of these pairs
	Loss     float64     `json:"loss"`                // share of segments that were sent again
	Segment  int64       `json:"segment"`             // payload of a full packet of these connections [B]
	Slot     units.Nanos `json:"slot_ns"`             // what a slot costs beside its messages
	AtOnce   int         `json:"at_once"`             // pairs that then communicated at once; 0 with one pair only
	Slower   float64     `json:"slower"`              // their time over that alone: of bytes or of latency, the larger
	Least    float64     `json:"least_slower"`        // likewise of the pair that was slowed least
	Together bool        `json:"together"`            // pairs do not disturb each other
	Took     units.Nanos `json:"took_ns"`
	// Groups are hosts with shorter ways within than between, such as racks, or else of one kind, by index.
	Groups [][]int `json:"groups,omitempty"`
}

// Known is p for another run on the same network, which does not probe again, so that the probe takes none of its time.
// Groups of hosts are found anew. nil stays nil.
func (p *Probed) Known() *Probed {
	if p == nil {
		return nil
	}
	known := *p
	known.Took, known.Groups = 0, nil
	return &known
}

// Shared reports whether pairs share one medium: every pair was slowed by the others. Where only some were, such as
// those over one slow uplink, hosts can be compared while all pairs communicate at once.
func (p *Probed) Shared() bool { return p.AtOnce == 0 || p.Least > undisturbed }

// Abreast is how many pairs of a round look at their ways at once: all of them, where some are not slowed by the
// others. On a shared medium it is as many as fill it, AtOnce/Slower.
func (p *Probed) Abreast() int {
	if !p.Shared() {
		return math.MaxInt
	}
	return max(1, int(float64(p.AtOnce)/max(p.Slower, 1)))
}

// Absurd reports whether pairs took so much longer at once that the network is not why: a shared medium makes it as
// many times as there are pairs.
func (p *Probed) Absurd() bool { return p.Slower > absurd*float64(p.AtOnce) }

// Path is what a plan is made from. The slowest pair decides: a round waits for it. What is absurd is not planned with.
func (p *Probed) Path() bench.Path {
	out := bench.Path{Latency: p.Latency, PerByte: p.Slowest, Together: p.Together, Slot: p.Slot}
	if !p.Absurd() {
		out.AtOnce, out.Slower = p.AtOnce, p.Slower
	}
	return out
}

const (
	// aloneMost is how many pairs are looked at one after the other, aloneTime after how long no other pair is.
	aloneMost = 4
	aloneTime = 2 * time.Second
	// lookEpoch is that of the connections of check and probe: the run opens its own.
	lookEpoch = 0
	// probeStream is that of the generator which draws the probe's pairs.
	probeStream = 1 << 35
	// undisturbed is by how much pairs may be slower at once than alone, to be taken as not disturbing each other.
	undisturbed = 1.1
	// absurd is how many times as long as on a shared medium pairs take at once where hosts are busy or packets are lost.
	absurd = 100
	// probeDeadline bounds a slot of the probe. On any path of which a run makes sense it ends within seconds.
	probeDeadline = 15 * units.Second
	// probeMost is how long a probe may take where there is no budget; with one, it has probeShare of it.
	probeMost  = 45 * units.Second
	probeShare = 1. / 3
)

// lookTime is how long a probe of a run with a budget may take; 0 is no budget.
func lookTime(budget units.Nanos) units.Nanos {
	if budget <= 0 {
		return probeMost
	}
	return min(probeMost, units.Nanos(probeShare*float64(budget)))
}

// Probe looks at some pairs of agents, each alone, and then at all pairs at once: the question of the hyperbolic model
// (Stoica, Sultan and Keyes 1996), whether pairs share the medium, in short. A pair that fails is passed over, and
// where all at once fail they are taken to disturb each other. The agents are prepared. The probe ends within a third
// of the budget; 0 is none. A burst takes that long; 0 is as long as the experiment has it.
func Probe(ctx context.Context, agents []Agent, run string, seed uint64, budget, burst units.Nanos,
	now func() time.Time) (*Probed, error) {
	begun := now()
	hosts := rand.New(rand.NewPCG(seed, probeStream)).Perm(len(agents))
	pairs := slices.Collect(slices.Chunk(hosts[:len(hosts)&^1], 2))
	if len(pairs) == 0 {
		return nil, fmt.Errorf("probe: %w: one host", ErrNothing)
	}
	p := &Probed{}
	try := func(teams [][]int) ([]fault.Look, time.Duration, error) {
		left := lookTime(budget) - units.Nanos(now().Sub(begun))
		if left < minSlot {
			return nil, 0, fmt.Errorf("probe: %w within %v", ErrNothing, time.Duration(lookTime(budget)))
		}
		if len(teams) == 1 { // another pair may do better
			left /= 2
		}
		from := now()
		all, err := look(ctx, agents, run, 0, teams, min(probeDeadline, left), burst)
		if err != nil {
			return nil, 0, fmt.Errorf("probe of %s: %w", units.Plural(len(teams), "pair"), err)
		}
		return looksOf(all), now().Sub(from), nil
	}
	var alone []fault.Look
	var slots []float64
	var failed error // of the first pair that did
	for len(alone) < min(len(pairs), aloneMost) && (len(alone) == 0 || now().Sub(begun) < aloneTime) {
		i := len(alone)                       // pairs that fail are taken out
		one, took, err := try(pairs[i : i+1]) // it opens connections and windows
		if err == nil && took < aloneTime/2 {
			one, took, err = try(pairs[i : i+1])
		}
		if err == nil && len(one) == 0 {
			err = fmt.Errorf("probe of hosts %d and %d: %w", pairs[i][0], pairs[i][1], ErrNothing)
		}
		if err != nil {
			failed = cmp.Or(failed, err)
			if ctx.Err() != nil {
				break
			}
			pairs = slices.Delete(pairs, i, i+1)
			continue
		}
		alone = append(alone, one[0])
		slots = append(slots, max(float64(time.Millisecond), float64(took)-1e9*one[0].Took))
	}
	if len(alone) == 0 {
		return nil, failed
	}
	p.Pairs = len(alone)
	p.fill(alone, slots)
	if len(pairs) > 1 {
		if all, _, err := try(pairs); err == nil {
			if p.Slower, p.Least = slower(alone, all); p.Slower > 0 {
				p.AtOnce, p.Together = len(pairs), p.Slower <= undisturbed
			}
		}
	}
	p.Took = units.Nanos(now().Sub(begun))
	return p, nil
}

// look has teams look at the ways between their hosts, all at once, and returns the samples. A burst takes that long; 0
// is as long as the experiment has it.
func look(ctx context.Context, agents []Agent, run string, round int, teams [][]int, deadline, burst units.Nanos) (
	[]dataset.Sample, error) {
	point := bench.Point{names.FactorBytes: 1}
	if burst > 0 {
		point[names.FactorBurst] = int64(burst / units.Microsecond)
	}
	return together(ctx, agents, teams, bench.Task{
		Run: run, Slot: round, Round: round, Exp: names.Probe, Points: []bench.Point{point},
		Epoch: lookEpoch, Deadline: deadline, Recv: deadline,
	})
}

func looksOf(samples []dataset.Sample) []fault.Look {
	return fault.Looks(lists.Map(lists.Upto(len(samples)), func(i int) *dataset.Sample { return &samples[i] }))
}

// fill takes the medians of pairs that communicated alone.
func (p *Probed) fill(alone []fault.Look, slots []float64) {
	var trips, rates []float64
	var sent, again int64
	for _, x := range alone {
		trips, rates = append(trips, 1e9*x.Latency), append(rates, 1e9*x.PerByte)
		sent, again = sent+x.Segments, again+x.Again
		if p.Segment == 0 || x.MSS < p.Segment {
			p.Segment = x.MSS
		}
	}
	p.Latency, p.PerByte = max(1, units.Nanos(stats.Median(trips))), stats.Median(rates)
	p.Slowest, p.Slot = slices.Max(rates), units.Nanos(stats.Median(slots))
	if sent > 0 {
		p.Loss = float64(again) / float64(sent)
	}
}

// slower is how many times as long messages took at once as alone, over the pairs that did both: the larger of the
// medians of latency and time per byte, and the larger of both of the pair where it is least.
func slower(alone, all []fault.Look) (median, least float64) {
	var trips, rates []float64
	least = math.Inf(1)
	for _, a := range alone {
		for _, b := range all {
			if a.From == b.From && a.To == b.To && a.Latency > 0 && a.PerByte > 0 {
				trip, rate := b.Latency/a.Latency, b.PerByte/a.PerByte
				trips, rates, least = append(trips, trip), append(rates, rate), min(least, max(trip, rate))
			}
		}
	}
	if len(trips) == 0 {
		return 0, 0
	}
	return max(stats.Median(trips), stats.Median(rates)), least
}

const (
	// pairDeadline bounds the check of a pair, some 17 round trips and 36 KiB, also on bench.Slow. pairRecv bounds a
	// silence in it: what was lost once is sent again within a second.
	pairDeadline = 5 * units.Second
	pairRecv     = 1500 * units.Millisecond
	// pairGrace is how much later the other host of a pair is ended that failed: it may be about to say why.
	pairGrace = 200 * time.Millisecond
	// suspectAfter pairs that failed, and none that did not, the other pairs of a host wait until it has one that does
	// not.
	suspectAfter = 2
)

// CheckPairs tries every pair of agents, disjoint pairs at once, and returns them in the order of the trials. The
// agents are prepared for the run; hosts are theirs by index. After most, if not 0, it stops once every host is known
// to work or not. A host that several others cannot reach is tried with one that works. If that fails too, its other
// pairs are skipped: a host that is off costs seconds, however many hosts there are.
func CheckPairs(ctx context.Context, agents []Agent, run string, hosts []dataset.Host, most time.Duration,
	now func() time.Time) []doctor.Pair {
	n := len(agents)
	c := &checker{agents: agents, run: run, hosts: hosts, works: make([]bool, n), failed: make([]int, n)}
	begun := now()
	for _, step := range bench.Colouring(n) {
		if ctx.Err() != nil {
			return c.out
		}
		enough := most > 0 && now().Sub(begun) > most && !c.open()
		var pairs [][2]int
		for _, team := range step {
			pair := [2]int{team[0], team[1]}
			if c.suspect(pair[0]) || c.suspect(pair[1]) {
				c.later = append(c.later, pair)
			} else if !enough {
				pairs = append(pairs, pair)
			}
		}
		c.try(ctx, pairs)
	}
	c.rest(ctx, most == 0)
	return c.out
}

type checker struct {
	agents []Agent
	run    string
	hosts  []dataset.Host
	step   int
	works  []bool // of hosts with a pair that did not fail
	failed []int  // pairs that did
	later  [][2]int
	out    []doctor.Pair
}

func (c *checker) suspect(h int) bool { return !c.works[h] && c.failed[h] >= suspectAfter }

// open reports whether there are hosts of which nobody knows yet whether they or their partners are at fault.
func (c *checker) open() bool {
	return slices.ContainsFunc(lists.Upto(len(c.agents)), func(h int) bool { return !c.works[h] && !c.suspect(h) })
}

// try checks disjoint pairs at once.
func (c *checker) try(ctx context.Context, pairs [][2]int) {
	if len(pairs) == 0 {
		return
	}
	found := Each(pairs, -1, func(_ int, pair [2]int) doctor.Pair {
		got, errs := perform(ctx, c.agents, [][]int{pair[:]}, bench.Task{
			Run: c.run, Slot: c.step, Exp: names.Check, Points: []bench.Point{{names.FactorBytes: pairBytes}}, Epoch: lookEpoch,
			Deadline: pairDeadline, Recv: pairRecv,
		}, pairGrace)
		out := doctor.Pair{Hosts: pair}
		if errors.Join(errs[0]...) == nil {
			nics := [2]map[int]string{c.hosts[pair[0]].Now.NICs, c.hosts[pair[1]].Now.NICs}
			out = doctor.ReadPair(pair, slices.Concat(got[0]...), nics)
		}
		for rank, err := range errs[0] {
			if err != nil {
				out.Errors[rank] = err.Error()
			}
		}
		return out
	})
	c.step++
	for _, f := range found {
		for _, h := range f.Hosts {
			if f.OK() {
				c.works[h] = true
			} else {
				c.failed[h]++
			}
		}
	}
	c.out = append(c.out, found...)
}

// pairBytes are what a check sends in whole packets: two of the largest in use, of 9,000 bytes.
const pairBytes = int64(18 * units.KiB)

// rest tries each suspect with one host that works, or while none does with another suspect, and where they get on, all
// of its other pairs.
func (c *checker) rest(ctx context.Context, all bool) {
	for tried := map[int]bool{}; ctx.Err() == nil; {
		var pairs [][2]int
		busy, none := map[int]bool{}, !slices.Contains(c.works, true)
		c.later = slices.DeleteFunc(c.later, func(p [2]int) bool {
			take := !busy[p[0]] && !busy[p[1]] && (all || c.suspect(p[0]) || c.suspect(p[1]))
			for k, h := range p {
				if c.suspect(h) {
					take = take && !tried[h] && (none || c.works[p[1-k]])
				}
			}
			if take {
				busy[p[0]], busy[p[1]] = true, true
				pairs = append(pairs, p)
			}
			return take
		})
		if len(pairs) == 0 {
			break
		}
		for _, p := range pairs {
			for _, h := range p {
				tried[h] = tried[h] || c.suspect(h)
			}
		}
		c.try(ctx, pairs)
	}
	for _, p := range c.later {
		c.out = append(c.out, doctor.Pair{Hosts: p, Skipped: true})
	}
}
