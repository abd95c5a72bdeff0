package flow

import (
	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

const (
	maxBursts = 40
	minBursts = 3
	// budget is the length of one batch of bursts at effort 1.
	budget = 120 * units.Millisecond
)

// pair is one rank's part in bursts: every sender sends one message at a time.
type pair struct{ Role }

// burstTime is how long one direction of bursts is expected to take.
func burstTime(l bench.Limits, p bench.Point) units.Nanos {
	path, pairs := l.OnPath(), int(p[names.FactorPairs])
	last := path.Message(p[names.FactorBytes], pairs)
	return 5*last + 2*path.Start(2*pairs) + bench.Repeated(last+last/2+units.Millisecond, l.Effort.Time(budget, budget/4), minBursts, maxBursts)
}

// bursts measures one direction of one point: a trial that sets the period, then the repetitions. The period is one and
// a half times the trial's last delivery, so that repetitions do not overlap.
func (x pair) bursts() error {
	msg := x.R.Bytes(x.P[names.FactorBytes])
	trial := []int64{0}
	if err := x.warm(msg); err != nil {
		return err
	}
	s, err := x.Announce(bench.Start{Reps: 1})
	if err != nil {
		return err
	}
	if err := x.repeat(s, msg, trial); err != nil {
		return err
	}
	last, err := x.MaxAtRoot(units.Nanos(trial[0]))
	if err != nil {
		return err
	}
	period := last + last/2 + units.Millisecond
	reps := min(max(int(x.R.Time(budget, budget/4)/period), minBursts), maxBursts)
	if s, err = x.Announce(bench.Start{Period: period, Reps: reps}); err != nil {
		return err
	}
	return x.timed(s, msg)
}

// warm passes two untimed messages each way, so that connection, congestion window and buffers exist and are touched.
func (x pair) warm(msg []byte) error {
	for range 2 {
		first, second := x.G.Send, x.G.Recv
		if !x.Sends() {
			first, second = second, first
		}
		if err := first(x.Peer(), msg); err != nil {
			return err
		}
		if err := second(x.Peer(), msg); err != nil {
			return err
		}
	}
	return nil
}

// repeat is the timed section: a sender waits for each start and stamps its send, a receiver stamps each delivery.
// Stamps are relative to the repetition's planned start. It ends after s.Reps messages or the group's receive deadline.
func (x pair) repeat(s bench.Start, msg []byte, at []int64) error {
	peer := x.Peer()
	for k := range at {
		planned := s.At + units.Nanos(k)*s.Period
		if x.Sends() {
			if err := x.G.WaitUntil(planned); err != nil {
				return err
			}
			at[k] = bench.Elapsed(x.G, planned)
			if err := x.G.Send(peer, msg); err != nil {
				return err
			}
			continue
		}
		arrived, err := x.G.RecvAt(peer, msg)
		if err != nil {
			return err
		}
		at[k] = int64(arrived - planned)
	}
	return nil
}

func (x pair) timed(s bench.Start, msg []byte) error {
	before, err := x.Counters()
	if err != nil {
		return err
	}
	at := x.R.Buffer(s.Reps)
	if err := x.repeat(s, msg, at); err != nil {
		return err
	}
	sent := at
	if !x.Sends() {
		sent = x.R.Buffer(len(at))
	}
	tcp, err := x.HandOver(sent, before)
	if err != nil || x.Sends() {
		return err
	}
	// Both stamps are relative to one planned instant, each on its own clock. Take that back with the offsets known so
	// far; the difference of the two clocks is corrected after the slot.
	n := len(at)
	delivered, deliveredAt, started, startedAt := x.R.Buffer(n), x.R.Buffer(n), x.R.Buffer(n), x.R.Buffer(n)
	common := x.R.Clocks.ToCommon(x.G.Rank(), s.At)
	local := x.R.Clocks.ToLocal(x.Peer(), common)
	for k := range at {
		planned := int64(k) * int64(s.Period)
		delivered[k] = at[k] - sent[k] + int64(s.At-local)
		deliveredAt[k] = at[k] + int64(s.At) + planned
		// When the sender really started, relative to the planned start in rank 0's time.
		started[k] = sent[k] + int64(local-common)
		startedAt[k] = sent[k] + int64(local) + planned
	}
	x.R.AddOneWay(x.Batch(names.PhaseBurst, delivered, tcp), x.Peer(), x.G.Rank(), deliveredAt)
	x.R.AddOneWay(x.Batch(names.PhaseBurstStart, started, nil), 0, x.Peer(), startedAt)
	return nil
}
