package bench

import (
	"calib/internal/plane"
	"calib/internal/units"
)

// Push sends out to a peer that sends as well, in fragments, and reads what there is of in before each: so two ranks
// that send each other more than all buffers hold both come to an end. It returns when out is sent, with how much of in
// was read.
//
// When nothing is there and nothing can be sent, the next bytes will come: the peer reads what fills the way to it
// before it writes, and this rank has room for what the peer still has to send. Push ends when out is sent, or at the
// group's deadlines. Source: Strumpen 1994, section 3.1.3.
func Push(g plane.Mover, peer int, out, in []byte, fragment int) (got int, err error) {
	sent := 0
	for sent < len(out) && got < len(in) {
		ready, err := g.Pending(peer)
		if err != nil {
			return got, err
		}
		if ready > 0 {
			ready = min(ready, len(in)-got)
			if err := g.Recv(peer, in[got:got+ready]); err != nil {
				return got, err
			}
			got += ready
		}
		n, err := g.SendSome(peer, out[sent:min(sent+fragment, len(out))], 0)
		if err != nil {
			return got, err
		}
		sent += n
		if n == 0 && ready == 0 {
			if err := g.Recv(peer, in[got:got+1]); err != nil {
				return got, err
			}
			got++
		}
	}
	if sent < len(out) {
		return got, g.Send(peer, out[sent:])
	}
	return got, nil
}

// Wait is how long a rank waits for room to send that can neither send nor receive: as long as it has waited already,
// within bounds.
type Wait struct {
	For   units.Nanos // 0 while something moves
	since units.Nanos
}

const (
	minWait = 50 * units.Microsecond
	maxWait = units.Millisecond
	// LongestWait is after what time without a byte a rank gives up: longer than retransmission time-outs in a row.
	LongestWait = 8 * units.Second
)

// TooLong notes how many bytes have moved since the last call, and reports whether it is time to give up.
func (w *Wait) TooLong(g Group, moved int) bool {
	if moved > 0 {
		*w = Wait{}
		return false
	}
	now := g.Now()
	if w.For == 0 {
		w.since = now
	}
	w.For = min(max(now-w.since, minWait), maxWait)
	return now-w.since > LongestWait
}
