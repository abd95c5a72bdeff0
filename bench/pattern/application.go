package pattern

import "math"

var applications = []Pattern{
	{ID: 21, Operation: "dd", Algorithm: "exchange", Bytes: "of a side of a subdomain",
		Source: "Stoica, Sultan, Keyes 1994, section 5.1.2, figure 15: domain decomposition, the messages between neighbours of one iteration", Least: 2,
		Run: domainExchange},
	{ID: 22, Operation: "mg", Algorithm: "overlap", Bytes: "of G, the grid data of one host",
		Source: "Stoica, Sultan, Keyes 1994, section 5.2.2, figure 18: multigrid, all planes send at once", Least: 2, Run: multigridOverlap},
	{ID: 23, Operation: "mg", Algorithm: "staggered", Bytes: "of G, the grid data of one host",
		Source: "Stoica, Sultan, Keyes 1994, section 5.2.2, figure 18: multigrid, one plane after the other", Least: 2, Run: multigridStaggered},
}

// word is a real number of the papers [B].
const word = 8

// sides and corners are steps on a processor grid, as rows and columns.
var (
	sides   = [...][2]int{{-1, 0}, {1, 0}, {0, 1}, {0, -1}}
	corners = [...][2]int{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}}
)

// domainExchange is one iteration of a domain decomposition on a grid of processors as square as can be. The drawing of
// figure 15 is read so, in this order: A, the boundary values of each side, m bytes to each of the four neighbours; B,
// the forcing data of each side, m bytes back to each; C, one word to each neighbour over a corner, which holds a
// crosspoint in common. Hosts at the physical boundary have fewer. The broadcasts of crosspoints to all and the inner
// products are not part of it.
func domainExchange(c Comm, m int, s *Scratch) error {
	g := squareGrid(c.Size())
	for _, phase := range []struct {
		to    *[4][2]int
		bytes int
	}{{&sides, m}, {&sides, m}, {&corners, word}} {
		for _, d := range phase.to {
			if to, ok := g.step(c.Rank(), d[0], d[1]); ok {
				s.send(to, phase.bytes)
			}
			if from, ok := g.step(c.Rank(), -d[0], -d[1]); ok {
				s.recv(from, phase.bytes)
			}
		}
		if err := s.exchange(c); err != nil {
			return err
		}
	}
	return nil
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

// planes is the grid of a time-parallel multigrid: p_t rows, the planes of time steps, of p_x columns, the strips of a
// plane. p_x is the largest of 1, 2 and 4 that divides the team and leaves two planes.
func planes(size int) grid {
	x := 4
	for size%x != 0 || size/x < 2 {
		x /= 2
	}
	return grid{size / x, x}
}

// edges exchanges the vectors IL and IR with the strips to the left and right. With m bytes of grid data, m/8 words, in
// a strip of p_x, a plane of n·n words has n = √(p_x·m/8), and so many words, rounded up, has an edge.
func (g grid) edges(c Comm, m int, s *Scratch) error {
	n := word * int(math.Ceil(math.Sqrt(float64(g.columns)*float64(m)/word)))
	for _, d := range []int{-1, 1} {
		if to, ok := g.step(c.Rank(), 0, d); ok {
			s.send(to, n)
		}
		if from, ok := g.step(c.Rank(), 0, -d); ok {
			s.recv(from, n)
		}
	}
	return s.exchange(c)
}

// multigridOverlap: all strips exchange their edges; then every plane sends its grid data to the same strips of the
// next plane, all at once, which is the paper's synchronised version.
func multigridOverlap(c Comm, m int, s *Scratch) error {
	g := planes(c.Size())
	if err := g.edges(c, m, s); err != nil {
		return err
	}
	if to, ok := g.step(c.Rank(), 1, 0); ok {
		s.send(to, m)
	}
	if from, ok := g.step(c.Rank(), -1, 0); ok {
		s.recv(from, m)
	}
	return s.exchange(c)
}

// multigridStaggered: a plane begins, with its edges, when the grid data of the plane before and, behind them, a token
// of one byte have come.
func multigridStaggered(c Comm, m int, s *Scratch) error {
	g := planes(c.Size())
	if from, ok := g.step(c.Rank(), -1, 0); ok {
		if err := c.Recv(from, s.In(m)); err != nil {
			return err
		}
		if err := c.Recv(from, s.In(1)); err != nil {
			return err
		}
	}
	if err := g.edges(c, m, s); err != nil {
		return err
	}
	to, ok := g.step(c.Rank(), 1, 0)
	if !ok {
		return nil
	}
	if err := c.Send(to, s.Out(m)); err != nil {
		return err
	}
	return c.Send(to, s.Out(1))
}
