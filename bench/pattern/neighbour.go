package pattern

var neighbours = []Pattern{
	{ID: 13, Operation: "neighbour", Algorithm: "ring", Bytes: "to each neighbour",
		Source: "Stoica, Sultan, Keyes 1994, section 3.3, with K = 4, or all others where there are fewer", Least: 2, Run: ringNeighbours},
}

// distances are those of a rank's neighbours on the ring, the nearest first.
var distances = [...]int{1, -1, 2, -2}

// ringNeighbours: every rank sends to its neighbours at once, then receives theirs.
func ringNeighbours(c Comm, m int, s *Scratch) error {
	rank, size := c.Rank(), c.Size()
	for _, d := range distances[:min(len(distances), size-1)] {
		s.send((rank+d+size)%size, m)
		s.recv((rank-d+size)%size, m)
	}
	return s.exchange(c)
}
