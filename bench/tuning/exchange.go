package tuning

import (
	"calib/bench"
	"calib/bench/roundtrip"
	"calib/internal/units"
)

// bothWays is the exchange in which both ranks send a message at once and receive the other's. With fragment 0 each
// sends all of it before it receives, and may wait for ever: when the transport takes nothing for patience, that is a
// stall, and the rank goes on as if interleaved. A stall of either rank is a deadlock. In the end both ranks know of
// it, all of both messages has passed, and the connection can be used as before.
type bothWays struct {
	peer     int
	out, in  []byte
	fragment int                 // of the interleaved exchange [B]
	patience units.Nanos         // of an exchange that is not interleaved; rank 0's counts
	trip     units.Nanos         // rank 0: the shortest handshake so far
	stalled  stall               // rank 0: the first stall of the last exchange
	word     [handshakeWord]byte // of the handshake: an array local to a call would be allocated each time
}

// stall is how far sending had come, and how long after the start it was given up; a time of 0 is none.
type stall struct {
	after int64 // ns
	sent  int64 // bytes
}

// earlier returns the stall that was seen first.
func (s stall) earlier(t stall) stall {
	if s.after == 0 || t.after > 0 && t.after < s.after {
		return t
	}
	return s
}

const (
	// A handshake is rank 0's word (last, head start, patience), an answer, rank 1's stall, and whether there was any.
	handshakeSends = 2 // of one rank
	handshakeWord  = 1 + 8 + 8
	handshakeBytes = 2 * handshakeWord
)

// Lead implements roundtrip.Exchange. Rank 1 starts half a round trip after it has answered the handshake, so that both
// start at once.
func (w *bothWays) Lead(x bench.Team, last bool) roundtrip.Trip {
	b := w.word[:]
	b[0] = roundtrip.LastMark(last)
	bench.PutNumbers(b[1:], int64(w.trip/2), int64(w.patience))
	asked := x.Now()
	x.Send(w.peer, b)
	x.Recv(w.peer, b[:1])
	start := x.Now()
	own := w.pass(x, start)
	took := x.Elapsed(start)
	if trip := start - asked; w.trip == 0 || trip < w.trip {
		w.trip = trip
	}
	x.Recv(w.peer, b[:16])
	w.stalled = own.earlier(stall{after: bench.GetNumber(b), sent: bench.GetNumber(b[8:])})
	t := roundtrip.Trip{NS: took, Took: took, Final: w.stalled.after > 0}
	if t.Final {
		t.NS = w.stalled.after
	}
	b[0] = roundtrip.LastMark(t.Final)
	x.Send(w.peer, b[:1])
	return t
}

// Follow implements roundtrip.Exchange.
func (w *bothWays) Follow(x bench.Team) (last bool) {
	b := w.word[:]
	x.Recv(w.peer, b)
	last = b[0] == roundtrip.LastMark(true)
	head := units.Nanos(bench.GetNumber(b[1:]))
	w.patience = min(units.Nanos(bench.GetNumber(b[9:])), maxStall)
	x.Send(w.peer, b[:1])
	x.WaitUntil(x.Now() + min(head, maxStall))
	own := w.pass(x, x.Now())
	bench.PutNumbers(b, own.after, own.sent)
	x.Send(w.peer, b[:16])
	x.Recv(w.peer, b[:1])
	return last || b[0] == roundtrip.LastMark(true)
}

// pass sends and receives one message. It ends when all has passed, or at the group's receive deadline.
func (w *bothWays) pass(x bench.Team, start units.Nanos) (seen stall) {
	sent, fragment := 0, w.fragment
	if fragment == 0 {
		if sent = x.SendSome(w.peer, w.out, w.patience); sent == len(w.out) {
			x.Recv(w.peer, w.in)
			return seen
		}
		seen = stall{after: max(1, x.Elapsed(start)), sent: int64(sent)}
		fragment = len(w.out)
	}
	if got := bench.Must(bench.Push(x.Group, w.peer, w.out[sent:], w.in, fragment)); got < len(w.in) {
		x.Recv(w.peer, w.in[got:])
	}
	return seen
}
