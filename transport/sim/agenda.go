package sim

// agenda orders what will happen. Most things happen in lanes, queues whose entries are already in order of time (the
// packets in a block, the retransmissions); only the head of a lane is in the heap, which stays as small as the number of
// hosts. Entries of equal time keep the order in which they were entered.
type agenda struct {
	heap []entry
	seq  uint64
}

type entry struct {
	at   instant
	seq  uint64
	lane lane
}

func (e entry) before(f entry) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }

// lane names a queue: some for each rank, and some for all together.
type lane int32

const (
	laneTx       = iota // the head of the sending block is done
	laneRx              // the head of the receiving block is done
	laneSleep           // the rank wakes
	laneDeadline        // the rank may have waited too long
	lanesPerRank

	laneLost   lane = -1 // a packet is sent again
	laneAck    lane = -2 // an acknowledgement reaches a sender
	laneDelack lane = -3 // a receiver has kept an acknowledgement back for long enough
)

func (a *agenda) add(at instant, l lane) {
	a.seq++
	a.heap = append(a.heap, entry{at, a.seq, l})
	i := len(a.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !a.heap[i].before(a.heap[up]) {
			return
		}
		a.heap[i], a.heap[up] = a.heap[up], a.heap[i]
		i = up
	}
}

// next removes and returns the earliest entry.
func (a *agenda) next() (entry, bool) {
	if len(a.heap) == 0 {
		return entry{}, false
	}
	top := a.heap[0]
	end := len(a.heap) - 1
	a.heap[0] = a.heap[end]
	a.heap = a.heap[:end]
	for i := 0; ; {
		child := 2*i + 1
		if child >= end {
			return top, true
		}
		if child+1 < end && a.heap[child+1].before(a.heap[child]) {
			child++
		}
		if !a.heap[child].before(a.heap[i]) {
			return top, true
		}
		a.heap[i], a.heap[child] = a.heap[child], a.heap[i]
		i = child
	}
}

// quietUntil reports whether nothing happens up to and including t.
func (a *agenda) quietUntil(t instant) bool { return len(a.heap) == 0 || a.heap[0].at > t }

// fifo is a queue in a ring that grows to what it once held and allocates no more.
type fifo[T any] struct {
	ring []T // length a power of two
	head int
	n    int
}

func (q *fifo[T]) push(v T) {
	if q.n == len(q.ring) {
		bigger := make([]T, max(8, 2*len(q.ring)))
		for i := range q.n {
			bigger[i] = q.ring[(q.head+i)&(len(q.ring)-1)]
		}
		q.ring, q.head = bigger, 0
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = v
	q.n++
}

func (q *fifo[T]) peek() T { return q.ring[q.head] }

func (q *fifo[T]) pop() T {
	v := q.ring[q.head]
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return v
}

// stream is a fifo of bytes, filled and emptied in blocks.
type stream struct {
	ring []byte // length a power of two
	head int
	n    int
}

func (s *stream) write(b []byte) {
	if need := s.n + len(b); need > len(s.ring) {
		size := max(1024, len(s.ring))
		for size < need {
			size *= 2
		}
		bigger := make([]byte, size)
		k := copy(bigger[:s.n], s.ring[s.head:])
		copy(bigger[k:s.n], s.ring)
		s.ring, s.head = bigger, 0
	}
	tail := (s.head + s.n) & (len(s.ring) - 1)
	k := copy(s.ring[tail:], b)
	copy(s.ring, b[k:])
	s.n += len(b)
}

// read moves the first len(b) bytes, which must be there, into b.
func (s *stream) read(b []byte) {
	k := copy(b, s.ring[s.head:])
	copy(b[k:], s.ring)
	s.head = (s.head + len(b)) & (len(s.ring) - 1)
	s.n -= len(b)
}
