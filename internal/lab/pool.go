package lab

// poolBytes bounds the memory that packets in flight may take. A sender's block has no bound of its own: TCP stops at
// its window, but a datagram flood would not.
const poolBytes = 256 << 20

// pool hands out buffers of one size by number. Memory comes in chunks and is kept, so that a lab in its steady state
// allocates nothing.
type pool struct {
	size   int
	chunks [][]byte
	spare  []int32
	limit  int
}

const chunkBuffers = 64

func newPool(size int) *pool {
	return &pool{size: size, limit: max(chunkBuffers, poolBytes/size)}
}

// get returns a buffer's number; false if the bound is reached.
func (p *pool) get() (int32, bool) {
	if len(p.spare) == 0 {
		if made := len(p.chunks) * chunkBuffers; made < p.limit {
			p.chunks = append(p.chunks, make([]byte, chunkBuffers*p.size))
			for i := chunkBuffers - 1; i >= 0; i-- {
				p.spare = append(p.spare, int32(made+i))
			}
		} else {
			return 0, false
		}
	}
	last := len(p.spare) - 1
	n := p.spare[last]
	p.spare = p.spare[:last]
	return n, true
}

func (p *pool) put(n int32) { p.spare = append(p.spare, n) }

// bytes returns the whole buffer n.
func (p *pool) bytes(n int32) []byte {
	i := int(n) % chunkBuffers * p.size
	return p.chunks[int(n)/chunkBuffers][i : i+p.size : i+p.size]
}
