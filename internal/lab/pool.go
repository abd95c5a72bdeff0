package lab

import "slices"

// poolBytes bounds the memory that packets in flight may take. A sender's block has no bound of its own: TCP stops at
// its window, but a datagram flood would not.
const poolBytes = 256 << 20

// firstBuffers are touched before the first packet, so that none of the lab's usual ones waits for the kernel to find
// memory. What no packet took is not in memory.
const firstBuffers = 1024

// pool hands out buffers of one size by number, those used last first.
type pool struct {
	size    int
	buffers [][]byte // by number; a packet's is cut to its length
	spare   []int32
}

func newPool(size, bytes int) *pool {
	memory := make([]byte, bytes/size*size)
	for i := 0; i < min(len(memory), firstBuffers*size); i += 4096 {
		memory[i] = 1
	}
	p := &pool{size: size, buffers: slices.Collect(slices.Chunk(memory, size))}
	for n := len(p.buffers) - 1; n >= 0; n-- {
		p.spare = append(p.spare, int32(n))
	}
	return p
}

func (p *pool) get() (int32, bool) {
	last := len(p.spare) - 1
	if last < 0 {
		return 0, false
	}
	n := p.spare[last]
	p.spare = p.spare[:last]
	return n, true
}

func (p *pool) put(n int32) {
	p.buffers[n] = p.buffers[n][:p.size]
	p.spare = append(p.spare, n)
}
