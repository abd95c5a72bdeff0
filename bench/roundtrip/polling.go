package roundtrip

import "calib/internal/plane"

// MayPoll reports whether two ranks may both look for messages again and again: each has a CPU of its own, on machines
// of their own or pinned. Elsewhere one that polls would keep the other from running.
func MayPoll(a, b plane.Place) bool {
	apart := a.CPU >= 0 && b.CPU >= 0 && a.CPU != b.CPU
	return !a.Shared && !b.Shared || apart
}
