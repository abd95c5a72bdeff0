package pattern

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// disseminationBarrier: in step k every rank tells the rank 2^k on, and hears from the one 2^k before. Source: Hensgen,
// Finkel, Manber 1988.
func disseminationBarrier(c Comm, _ int, s *Scratch) {
	rank, size := c.Rank(), c.Size()
	for by := 1; by < size; by <<= 1 {
		s.swap(c, (rank+by)%size, 1, (rank+size-by)%size, 1)
	}
}

// largestPower is the largest power of two that is no more than size.
func largestPower(size int) int { return 1 << (bits.Len(uint(size)) - 1) }

// places are n, a power of two, among the ranks of a team of any size: of the first 2·more ranks, more = size−n, every
// second has one, and all others.
type places struct{ place, n, more, odd int }

// rank is that of another place.
func (f places) rank(place int) int {
	if place < f.more {
		return 2*place + f.odd
	}
	return place + f.more
}

// fold makes a team of any size one of a power of two: n ranks run inner, each with a place. Of the first 2·(size−n)
// ranks the even send their vector to the next rank before, and get the result from it after.
func fold(c Comm, m int, s *Scratch, inner func(f places)) {
	rank, n := c.Rank(), largestPower(c.Size())
	more := c.Size() - n
	switch {
	case rank >= 2*more:
		inner(places{rank - more, n, more, 1})
	case rank%2 == 0:
		c.Send(rank+1, s.Out(m))
		c.Recv(rank+1, s.In(m))
	default:
		c.Recv(rank-1, s.In(m))
		inner(places{rank / 2, n, more, 1})
		c.Send(rank-1, s.Out(m))
	}
}

// recursiveDoubling: places that differ in one bit exchange whole vectors, bit after bit from the lowest. Source:
// Thakur, Rabenseifner, Gropp 2005, section 4.5.
func recursiveDoubling(c Comm, m int, s *Scratch) {
	fold(c, m, s, func(f places) {
		for bit := 1; bit < f.n; bit <<= 1 {
			peer := f.rank(f.place ^ bit)
			s.swap(c, peer, m, peer, m)
		}
	})
}

// rabenseifner: a reduce-scatter by recursive halving, in which places that differ in one bit, from the highest,
// exchange halves of what is left to them; then an allgather by recursive doubling, back the same way. Source: as
// recursiveDoubling.
func rabenseifner(c Comm, m int, s *Scratch) {
	fold(c, m, s, func(f places) {
		part := func(first, count int) int { return blocks(m, f.n, first, first+count) }
		first := 0 // of the blocks that are left
		for bit := f.n / 2; bit > 0; bit >>= 1 {
			keep := first + f.place&bit
			give := keep ^ bit
			peer := f.rank(f.place ^ bit)
			s.swap(c, peer, part(give, bit), peer, part(keep, bit))
			first = keep
		}
		for bit := 1; bit < f.n; bit <<= 1 {
			peer := f.rank(f.place ^ bit)
			s.swap(c, peer, part(first, bit), peer, part(first^bit, bit))
			first &^= bit
		}
	})
}

// rabenseifnerNear is rabenseifner as Open MPI's coll/base performs it. Of the first 2·(size−n) ranks, with n the
// largest power of two, neighbours exchange halves of their vectors; then the odd send what they have added up to the
// even, and wait for the result. The others, and the even, have places below n: places that differ in one bit, from the
// lowest, exchange halves of what is left to them, and go back the same way.
func rabenseifnerNear(c Comm, m int, s *Scratch) {
	rank, n := c.Rank(), largestPower(c.Size())
	f := places{place: rank - (c.Size() - n), n: n, more: c.Size() - n}
	left, right := m/2, m-m/2
	switch {
	case rank >= 2*f.more:
		f.halve(c, m, s)
	case rank%2 == 1:
		s.swap(c, rank-1, left, rank-1, right)
		c.Send(rank-1, s.Out(right))
		c.Recv(rank-1, s.In(m))
	default:
		s.swap(c, rank+1, right, rank+1, left)
		c.Recv(rank+1, s.In(right))
		f.place = rank / 2
		f.halve(c, m, s)
		c.Send(rank+1, s.Out(m))
	}
}

// halve is the reduce-scatter and the allgather among the places.
func (f places) halve(c Comm, m int, s *Scratch) {
	type step struct{ peer, give, keep int }
	var steps [64]step
	k, window := 0, m
	for bit := 1; bit < f.n; bit <<= 1 {
		x := step{peer: f.rank(f.place ^ bit), keep: window / 2, give: window - window/2}
		if f.place&bit != 0 {
			x.keep, x.give = x.give, x.keep
		}
		s.swap(c, x.peer, x.give, x.peer, x.keep)
		steps[k], k, window = x, k+1, x.keep
	}
	for k--; k >= 0; k-- {
		s.swap(c, steps[k].peer, steps[k].keep, steps[k].peer, steps[k].give)
	}
}

