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
	failed, came := failures(l)
	for i := range w.changes {
		c := &w.changes[i]
		if c.open() && c.Quantity == fault.Reach && came[c.Subject] && !failed[c.Subject] {
			c.Over = l.At
			ended = append(ended, *c)
		}
	}
	maps.DeleteFunc(w.failing, func(s Subject, _ time.Time) bool {
		_, tried := came[s]
		return tried && !failed[s]
	})
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
		case w.current(s) != nil || w.current(Network(fault.Reach)) != nil: // it is known, of s or of all
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

// failures are the subjects of which everything failed in a look, and those that were tried, with whether something
// came through. Hosts that reach nobody explain their pairs. Where most of those asked do, the network is at fault.
func failures(l Look) (failed, came map[Subject]bool) {
	failed, came = map[Subject]bool{}, map[Subject]bool{}
	network, partners := Network(fault.Reach), map[Subject]int{} // of the hosts that were asked
	host := func(h int) Subject { return Host(h, fault.Reach, "") }
	try := func(s Subject, works bool) { came[s] = came[s] || works }
	for _, s := range l.Seen {
		pair := Subject{Hosts: fault.Pair(s.From, s.To), Quantity: fault.Reach}
		_, again := came[pair]
		for _, h := range pair.Hosts {
			try(host(h), !s.Failed)
			if !again {
				partners[host(h)]++
			}
		}
		try(pair, !s.Failed)
		try(network, !s.Failed)
	}
	for h, n := range partners {
		if n > 1 && !came[h] {
			failed[h] = true
		}
	}
	for _, h := range l.Missing {
		try(host(h), false)
		try(network, false)
		partners[host(h)]++
		failed[host(h)] = true
	}
	if 2*len(failed) > len(partners)+l.Busy {
		return map[Subject]bool{network: true}, came
	}
	for s, works := range came {
		if s.Size() == 2 && !works && !failed[host(s.Hosts[0])] && !failed[host(s.Hosts[1])] {
			failed[s] = true
		}
	}
	return failed, came
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
