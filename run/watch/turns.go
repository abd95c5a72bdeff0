package watch

import (
	"slices"
	"time"

	"calib/fit/fault"
)

// note keeps when pairs were seen: those that were not seen for longest come first.
func (w *watcher) note(seen []fault.Seen, at time.Time) {
	for _, o := range seen {
		w.seen[[2]int{o.From, o.To}] = at
	}
}

// waited is how long the pair has waited that was not seen for longest; one that was never seen, since the start.
func (w *watcher) waited(now time.Time) (longest time.Duration) {
	for b := range w.Hosts {
		for a := range b {
			there, back := w.seen[[2]int{a, b}], w.seen[[2]int{b, a}]
			if there.Before(back) {
				there = back
			}
			if there.IsZero() {
				there = w.started
			}
			longest = max(longest, now.Sub(there))
		}
	}
	return longest
}

// again are the failing pairs that look again: of many, some by turns.
func (w *watcher) again() [][2]int {
	all := w.drift.Failing()
	if len(all) <= mostAgain {
		return all
	}
	k := w.number * mostAgain % len(all)
	return slices.Concat(all[k:], all[:k])[:mostAgain]
}
