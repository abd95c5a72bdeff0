package roundtrip

import (
	"slices"

	"calib/bench"
	"calib/internal/units"
)

// Message is the exchange of every ping-pong: a message to a rank and back, whole or in pieces. What is recorded is half
// the round trip, by the leading rank's clock alone.
type Message struct {
	peer   int
	pieces [][]byte // the first byte tells the follower whether another message comes
	polls  bool     // both ranks
	pause  units.Nanos
}

// Whole passes b, of at least one byte, to a rank and back by one send each way.
func Whole(peer int, b []byte) *Message { return &Message{peer: peer, pieces: [][]byte{b}} }

// Polled is Whole with ranks that look for the message again and again, and never sleep.
func Polled(peer int, b []byte) *Message {
	return &Message{peer: peer, pieces: [][]byte{b}, polls: true}
}

// AfterPause is Whole with a pause before each exchange, in which the follower waits for the message. The time of the
// pause is not recorded.
func AfterPause(peer int, b []byte, pause units.Nanos) *Message {
	return &Message{peer: peer, pieces: [][]byte{b}, pause: pause}
}

// InPieces passes b in pieces of at most piece bytes, each sent and received by itself.
func InPieces(peer int, b []byte, piece int) *Message {
	return &Message{peer: peer, pieces: slices.Collect(slices.Chunk(b, piece))}
}

// InTwo passes b as its first bytes, a header, and the rest.
func InTwo(peer int, b []byte, header int64) *Message {
	return &Message{peer: peer, pieces: [][]byte{b[:header], b[header:]}}
}

// Lead implements Exchange.
func (m *Message) Lead(g bench.Group, last bool) (Trip, error) {
	m.pieces[0][0] = LastMark(last)
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
	last = m.pieces[0][0] == LastMark(true)
	return last, m.send(g)
}

func (m *Message) send(g bench.Group) error {
	for _, b := range m.pieces {
		if err := g.Send(m.peer, b); err != nil {
			return err
		}
	}
	return nil
}

func (m *Message) recv(g bench.Group) error {
	for _, b := range m.pieces {
		err := error(nil)
		if m.polls {
			err = g.RecvPolling(m.peer, b)
		} else {
			err = g.Recv(m.peer, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
