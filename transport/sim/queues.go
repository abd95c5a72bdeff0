package sim

import "calib/internal/events"

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
	queueLinks  queueID = -4 // the head of link server 0 is done; −5 is that of 1, and so on
)

// line is a queue of what happens in order of time: the packets in a block, the retransmissions. Only its head is in
// the heap of events, so the heap stays as small as the number of hosts.
type line[T any] struct{ events.Queue[timed[T]] }

type timed[T any] struct {
	at    instant
	value T
}

// add appends v, which happens at that time.
func (l *line[T]) add(w *world, id queueID, at instant, v T) {
	l.Push(timed[T]{at, v})
	if l.Len() == 1 {
		w.events.Push(at, id)
	}
}

// next removes and returns the head.
func (l *line[T]) next(w *world, id queueID) T {
	v := l.Pop().value
	if l.Len() > 0 {
		w.events.Push(l.Peek().at, id)
	}
	return v
}
