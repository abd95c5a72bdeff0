package pattern

// halvings are allreductions as Open MPI's coll/base performs them, where they differ from those of the papers.
var halvings = []Pattern{
	{ID: 30, Operation: "allreduce", Algorithm: "linear", Bytes: "of the vector",
		Source: "all send to host 0, which then sends to all, by rank", Least: 2, Run: linearAllreduce},
	{ID: 31, Operation: "allreduce", Algorithm: "rabenseifner-near", Bytes: "of the vector",
		Source: "Open MPI: as rabenseifner, but the nearest ranks exchange the largest halves; the fold for other than powers of two is by halves, too",
		Least:  2, Run: rabenseifnerNear},
}

// linearAllreduce: rank 0 receives from the last rank first.
func linearAllreduce(c Comm, m int, s *Scratch) error {
	if c.Rank() > 0 {
		if err := c.Send(0, s.Out(m)); err != nil {
			return err
		}
		return linearBroadcast(c, m, s)
	}
	for k := c.Size() - 1; k > 0; k-- {
		if err := c.Recv(k, s.In(m)); err != nil {
			return err
		}
	}
	return linearBroadcast(c, m, s)
}

// rabenseifnerNear: of the first 2·(size−n) ranks, with n the largest power of two, neighbours exchange halves of their
// vectors; then the odd send what they have added up to the even, and wait for the result. The others, and the even,
// have places below n: places that differ in one bit, from the lowest, exchange halves of what is left to them, and go
// back the same way.
func rabenseifnerNear(c Comm, m int, s *Scratch) error {
	rank, size := c.Rank(), c.Size()
	n := 1
	for 2*n <= size {
		n *= 2
	}
	f := halved{place: rank - (size - n), n: n, more: size - n}
	if rank >= 2*f.more {
		return f.halve(c, m, s)
	}
	left, right := m/2, m-m/2
	if rank%2 == 1 {
		if err := s.swap(c, rank-1, left, rank-1, right); err != nil {
			return err
		}
		if err := c.Send(rank-1, s.Out(right)); err != nil {
			return err
		}
		return c.Recv(rank-1, s.In(m))
	}
	if err := s.swap(c, rank+1, right, rank+1, left); err != nil {
		return err
	}
	if err := c.Recv(rank+1, s.In(right)); err != nil {
		return err
	}
	f.place = rank / 2
	if err := f.halve(c, m, s); err != nil {
		return err
	}
	return c.Send(rank+1, s.Out(m))
}

// halved is a rank's place among n, where of the first 2·more ranks the even take part.
type halved struct{ place, n, more int }

// rank is that of another place.
func (f halved) rank(place int) int {
	if place < f.more {
		return 2 * place
	}
	return place + f.more
}

// halve is the reduce-scatter and the allgather among the places.
func (f halved) halve(c Comm, m int, s *Scratch) error {
	type step struct{ peer, give, keep int }
	var steps [64]step
	k, window := 0, m
	for bit := 1; bit < f.n; bit <<= 1 {
		x := step{peer: f.rank(f.place ^ bit), keep: window / 2, give: window - window/2}
		if f.place&bit != 0 {
			x.keep, x.give = x.give, x.keep
		}
		if err := s.swap(c, x.peer, x.give, x.peer, x.keep); err != nil {
			return err
		}
		steps[k], k, window = x, k+1, x.keep
	}
	for k--; k >= 0; k-- {
		if err := s.swap(c, steps[k].peer, steps[k].keep, steps[k].peer, steps[k].give); err != nil {
			return err
		}
	}
	return nil
}
