package params

import (
	"errors"
	"fmt"
	"math"

	"calib/internal/lists"
)

// ErrBlock reports parameters that no communication block can have: negative, infinite, or not a number.
var ErrBlock = errors.New("not a communication block")

// Block is a communication block: A seconds for a message that fits in one packet, in the limit of no payload, and B
// seconds a byte in the limit of long messages.
// Source: Stoica, Sultan, Keyes 1994, section 2.
type Block struct {
	A float64 `json:"a"` // s
	B float64 `json:"b"` // s/B
}

// ServiceTime returns the total service time [s] of a message of x bytes,
//
//	T(x; a, b) = a²/(a + b·x) + b·x,  a in s, b in s/B, a, b, x ≥ 0.
//
// A block of a = 0 takes b·x.
// Source: Stoica, Sultan, Keyes 1994, eq. 3.
func ServiceTime(x, a, b float64) float64 {
	if a == 0 {
		return b * x
	}
	return a*(a/(a+b*x)) + b*x // exact at x = 0
}

// T returns the total service time [s] of a message of x bytes, eq. 3.
func (c Block) T(x float64) float64 { return ServiceTime(x, c.A, c.B) }

// Check returns ErrBlock unless both parameters are finite and not negative.
func (c Block) Check() error {
	if !finite(c.A) || !finite(c.B) || c.A < 0 || c.B < 0 {
		return fmt.Errorf("a = %g s, b = %g s/B: %w", c.A, c.B, ErrBlock)
	}
	return nil
}

// Serial reduces blocks that every packet passes one after the other: the a's add; the b's add where the blocks are
// dependent (only one of them works at a time) and the largest b counts where they are not. No blocks are Block{}.
// Source: Stoica, Sultan, Keyes 1994, rule 1, eq. 5 and 6.
func Serial(dependent bool, blocks ...Block) Block {
	var r Block
	for _, c := range blocks {
		r.A += c.A
		if dependent {
			r.B += c.B
		} else {
			r.B = math.Max(r.B, c.B)
		}
	}
	return r
}

// Parallel reduces blocks of which each packet passes any one, chosen so that the message is served soonest: the
// smallest a; and the smallest b where the blocks are dependent, the b of all together, 1/b = Σ 1/b_i, where they are
// not. No blocks are Block{}.
// Source: Stoica, Sultan, Keyes 1994, rule 2, eq. 9 and 10.
func Parallel(dependent bool, blocks ...Block) Block {
	if len(blocks) == 0 {
		return Block{}
	}
	r := blocks[0]
	rate := 0.0
	for _, c := range blocks {
		r.A = math.Min(r.A, c.A)
		r.B = math.Min(r.B, c.B)
		rate += 1 / c.B
	}
	if !dependent {
		r.B = 1 / rate
	}
	return r
}

// Concurrent returns the block that message i of the given sizes [B] meets when one block serves all of them at once,
// each time bounded by that of the last:
//
//	a_i = n·a,  b_i = b·Σx/x_i,  n = len(sizes).
//
// It returns ErrBlock for an index or a size that is not there. Source: Stoica, Sultan, Keyes 1994, rule 3, eq. 14.
func (c Block) Concurrent(i int, sizes ...float64) (Block, error) {
	if i < 0 || i >= len(sizes) || !(sizes[i] > 0) {
		return Block{}, fmt.Errorf("message %d of %d, sizes %v: %w", i, len(sizes), sizes, ErrBlock)
	}
	total := lists.Sum(sizes, func(x float64) float64 { return x })
	return Block{float64(len(sizes)) * c.A, c.B * total / sizes[i]}, nil
}

// ConcurrentEqual is Concurrent for n messages of equal size: both parameters times n. Source: Stoica, Sultan, Keyes
// 1994, below eq. 14.
func (c Block) ConcurrentEqual(n int) Block { return Block{float64(n) * c.A, float64(n) * c.B} }