// ringAllgather: in every step each rank sends a block to the next rank and receives one of the rank before: first
// block own, then what it has received last.
func ringAllgather(c Comm, m, own int, s *Scratch) {
	rank, size := c.Rank(), c.Size()
	next, before := (rank+1)%size, (rank+size-1)%size
	for step := range size - 1 {
		out := (own - step + 2*size) % size
		in := (out + size - 1) % size
		s.swap(c, next, blocks(m, size, out, out+1), before, blocks(m, size, in, in+1))
	}
}

// ringAllreduce: each of size blocks goes round the ring once and is added to, until a rank has the block of the rank
// after it whole; then the whole blocks go round. Source: Patarasuk, Yuan 2009.
func ringAllreduce(c Comm, m int, s *Scratch) {
	ringAllgather(c, m, c.Rank(), s) // a reduce-scatter moves what an allgather moves
	ringAllgather(c, m, c.Rank()+1, s)
}

// linearAllreduce: rank 0 receives from the last rank first.
func linearAllreduce(c Comm, m int, s *Scratch) {
	if c.Rank() > 0 {
		c.Send(0, s.Out(m))
	} else {
		for k := c.Size() - 1; k > 0; k-- {
			c.Recv(k, s.In(m))
		}
	}
	linearBroadcast(c, m, s)
}

// distances are those of a rank's neighbours on the ring, the nearest first.
var distances = [...]int{1, -1, 2, -2}

// ringNeighbours: every rank sends to its neighbours at once, then receives theirs. Source: Stoica, Sultan, Keyes 1994,
// section 3.3, with K = 4.
func ringNeighbours(c Comm, m int, s *Scratch) {
	rank, size := c.Rank(), c.Size()
	for _, d := range distances[:min(len(distances), size-1)] {
		s.send((rank+d+size)%size, m)
		s.recv((rank-d+size)%size, m)
	}
	s.exchange(c)
}

// pairwiseAlltoall: in step s every rank i sends to i+s and receives from i−s.
func pairwiseAlltoall(c Comm, m int, s *Scratch) {
	rank, size := c.Rank(), c.Size()
	for by := 1; by < size; by++ {
		s.swap(c, (rank+by)%size, m, (rank+size-by)%size, m)
	}
}

// shiftedAlltoall: as pairwiseAlltoall, in one exchange.
func shiftedAlltoall(c Comm, m int, s *Scratch) {
	rank, size := c.Rank(), c.Size()
	for by := 1; by < size; by++ {
		s.send((rank+by)%size, m)
		s.recv((rank+size-by)%size, m)
	}
	s.exchange(c)
}

// bruckAlltoall: block j of a rank is for the rank j on. In the step of a bit, every rank i sends to i+bit the blocks
// whose number has the bit, and receives as many from i−bit. Source: Bruck and others 1997.
func bruckAlltoall(c Comm, m int, s *Scratch) {
	rank, size := c.Rank(), c.Size()
	for bit := 1; bit < size; bit <<= 1 {
		n := 0
		for j := range size {
			if j&bit != 0 {
				n++
			}
		}
		s.swap(c, (rank+bit)%size, n*m, (rank+size-bit)%size, n*m)
	}
}

// randomAlltoall: as shiftedAlltoall, in orders that were drawn.
func randomAlltoall(c Comm, m int, s *Scratch) {
	o := &s.random
	o.draw(c.Rank(), c.Size())
	for _, to := range o.to[c.Rank()] {
		s.send(to, m)
	}
	for _, from := range o.from {
		s.recv(from, m)
	}
	s.exchange(c)
}

// randomSeed is that of the orders of randomAlltoall.
const randomSeed = 0x616c6c746f616c6c

// randomOrder is whom every rank of a team sends to, in order, and from whom one rank receives.
type randomOrder struct {
	to   [][]int
	from []int // of rank
	rank int
}

