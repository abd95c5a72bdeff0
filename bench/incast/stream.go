package incast

import (
	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

const (
	trialMessages  = 64    // of each sender in a trial
	trials         = 8     // before a stream, at most
	windowMessages = 40    // in the length of a stream, at the trial's rate
	streamMessages = 16384 // after which a stream may end, at effort 1
	minMessages    = 2048
)

// maxMessages is how many messages a stream aims at. No sender sends more than twice that.
func maxMessages(e bench.Effort) int { return e.Reps(streamMessages, minMessages) }

// streamTime is how long the trials and the stream are expected to take. A packet costs the root what its bytes do, or,
// on fast paths, about a tenth of a message's latency.
func streamTime(path bench.Path, e bench.Effort, senders int, bytes int64) units.Nanos {
	per := max(path.Latency/10, units.Nanos(float64(bytes)*path.PerByte), 1)
	start := path.Start(senders + 1)
	trial := start + path.Latency + units.Nanos(trialMessages*senders)*per
	length := max(min(max(per*units.Nanos(maxMessages(e)), MinLength), e.StreamTime()), per*windowMessages)
	return 4*trial + start + min(length, bench.MaxStream)
}

// stream measures g_r: all senders send messages from a common start to a common end. Trials before it open the
// windows, and tell how long the stream is to be and how many unacknowledged messages a sender needs.
func (x gatherer) stream() error {
	msg := make([]byte, ReadBytes)
	if !x.Root() {
		msg = x.R.Payload(x.P[names.FactorBytes])
	}
	per, step, err := x.saturate(msg)
	if err != nil {
		return err
	}
	most := maxMessages(x.R.Effort)
	length := min(max(per*units.Nanos(most), MinLength), x.R.StreamTime())
	length = min(max(length, per*windowMessages), bench.MaxStream)
	before, err := x.Counters()
	if err != nil {
		return err
	}
	// What a sender's buffer still holds at the end arrives late: none may fill it with more than twice what all are to
	// send.
	each := min(2*most, windowMessages+int(2*length/max(per, 1)))
	seen, sent, err := x.converge(bench.Start{Period: length, Reps: each}, msg, step)
	if err != nil {
		return err
	}
	tcp, total, err := x.Collect(before, sent)
	if err != nil || !x.Root() {
		return err
	}
	b := seen.Batch(x.Team, names.PhaseArrivals, tcp, seen.FirstEnd)
	b.Aux[names.AuxMessages] = float64(total)
	x.R.Add(b)
	return nil
}

const (
	// minStep is how many messages the root acknowledges at a time on any path; a sender may be two steps ahead. With
	// fewer the root's own sends would be the bottleneck.
	minStep = 2
	maxStep = 128
	// faster is by how much the interval must fall for a longer step to be worth it.
	faster = 0.95
)

// saturate finds the shortest step that keeps the port busy, and returns it with the interval of a message: the step
// doubles as long as messages then arrive faster. So no more of them are on their way than a busy port needs; by
// themselves, congestion controls would fill its buffer until it overflows, and the gaps of their losses would be
// measured.
func (x gatherer) saturate(msg []byte) (per units.Nanos, step int64, err error) {
	if _, _, err := x.converge(bench.Start{Reps: trialMessages}, msg, minStep); err != nil { // opens the windows
		return 0, 0, err
	}
	for try := int64(minStep); try <= maxStep; try *= 2 {
		seen, _, err := x.converge(bench.Start{Reps: trialMessages}, msg, try)
		if err != nil {
			return 0, 0, err
		}
		better, err := x.decide(per == 0 || float64(seen.Interval()) < faster*float64(per))
		if err != nil {
			return 0, 0, err
		}
		if !better {
			break
		}
		per, step = seen.Interval(), try
	}
	return per, step, nil
}

// decide gives every rank the root's decision. The root speaks first: while it still reads a stream, whatever a sender
// sent would be taken for a part of it.
func (x gatherer) decide(yes bool) (bool, error) {
	if !x.Root() {
		err := x.G.Recv(0, x.Signal)
		return x.Signal[0] != 0, err
	}
	x.Signal[0] = 0
	if yes {
		x.Signal[0] = 1
	}
	return yes, x.SendAll(x.Signal)
}

// converge runs one announced stream. The root gets what it saw, a sender how many messages it sent. A sender starts
// with two steps of credit; the root sends it a byte for each step that it has received.
func (x gatherer) converge(s bench.Start, msg []byte, step int64) (*Arrivals, int64, error) {
	s, err := x.Announce(s)
	if err != nil {
		return nil, 0, err
	}
	bytes := x.P[names.FactorBytes]
	t := NewArrivals(s, x.G.Size()-1, bytes, bytes)
	if !x.Root() {
		sent, err := x.sendWithCredit(s, msg, step)
		return t, sent, err
	}
	credits := make([]int64, x.G.Size()) // given, by rank
	for t.Open > 0 {
		from, n, at, err := x.G.RecvAny(msg)
		if err != nil {
			return nil, 0, err
		}
		t.Take(from, msg[:n], at)
		for ; credits[from] < t.Got[from]/bytes/step; credits[from]++ {
			if err := x.G.Send(from, x.Signal); err != nil {
				return nil, 0, err
			}
		}
	}
	return t, 0, nil
}

// sendWithCredit sends msg to the root until the end of the stream, or s.Reps times; a stream of no length has no other
// end. The last byte of the last message is 1, that of all others 0. It returns when all credit for what it sent has
// come back.
func (x gatherer) sendWithCredit(s bench.Start, msg []byte, step int64) (sent int64, err error) {
	mark, end := &msg[len(msg)-1], s.At+s.Period
	earned := int64(0)
	*mark = 0
	if err := x.G.WaitUntil(s.At); err != nil {
		return 0, err
	}
	for *mark == 0 {
		if sent == int64(s.Reps)-1 || s.Period > 0 && x.G.Now() >= end {
			*mark = 1
		}
		for ; sent >= (earned+2)*step; earned++ {
			if err := x.G.Recv(0, x.Signal); err != nil {
				return sent, err
			}
		}
		if err := x.G.Send(0, msg); err != nil {
			return sent, err
		}
		sent++
	}
	for ; earned < sent/step; earned++ {
		if err := x.G.Recv(0, x.Signal); err != nil {
			return sent, err
		}
	}
	return sent, nil
}
