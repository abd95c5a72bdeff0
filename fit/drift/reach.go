package drift

import (
	"maps"
	"math"
	"slices"
	"time"

	"calib/fit/fault"
)

// booting is for how long a host may be away to boot. Then it is dead.
const booting = 10 * time.Minute

// reach judges what does not come through. What fails in two looks in a row is dead, and lives again with the first
// byte. So is a host whose agent did not answer for the time that booting takes.
func (w *Watch) reach(l Look) (began, ended []Change) {
	failed, seen, alive := failures(l)
	for i := range w.changes {
		c := &w.changes[i]
		if c.open() && c.Quantity == fault.Reach && alive(c.Subject) && !failed[c.Subject] {
			c.Over = l.At
			ended = append(ended, *c)
		}
	}
	maps.DeleteFunc(w.failing, func(s Subject, _ time.Time) bool { return seen(s) && !failed[s] })
	w.doubt = -1
	for _, s := range slices.SortedFunc(maps.Keys(failed), coarse) {
		since, again := w.failing[s]
		if !again {
			since, w.failing[s] = l.At, l.At
		}
		left := time.Duration(0) // until it is dead
		if s.Size() == 1 && slices.Contains(l.Missing, s.Hosts[0]) {
			left = max(0, booting-l.At.Sub(since).Abs()) // the clock may have been set back
		}
		switch {
		case w.dead(s):
		case again && left == 0:
			began = append(began, Change{Subject: s, Since: since, Found: l.At, Ratio: math.Inf(1),
				CI: [2]float64{1, math.Inf(1)}})
			w.changes = append(w.changes, began[len(began)-1])
		case w.doubt < 0 || left < w.doubt:
			w.doubt = left
		}
	}
	return began, ended
}

// failures are the subjects of which everything failed in a look, and whether a subject was tried, and something came
// through. Hosts that reach nobody explain their pairs. Where most of those asked do, the network is at fault.
func failures(l Look) (failed map[Subject]bool, seen, alive func(Subject) bool) {
	works, tried := map[int]bool{}, map[int]map[int]bool{} // by host; and its partners
	pairs := map[[2]int]bool{}                             // whether something came through
	for _, s := range l.Seen {
		p := fault.Pair(s.From, s.To)
		pairs[p] = pairs[p] || !s.Failed
		for k, h := range p {
			works[h] = works[h] || !s.Failed
			if tried[h] == nil {
				tried[h] = map[int]bool{}
			}
			tried[h][p[1-k]] = true
		}
	}
	dead := map[int]bool{}
	for h, partners := range tried {
		dead[h] = !works[h] && len(partners) > 1
	}
	for _, h := range l.Missing {
		dead[h], tried[h] = true, map[int]bool{h: true}
	}
	seen = func(s Subject) bool {
		switch _, pair := pairs[fault.Pair(s.Hosts[0], s.Hosts[1])]; s.Size() {
		case 0:
			return len(tried) > 0
		case 1:
			return tried[s.Hosts[0]] != nil
		default:
			return pair
		}
	}
	alive = func(s Subject) bool {
		switch s.Size() {
		case 0:
			return slices.Contains(slices.Collect(maps.Values(works)), true)
		case 1:
			return works[s.Hosts[0]]
		default:
			return pairs[fault.Pair(s.Hosts[0], s.Hosts[1])]
		}
	}
	failed = map[Subject]bool{}
	for h := range dead {
		if dead[h] {
			failed[Host(h, fault.Reach, "")] = true
		}
	}
	if 2*len(failed) > len(tried)+l.Busy {
		return map[Subject]bool{Network(fault.Reach): true}, seen, alive
	}
	for p, came := range pairs {
		if !came && !dead[p[0]] && !dead[p[1]] {
			failed[Subject{Hosts: p, Quantity: fault.Reach}] = true
		}
	}
	return failed, seen, alive
}

// Failing are the pairs of which the next look is to tell whether they are dead.
func (w *Watch) Failing() (out [][2]int) {
	for s := range w.failing {
		if s.Size() == 2 {
			out = append(out, s.Hosts)
		}
	}
	slices.SortFunc(out, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return out
}

// Doubtful reports whether something fails that is not known to be dead, and after what time a look is to tell.
func (w *Watch) Doubtful() (after time.Duration, ok bool) { return w.doubt, w.doubt >= 0 }

// dead reports whether it is known that nothing comes through of a subject of Reach, or of the network.
func (w *Watch) dead(s Subject) bool {
	return w.current(s) != nil || w.current(Network(fault.Reach)) != nil
}
