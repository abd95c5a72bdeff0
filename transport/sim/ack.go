package sim

// ack tells the sender of c that the receiver has all packets before upTo. In delack, serial is the acknowledgement it is
// a reminder of.
type ack struct {
	at     instant
	c      *conn
	upTo   uint32
	serial uint32
}

// acknowledge is called when a packet of c has arrived in order. Only a sender that waits for acknowledgements gets them.
func (c *conn) acknowledge() {
	w := c.w
	if !c.nagle {
		return
	}
	if c.owed++; w.opt.DelayedAck <= 0 || c.owed > 1 {
		c.sendAck()
		return
	}
	w.delack.push(ack{at: w.now + fromNanos(w.opt.DelayedAck), c: c, serial: c.serial})
	if w.delack.n == 1 {
		w.agenda.add(w.delack.peek().at, laneDelack)
	}
}

// sendAck sends an acknowledgement of its own, which passes the network free in L.
func (c *conn) sendAck() {
	w := c.w
	c.owed = 0
	c.serial++
	w.acks.push(ack{at: w.now + w.delay, c: c, upTo: c.expect})
	if w.acks.n == 1 {
		w.agenda.add(w.acks.peek().at, laneAck)
	}
}

// carryAck lets pk, a packet of c, carry what its host owes the other way.
func (c *conn) carryAck(pk *packet) {
	if back := c.dst.to(c.src); c.nagle && back != nil {
		pk.ack = back.expect
		back.owed = 0
		back.serial++
	}
}

// acked is called when the sender learns that all packets before upTo have arrived.
func (c *conn) acked(upTo uint32) {
	if upTo > c.known && upTo <= c.seq {
		c.known = upTo
		c.flush()
	}
}

func (w *world) ackArrives() {
	a := w.acks.pop()
	if w.acks.n > 0 {
		w.agenda.add(w.acks.peek().at, laneAck)
	}
	a.c.acked(a.upTo)
}

func (w *world) ackOverdue() {
	a := w.delack.pop()
	if w.delack.n > 0 {
		w.agenda.add(w.delack.peek().at, laneDelack)
	}
	if a.c.owed > 0 && a.serial == a.c.serial {
		a.c.sendAck()
	}
}
