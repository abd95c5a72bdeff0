package pattern

import "math/rand/v2"

var alltoalls = []Pattern{
	{ID: 17, Operation: "alltoall", Algorithm: "pairwise", Bytes: "from each host to each", Source: "step s: to rank i+s, from rank i−s", Least: 2,
		Run: pairwiseAlltoall},
	{ID: 18, Operation: "alltoall", Algorithm: "shifted", Bytes: "from each host to each", Source: "all at once, to ranks i+1, i+2, … in order",
		Least: 2, Run: shiftedAlltoall},
	{ID: 19, Operation: "alltoall", Algorithm: "random", Bytes: "from each host to each",
		Source: "all at once, each host in an order of its own, always the same", Least: 2, Run: randomAlltoall},
}

// pairwiseAlltoall: in step s every rank i sends to i+s and receives from i−s.
func pairwiseAlltoall(c Comm, m int, s *Scratch) error {
	rank, size := c.Rank(), c.Size()
	for by := 1; by < size; by++ {
		if err := s.swap(c, (rank+by)%size, m, (rank+size-by)%size, m); err != nil {
			return err
		}
	}
	return nil
}

// shiftedAlltoall: as pairwiseAlltoall, in one exchange.
func shiftedAlltoall(c Comm, m int, s *Scratch) error {
	rank, size := c.Rank(), c.Size()
	for by := 1; by < size; by++ {
		s.send((rank+by)%size, m)
		s.recv((rank+size-by)%size, m)
	}
	return s.exchange(c)
}

// randomAlltoall: as shiftedAlltoall, in orders that were drawn.
func randomAlltoall(c Comm, m int, s *Scratch) error {
	o := &s.random
	o.draw(c.Size())
	o.sort(c.Rank())
	for _, to := range o.to[c.Rank()] {
		s.send(to, m)
	}
	for _, from := range o.from {
		s.recv(from, m)
	}
	return s.exchange(c)
}

// randomSeed is that of the orders of randomAlltoall.
const randomSeed = 0x616c6c746f616c6c

// randomOrder is whom every rank of a team sends to, in order, and from whom one rank receives.
type randomOrder struct {
	to   [][]int
	from []int // of rank
	rank int
}

// draw fills to for a team, unless it is that already.
func (o *randomOrder) draw(size int) {
	if len(o.to) == size {
		return
	}
	*o = randomOrder{to: make([][]int, size)}
	for rank := range o.to {
		order := rand.New(rand.NewPCG(randomSeed, uint64(rank))).Perm(size - 1)
		for i := range order {
			order[i] = (rank + 1 + order[i]) % size
		}
		o.to[rank] = order
	}
}

// sort fills from for a rank: whoever sends to it as the n-th of its messages comes before those to whom it is a later
// one, and lower ranks first. This is the order of all messages that Exchange needs.
func (o *randomOrder) sort(rank int) {
	if o.from != nil && o.rank == rank {
		return
	}
	o.rank, o.from = rank, make([]int, 0, len(o.to)-1)
	for n := range len(o.to) - 1 {
		for from, order := range o.to {
			if from != rank && order[n] == rank {
				o.from = append(o.from, from)
			}
		}
	}
}
