package coord

import (
	"context"
	"errors"
	"slices"
	"time"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/doctor"
	"calib/internal/units"
)

const (
	// pairDeadline bounds the check of a pair, pairRecv a silence in it: what was lost once is sent again within a
	// second.
	pairDeadline = 2500 * units.Millisecond
	pairRecv     = 1500 * units.Millisecond
	// pairGrace is how much later the other host of a pair is ended that failed: it may be about to say why.
	pairGrace = 200 * time.Millisecond
	// suspectAfter pairs that failed, and none that did not, the other pairs of a host wait until it has one that does
	// not.
	suspectAfter = 2
)

// CheckPairs tries every pair of agents, disjoint pairs at once, and returns them in the order in which they were
// tried. The agents are prepared for the run; nics are the interfaces of each host by index. After a time, where most is not 0, it stops as soon as every host is
// known to work or not. A host that several others cannot reach is tried with one that works, and its other pairs are
// skipped if that fails too: a host that is off costs seconds, however many hosts there are.
func CheckPairs(ctx context.Context, agents []Agent, run string, nics []map[int]string, most time.Duration,
	now func() time.Time) []doctor.Pair {
	c := &checker{agents: agents, run: run, nics: nics, works: make([]bool, len(agents)), failed: make([]int, len(agents))}
	begun := now()
	for _, step := range bench.Colouring(len(agents)) {
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

// checker is a check under way.
type checker struct {
	agents []Agent
	run    string
	nics   []map[int]string
	step   int
	works  []bool // of hosts with a pair that did not fail
	failed []int  // pairs that did
	later  [][2]int
	out    []doctor.Pair
}

func (c *checker) suspect(h int) bool { return !c.works[h] && c.failed[h] >= suspectAfter }

// open reports whether there are hosts of which nobody knows yet whether they or their partners are at fault.
func (c *checker) open() bool {
	for h := range c.agents {
		if !c.works[h] && !c.suspect(h) {
			return true
		}
	}
	return false
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
			out = doctor.ReadPair(pair, slices.Concat(got[0]...), [2]map[int]string{c.nics[pair[0]], c.nics[pair[1]]})
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

// rest tries each suspect with one host that works, and where they get on, all of its other pairs.
func (c *checker) rest(ctx context.Context, all bool) {
	for tried := map[int]bool{}; ctx.Err() == nil; {
		var pairs [][2]int
		busy := map[int]bool{}
		c.later = slices.DeleteFunc(c.later, func(p [2]int) bool {
			take := !busy[p[0]] && !busy[p[1]] && (all || c.suspect(p[0]) || c.suspect(p[1]))
			for k, h := range p {
				if c.suspect(h) {
					take = take && !tried[h] && c.works[p[1-k]]
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
