package events

import "math"

// Activity knows which hosts have sent something of late.
type Activity[Time ~int64] struct {
	window Time
	last   []Time // when each host last sent
}

// NewActivity returns the activity of that many hosts, none of which has sent anything. A host is active until window after it
// has sent.
func NewActivity[Time ~int64](hosts int, window Time) *Activity[Time] {
	a := &Activity[Time]{window: window, last: make([]Time, hosts)}
	for i := range a.last {
		a.last[i] = math.MinInt64
	}
	return a
}

// Sent notes that a host has sent something at time at, and returns how many hosts are active then.
func (a *Activity[Time]) Sent(at Time, host int) int {
	a.last[host] = max(a.last[host], at)
	n, since := 0, at-a.window
	for _, t := range a.last {
		if t >= since {
			n++
		}
	}
	return n
}
