package pattern

var gathers = []Pattern{
	{ID: 33, Operation: "gather", Algorithm: "binomial", Bytes: "from each host",
		Source: "binomial tree: a host sends what it has from its subtree; the smallest subtree first", Least: 2, Run: binomialGather},
	{ID: 34, Operation: "gather", Algorithm: "synchronised", Bytes: "from each host",
		Source: "Open MPI: linear with synchronisation: the root calls one host after the other; a block comes in two parts, the first of 8 KiB", Least: 2,
		segmented: synchronisedGather},
}

// binomialGather: a rank receives from its children in the binomial tree, the nearest first, and then sends all it has
// to its parent.
func binomialGather(c Comm, m int, s *Scratch) error {
	rank, size := c.Rank(), c.Size()
	for bit := 1; bit < span(rank, size) && rank+bit < size; bit <<= 1 {
		child := rank + bit
		if err := c.Recv(child, s.In(m*min(bit, size-child))); err != nil {
			return err
		}
	}
	if rank == 0 {
		return nil
	}
	return c.Send(BinomialParent(rank), s.Out(m*min(span(rank, size), size-rank)))
}

// synchronisedGather: the root sends every rank in turn one byte, upon which that sends the first part of its block,
// and at once the rest, or one byte where there is none. The root waits for the first part before it goes on to the
// next rank, and for the rests in the end.
func synchronisedGather(first int) func(Comm, int, *Scratch) error {
	return func(c Comm, m int, s *Scratch) error {
		head := min(m, first)
		rest := max(1, m-head)
		if c.Rank() > 0 {
			if err := c.Recv(0, s.In(1)); err != nil {
				return err
			}
			if err := c.Send(0, s.Out(head)); err != nil {
				return err
			}
			return c.Send(0, s.Out(rest))
		}
		for k := 1; k < c.Size(); k++ {
			if err := c.Send(k, s.Out(1)); err != nil {
				return err
			}
			if err := c.Recv(k, s.In(head)); err != nil {
				return err
			}
		}
		for k := 1; k < c.Size(); k++ {
			if err := c.Recv(k, s.In(rest)); err != nil {
				return err
			}
		}
		return nil
	}
}
