package roundtrip

import (
	"slices"

	"calib/bench"
)

// Message is the exchange of every ping-pong: a message to a rank and back, whole or in pieces. What is recorded is half
// the round trip, by the leading rank's clock alone.
type Message struct {
	peer   int
	pieces [][]byte // the first byte tells the follower whether another message comes
}

// Whole passes b, of at least one byte, to a rank and back by one send each way.
func Whole(peer int, b []byte) *Message { return &Message{peer, [][]byte{b}} }

// InPieces passes b in pieces of at most piece bytes, each sent and received by itself.
func InPieces(peer int, b []byte, piece int) *Message {
	return &Message{peer, slices.Collect(slices.Chunk(b, piece))}
}

// InTwo passes b as its first bytes, a header, and the rest.
func InTwo(peer int, b []byte, header int64) *Message {
	return &Message{peer, [][]byte{b[:header], b[header:]}}
}

// Lead implements Exchange.
func (m *Message) Lead(g bench.Group, last bool) (Trip, error) {
	m.pieces[0][0] = LastMark(last)
	start := g.Now()
	if err := m.send(g); err != nil {
		return Trip{}, err
	}
	if err := m.recv(g); err != nil {
		return Trip{}, err
	}
	half := bench.Elapsed(g, start) / 2
	return Trip{NS: half, Took: 2 * half}, nil
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
		if err := g.Recv(m.peer, b); err != nil {
			return err
		}
	}
	return nil
}
