package pattern

import "slices"

// rootToEach: rank 0 sends m bytes to every other rank in turn.
func rootToEach(c Comm, m int, s *Scratch) {
	if c.Rank() != 0 {
		c.Recv(0, s.In(m))
		return
	}
	for k := 1; k < c.Size(); k++ {
		c.Send(k, s.Out(m))
	}
}

// eachToRoot: every rank sends m bytes to rank 0 at once, which receives by rank.
func eachToRoot(c Comm, m int, s *Scratch) {
	if c.Rank() != 0 {
		c.Send(0, s.Out(m))
		return
	}
	for k := 1; k < c.Size(); k++ {
		c.Recv(k, s.In(m))
	}
}

// Window is how many senders a gather by windows has at once.
const Window = 2

// windowsToRoot: senders 1 to w begin, and every sender tells the one w places on to begin when its Send has returned.
// That is when the transport has the message, which may be before it has left: experiment gather waits until it has.
func windowsToRoot(c Comm, m int, s *Scratch) {
	rank := c.Rank()
	if rank > Window {
		c.Recv(rank-Window, s.In(1))
	}
	eachToRoot(c, m, s)
	if rank > 0 && rank+Window < c.Size() {
		c.Send(rank+Window, s.Out(1))
	}
}

// binomialGather: a rank receives from its children in the binomial tree, the nearest first, and then sends all it has
// to its parent.
func binomialGather(c Comm, m int, s *Scratch) {
	rank, size := c.Rank(), c.Size()
	_, s.ranks = binomial(rank, size, s.ranks[:0])
	for _, child := range slices.Backward(s.ranks) {
		c.Recv(child, s.In(m*subtree(child, size)))
	}
	if rank > 0 {
		c.Send(BinomialParent(rank), s.Out(m*subtree(rank, size)))
	}
}

// synchronisedGather: the root sends every rank in turn one byte, upon which that sends the first part of its block,
// and at once the rest, or one byte where there is none. The root waits for the first part before it goes on to the
// next rank, and for the rests in the end.
func synchronisedGather(first int) run {
	return func(c Comm, m int, s *Scratch) {
		head := min(m, first)
		rest := max(1, m-head)
		if c.Rank() > 0 {
			c.Recv(0, s.In(1))
			c.Send(0, s.Out(head))
			c.Send(0, s.Out(rest))
			return
		}
		for k := 1; k < c.Size(); k++ {
			c.Send(k, s.Out(1))
			c.Recv(k, s.In(head))
		}
		for k := 1; k < c.Size(); k++ {
			c.Recv(k, s.In(rest))
		}
	}
}

// globalOperation: values go up the binary tree, each rank receives its children's and sends its own to its parent;
// then the root sends the result to every rank in turn. The child whose subtree has less to do comes first. Source:
// Stoica, Sultan, Keyes 1994, section 3.2, figure 13.
func globalOperation(c Comm, m int, s *Scratch) {
	i := c.Rank()
	for k := 2*i + 2; k > 2*i; k-- {
		if k < c.Size() {
			c.Recv(k, s.In(m))
		}
	}
	if i > 0 {
		c.Send((i-1)/2, s.Out(m))
	}
	rootToEach(c, m, s)
}

func p4Barrier(c Comm, _ int, s *Scratch) { globalOperation(c, 1, s) }
