package pattern

import (
	"math"
	"slices"
)

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
	parent, children := binomial(rank, size, s.ranks[:0])
	s.ranks = children
	for _, child := range slices.Backward(children) {
		c.Recv(child, s.In(m*subtree(child, size)))
	}
	if rank > 0 {
		c.Send(parent, s.Out(m*subtree(rank, size)))
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

// subtree is how many ranks that of a rank has in the binomial tree: the rank itself and those that follow it.
func subtree(rank, size int) int {
	if rank == 0 {
		return size
	}
	return min(rank&-rank, size-rank)
}

// blocks is the length of blocks first to end, without end, of m bytes in count blocks as equal as whole bytes can be.
func blocks(m, count, first, end int) int { return end*m/count - first*m/count }

// scatterAllgather: the message is cut into a block for each rank. Down a binomial tree every rank gets the blocks of
// its subtree; then the blocks go round a ring, each to the next rank, until all have all. An empty block is not sent.
// Source: van de Geijn.
func scatterAllgather(c Comm, m int, s *Scratch) {
	scatterBlocks(c, m, s)
	ringAllgather(c, m, c.Rank(), s)
}

// scatterBlocks is the scatter of scatterAllgather.
func scatterBlocks(c Comm, m int, s *Scratch) {
	rank, size := c.Rank(), c.Size()
	of := func(rank int) int { return blocks(m, size, rank, rank+subtree(rank, size)) }
	parent, children := binomial(rank, size, s.ranks[:0])
	s.ranks = children
	if n := of(rank); rank > 0 && n > 0 {
		c.Recv(parent, s.In(n))
	}
	for _, child := range children {
		if n := of(child); n > 0 {
			c.Send(child, s.Out(n))
		}
	}
}

// powerOfTwo reports whether a team is.
func powerOfTwo(size int) bool { return size&(size-1) == 0 }

// scatterDoubling: as scatterAllgather, but ranks that differ in one bit, from the lowest, exchange all the blocks they
// have. Source: Thakur, Rabenseifner, Gropp 2005, section 4.4.
func scatterDoubling(c Comm, m int, s *Scratch) {
	rank, size := c.Rank(), c.Size()
	scatterBlocks(c, m, s)
	for bit := 1; bit < size; bit <<= 1 {
		mine := rank &^ (bit - 1)
		its := mine ^ bit
		s.swap(c, rank^bit, blocks(m, size, mine, mine+bit), rank^bit, blocks(m, size, its, its+bit))
	}
}

// Chains is how many chains broadcast "chains" has.
const Chains = 4

// tree is the shape of a broadcast from rank 0. It returns a rank's parent, and appends its children to next, in the
// order in which the rank sends to them.
type tree func(rank, size int, next []int) (parent int, children []int)

// sending sends n bytes to each of some ranks.
type sending func(c Comm, s *Scratch, to []int, n int)

// over is the broadcast over a tree, in segments: a rank passes each on when it has it. MPI libraries send to all
// children at once (sendAll); the trees for that are those of Open MPI's coll/base (coll_base_topo.c), rank by rank.
func over(t tree, pass sending) func(segment int) run {
	return func(segment int) run {
		return func(c Comm, m int, s *Scratch) {
			parent, children := t(c.Rank(), c.Size(), s.ranks[:0])
			s.ranks = children
			for left := m; left > 0; left -= min(left, segment) {
				n := min(left, segment)
				if c.Rank() > 0 {
					c.Recv(parent, s.In(n))
				}
				pass(c, s, children, n)
			}
		}
	}
}

// sendEach sends to one rank after the other, sendAll to all at once.
func sendEach(c Comm, s *Scratch, to []int, n int) {
	for _, k := range to {
		c.Send(k, s.Out(n))
	}
}

func sendAll(c Comm, s *Scratch, to []int, n int) {
	for _, k := range to {
		s.send(k, n)
	}
	s.exchange(c)
}

// whole is a broadcast in one piece.
func whole(t tree, pass sending) run { return over(t, pass)(math.MaxInt) }

var (
	rootToEach = whole(star, sendEach)
	pipelined  = over(chains(1), sendEach)
	// linearBroadcast is broadcast serial whose sends are one exchange.
	linearBroadcast = whole(star, sendAll)
	binomial        = knomial(2)
)

// star: rank 0 has all other ranks as children.
func star(rank, size int, next []int) (int, []int) {
	for k := 1; rank == 0 && k < size; k++ {
		next = append(next, k)
	}
	return 0, next
}

// binary: rank i sends to 2i+1 and then to 2i+2. Source: Stoica, Sultan, Keyes 1994, section 3.1, figure 10.
func binary(rank, size int, next []int) (int, []int) {
	for k := 2*rank + 1; k <= 2*rank+2 && k < size; k++ {
		next = append(next, k)
	}
	return (rank - 1) / 2, next
}

// knomial: the children of a rank are rank + 1, 2, … radix−1 times every power of the radix that divides the rank with
// the next power, the largest first.
func knomial(radix int) tree {
	return func(rank, size int, next []int) (int, []int) {
		parent, mask := 0, 1
		for ; mask < size; mask *= radix {
			if place := rank % (radix * mask); place != 0 {
				parent = rank - place
				break
			}
		}
		for mask /= radix; mask > 0; mask /= radix {
			for r := 1; r < radix; r++ {
				if k := rank + mask*r; k < size {
					next = append(next, k)
				}
			}
		}
		return parent, next
	}
}

// spreadBinary: a level of n ranks follows the levels before it, and its ranks r have the children r+n and r+2n.
func spreadBinary(rank, size int, next []int) (int, []int) {
	n := 1 // ranks of this rank's level, the first of which is n−1
	for 2*n-1 <= rank {
		n *= 2
	}
	for _, k := range [...]int{rank + n, rank + 2*n} {
		if k < size {
			next = append(next, k)
		}
	}
	parent := rank - n/2
	if parent >= n-1 { // of this level: it is the second child of one above
		parent -= n / 2
	}
	return max(parent, 0), next
}

// highBinomial: the children of a rank are rank + 2^k for every 2^k above it, the nearest first.
func highBinomial(rank, size int, next []int) (int, []int) {
	bit := 1
	for bit <= rank {
		bit *= 2
	}
	parent := rank &^ (bit / 2)
	for ; rank+bit < size; bit *= 2 {
		next = append(next, rank+bit)
	}
	return parent, next
}

// chains: the other ranks form count chains, the first of them longer by a rank where they cannot be equal.
func chains(count int) tree {
	return func(rank, size int, next []int) (int, []int) {
		n := min(count, size-1)
		for i, head := 0, 1; i < n; i++ {
			length := (size - 1) / n
			if i < (size-1)%n {
				length++
			}
			switch {
			case rank == 0:
				next = append(next, head)
			case rank >= head && rank < head+length:
				parent := 0
				if rank > head {
					parent = rank - 1
				}
				if rank+1 < head+length {
					next = append(next, rank+1)
				}
				return parent, next
			}
			head += length
		}
		return 0, next
	}
}

// splitBinary: odd ranks are the left half of the tree and get the first half of the message, the longer one; even
// ranks get the second. Then rank 1 exchanges halves with rank 2, 3 with 4 and so on; a last odd rank without a partner
// gets the second half from the root. A message of which a half is shorter than a segment goes along a chain.
func splitBinary(segment int) run {
	chain := pipelined(segment)
	return func(c Comm, m int, s *Scratch) {
		half := [2]int{m - m/2, m / 2}
		if half[1] == 0 || segment > half[1] && segment < math.MaxInt {
			chain(c, m, s)
			return
		}
		rank, size := c.Rank(), c.Size()
		downHalves(c, s, half, segment)
		switch side := (rank + 1) % 2; {
		case size%2 == 0 && rank == 0:
			c.Send(size-1, s.Out(half[1]))
		case size%2 == 0 && rank == size-1:
			c.Recv(0, s.In(half[1]))
		case rank > 0:
			pair := rank + 1 - 2*side
			s.swap(c, pair, half[side], pair, half[1-side])
		}
	}
}

// downHalves sends both halves down the tree, in segments by turns.
func downHalves(c Comm, s *Scratch, half [2]int, segment int) {
	rank := c.Rank()
	parent, children := spreadBinary(rank, c.Size(), s.ranks[:0])
	s.ranks = children
	if rank > 0 {
		for left := half[(rank+1)%2]; left > 0; left -= min(left, segment) {
			n := min(left, segment)
			c.Recv(parent, s.In(n))
			sendAll(c, s, children, n)
		}
		return
	}
	for done := 0; done < half[0]; done += min(segment, half[0]-done) {
		for i, k := range children {
			if n := min(segment, half[i]-done); n > 0 {
				c.Send(k, s.Out(n))
			}
		}
	}
}
