package pattern

import "math"

// trees are broadcasts over trees whose nodes send every segment to all their children at once, as MPI libraries do.
// The trees are those of Open MPI's coll/base (coll_base_topo.c), rank by rank.
var trees = []Pattern{
	{ID: 24, Operation: "bcast", Algorithm: "knomial", Bytes: "of the message",
		Source: "Open MPI: 4-nomial tree, the largest subtree first; segments of 8 KiB", Least: 2, segmented: over(knomial(4))},
	{ID: 25, Operation: "bcast", Algorithm: "binary-segmented", Bytes: "of the message",
		Source: "Open MPI: binary tree, rank r of a level of n has the children r+n and r+2n; segments of 8 KiB", Least: 2,
		segmented: over(spreadBinary)},
	{ID: 26, Operation: "bcast", Algorithm: "binomial-segmented", Bytes: "of the message",
		Source: "Open MPI: binomial tree, the parent is the rank without its highest set bit; segments of 8 KiB", Least: 2,
		segmented: over(highBinomial)},
	{ID: 27, Operation: "bcast", Algorithm: "chains", Bytes: "of the message",
		Source: "Open MPI: four chains as equal as can be; segments of 8 KiB", Least: 2, segmented: over(chains(Chains))},
	{ID: 28, Operation: "bcast", Algorithm: "split-binary", Bytes: "of the message",
		Source: "Open MPI: each half of the message down one half of the binary tree, in segments of 8 KiB; then pairs exchange halves", Least: 2,
		segmented: splitBinary},
	{ID: 29, Operation: "bcast", Algorithm: "scatter-doubling", Bytes: "of the message",
		Source: "Thakur, Rabenseifner, Gropp 2005, section 4.4: scatter over a binomial tree, then allgather by recursive doubling", Least: 2,
		Fits: powerOfTwo, Run: scatterDoubling},
}

// Linear is broadcast serial as MPI libraries perform it: the root's sends are one exchange. The messages are the same,
// so that All holds the other only.
var Linear = Pattern{Operation: "bcast", Algorithm: "linear", Bytes: "of the message", Source: "the root sends to all at once, by rank", Least: 2,
	Run: linearBroadcast}

// Chains is how many chains broadcast "chains" has.
const Chains = 4

// tree is the shape of a broadcast from rank 0. It returns a rank's parent, and appends its children to next, in the
// order in which it sends to them.
type tree func(rank, size int, next []int) (parent int, children []int)

// over is the broadcast over a tree.
func over(t tree) func(int) func(Comm, int, *Scratch) error {
	return func(segment int) func(Comm, int, *Scratch) error {
		return func(c Comm, m int, s *Scratch) error {
			parent, children := t(c.Rank(), c.Size(), s.ranks[:0])
			s.ranks = children
			for left := m; left > 0; left -= min(left, segment) {
				if err := passOn(c, s, parent, children, min(left, segment)); err != nil {
					return err
				}
			}
			return nil
		}
	}
}

// passOn receives n bytes from the parent, unless this is the root, and sends them to all children at once.
func passOn(c Comm, s *Scratch, parent int, children []int, n int) error {
	if c.Rank() > 0 {
		if err := c.Recv(parent, s.In(n)); err != nil {
			return err
		}
	}
	for _, k := range children {
		s.send(k, n)
	}
	return s.exchange(c)
}

// linearBroadcast: the root's sends are one exchange.
func linearBroadcast(c Comm, m int, s *Scratch) error {
	return passOn(c, s, 0, everyOther(c, s), m)
}

// everyOther lists, for the root, all other ranks.
func everyOther(c Comm, s *Scratch) []int {
	s.ranks = s.ranks[:0]
	for k := 1; c.Rank() == 0 && k < c.Size(); k++ {
		s.ranks = append(s.ranks, k)
	}
	return s.ranks
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
func splitBinary(segment int) func(Comm, int, *Scratch) error {
	chain := pipelined(segment)
	return func(c Comm, m int, s *Scratch) error {
		half := [2]int{m - m/2, m / 2}
		if half[1] == 0 || segment > half[1] && segment < math.MaxInt {
			return chain(c, m, s)
		}
		rank, size := c.Rank(), c.Size()
		if err := downHalves(c, s, half, segment); err != nil {
			return err
		}
		switch side := (rank + 1) % 2; {
		case size%2 == 0 && rank == 0:
			return c.Send(size-1, s.Out(half[1]))
		case size%2 == 0 && rank == size-1:
			return c.Recv(0, s.In(half[1]))
		case rank > 0:
			pair := rank + 1 - 2*side
			return s.swap(c, pair, half[side], pair, half[1-side])
		}
		return nil
	}
}

// downHalves sends both halves down the tree, in segments by turns.
func downHalves(c Comm, s *Scratch, half [2]int, segment int) error {
	rank := c.Rank()
	parent, children := spreadBinary(rank, c.Size(), s.ranks[:0])
	s.ranks = children
	if rank > 0 {
		for left := half[(rank+1)%2]; left > 0; left -= min(left, segment) {
			if err := passOn(c, s, parent, children, min(left, segment)); err != nil {
				return err
			}
		}
		return nil
	}
	for done := 0; done < half[0]; done += min(segment, half[0]-done) {
		for i, k := range children {
			if n := min(segment, half[i]-done); n > 0 {
				if err := c.Send(k, s.Out(n)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// powerOfTwo reports whether a team is.
func powerOfTwo(size int) bool { return size&(size-1) == 0 }

// scatterDoubling: as scatterAllgather, but ranks that differ in one bit, from the lowest, exchange all the blocks they
// have.
func scatterDoubling(c Comm, m int, s *Scratch) error {
	rank, size := c.Rank(), c.Size()
	if err := scatterBlocks(c, m, s); err != nil {
		return err
	}
	for bit := 1; bit < size; bit <<= 1 {
		mine := rank &^ (bit - 1)
		its := mine ^ bit
		if err := s.swap(c, rank^bit, blocks(m, size, mine, mine+bit), rank^bit, blocks(m, size, its, its+bit)); err != nil {
			return err
		}
	}
	return nil
}
