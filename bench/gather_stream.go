package bench

import (
	"calib/internal/dataset"
	"calib/internal/units"
)

const (
	arrivalsTrial = 64    // messages of each sender in a trial
	arrivalsTries = 8     // trials before a stream, at most
	arrivalsLeast = 40    // messages in the length of a stream, at the trial's rate
	arrivalsCount = 16384 // messages after which a stream may end, at effort 1
	arrivalsFloor = 2048
	arrivalsShort = 10 * units.Millisecond // length of a stream, at least
)

// arrivalsMost is how many messages a stream aims at. No sender sends more than twice that.
func arrivalsMost(r *Recorder) int { return r.Reps(arrivalsCount, arrivalsFloor) }

// arrivals measures g_r: all senders send messages from a common start to a common end, after trials that open the windows and
// tell how long that is to be, and how far ahead of the root's word a sender must be.
func (x funnel) arrivals() error {
	msg := make([]byte, anyBytes)
	if !x.root() {
		msg = x.r.payload(x.p["bytes"])
	}
	per, step, err := x.saturate(msg)
	if err != nil {
		return err
	}
	most := arrivalsMost(x.r)
	length := min(max(per*units.Nanos(most), arrivalsShort), streamWindow(x.r))
	length = min(max(length, per*arrivalsLeast), maxStream)
	before, err := x.counters()
	if err != nil {
		return err
	}
	// What a sender's buffer still holds at the end comes late: none may fill it with more than twice what all are to send.
	each := min(2*most, arrivalsLeast+int(2*length/max(per, 1)))
	seen, sent, err := x.converge(start{Period: length, Reps: each}, msg, step)
	if err != nil {
		return err
	}
	tcp, notes, err := x.collect(before, []int64{sent})
	if err != nil || !x.root() {
		return err
	}
	b := Batch{Phase: "arrivals", Point: x.p, Ranks: x.everybody(), TCP: tcp, Aux: map[string]float64{}}
	seen.into(&b, seen.ended)
	for _, note := range notes[1:] {
		b.Aux["messages"] += float64(note[0])
	}
	x.r.Add(b)
	return nil
}

const (
	// leastStep is how many messages the root acknowledges at a time on any path; a sender may be two steps ahead. Fewer would
	// make the root's own sends the bottleneck.
	leastStep = 2
	mostStep  = 128
	// faster is by how much the interval must fall for a longer step to be worth it.
	faster = 0.95
)

// saturate finds the shortest step that keeps the port busy, and returns it with the interval of a message: the step doubles
// as long as messages then come faster. So no more of them are on their way than a busy port needs; left to themselves,
// congestion controls would fill its buffer until it overflows, and the gaps of their losses would be measured.
func (x funnel) saturate(msg []byte) (per units.Nanos, step int64, err error) {
	if _, _, err := x.converge(start{Reps: arrivalsTrial}, msg, leastStep); err != nil { // opens the windows
		return 0, 0, err
	}
	for try := int64(leastStep); try <= mostStep; try *= 2 {
		seen, _, err := x.converge(start{Reps: arrivalsTrial}, msg, try)
		if err != nil {
			return 0, 0, err
		}
		better, err := x.told(per == 0 || float64(seen.interval()) < faster*float64(per))
		if err != nil {
			return 0, 0, err
		}
		if !better {
			break
		}
		per, step = seen.interval(), try
	}
	return per, step, nil
}

// told makes every rank know what the root says. The root speaks first: while it still reads a stream, whatever a sender
// sent would be taken for a part of it.
func (x funnel) told(yes bool) (bool, error) {
	if !x.root() {
		err := x.g.Recv(0, x.signal)
		return x.signal[0] != 0, err
	}
	x.signal[0] = 0
	if yes {
		x.signal[0] = 1
	}
	return yes, tellAll(x.g, x.signal)
}

// converge runs one announced stream. The root gets what it saw, a sender how many messages it sent. A sender starts with two
// steps of credit; the root sends it a byte for each step that it has received.
func (x funnel) converge(s start, msg []byte, step int64) (*inflow, int64, error) {
	s, err := x.announce(s)
	if err != nil {
		return nil, 0, err
	}
	t := newInflow(s, x.g.Size()-1, x.p["bytes"], x.p["bytes"])
	if !x.root() {
		sent, err := x.trickle(s, msg, step)
		return t, sent, err
	}
	for t.open > 0 {
		from, n, at, err := x.g.RecvAny(msg)
		if err != nil {
			return nil, 0, err
		}
		t.take(from, msg[:n], at)
		if err := x.credit(t, from, step); err != nil {
			return nil, 0, err
		}
	}
	return t, 0, nil
}

