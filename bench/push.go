package bench

import (
	"time"

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

// LongestWait is after what time without a byte SendWhile gives up: longer than retransmission time-outs in a row.
const LongestWait = 8 * units.Second

// SendWhile sends b to a rank. While it cannot, it calls receive, which takes what has come and returns how many bytes
// that were. When nothing moves, it waits for room to send, as long as it has waited already, within bounds.
func (x Team) SendWhile(to int, b []byte, receive func() int) {
	const least, most = 50 * units.Microsecond, units.Millisecond
	var wait, since units.Nanos
	for rest := b; ; {
		n := x.SendSome(to, rest, wait)
		if rest = rest[n:]; len(rest) == 0 {
			return
		}
		if n+receive() > 0 {
			wait = 0
			continue
		}
		now := x.Now()
		if wait == 0 {
			since = now
		}
		if wait = min(max(now-since, least), most); now-since > LongestWait {
			Fail("send %d bytes to rank %d: it has taken none of the last %d within %v", len(b), to, len(rest), time.Duration(LongestWait))
		}
	}
}
