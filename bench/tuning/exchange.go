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
func (x *bothWays) Lead(g bench.Group, last bool) (roundtrip.Trip, error) {
	b := x.word[:]
	b[0] = roundtrip.LastMark(last)
	bench.PutNumbers(b[1:], int64(x.trip/2), int64(x.patience))
	asked := g.Now()
	if err := g.Send(x.peer, b); err != nil {
		return roundtrip.Trip{}, err
	}
	if err := g.Recv(x.peer, b[:1]); err != nil {
		return roundtrip.Trip{}, err
	}
	start := g.Now()
	own, err := x.pass(g, start)
	if err != nil {
		return roundtrip.Trip{}, err
	}
	took := bench.Elapsed(g, start)
	if trip := start - asked; x.trip == 0 || trip < x.trip {
		x.trip = trip
	}
	if err := g.Recv(x.peer, b[:16]); err != nil {
		return roundtrip.Trip{}, err
	}
	x.stalled = own.earlier(stall{after: bench.GetNumber(b), sent: bench.GetNumber(b[8:])})
	t := roundtrip.Trip{NS: took, Took: took, Final: x.stalled.after > 0}
	if t.Final {
		t.NS = x.stalled.after
	}
	b[0] = roundtrip.LastMark(t.Final)
	return t, g.Send(x.peer, b[:1])
}

// Follow implements roundtrip.Exchange.
func (x *bothWays) Follow(g bench.Group) (last bool, err error) {
	b := x.word[:]
	if err := g.Recv(x.peer, b); err != nil {
		return false, err
	}
	last = b[0] == roundtrip.LastMark(true)
	head := units.Nanos(bench.GetNumber(b[1:]))
	x.patience = min(units.Nanos(bench.GetNumber(b[9:])), maxStall)
	if err := g.Send(x.peer, b[:1]); err != nil {
		return false, err
	}
	if err := g.WaitUntil(g.Now() + min(head, maxStall)); err != nil {
		return false, err
	}
	own, err := x.pass(g, g.Now())
	if err != nil {
		return false, err
	}
	bench.PutNumbers(b, own.after, own.sent)
	if err := g.Send(x.peer, b[:16]); err != nil {
		return false, err
	}
	if err := g.Recv(x.peer, b[:1]); err != nil {
		return false, err
	}
	return last || b[0] == roundtrip.LastMark(true), nil
}

// pass sends and receives one message. It ends when all has passed, or at the group's receive deadline.
func (x *bothWays) pass(g bench.Group, start units.Nanos) (stall, error) {
	if x.fragment > 0 {
		return stall{}, x.interleave(g, 0, x.fragment)
	}
	sent, err := g.SendSome(x.peer, x.out, x.patience)
	if err != nil {
		return stall{}, err
	}
	if sent == len(x.out) {
		return stall{}, g.Recv(x.peer, x.in)
	}
	seen := stall{after: max(1, bench.Elapsed(g, start)), sent: int64(sent)}
	return seen, x.interleave(g, sent, len(x.out))
}

// interleave sends the rest of out in fragments, reads what there is before each, and then receives the rest of in.
func (x *bothWays) interleave(g bench.Group, sent, fragment int) error {
	got, err := bench.Push(g, x.peer, x.out[sent:], x.in, fragment)
	if err != nil || got == len(x.in) {
		return err
	}
	return g.Recv(x.peer, x.in[got:])
}