// credit sends a rank what it has earned.
func (x funnel) credit(t *inflow, from int, step int64) error {
	for t.credits[from] < t.got[from]/t.message/step {
		if err := x.g.Send(from, x.signal); err != nil {
			return err
		}
		t.credits[from]++
	}
	return nil
}

// trickle sends msg to the root until the end of the stream, or s.Reps times; a stream of no length has no other end. The
// last byte of the last message is 1, that of all others 0. It returns when all credit for what it sent has come back.
func (x funnel) trickle(s start, msg []byte, step int64) (sent int64, err error) {
	mark, end := &msg[len(msg)-1], s.At+s.Period
	earned := int64(0)
	*mark = 0
	if err := x.g.WaitUntil(s.At); err != nil {
		return 0, err
	}
	for *mark == 0 {
		if sent == int64(s.Reps)-1 || s.Period > 0 && x.g.Now() >= end {
			*mark = 1
		}
		for sent >= (earned+2)*step {
			if err := x.g.Recv(0, x.signal); err != nil {
				return sent, err
			}
			earned++
		}
		if err := x.g.Send(0, msg); err != nil {
			return sent, err
		}
		sent++
	}
	for ; earned < sent/step; earned++ {
		if err := x.g.Recv(0, x.signal); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// inflow counts what converges on the root. Of the steady part of the stream it keeps what came in each of maxIntervals equal
// times, so that it does not grow with the rate, and does not depend on the order in which the ranks are read: stamps of
// different ranks need not ascend.
type inflow struct {
	message, unit int64       // bytes of a sender's message, and of what is counted
	got           []int64     // bytes by rank, of the root and the senders
	credits       []int64     // given, by rank
	open          int         // senders that have not sent their last
	ended         units.Nanos // when the first sender's last came
	total         int64
	first, last   level // of all

	lo, hi, step units.Nanos
	steps        []level // of the bytes in each, and of when since lo their last came
}

// level is how much came up to an instant.
type level struct {
	at    units.Nanos
	bytes int64
}

func newInflow(s start, senders int, message, unit int64) *inflow {
	t := &inflow{
		message: message, unit: unit, got: make([]int64, senders+1), credits: make([]int64, senders+1), open: senders,
		steps: make([]level, maxIntervals),
	}
	t.lo, t.hi = s.At+units.Nanos(rampShare*float64(s.Period)), s.At+s.Period
	t.step = max(1, (t.hi-t.lo)/maxIntervals)
	return t
}

// take adds what was read of one rank. It is part of the timed section.
func (t *inflow) take(from int, b []byte, at units.Nanos) {
	t.got[from] += int64(len(b))
	t.total += int64(len(b))
	if t.first.bytes == 0 {
		t.first = level{at, t.total}
		t.last = t.first
	}
	t.last = level{max(at, t.last.at), t.total}
	if t.got[from]%t.message == 0 && b[len(b)-1] == 1 {
		if t.open == len(t.got)-1 {
			t.ended = at
		}
		t.open--
	}
	if at >= t.lo && at <= t.hi {
		since := at - t.lo
		s := &t.steps[min(int(since/t.step), len(t.steps)-1)]
		s.at = max(s.at, since)
		s.bytes += int64(len(b))
	}
}

// interval is the mean interval of a unit, over all of the stream.
func (t *inflow) interval() units.Nanos {
	return units.Nanos(float64(t.last.at-t.first.at) * float64(t.unit) / float64(max(t.unit, t.last.bytes-t.first.bytes)))
}

// into puts the steady part into a line: mean intervals of a unit from the last arrival in each step to that in the next, and how
// many units came from the first of these to the last. end is when the stream was no longer whole.
func (t *inflow) into(b *Batch, end units.Nanos) {
	var first, last, came level
	for _, s := range t.steps {
		switch {
		case s.bytes == 0:
			continue
		case first.bytes == 0:
			first = s
		default:
			came.bytes += s.bytes
			came.at = s.at - first.at
			b.NS = append(b.NS, int64(float64(s.at-last.at)*float64(t.unit)/float64(s.bytes)+0.5))
		}
		last = s
	}
	if len(b.NS) < 2 || end < t.hi-t.step {
		b.Flags = append(b.Flags, dataset.FlagUnsteady)
	}
	if n := len(b.NS); n > 0 {
		messages := float64(came.bytes) / float64(t.unit)
		b.Aux["averaged"] = messages / float64(n)
		b.Aux["window_ns"], b.Aux["window_messages"] = float64(came.at), messages
	}
}
