package machine

import (
	"time"

	"calib/internal/plane"
	"calib/internal/units"
)

const (
	// window is the memory whose blocks are taken in leaps [B].
	window = 1 << 20
	// Blocks lie at multiples of apart [B], two lines, which processors tend to load as a pair.
	apart = 128
)

// rotation goes through a large memory block by block, so that each block is the one untouched for longest. It cuts the
// memory in two halves and goes through both at once, one for reading and one for writing, which change places after each
// pass. Each half is passed window by window and, within a window, in leaps of about 0.618 of it: neighbours follow each
// other only after a window's worth of other blocks, on other pages, so that no prefetcher sees a stream.
//
// Going forward in windows, rather than leaping through the whole, keeps the order of memory by last use the same
// whatever the size of blocks: what is ahead is what was touched before everything behind, also after a change of size.
type rotation struct {
	memory []byte
	base   int // of the window within the half
	span   int // of the window
	swap   int // 0: read from the first half, write to the second; 1: the other way
	bytes  int
	gap    int // from block to block
	blocks int // in a window
	block  int // next
	leap   int
	left   int // blocks of the window that are still to come
}

func (r *rotation) half() int { return len(r.memory) / 2 }

// most is the largest block of which a half has room for enough.
func (r *rotation) most() int { return r.half() / 4 }

// cut sets the size of blocks. A new size starts with the next window.
func (r *rotation) cut(bytes int) {
	if bytes == r.bytes {
		return
	}
	first := r.bytes == 0
	next := r.base + r.span
	r.bytes, r.gap = bytes, (bytes+apart-1)/apart*apart
	r.blocks = max(1, window/r.gap)
	r.span = max(window, r.gap)
	r.leap = leapOf(r.blocks)
	if first {
		next = 0
	}
	r.enter(next)
}

// enter begins a window, at next or, where the half ends before, at the start of a new pass.
func (r *rotation) enter(next int) {
	if next+r.span > r.half() {
		next, r.swap = 0, 1-r.swap
	}
	r.base, r.block, r.left = next, 0, r.blocks
}

// take returns where in its half the next block begins, and which half to read from.
func (r *rotation) take() (at, readHalf int) {
	if r.left == 0 {
		r.enter(r.base + r.span)
	}
	at = r.base + r.block*r.gap
	r.left--
	if r.block += r.leap; r.block >= r.blocks {
		r.block -= r.blocks
	}
	return at, r.swap
}

// copies makes n copies and returns their time. A side that is not cold is the block given.
func (r *rotation) copies(c plane.Copy, from, to []byte, n int) units.Nanos {
	half := r.half()
	begin := time.Now()
	for range n {
		at, read := r.take()
		if c.ColdFrom {
			from = r.memory[at+read*half:][:r.bytes]
		}
		if c.ColdTo {
			to = r.memory[at+(1-read)*half:][:r.bytes]
		}
		if c.Loop {
			copyLoop(to, from)
		} else {
			copy(to, from)
		}
	}
	return units.Nanos(time.Since(begin))
}

// leapOf returns a step that visits each of n blocks once before it is back at the first: the number nearest below
// 0.618·n that has no divisor in common with n.
func leapOf(n int) int {
	leap := max(1, n*618/1000)
	for gcd(leap, n) != 1 {
		leap--
	}
	return leap
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
