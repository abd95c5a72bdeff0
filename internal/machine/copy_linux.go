package machine

import (
	"fmt"
	"time"

	"calib/internal/plane"
	"calib/internal/units"
)

const (
	pageSize = 4096
	// The memory that cold copies go through is twice the last-level cache, within these bounds, and no more than a
	// share of the host's memory.
	leastCold = 16 << 20
	mostCold  = 256 << 20 // also where the caches are not known
	coldShare = 32
	// maxHot bounds one copy, as the size of two of them bounds the memory.
	maxHot = 64 << 20
)

// Copy implements plane.Machine. Since a cold block was last used, all of the memory that Cold says has been used,
// or half of it where the kind of copy has changed. The time includes a few nanoseconds for each cold copy to find its
// block.
func (m *Machine) Copy(c plane.Copy, n int) (units.Nanos, error) {
	if c.Bytes < 1 || c.Bytes > maxHot || n < 1 {
		return 0, fmt.Errorf("make %d copies of %d bytes: want at least one, of 1 to %d bytes", n, c.Bytes, maxHot)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	from, to, err := m.hotBlocks(int(c.Bytes))
	if err != nil {
		return 0, err
	}
	if !c.ColdFrom && !c.ColdTo {
		return hotCopies(to, from, c.Loop, n), nil
	}
	if err := m.prepareCold(int(c.Bytes)); err != nil {
		return 0, err
	}
	return m.cold.copies(c, from, to, n), nil
}

// hotBlocks returns two blocks that have just been used. They begin on pages, so that a store never looks to the
// processor like one to an address that it is about to load.
func (m *Machine) hotBlocks(bytes int) (from, to []byte, err error) {
	span := (bytes + pageSize - 1) / pageSize * pageSize
	if len(m.hot) < 2*span {
		memory, err := reserve(2 * span)
		if err != nil {
			return nil, nil, err
		}
		free(m.hot)
		m.hot = memory
	}
	from, to = m.hot[:bytes:bytes], m.hot[span:span+bytes:span+bytes]
	copy(to, from)
	return from, to, nil
}

func hotCopies(to, from []byte, loop bool, n int) units.Nanos {
	begin := time.Now()
	if loop {
		for range n {
			copyLoop(to, from)
		}
	} else {
		for range n {
			copy(to, from)
		}
	}
	return units.Nanos(time.Since(begin))
}

func (m *Machine) prepareCold(bytes int) error {
	if m.cold == nil {
		memory, err := reserve(int(m.Cold()))
		if err != nil {
			return err
		}
		m.cold = &rotation{memory: memory}
	}
	if most := m.cold.maxBlock(); bytes > most {
		return fmt.Errorf("copy %d bytes cold: this host's caches allow at most %d at a time", bytes, most)
	}
	m.cold.setBlockSize(bytes)
	return nil
}

// Cold is the memory to go through: twice the last-level cache. Where that cache is larger than 128 MiB, as that
// of a whole server seen from a virtual machine on it, mostCold keeps it below that, and a part of it may stay cached
// where the machine has the cache to itself.
func (m *Machine) Cold() units.Bytes {
	size := int64(mostCold)
	if k := len(m.caches); k > 0 {
		size = 2 * int64(m.caches[k-1])
	}
	if total := hostMemory(); total > 0 {
		size = min(size, total/coldShare)
	}
	return units.Bytes((min(max(size, leastCold), mostCold) + 2*window - 1) / (2 * window) * (2 * window))
}

// copyLoop copies byte by byte, len(from) bytes. The compiler (Go 1.26, amd64 and arm64) makes of it a loop that loads
// and stores one byte at a time: it neither knows the loop as a copy nor uses vectors.
//
//go:noinline
func copyLoop(to, from []byte) {
	to = to[:len(from)]
	//lint:ignore S1001 byte by byte is the point
	for i := range from {
		to[i] = from[i]
	}
}

const (
	// window is the part of the memory [B] whose blocks are used in strides, before the next window begins.
	window = 1 << 20
	// Blocks begin at multiples of spacing [B]: two cache lines, which processors tend to load as a pair.
	spacing = 128
)

// rotation goes through a large memory block by block, so that each block is the one untouched for longest. It cuts the
// memory in two halves and goes through both at once, one for reading and one for writing, which change places after
// each pass. Each half is passed window by window and, within a window, in strides of about 0.618 of it. Neighbouring
// blocks are thus used far apart in time, with blocks on other pages between them, so that no prefetcher detects a
// stream.
//
// With windows, rather than strides through the whole, the order in which memory was last used does not depend on the
// size of blocks: the memory ahead is always that unused for longest, also after a change of size.
type rotation struct {
	memory []byte
	base   int // of the window within the half
	span   int // of the window
	swap   int // 0: read from the first half, write to the second; 1: the other way
	bytes  int
	gap    int // from block to block
	blocks int // in a window
	block  int // next
	stride int
	left   int // blocks of the window that are still to come
}

func (r *rotation) half() int     { return len(r.memory) / 2 }
func (r *rotation) maxBlock() int { return r.half() / 4 }

// setBlockSize sets the size of blocks. A new size starts with the next window.
func (r *rotation) setBlockSize(bytes int) {
	if bytes == r.bytes {
		return
	}
	next := r.base + r.span // 0 at first
	r.bytes, r.gap = bytes, (bytes+spacing-1)/spacing*spacing
	r.blocks = max(1, window/r.gap)
	r.span = max(window, r.gap)
	r.stride = strideOf(r.blocks)
	r.beginWindow(next)
}

// beginWindow begins a window at next or, where the half ends before, at the start of a new pass.
func (r *rotation) beginWindow(next int) {
	if next+r.span > r.half() {
		next, r.swap = 0, 1-r.swap
	}
	r.base, r.block, r.left = next, 0, r.blocks
}

// take returns where in its half the next block begins, and which half to read from.
func (r *rotation) take() (at, readHalf int) {
	if r.left == 0 {
		r.beginWindow(r.base + r.span)
	}
	at = r.base + r.block*r.gap
	r.left--
	if r.block += r.stride; r.block >= r.blocks {
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

// strideOf returns a stride that visits each of n blocks once before it is back at the first: the number nearest below
// 0.618·n that has no divisor in common with n.
func strideOf(n int) int {
	stride := max(1, n*618/1000)
	for gcd(stride, n) != 1 {
		stride--
	}
	return stride
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
