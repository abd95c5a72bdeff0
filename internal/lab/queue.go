package lab

// event is a packet that reaches something at a time; seq keeps packets of the same time in order.
type event struct {
	at int64
	// from is the earliest time at which what it reaches may have begun with it: at, or before it where a medium cuts
	// through.
	from int64
	seq  uint64
	p    packet
}

func (a event) before(b event) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// eventHeap is a binary heap with the earliest event on top. It is written out rather than built on container/heap,
// which allocates for every event.
type eventHeap struct{ ev []event }

func (h *eventHeap) len() int   { return len(h.ev) }
func (h *eventHeap) top() event { return h.ev[0] }

func (h *eventHeap) push(e event) {
	h.ev = append(h.ev, e)
	i := len(h.ev) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !h.ev[i].before(h.ev[parent]) {
			return
		}
		h.ev[i], h.ev[parent] = h.ev[parent], h.ev[i]
		i = parent
	}
}

func (h *eventHeap) pop() event {
	top := h.ev[0]
	last := len(h.ev) - 1
	h.ev[0] = h.ev[last]
	h.ev = h.ev[:last]
	i := 0
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if h.ev[child].before(h.ev[least]) {
				least = child
			}
		}
		if least == i {
			return top
		}
		h.ev[i], h.ev[least] = h.ev[least], h.ev[i]
		i = least
	}
}

// fifo is a growing ring of times.
type fifo struct {
	ring  []int64 // its length is a power of two
	first int
	n     int
}

func (f *fifo) push(t int64) {
	if f.n == len(f.ring) {
		grown := make([]int64, max(64, 2*len(f.ring)))
		for i := range f.n {
			grown[i] = f.ring[(f.first+i)&(len(f.ring)-1)]
		}
		f.ring, f.first = grown, 0
	}
	f.ring[(f.first+f.n)&(len(f.ring)-1)] = t
	f.n++
}

// leaveUntil removes the times at or before t.
func (f *fifo) leaveUntil(t int64) {
	for f.n > 0 && f.ring[f.first] <= t {
		f.first = (f.first + 1) & (len(f.ring) - 1)
		f.n--
	}
}
