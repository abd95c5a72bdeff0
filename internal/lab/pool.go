package lab

import "slices"

// poolBytes bounds the memory that packets in flight may take. A sender's block has no bound of its own: TCP stops at
// its window, but a datagram flood would not.
const poolBytes = 256 << 20

// pool hands out buffers of one size by number. Memory comes in chunks and is kept, so that a lab in its steady state
// allocates nothing.
type pool struct {
	size    int
	buffers [][]byte // by number; a packet's is cut to its length
	spare   []int32
	limit   int
}

const (
	chunkBuffers = 64
	firstChunks  = 16 // made and touched before the first packet
)

func newPool(size int) *pool {
	p := &pool{size: size, limit: max(chunkBuffers*firstChunks, poolBytes/size)}
	for range firstChunks {
		p.grow()
	}
	return p
}

// grow adds a chunk, touched, so that no packet waits for the kernel to find memory.
func (p *pool) grow() {
	made, chunk := len(p.buffers), make([]byte, chunkBuffers*p.size)
	for i := 0; i < len(chunk); i += 4096 {
		chunk[i] = 1
	}
	p.buffers = slices.AppendSeq(p.buffers, slices.Chunk(chunk, p.size))
	for i := chunkBuffers - 1; i >= 0; i-- {
		p.spare = append(p.spare, int32(made+i))
	}
}

func (p *pool) get() (int32, bool) {
	if len(p.spare) == 0 {
		if len(p.buffers) >= p.limit {
			return 0, false
		}
		p.grow()
	}
	last := len(p.spare) - 1
	n := p.spare[last]
	p.spare = p.spare[:last]
	return n, true
}

func (p *pool) put(n int32) {
	p.buffers[n] = p.buffers[n][:p.size]
	p.spare = append(p.spare, n)
}
