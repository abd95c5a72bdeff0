package netspec

import "math"

// The two queues of a simulation of packets: a heap of events by time, and a first-in first-out queue in a ring buffer.
// Neither allocates while it is no longer than it has been before. Package container/heap would allocate for every event.

// Heap orders events by time. Events of equal time keep the order in which they were added.
type Heap[Time ~int64, T any] struct {
	heap []event[Time, T]
	seq  uint64
}

type event[Time ~int64, T any] struct {
	at    Time
	seq   uint64
	value T
}

func (e *event[Time, T]) before(f *event[Time, T]) bool {
	return e.at < f.at || e.at == f.at && e.seq < f.seq
}

func (h *Heap[Time, T]) Len() int { return len(h.heap) }

// Quiet reports whether nothing happens up to and including t.
func (h *Heap[Time, T]) Quiet(t Time) bool { return len(h.heap) == 0 || h.heap[0].at > t }

func (h *Heap[Time, T]) Push(at Time, value T) {
	h.seq++
	h.heap = append(h.heap, event[Time, T]{at, h.seq, value})
	i := len(h.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !h.heap[i].before(&h.heap[up]) {
			return
		}
		h.heap[i], h.heap[up] = h.heap[up], h.heap[i]
		i = up
	}
}

// Peek returns the earliest event. The heap is not empty.
func (h *Heap[Time, T]) Peek() (Time, T) { return h.heap[0].at, h.heap[0].value }

// Pop removes and returns the earliest event. The heap is not empty.
func (h *Heap[Time, T]) Pop() (Time, T) {
	top := h.heap[0]
	end := len(h.heap) - 1
	h.heap[0] = h.heap[end]
	h.heap = h.heap[:end]
	for i := 0; ; {
		child := 2*i + 1
		if child >= end {
			return top.at, top.value
		}
		if child+1 < end && h.heap[child+1].before(&h.heap[child]) {
			child++
		}
		if !h.heap[child].before(&h.heap[i]) {
			return top.at, top.value
		}
		h.heap[i], h.heap[child] = h.heap[child], h.heap[i]
		i = child
	}
}

// Queue is a first-in first-out queue. It never shrinks.
type Queue[T any] struct {
	ring []T // length a power of two
	head int
	n    int
}

func (q *Queue[T]) Len() int { return q.n }

func (q *Queue[T]) Push(v T) {
	if q.n == len(q.ring) {
		bigger := make([]T, max(8, 2*len(q.ring)))
		n := copy(bigger, q.ring[q.head:])
		copy(bigger[n:], q.ring[:q.head])
		q.ring, q.head = bigger, 0
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = v
	q.n++
}

// Peek returns the first value. The queue is not empty.
func (q *Queue[T]) Peek() T { return q.ring[q.head] }

// Pop removes and returns the first value. The queue is not empty.
func (q *Queue[T]) Pop() T {
	v := q.ring[q.head]
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return v
}

// activity knows which hosts have sent something of late.
type activity[Time ~int64] struct {
	window Time
	latest Time
	active int
	// of are the hosts. Those that are active form a ring in order of the time at which they last sent, which begins
	// and ends at an entry of its own, the last.
	of []sender[Time]
}

type sender[Time ~int64] struct {
	last          Time
	before, after int
}

// newActivity returns the activity of that many hosts, none of which has sent anything. A host is active until window
// after it has sent.
func newActivity[Time ~int64](hosts int, window Time) *activity[Time] {
	a := &activity[Time]{window: window, latest: math.MinInt64, of: make([]sender[Time], hosts+1)}
	for i := range a.of {
		a.of[i] = sender[Time]{math.MinInt64, hosts, hosts}
	}
	return a
}

// Sent notes that a host has sent something at time at, and returns how many hosts are active then. A time before that
// of an earlier call counts as that.
func (a *activity[Time]) Sent(at Time, host int) int {
	a.latest = max(a.latest, at)
	since, end := a.latest-a.window, len(a.of)-1
	for i := a.of[end].after; i != end && a.of[i].last < since; i = a.of[end].after {
		a.remove(i)
	}
	if a.of[host].last >= since {
		a.remove(host)
	}
	newest := a.of[end].before
	a.of[host] = sender[Time]{a.latest, newest, end}
	a.of[newest].after, a.of[end].before = host, host
	a.active++
	return a.active
}

func (a *activity[Time]) remove(host int) {
	h := a.of[host]
	a.of[h.before].after, a.of[h.after].before = h.after, h.before
	a.active--
}
