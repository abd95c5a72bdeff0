package pattern

import "math"

// segment is what the segmented algorithms of All pass on at a time [B].
const segment = 8 << 10

// Segments are those that Variants tries [B].
var Segments = []int{1 << 10, 2 << 10, 4 << 10, segment, 16 << 10, 32 << 10, 64 << 10}

// whole gives the segmented patterns of a list their usual segment.
func whole(list []Pattern) []Pattern {
	for i, p := range list {
		if p.segmented != nil {
			list[i] = p.WithSegment(segment)
		}
	}
	return list
}

// Segmented reports whether the algorithm cuts a message into pieces of a size that can be chosen.
func (p Pattern) Segmented() bool { return p.segmented != nil }

// WithSegment returns a segmented algorithm with another size of its pieces [B]; 0 passes messages on whole. Other
// algorithms stay as they are.
func (p Pattern) WithSegment(n int) Pattern {
	if p.segmented == nil {
		return p
	}
	p.Segment = n
	if n == 0 {
		n = math.MaxInt
	}
	p.Run = p.segmented(n)
	return p
}

// Variants lists the algorithms of an operation for messages of m bytes: segmented ones whole, and with each of
// Segments that is shorter.
func Variants(operation string, m int) []Pattern {
	var out []Pattern
	for _, p := range OfOperation(operation) {
		out = append(out, p.WithSegment(0))
		for _, n := range Segments {
			if p.Segmented() && n < m {
				out = append(out, p.WithSegment(n))
			}
		}
	}
	return out
}

// pipelined is the broadcast along a chain: every rank passes each segment on to the next rank when it has it.
func pipelined(segment int) func(Comm, int, *Scratch) error {
	return func(c Comm, m int, s *Scratch) error {
		rank := c.Rank()
		for left := m; left > 0; left -= min(left, segment) {
			n := min(left, segment)
			if rank > 0 {
				if err := c.Recv(rank-1, s.In(n)); err != nil {
					return err
				}
			}
			if rank+1 < c.Size() {
				if err := c.Send(rank+1, s.Out(n)); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
