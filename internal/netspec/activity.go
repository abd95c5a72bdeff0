package netspec

import "math"

// activity knows which hosts have sent something of late.
type activity[Time ~int64] struct {
	window Time
	latest Time
	active int
	// of are the hosts. Those that are active form a ring in order of the time at which they last sent, which begins
	// and ends at an entry of its own, the last.
	of []sender[Time]
}

// sender is a host: when it last sent, and who did before it and after it.
type sender[Time ~int64] struct {
	last          Time
	before, after int
}

// newActivity returns the activity of that many hosts, none of which has sent anything. A host is active until window
// after it has sent.
func newActivity[Time ~int64](hosts int, window Time) *activity[Time] {
	a := &activity[Time]{window: window, latest: math.MinInt64, of: make([]sender[Time], hosts+1)}
	for i := range a.of {
		a.of[i] = sender[Time]{math.MinInt64, hosts, hosts}
	}
	return a
}

// Sent notes that a host has sent something at time at, and returns how many hosts are active then. A time before that
// of an earlier call counts as that.
func (a *activity[Time]) Sent(at Time, host int) int {
	a.latest = max(a.latest, at)
	since, end := a.latest-a.window, len(a.of)-1
	for i := a.of[end].after; i != end && a.of[i].last < since; i = a.of[end].after {
		a.remove(i)
	}
	if a.of[host].last >= since {
		a.remove(host)
	}
	newest := a.of[end].before
	a.of[host] = sender[Time]{a.latest, newest, end}
	a.of[newest].after, a.of[end].before = host, host
	a.active++
	return a.active
}

// remove takes an active host out of the ring.
func (a *activity[Time]) remove(host int) {
	h := a.of[host]
	a.of[h.before].after, a.of[h.after].before = h.after, h.before
	a.active--
}
