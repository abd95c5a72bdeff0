package bench

import (
	"calib/internal/units"
)

const (
	maxReps = 40
	minReps = 3
)

// burstBudget is the length of one batch of bursts at effort 1.
const burstBudget = 120 * units.Millisecond

// burst measures one direction of one point: a trial that sets the period, then the repetitions. A repetition starts one
// and a half times the trial's last delivery after the one before, so that they do not meet.
func burst(x pairRole) error {
	msg := make([]byte, x.p["bytes"])
	trial := []int64{0}
	if err := x.warm(msg); err != nil {
		return err
	}
	if err := x.bursts(start{Reps: 1}, msg, trial); err != nil {
		return err
	}
	last, err := x.largest(units.Nanos(trial[0]))
	if err != nil {
		return err
	}
	period := last + last/2 + units.Millisecond
	budget := units.Nanos(x.r.Reps(int(burstBudget), int(burstBudget)/4))
	reps := min(max(int(budget/period), minReps), maxReps)
	s, err := x.announce(start{Period: period, Reps: reps})
	if err != nil {
		return err
	}
	return x.timedBursts(s, msg)
}

// warm passes two untimed messages each way, so that connection, congestion window and buffers exist and are touched.
func (x pairRole) warm(msg []byte) error {
	for range 2 {
		first, second := x.g.Send, x.g.Recv
		if !x.sender() {
			first, second = second, first
		}
		if err := first(x.peer(), msg); err != nil {
			return err
		}
		if err := second(x.peer(), msg); err != nil {
			return err
		}
	}
	return nil
}

// bursts runs an announced burst and leaves in at, on a receiver, each delivery's time since the planned start; a
// sender's stay zero.
func (x pairRole) bursts(s start, msg []byte, at []int64) error {
	s, err := x.announce(s)
	if err != nil {
		return err
	}
	return x.repeat(s, msg, at)
}

// repeat is the timed section: a sender waits for each start and stamps its send, a receiver stamps each delivery. Stamps
// are relative to the repetition's planned start. It ends after s.Reps messages or the group's receive deadline.
func (x pairRole) repeat(s start, msg []byte, at []int64) error {
	peer := x.peer()
	for k := range at {
		planned := s.At + units.Nanos(k)*s.Period
		if x.sender() {
			if err := x.g.WaitUntil(planned); err != nil {
				return err
			}
			at[k] = elapsed(x.g, planned)
			if err := x.g.Send(peer, msg); err != nil {
				return err
			}
			continue
		}
		arrived, err := x.g.RecvAt(peer, msg)
		if err != nil {
			return err
		}
		at[k] = int64(arrived - planned)
	}
	return nil
}

func (x pairRole) timedBursts(s start, msg []byte) error {
	before, err := x.counters()
	if err != nil {
		return err
	}
	at := x.r.Buffer(s.Reps)
	if err := x.repeat(s, msg, at); err != nil {
		return err
	}
	sent := at
	if !x.sender() {
		sent = make([]int64, len(at))
	}
	tcp, err := x.handOver(sent, before)
	if err != nil || x.sender() {
		return err
	}
	// Both stamps are relative to one planned instant, each on its own clock: undo that with the offsets known so far and
	// leave the difference of the two clocks for the correction after the slot.
	ns, stamps := make([]int64, len(at)), make([]int64, len(at))
	common := x.r.time.toCommon(x.g.Rank(), s.At)
	shift := int64(s.At - x.r.time.toLocal(x.peer(), common))
	for k := range at {
		ns[k] = at[k] - sent[k] + shift
		stamps[k] = at[k] + int64(s.At) + int64(k)*int64(s.Period)
	}
	x.r.AddOneWay(Batch{Phase: "burst-pair", Point: x.p, Ranks: x.ranks(), NS: ns, TCP: tcp, Aux: x.aux()},
		x.peer(), x.g.Rank(), stamps)
	// When each sender really started, relative to the planned start in rank 0's time: likewise.
	local := x.r.time.toLocal(x.peer(), common)
	starts, own := make([]int64, len(at)), make([]int64, len(at))
	for k := range sent {
		starts[k] = sent[k] + int64(local-common)
		own[k] = sent[k] + int64(local) + int64(k)*int64(s.Period)
	}
	x.r.AddOneWay(Batch{Phase: "burst-start", Point: x.p, Ranks: x.ranks(), NS: starts, Aux: x.aux()},
		0, x.peer(), own)
	return nil
}
