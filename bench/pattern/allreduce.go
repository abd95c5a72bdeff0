package pattern

var allreductions = []Pattern{
	{ID: 8, Operation: "allreduce", Algorithm: "recursive-doubling", Bytes: "of the vector",
		Source: "Thakur, Rabenseifner, Gropp 2005, section 4.5, with the fold for other than powers of two", Least: 2, Run: recursiveDoubling},
	{ID: 9, Operation: "allreduce", Algorithm: "ring", Bytes: "of the vector",
		Source: "Patarasuk, Yuan 2009: reduce-scatter, then allgather round a ring", Least: 2, Run: ringAllreduce},
	{ID: 10, Operation: "allreduce", Algorithm: "rabenseifner", Bytes: "of the vector",
		Source: "Thakur, Rabenseifner, Gropp 2005, section 4.5, with the fold for other than powers of two", Least: 2, Run: rabenseifner},
}

// fold makes a team of any size one of a power of two: n ranks run inner, each with a place. Of the first 2·(size−n)
// ranks the even send their vector to the next rank before, and get the result from it after.
func fold(c Comm, m int, s *Scratch, inner func(f folded) error) error {
	rank, size := c.Rank(), c.Size()
	n := 1
	for 2*n <= size {
		n *= 2
	}
	more := size - n
	switch {
	case rank < 2*more && rank%2 == 0:
		if err := c.Send(rank+1, s.Out(m)); err != nil {
			return err
		}
		return c.Recv(rank+1, s.In(m))
	case rank < 2*more:
		if err := c.Recv(rank-1, s.In(m)); err != nil {
			return err
		}
		if err := inner(folded{rank / 2, n, more}); err != nil {
			return err
		}
		return c.Send(rank-1, s.Out(m))
	}
	return inner(folded{rank - more, n, more})
}

// folded is a rank's place among n.
type folded struct{ place, n, more int }

// rank is that of another place.
func (f folded) rank(place int) int {
	if place < f.more {
		return 2*place + 1
	}
	return place + f.more
}

// recursiveDoubling: places that differ in one bit exchange whole vectors, bit after bit from the lowest.
func recursiveDoubling(c Comm, m int, s *Scratch) error {
	return fold(c, m, s, func(f folded) error {
		for bit := 1; bit < f.n; bit <<= 1 {
			peer := f.rank(f.place ^ bit)
			if err := s.swap(c, peer, m, peer, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// rabenseifner: a reduce-scatter by recursive halving, in which places that differ in one bit, from the highest,
// exchange halves of what is left to them; then an allgather by recursive doubling, back the same way.
func rabenseifner(c Comm, m int, s *Scratch) error {
	return fold(c, m, s, func(f folded) error {
		part := func(first, count int) int { return blocks(m, f.n, first, first+count) }
		first := 0 // of the blocks that are left
		for bit := f.n / 2; bit > 0; bit >>= 1 {
			keep := first + f.place&bit
			give := keep ^ bit
			peer := f.rank(f.place ^ bit)
			if err := s.swap(c, peer, part(give, bit), peer, part(keep, bit)); err != nil {
				return err
			}
			first = keep
		}
		for bit := 1; bit < f.n; bit <<= 1 {
			peer := f.rank(f.place ^ bit)
			if err := s.swap(c, peer, part(first, bit), peer, part(first^bit, bit)); err != nil {
				return err
			}
			first &^= bit
		}
		return nil
	})
}

// ringAllreduce: each of size blocks goes round the ring once and is added to, until a rank has the block of the rank
// after it whole; then the whole blocks go round.
func ringAllreduce(c Comm, m int, s *Scratch) error {
	if err := ringAllgather(c, m, c.Rank(), s); err != nil { // a reduce-scatter moves what an allgather moves
		return err
	}
	return ringAllgather(c, m, c.Rank()+1, s)
}
