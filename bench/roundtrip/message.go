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
	polls bool   // both ranks look for the message again and again, and never sleep
	// pause comes before each exchange. The follower waits for the message meanwhile; the time is not recorded.
	pause units.Nanos
}

// Whole passes b, of at least one byte, to a rank and back by one send each way.
func Whole(peer int, b []byte) *Message { return InPieces(peer, b, len(b)) }

// InPieces passes b in pieces of at most piece bytes, each sent and received by itself.
func InPieces(peer int, b []byte, piece int) *Message {
	return &Message{peer: peer, data: b, first: min(piece, len(b)), piece: piece}
}

// InTwo passes b as its first bytes, a header, and the rest.
func InTwo(peer int, b []byte, header int64) *Message {
	return &Message{peer: peer, data: b, first: int(header), piece: len(b)}
}

// Lead implements Exchange.
func (m *Message) Lead(x bench.Team, last bool) Trip {
	m.data[0] = LastMark(last)
	if m.pause > 0 {
		x.WaitUntil(x.Now() + m.pause)
	}
	start := x.Now()
	m.each(x.Send)
	m.recv(x)
	half := x.Elapsed(start) / 2
	return Trip{NS: half, Took: 2*half + int64(m.pause)}
}

// Follow implements Exchange.
func (m *Message) Follow(x bench.Team) (last bool) {
	m.recv(x)
	last = m.data[0] == LastMark(true)
	m.each(x.Send)
	return last
}

func (m *Message) recv(x bench.Team) {
	if m.polls {
		m.each(x.RecvPolling)
	} else {
		m.each(x.Recv)
	}
}

// each passes the pieces one by one: a list of them would take more memory than the message.
func (m *Message) each(pass func(peer int, b []byte)) {
	pass(m.peer, m.data[:m.first])
	for left := m.data[m.first:]; len(left) > 0; {
		n := min(m.piece, len(left))
		pass(m.peer, left[:n])
		left = left[n:]
	}
}
