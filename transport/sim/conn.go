package sim

// packet is a piece of a message on its way, or a claim for a block.
type packet struct {
	at    instant // when it leaves the block it is in
	c     *conn
	seq   uint32 // number within its connection
	n     int32  // payload bytes
	again bool   // was lost before
}

// conn is one direction between two ranks.
type conn struct {
	w        *world
	src, dst *proc

	data  stream      // accepted by Send, not yet read by Recv
	queue fifo[int32] // packets in the send buffer that wait for the window
	// buffered counts bytes that have not left the host's block, flying those the window counts, arrived those that
	// Recv may read.
	buffered, flying, arrived int
	pending                   []byte // of a blocked Send: what has no room yet
	want                      []byte // of a blocked Recv: what is not there yet

	seq, expect        uint32
	early              map[uint32]int32 // packets that overtook a lost one
	sent, got, retrans int64
}

// conn returns the connection from one rank to another.
func (w *world) conn(src, dst *proc) *conn {
	if src.out == nil {
		src.out = make([]*conn, len(w.procs))
	}
	c := src.out[dst.id]
	if c == nil {
		c = &conn{w: w, src: src, dst: dst}
		src.out[dst.id] = c
	}
	return c
}

// accept takes as much of the pending message into the send buffer as there is room for, packet by packet.
func (c *conn) accept() {
	mss, room := c.w.net.spec.MSS, int(c.w.opt.SendBuffer)
	for len(c.pending) > 0 {
		n := min(mss, len(c.pending))
		if c.buffered > 0 && c.buffered+n > room {
			break
		}
		c.data.write(c.pending[:n])
		c.pending = c.pending[n:]
		c.buffered += n
		c.queue.push(int32(n))
	}
	c.flush()
}

// flush gives the host's block what the window allows.
func (c *conn) flush() {
	for c.queue.n > 0 {
		n := c.queue.peek()
		if c.flying > 0 && c.flying+int(n) > int(c.w.opt.Window) {
			return
		}
		c.queue.pop()
		c.flying += int(n)
		c.w.transmit(packet{c: c, seq: c.seq, n: n})
		c.seq++
	}
}

// arrive takes a packet out of the network. Bytes count as arrived in the order they were sent.
func (c *conn) arrive(pk packet) {
	c.got++
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
	if c.want != nil && c.read() {
		c.w.release(c.dst, nil)
	} else if c.want != nil && c.lost() {
		c.want = nil
		c.w.release(c.dst, ErrPeer)
	}
}

// read moves what has arrived to the waiting Recv, opens the window by as much and reports whether Recv has it all.
func (c *conn) read() bool {
	n := min(len(c.want), c.arrived)
	if n > 0 {
		c.data.read(c.want[:n])
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

// lost reports whether waiting is in vain: the sender's peer has left, or the receiver's has and all it sent was read.
func (c *conn) lost() bool { return c.dst.state == dead || c.src.state == dead && c.data.n == 0 }

// abandon forgets a wait of p's.
func (c *conn) abandon(p *proc) {
	if p == c.src {
		c.pending = nil
	} else {
		c.want = nil
	}
}
