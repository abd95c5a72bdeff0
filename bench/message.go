package bench

// message is one that passes to and fro between two ranks, whole or in pieces: the exchange of every ping-pong. An exchange
// is recorded as half the round trip, by the leading rank's clock alone.
type message struct {
	peer   int
	bytes  []byte // at least one, whose first tells the follower whether another comes
	pieces [][]byte
}

// wholeMessage passes b to a rank and back by one send each way.
func wholeMessage(peer int, b []byte) *message { return &message{peer, b, [][]byte{b}} }

// piecedMessage passes b in pieces of at most piece bytes, each sent and received by itself.
func piecedMessage(peer int, b []byte, piece int) *message {
	m := &message{peer: peer, bytes: b}
	for rest := b; len(rest) > 0; {
		n := min(piece, len(rest))
		m.pieces = append(m.pieces, rest[:n])
		rest = rest[n:]
	}
	return m
}

// lead implements exchange.
func (m *message) lead(g Group, last bool) (lap, error) {
	m.bytes[0] = lastMark(last)
	start := g.Now()
	if err := m.send(g); err != nil {
		return lap{}, err
	}
	if err := m.recv(g); err != nil {
		return lap{}, err
	}
	half := elapsed(g, start) / 2
	return lap{ns: half, took: 2 * half}, nil
}

// follow implements exchange.
func (m *message) follow(g Group) (last bool, err error) {
	if err := m.recv(g); err != nil {
		return false, err
	}
	last = m.bytes[0] == lastMark(true)
	return last, m.send(g)
}

func (m *message) send(g Group) error {
	for _, b := range m.pieces {
		if err := g.Send(m.peer, b); err != nil {
			return err
		}
	}
	return nil
}

func (m *message) recv(g Group) error {
	for _, b := range m.pieces {
		if err := g.Recv(m.peer, b); err != nil {
			return err
		}
	}
	return nil
}
