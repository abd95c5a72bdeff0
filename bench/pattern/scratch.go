package pattern

import "cmp"

// Scratch is memory that a rank's patterns send from and receive into. The zero value is ready.
type Scratch struct {
	out, in      []byte
	sends, recvs []Message // of the exchange that is put together
	random       randomOrder
	ranks        []int    // of a tree's children
	of           *Scratch // whose memory messages have; nil is its own
}

// Use makes patterns send from out and receive into in, as far as they reach.
func (s *Scratch) Use(out, in []byte) { s.out, s.in = out, in }

// Borrow makes patterns use the memory of another rank's scratch, which may not run at the same time. It is for
// messages whose content nobody reads.
func (s *Scratch) Borrow(of *Scratch) { s.of = of }

// Out returns n bytes to send, the same each time.
func (s *Scratch) Out(n int) []byte { return room(&cmp.Or(s.of, s).out, n) }

// In returns n bytes to receive into.
func (s *Scratch) In(n int) []byte { return room(&cmp.Or(s.of, s).in, n) }

// room returns the first n bytes of b, which becomes as long.
func room(b *[]byte, n int) []byte {
	if n > len(*b) {
		*b = make([]byte, n)
	}
	return (*b)[:n]
}

// send adds a message of n bytes to the next exchange; one of none is no message.
func (s *Scratch) send(to, n int) {
	if n > 0 {
		s.sends = append(s.sends, Message{to, s.Out(n)})
	}
}

// recv adds a message of n bytes to receive.
func (s *Scratch) recv(from, n int) {
	if n > 0 {
		s.recvs = append(s.recvs, Message{from, s.In(n)})
	}
}

// exchange performs what send and recv have put together.
func (s *Scratch) exchange(c Comm) {
	out, in := s.sends, s.recvs
	s.sends, s.recvs = out[:0], in[:0]
	if len(out)+len(in) > 0 {
		c.Exchange(out, in)
	}
}

// swap sends n bytes to a rank and receives k from one, at the same time.
func (s *Scratch) swap(c Comm, to, n, from, k int) {
	s.send(to, n)
	s.recv(from, k)
	s.exchange(c)
}
