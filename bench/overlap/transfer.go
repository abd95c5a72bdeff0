package overlap

import (
	"calib/bench"
	"calib/internal/plane"
)

// transfer sends a message to the peer and receives one of it, on either thread.
type transfer struct {
	peer    int
	out, in []byte
	got     int // of in, of the message under way
}

// exchange is all of it.
func (t *transfer) exchange(g plane.Mover) error {
	if err := t.send(g); err != nil {
		return err
	}
	return t.receive(g)
}

// send sends the message, and receives only what it must so that the peer can send, too.
func (t *transfer) send(g plane.Mover) (err error) {
	t.got, err = bench.Push(g, t.peer, t.out, t.in, len(t.out))
	return err
}

// receive takes what send has not.
func (t *transfer) receive(g plane.Mover) error {
	if t.got == len(t.in) {
		return nil
	}
	return g.Recv(t.peer, t.in[t.got:])
}
