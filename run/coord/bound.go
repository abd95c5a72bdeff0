package coord

import (
	"math"

	"calib/bench"
	"calib/internal/units"
)

const (
	// overrun is by what share of the budget the walk may end late.
	overrun = 0.1
	// minOverrun is what the first slot gets where the budget is smaller than it.
	minOverrun = 2 * units.Second
	// A slot may take lenience times what is expected of it, and patience more: a connection that loses packets stands
	// still for a second or two.
	lenience = 6
	patience = 3 * units.Second
	// minSlot is what a slot gets near the end of the budget. An agent needs some time to begin and to fail.
	minSlot = 500 * units.Millisecond
)

// measured is how many slots have samples, with those of before a resume.
func (w *walker) measured() int { return w.result.Slots + w.result.Had }

// spent is how long has been measured.
func (w *walker) spent() units.Nanos { return units.Nanos(w.Now().Sub(w.begun)) }

// last is what is left until the walk ends whatever is under way.
func (w *walker) last() units.Nanos {
	b := w.Schedule.Plan.Budget
	if b <= 0 {
		return math.MaxInt64
	}
	return b + max(units.Nanos(overrun*float64(b)), minOverrun) - w.spent()
}

// ended reports whether no slot can be measured any more.
func (w *walker) ended() bool { return w.last() < minSlot }

// over reports whether the budget ends the walk. Until something is measured it may be used up to its last bound.
func (w *walker) over() bool {
	if w.measured() == 0 {
		w.result.BudgetEnded = w.ended()
		return w.result.BudgetEnded
	}
	b := w.Schedule.Plan.Budget
	w.result.BudgetEnded = b > 0 && w.spent() >= b
	return w.result.BudgetEnded
}

// allowed is how long a slot may take: by what is expected of it where the network is known, and never beyond the last
// bound.
func (w *walker) allowed(s bench.Slot) units.Nanos {
	most := w.Deadline(s)
	if w.Schedule.Limits.Path.Known() {
		most = min(most, patience+lenience*w.pace.Expect(s))
	}
	return max(min(most, w.last()), minSlot)
}
