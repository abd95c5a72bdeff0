package sim

import (
	"bytes"

	"calib/internal/netspec"
)

type packet struct {
	c        *conn
	from     instant   // when the medium may begin with it
	seq      uint32    // number within its connection
	n        int32     // payload bytes
	ack      uint32    // packets that the other way has received
	again    bool      // was lost before
	datagram *datagram // what it carries, if it is a datagram
}

// conn is one direction between two ranks.
type conn struct {
	w            *world
	src, dst     *proc
	room, window int  // bytes
	unsent, most int  // bounds of what has not left the host's block, and of what the window counts [B]
	merge, nagle bool // messages merge into full packets; small packets wait for acknowledgements
	fill         bool // a packet that a Send leaves short waits for the next one while others are in the host's block
	short        int  // bytes of that packet

	held  int                  // bytes accepted by Send, not yet read by Recv
	data  bytes.Buffer         // these bytes; none where messages are hollow
	queue netspec.Queue[int32] // packets in the send buffer that wait for the window
	// With merge, queue is unused: waiting counts the bytes in the send buffer that are in no packet yet, and busy says
	// that a packet of the connection is in its host's block.
	waiting int
	busy    bool
	// buffered counts bytes that have not left the host's block, flying those the window counts, arrived those that
	// Recv may read.
	buffered, flying, arrived int
	pending                   []byte // of a blocked Send: what has no room yet
	want                      []byte // of a blocked Recv: what is not there yet

	seq, expect        uint32
	early              map[uint32]int32 // packets that overtook a lost one
	sent, got, retrans int64

	known  uint32     // packets the sender knows to have arrived
	owed   int        // packets the receiver has not acknowledged
	serial uint32     // of the receiver's next acknowledgement
	back   instant    // how long an acknowledgement takes
	acks   *line[ack] // that take so long
}

func (w *world) conn(src, dst *proc) *conn {
	c := src.out[dst]
	if c == nil {
		if src.out == nil {
			src.out = map[*proc]*conn{}
		}
		c = w.newConn(src, dst)
		src.out[dst] = c
	}
	return c
}

// accept takes as much of the pending message into the send buffer as there is room for, packet by packet.
func (c *conn) accept() {
	mss := c.w.net.spec.MSS
	for len(c.pending) > 0 {
		n := min(mss-c.short, len(c.pending))
		if c.buffered > c.short && c.buffered+n > c.space() {
			break
		}
		c.held += n
		if !c.w.opt.Hollow {
			c.data.Write(c.pending[:n])
		}
		c.pending = c.pending[n:]
		c.buffered += n
		n, c.short = n+c.short, 0
		switch {
		case c.merge:
			c.waiting += n
		case c.fill && n < mss && c.buffered > n:
			c.short = n
		default:
			c.queue.Push(int32(n))
		}
	}
	c.flush()
}

func (c *conn) space() int { return min(c.room, c.unsent) }

func (c *conn) flush() {
	if c.merge {
		c.flushMerged()
		return
	}
	for c.queue.Len() > 0 {
		n := c.queue.Peek()
		if !c.mayGo(int(n)) {
			return
		}
		c.queue.Pop()
		c.give(n)
	}
}

// flushMerged makes the next packet of what waits in the send buffer, once the last one has left the host's block.
func (c *conn) flushMerged() {
	if n := min(c.w.net.spec.MSS, c.waiting); n > 0 && !c.busy && c.mayGo(n) {
		c.busy = true
		c.waiting -= n
		c.give(int32(n))
	}
}

// mayGo reports whether the windows and Nagle's algorithm let a packet of n bytes go now.
func (c *conn) mayGo(n int) bool {
	if c.flying > 0 && c.flying+n > min(c.window, c.most) {
		return false
	}
	if k := c.w.opt.Congestion; k > 0 && c.seq-c.known >= uint32(k) {
		return false
	}
	return !c.nagle || n >= c.w.net.spec.MSS || c.known == c.seq
}

