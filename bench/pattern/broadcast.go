package pattern

var broadcasts = []Pattern{
	{ID: 2, Operation: "bcast", Algorithm: "serial", Bytes: "of the message", Source: "Stoica, Sultan, Keyes 1994, section 3.1", Least: 2,
		Run: rootToEach},
	{ID: 3, Operation: "bcast", Algorithm: "binary", Bytes: "of the message", Source: "Stoica, Sultan, Keyes 1994, section 3.1, figure 10",
		Least: 2, Run: binaryBroadcast},
	{ID: 4, Operation: "bcast", Algorithm: "binomial", Bytes: "of the message", Source: "binomial tree, the largest subtree first; as experiment bcast",
		Least: 2, Run: binomialBroadcast},
	{ID: 5, Operation: "bcast", Algorithm: "pipelined", Bytes: "of the message", Source: "a chain of all hosts, in segments of 8 KiB", Least: 2,
		segmented: pipelined},
	{ID: 6, Operation: "bcast", Algorithm: "scatter-allgather", Bytes: "of the message",
		Source: "van de Geijn: scatter over a binomial tree, then allgather round a ring", Least: 2, Run: scatterAllgather},
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

// BinomialParent is whom a rank hears from in the binomial tree that rank 0 is the root of: the rank without its lowest
// set bit.
func BinomialParent(rank int) int { return rank & (rank - 1) }

// BinomialChildren lists whom a rank sends to, the largest subtree first: rank + 2^k for every 2^k below its span.
func BinomialChildren(rank, size int) []int {
	var out []int
	for bit := span(rank, size) >> 1; bit > 0; bit >>= 1 {
		if rank+bit < size {
			out = append(out, rank+bit)
		}
	}
	return out
}

// span is how many ranks the subtree of a rank has in the binomial tree of a power of two: its lowest set bit; that of
// rank 0 is the least power of two that is no less than size.
func span(rank, size int) int {
	if rank > 0 {
		return rank & -rank
	}
	n := 1
	for n < size {
		n <<= 1
	}
	return n
}

// binomialBroadcast: a rank that has the whole message sends it to its children, the largest subtree first.
func binomialBroadcast(c Comm, m int, s *Scratch) error {
	rank, size := c.Rank(), c.Size()
	if rank > 0 {
		if err := c.Recv(BinomialParent(rank), s.In(m)); err != nil {
			return err
		}
	}
	for bit := span(rank, size) >> 1; bit > 0; bit >>= 1 {
		if rank+bit >= size {
			continue
		}
		if err := c.Send(rank+bit, s.Out(m)); err != nil {
			return err
		}
	}
	return nil
}

// blocks is the length of blocks first to end, without end, of m bytes in count blocks as equal as whole bytes can be.
func blocks(m, count, first, end int) int { return end*m/count - first*m/count }

// scatterAllgather: the message is cut into a block for each rank. Down a binomial tree every rank gets the blocks of
// its subtree; then the blocks go round a ring, each to the next rank, until all have all. An empty block is not sent.
func scatterAllgather(c Comm, m int, s *Scratch) error {
	if err := scatterBlocks(c, m, s); err != nil {
		return err
	}
	return ringAllgather(c, m, c.Rank(), s)
}

// scatterBlocks is the scatter of scatterAllgather.
func scatterBlocks(c Comm, m int, s *Scratch) error {
	rank, size := c.Rank(), c.Size()
	if rank > 0 {
		if n := blocks(m, size, rank, min(rank+span(rank, size), size)); n > 0 {
			if err := c.Recv(BinomialParent(rank), s.In(n)); err != nil {
				return err
			}
		}
	}
	for bit := span(rank, size) >> 1; bit > 0; bit >>= 1 {
		child := rank + bit
		if child >= size {
			continue
		}
		if n := blocks(m, size, child, min(child+bit, size)); n > 0 {
			if err := c.Send(child, s.Out(n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ringAllgather: in every step each rank sends a block to the next rank and receives one of the rank before: first
// block own, then what it has received last.
func ringAllgather(c Comm, m, own int, s *Scratch) error {
	rank, size := c.Rank(), c.Size()
	next, before := (rank+1)%size, (rank+size-1)%size
	for step := range size - 1 {
		out := (own - step + 2*size) % size
		in := (out + size - 1) % size
		if err := s.swap(c, next, blocks(m, size, out, out+1), before, blocks(m, size, in, in+1)); err != nil {
			return err
		}
	}
	return nil
}
