package pattern

// All lists the patterns.
var All = []Pattern{
	{ID: 1, Operation: "p2p", Algorithm: "direct", Bytes: "of the message", Source: "one message from host 0 to host 1", Least: 2,
		Fits: func(size int) bool { return size == 2 }, Run: serialBroadcast},
	{ID: 2, Operation: "bcast", Algorithm: "serial", Bytes: "of the message", Source: "Stoica 1994, section 3.1", Least: 2, Run: serialBroadcast},
	{ID: 3, Operation: "bcast", Algorithm: "binary", Bytes: "of the message", Source: "Stoica 1994, section 3.1, figure 10", Least: 2, Run: binaryBroadcast},
}

// serialBroadcast: the root sends the message to every other rank in turn.
func serialBroadcast(c Comm, m int, s *Scratch) error {
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

// binaryBroadcast: rank i sends the whole message to 2i+1 and then to 2i+2.
func binaryBroadcast(c Comm, m int, s *Scratch) error {
	i := c.Rank()
	if i > 0 {
		if err := c.Recv((i-1)/2, s.In(m)); err != nil {
			return err
		}
	}
	for k := 2*i + 1; k <= 2*i+2 && k < c.Size(); k++ {
		if err := c.Send(k, s.Out(m)); err != nil {
			return err
		}
	}
	return nil
}
