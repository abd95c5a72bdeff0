package sim

// eventQueue orders what will happen. Most events wait in queues of their own that are already in order of time (the packets
// in a block, the retransmissions). Only the head of such a queue is in the heap, so the heap stays as small as the number
// of hosts. Events of equal time keep the order in which they were added. Package container/heap would allocate for every
// event.
type eventQueue struct {
	heap []event
	seq  uint64
}

type event struct {
	at    instant
	seq   uint64
	queue queueID
}

func (e event) before(f event) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }

// queueID names a queue of events: some for each rank, and some for all together.
type queueID int32

const (
	queueTx       = iota // the head of the sending block is done
	queueRx              // the head of the receiving block is done
	queueSleep           // the rank wakes
	queueDeadline        // the rank may have waited too long
	queuesPerRank

	queueLost   queueID = -1 // a packet is sent again
	queueAck    queueID = -2 // an acknowledgement reaches a sender
	queueDelack queueID = -3 // a receiver has kept an acknowledgement back for long enough
)

func (q *eventQueue) add(at instant, source queueID) {
	q.seq++
	q.heap = append(q.heap, event{at, q.seq, source})
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q.heap[i].before(q.heap[up]) {
			return
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

// next removes and returns the earliest event.
func (q *eventQueue) next() (event, bool) {
	if len(q.heap) == 0 {
		return event{}, false
	}
	top := q.heap[0]
	end := len(q.heap) - 1
	q.heap[0] = q.heap[end]
	q.heap = q.heap[:end]
	for i := 0; ; {
		child := 2*i + 1
		if child >= end {
			return top, true
		}
		if child+1 < end && q.heap[child+1].before(q.heap[child]) {
			child++
		}
		if !q.heap[child].before(q.heap[i]) {
			return top, true
		}
		q.heap[i], q.heap[child] = q.heap[child], q.heap[i]
		i = child
	}
}

// quietUntil reports whether nothing happens up to and including t.
func (q *eventQueue) quietUntil(t instant) bool { return len(q.heap) == 0 || q.heap[0].at > t }

// fifo is a queue in a ring buffer, which grows when it is full and never shrinks.
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