func (c *conn) give(n int32) {
	c.flying += int(n)
	seq := c.seq
	c.seq++
	c.w.transmit(packet{c: c, seq: seq, n: n})
}

// left makes room in the send buffer: n bytes have left the host's block.
func (c *conn) left(n int) {
	c.buffered -= n
	if c.merge {
		c.busy = false
		c.flush()
	}
	if c.short > 0 && c.buffered == c.short && c.pending == nil {
		c.queue.Push(int32(c.short))
		c.short = 0
		c.flush()
	}
	if c.pending == nil {
		return
	}
	before := len(c.pending)
	c.accept()
	switch p := c.src.user(); {
	case len(c.pending) == 0:
		c.pending = nil
		c.w.release(p, nil)
	case p.wait.kind == waitSome && len(c.pending) < before:
		p.wait.deadline = c.w.now + p.wait.patience
	}
}

// arrive takes a packet out of the network. Bytes count as arrived in the order they were sent.
func (c *conn) arrive(pk packet) {
	c.got++
	if pk.ack > 0 {
		if back := c.dst.out[c.src]; back != nil {
			back.acked(pk.ack)
		}
	}
	if pk.seq != c.expect {
		if c.early == nil {
			c.early = map[uint32]int32{}
		}
		c.early[pk.seq] = pk.n
		return
	}
	c.arrived += int(pk.n)
	c.expect++
	for len(c.early) > 0 {
		n, ok := c.early[c.expect]
		if !ok {
			break
		}
		delete(c.early, c.expect)
		c.arrived += int(n)
		c.expect++
	}
	c.acknowledge()
	switch {
	case c.want == nil:
		c.w.wake(c.dst.user(), waitAny)
	case c.read():
		c.w.release(c.dst.user(), nil)
	case c.lost():
		c.want = nil
		c.w.release(c.dst.user(), ErrPeer)
	}
}

// read moves what has arrived to the waiting Recv, opens the window by as much and reports whether Recv has it all.
func (c *conn) read() bool {
	n := min(len(c.want), c.arrived)
	if n > 0 {
		c.held -= n
		if !c.w.opt.Hollow {
			copy(c.want, c.data.Next(n))
		}
		c.want = c.want[n:]
		c.arrived -= n
		c.flying -= n
		c.flush()
	}
	if len(c.want) > 0 {
		return false
	}
	c.want = nil
	return true
}

// lost reports whether waiting is of no use: the receiver has left, or the sender has left and all it sent was read.
func (c *conn) lost() bool { return c.dst.state == dead || c.src.state == dead && c.held == 0 }

// ack tells the sender of c that the receiver has all packets before upTo. In delack, serial is the acknowledgement it
// is a reminder of.
type ack struct {
	c      *conn
	upTo   uint32
	serial uint32
}

// acknowledge is called when a packet of c has arrived in order. Only a sender that waits for acknowledgements gets
// them.
func (c *conn) acknowledge() {
	w := c.w
	if !c.nagle && w.opt.Congestion == 0 {
		return
	}
	if c.owed++; w.opt.DelayedAck <= 0 || c.owed > 1 {
		c.sendAck()
		return
	}
	w.delack.add(w, w.now+fromNanos(w.opt.DelayedAck), ack{c: c, serial: c.serial})
}

// sendAck sends an acknowledgement by itself, which takes the delays of the way back and no capacity.
func (c *conn) sendAck() {
	c.owed = 0
	c.serial++
	c.acks.add(c.w, c.w.now+c.back, ack{c: c, upTo: c.expect})
}

// carryAck makes pk, a packet of c, carry the acknowledgement that its host owes in the other direction.
func (c *conn) carryAck(pk *packet) {
	if back := c.dst.out[c.src]; c.nagle && back != nil {
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

// overdue sends an acknowledgement that the receiver has kept back for long enough.
func (a ack) overdue() {
	if a.c.owed > 0 && a.serial == a.c.serial {
		a.c.sendAck()
	}
}
