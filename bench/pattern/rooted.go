package pattern

var pointToPoint = []Pattern{
	{ID: 1, Operation: "p2p", Algorithm: "direct", Bytes: "of the message", Source: "one message from host 0 to host 1", Least: 2,
		Fits: func(size int) bool { return size == 2 }, Run: rootToEach},
}

var rooted = []Pattern{
	{ID: 14, Operation: "gather", Algorithm: "direct", Bytes: "from each host", Source: "Tam, Wang 2000, section 5.2: all send at once",
		Least: 2, Run: eachToRoot},
	{ID: 15, Operation: "gather", Algorithm: "windows", Bytes: "from each host",
		Source: "Tam, Wang 2000, section 5.3, algorithm 1 with w = 2, whatever the port's buffer holds", Least: 2, Run: windowsToRoot},
	{ID: 16, Operation: "scatter", Algorithm: "direct", Bytes: "to each host", Source: "the root sends to every host in turn", Least: 2,
		Run: rootToEach},
}

var incasts = []Pattern{
	{ID: 20, Operation: "incast", Algorithm: "direct", Bytes: "from each sender", Source: "all but host 0 send to it at once; as gather direct",
		Least: 2, Run: eachToRoot},
}

// rootToEach: rank 0 sends m bytes to every other rank in turn.
func rootToEach(c Comm, m int, s *Scratch) error {
	if c.Rank() != 0 {
		return c.Recv(0, s.In(m))
	}
	for k := 1; k < c.Size(); k++ {
		if err := c.Send(k, s.Out(m)); err != nil {
			return err
		}
	}
	return nil
}

// eachToRoot: every rank sends m bytes to rank 0 at once, which receives by rank.
func eachToRoot(c Comm, m int, s *Scratch) error {
	if c.Rank() != 0 {
		return c.Send(0, s.Out(m))
	}
	for k := 1; k < c.Size(); k++ {
		if err := c.Recv(k, s.In(m)); err != nil {
			return err
		}
	}
	return nil
}

// Window is how many senders a gather by windows has at once.
const Window = 2

// windowsToRoot: senders 1 to w begin, and every sender tells the one w places on to begin when its Send has returned.
// That is when the transport has the message, which may be before it has left: experiment gather waits until it has.
func windowsToRoot(c Comm, m int, s *Scratch) error {
	rank := c.Rank()
	if rank == 0 {
		return eachToRoot(c, m, s)
	}
	if rank > Window {
		if err := c.Recv(rank-Window, s.In(1)); err != nil {
			return err
		}
	}
	if err := c.Send(0, s.Out(m)); err != nil {
		return err
	}
	if rank+Window >= c.Size() {
		return nil
	}
	return c.Send(rank+Window, s.Out(1))
}