// draw fills o for a rank of a team, unless it is that already. In from, whoever sends to the rank as the n-th of its
// messages comes before those to whom it is a later one, and lower ranks first. This is the order of all messages that
// Exchange needs.
func (o *randomOrder) draw(rank, size int) {
	switch {
	case len(o.to) != size:
		*o = randomOrder{to: make([][]int, size)}
		for from := range o.to {
			o.to[from] = rand.New(rand.NewPCG(randomSeed, uint64(from))).Perm(size - 1)
			for i := range o.to[from] {
				o.to[from][i] = (from + 1 + o.to[from][i]) % size
			}
		}
	case o.rank == rank:
		return
	}
	o.rank, o.from = rank, make([]int, 0, size-1)
	at := make([]int, size) // where the rank is in the order of each other
	for from, order := range o.to {
		if from != rank {
			at[from], o.from = slices.Index(order, rank), append(o.from, from)
		}
	}
	slices.SortStableFunc(o.from, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
}

// word is a real number of the papers [B].
const word = 8

// sides and corners are steps on a processor grid, as rows and columns.
var (
	sides   = [...][2]int{{-1, 0}, {1, 0}, {0, 1}, {0, -1}}
	corners = [...][2]int{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}}
)

// domainExchange is one iteration of a domain decomposition on a grid of processors as square as can be (Stoica,
// Sultan, Keyes 1994, section 5.1.2). The drawing of figure 15 is read so, in this order: A, the boundary values of
// each side, m bytes to each of the four neighbours; B, the forcing data of each side, m bytes back to each; C, one
// word to each neighbour over a corner, which holds a crosspoint in common. Hosts at the physical boundary have fewer.
// The broadcasts of crosspoints to all and the inner products are not part of it.
func domainExchange(c Comm, m int, s *Scratch) {
	g := squareGrid(c.Size())
	for _, phase := range []struct {
		to    *[4][2]int
		bytes int
	}{{&sides, m}, {&sides, m}, {&corners, word}} {
		for _, d := range phase.to {
			g.shift(c, s, d[0], d[1], phase.bytes)
		}
		s.exchange(c)
	}
}

// grid is one of processors, by rows.
type grid struct{ rows, columns int }

// squareGrid has no more rows than columns, and as many as divide size.
func squareGrid(size int) grid {
	rows := 1
	for r := 2; r*r <= size; r++ {
		if size%r == 0 {
			rows = r
		}
	}
	return grid{rows, size / rows}
}

// step is the rank so many rows and columns away; ok is false beyond the edge.
func (g grid) step(rank, rows, columns int) (to int, ok bool) {
	r, c := rank/g.columns+rows, rank%g.columns+columns
	return r*g.columns + c, r >= 0 && r < g.rows && c >= 0 && c < g.columns
}

// shift adds to the next exchange n bytes to the rank so many rows and columns away, and from the one as far before.
func (g grid) shift(c Comm, s *Scratch, rows, columns, n int) {
	if to, ok := g.step(c.Rank(), rows, columns); ok {
		s.send(to, n)
	}
	if from, ok := g.step(c.Rank(), -rows, -columns); ok {
		s.recv(from, n)
	}
}

// planes is the grid of a time-parallel multigrid: p_t rows, the planes of time steps, of p_x columns, the strips of a
// plane. A p_x of 0 is the largest of 1, 2 and 4 that divides the team and leaves two planes.
func planes(size, x int) grid {
	if x == 0 {
		for x = 4; size%x != 0 || size/x < 2; {
			x /= 2
		}
	}
	return grid{size / x, x}
}

// edges exchanges the vectors IL and IR with the strips to the left and right. With m bytes of grid data, m/8 words, in
// a strip of p_x, a plane of n·n words has n = √(p_x·m/8), and so many words, rounded up, has an edge.
func (g grid) edges(c Comm, m int, s *Scratch) {
	n := word * int(math.Ceil(math.Sqrt(float64(g.columns)*float64(m)/word)))
	g.shift(c, s, 0, -1, n)
	g.shift(c, s, 0, 1, n)
	s.exchange(c)
}

// multigridOverlap: all strips exchange their edges; then every plane sends its grid data to the same strips of the
// next plane, all at once, which is the synchronised version of Stoica, Sultan, Keyes 1994, section 5.2.2, figure 18.
func multigridOverlap(strips int) run {
	return func(c Comm, m int, s *Scratch) {
		g := planes(c.Size(), strips)
		g.edges(c, m, s)
		g.shift(c, s, 1, 0, m)
		s.exchange(c)
	}
}

// multigridStaggered: a plane begins, with its edges, when the grid data of the plane before and, behind them, a token
// of one byte have come. Source: as multigridOverlap.
func multigridStaggered(strips int) run {
	return func(c Comm, m int, s *Scratch) {
		g := planes(c.Size(), strips)
		if from, ok := g.step(c.Rank(), -1, 0); ok {
			c.Recv(from, s.In(m))
			c.Recv(from, s.In(1))
		}
		g.edges(c, m, s)
		if to, ok := g.step(c.Rank(), 1, 0); ok {
			c.Send(to, s.Out(m))
			c.Send(to, s.Out(1))
		}
	}
}
