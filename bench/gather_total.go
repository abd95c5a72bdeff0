package bench

import (
	"fmt"
	"time"

	"calib/internal/units"
)

const (
	gatherReps    = 20
	gatherMinReps = 4
	// gatherBudget is the length of a batch at effort 1; gatherLimit that of one gather, which is skipped above.
	gatherBudget = 100 * units.Millisecond
	gatherLimit  = 4 * units.Second
	// A limit of the effort's is no less than leastLimit and no more than mostLimit, within which a silent peer is given up.
	leastLimit  = units.Second
	mostLimit   = 8 * units.Second
	gatherBytes = 32 * units.MiB // of a batch at effort 1, over the root's link

	// gatherWarm is what each sender sends first: it tells how long the whole takes before that is begun.
	gatherWarm = 64 * units.KiB
	// anyBytes is what the root reads at a time.
	anyBytes = 64 * units.KiB
)

// mostGathers bounds the repetitions of a batch.
func mostGathers(r *Recorder, p Point) int {
	byBytes := r.Reps(int(gatherBytes), 0) / int(p["senders"]*p["bytes"])
	return max(1, min(r.Reps(gatherReps, gatherMinReps), byBytes))
}

// effortLimit is a time that grows with the effort within what a receive may wait.
func effortLimit(r *Recorder, standard units.Nanos) units.Nanos {
	return min(max(units.Nanos(r.Reps(int(standard), 0)), leastLimit), mostLimit)
}

// gathers measures one point: a short gather that tells how long one takes, a whole one that opens the windows, and the
// repetitions. The next is announced when the root has all of the one before, so that they never meet.
func (x funnel) gathers() error {
	buf := make([]byte, anyBytes)
	if !x.root() {
		buf = x.r.payload(x.p["bytes"])
	}
	whole := x.p["bytes"]
	short := min(whole, int64(gatherWarm))
	trial, err := x.gather(short, buf)
	if err != nil {
		return err
	}
	est := units.Nanos(float64(trial) * float64(whole) / float64(short))
	reps := 0
	if est <= effortLimit(x.r, gatherLimit) {
		budget := x.r.Reps(int(gatherBudget), 0)
		reps = max(1, min(mostGathers(x.r, x.p), budget/int(max(est, 1))))
	}
	s, err := x.announce(start{Reps: reps})
	if err != nil {
		return err
	}
	if s.Reps == 0 {
		x.skip(est)
		return nil
	}
	if short < whole {
		if _, err := x.gather(whole, buf); err != nil {
			return err
		}
	}
	return x.timedGathers(s.Reps, buf)
}

// skip records, at the root, that the point would take too long.
func (x funnel) skip(est units.Nanos) {
	if x.root() {
		x.r.Add(Batch{Phase: phaseSkipped, Point: x.p, Ranks: x.everybody(), NS: []int64{int64(est)}})
	}
}

func (x funnel) timedGathers(reps int, buf []byte) error {
	before, err := x.counters()
	if err != nil {
		return err
	}
	ns := x.r.Buffer(reps)
	for i := range ns {
		t, err := x.gather(x.p["bytes"], buf)
		if err != nil {
			return err
		}
		ns[i] = int64(t)
	}
	tcp, _, err := x.collect(before, nil)
	if err != nil || !x.root() {
		return err
	}
	x.r.Add(Batch{
		Phase: "gather", Point: x.p, Ranks: x.everybody(), NS: ns, TCP: tcp, Aux: map[string]float64{"reps": float64(reps)},
	})
	return nil
}

// gather gathers the first size bytes of each sender's buf, and returns at the root the time from the announced start to the
// last byte. It ends there, or at the group's receive deadline.
func (x funnel) gather(size int64, buf []byte) (units.Nanos, error) {
	s, err := x.announce(start{Reps: 1})
	if err != nil {
		return 0, err
	}
	if !x.root() {
		return 0, x.contribute(s, buf[:size])
	}
	last := s.At
	for left := size * x.p["senders"]; left > 0; {
		_, n, at, err := x.g.RecvAny(buf)
		if err != nil {
			return 0, err
		}
		left -= int64(n)
		last = max(last, at)
	}
	return last - s.At, nil
}

// contribute is a sender's part: the first w senders begin at the start, every other when the one w places before it has
// ended: when its message has left but for two segments. Its send buffer may take the whole message at once, and a next
// sender told then would make one more at a time; waiting for the last acknowledgement would meet a delayed one.
func (x funnel) contribute(s start, msg []byte) error {
	w, rank := int(x.p["window"]), x.g.Rank()
	if rank > w {
		if err := x.g.Recv(rank-w, x.signal); err != nil {
			return err
		}
	} else if err := x.g.WaitUntil(s.At); err != nil {
		return err
	}
	if err := x.g.Send(0, msg); err != nil {
		return err
	}
	if rank+w >= x.g.Size() {
		return nil
	}
	if err := x.gone(2 * int(x.segment)); err != nil {
		return err
	}
	return x.g.Send(rank+w, x.signal)
}

const goneStep = 50 * units.Microsecond

// gone waits until no more than rest bytes to the root are unacknowledged. A root that no longer acknowledges is an error of
// the kernel's, or of whoever ends the group.
func (x funnel) gone(rest int) error {
	end := x.g.Now() + mostLimit
	for now := x.g.Now(); now < end; now = x.g.Now() {
		n, err := x.g.Unacked(0)
		if err != nil || n <= rest {
			return err
		}
		if err := x.g.WaitUntil(now + goneStep); err != nil {
			return err
		}
	}
	return fmt.Errorf("gather: the root has not acknowledged within %v", time.Duration(mostLimit))
}
