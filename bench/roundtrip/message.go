package roundtrip

import (
	"calib/bench"
	"calib/internal/units"
)

// Message is the exchange of every ping-pong: a message to a rank and back, whole or in pieces. What is recorded is
// half the round trip, by the leading rank's clock alone.
type Message struct {
	peer  int
	data  []byte // the first byte tells the follower whether another message comes
	first int    // bytes of the first piece
	piece int    // of each other piece, where there are any
	polls bool   // both ranks
	pause units.Nanos
}

// Whole passes b, of at least one byte, to a rank and back by one send each way.
func Whole(peer int, b []byte) *Message { return InPieces(peer, b, len(b)) }

// Polled is Whole with ranks that look for the message again and again, and never sleep.
func Polled(peer int, b []byte) *Message {
	return &Message{peer: peer, data: b, first: len(b), polls: true}
}

// AfterPause is Whole with a pause before each exchange, in which the follower waits for the message. The time of the
// pause is not recorded.
func AfterPause(peer int, b []byte, pause units.Nanos) *Message {
	return &Message{peer: peer, data: b, first: len(b), pause: pause}
}

// InPieces passes b in pieces of at most piece bytes, each sent and received by itself.
func InPieces(peer int, b []byte, piece int) *Message {
	return &Message{peer: peer, data: b, first: min(piece, len(b)), piece: piece}
}

// InTwo passes b as its first bytes, a header, and the rest.
func InTwo(peer int, b []byte, header int64) *Message {
	return &Message{peer: peer, data: b, first: int(header), piece: len(b)}
}

// Lead implements Exchange.
func (m *Message) Lead(g bench.Group, last bool) (Trip, error) {
	m.data[0] = LastMark(last)
	if m.pause > 0 {
		if err := g.WaitUntil(g.Now() + m.pause); err != nil {
			return Trip{}, err
		}
	}
	start := g.Now()
	if err := m.send(g); err != nil {
		return Trip{}, err
	}
	if err := m.recv(g); err != nil {
		return Trip{}, err
	}
	half := bench.Elapsed(g, start) / 2
	return Trip{NS: half, Took: 2*half + int64(m.pause)}, nil
}

// Follow implements Exchange.
func (m *Message) Follow(g bench.Group) (last bool, err error) {
	if err := m.recv(g); err != nil {
		return false, err
	}
	last = m.data[0] == LastMark(true)
	return last, m.send(g)
}

func (m *Message) send(g bench.Group) error { return m.each(g.Send) }

func (m *Message) recv(g bench.Group) error {
	if m.polls {
		return m.each(g.RecvPolling)
	}
	return m.each(g.Recv)
}

// each passes the pieces one by one: a list of them would take more memory than the message.
func (m *Message) each(pass func(peer int, b []byte) error) error {
	err := pass(m.peer, m.data[:m.first])
	for left := m.data[m.first:]; err == nil && len(left) > 0; {
		n := min(m.piece, len(left))
		err = pass(m.peer, left[:n])
		left = left[n:]
	}
	return err
}
