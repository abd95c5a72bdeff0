package netspec

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Follows is the payload of a packet that waits its turn at every server, and takes neither time nor room there.
const Follows = -1

type Drop uint8

const (
	Kept    Drop = iota
	NoRoom       // the buffer was full
	Unlucky      // it was drawn
)

// Server is a first-come first-served station.
type Server[T ~int64] struct {
	Most   int // largest number inside, where that is counted
	block  Block
	room   int      // packets it can hold, the one in service included; 0 is unlimited and not counted
	loss   float64  // the probability that it drops a packet
	delay  T        // behind it, in which it serves others
	idle   T        // when it has finished all it holds
	inside Queue[T] // when each packet inside leaves, ascending
}

// Network is the servers of some of a network's hosts, numbered from 0, and what is between these hosts. It computes
// when packets pass them. The simulator gives it virtual times, the lab those of a clock: it knows no other. The same
// packets at the same times, with the same numbers of the random source, give the same times and the same drops.
//
// The caller keeps what is under way: it hands a packet to Send, with what Send returns to Pass or Cross, and so on,
// always in order of the times at which packets reach a server. A sending block sees its own host's packets only. Links
// and the medium are fed by many hosts. Behind the medium the order no longer changes, not even where the fabric delays
// packets unequally, so Cross takes a packet as far as the end of the receiving block.
type Network[T ~int64] struct {
	Tx, Rx, Media []Server[T] // by host, but for a shared medium, which is one
	Active        *activity[T]
	Delay         T

	spec    *Spec
	links   []Server[T] // of Spec.Routes
	route   func(src, dst, after int) int
	hosts   []int
	second  float64
	service func(b Block, payload int) T
	rng     *rand.Rand
}

// NewNetwork returns an idle network of the hosts of spec that are listed. A second has that many units of T, service
// says how long a block takes for a packet, and losses are drawn from rng. With count, servers count what is inside.
func NewNetwork[T ~int64](
	spec *Spec, hosts []int, second float64, service func(Block, int) T, rng *rand.Rand, count bool,
) *Network[T] {
	n := &Network[T]{spec: spec, hosts: hosts, second: second, service: service, rng: rng, route: spec.Routes()}
	n.Delay = n.time(spec.L)
	server := func(b Block, room int, loss, delay float64) Server[T] {
		if room == 0 && count {
			room = math.MaxInt
		}
		return Server[T]{block: b, room: room, loss: loss, delay: n.time(delay)}
	}
	for _, h := range hosts {
		n.Tx = append(n.Tx, server(spec.HostBlock(h), 0, 0, 0))
		n.Rx = append(n.Rx, server(spec.ReceiveBlock(h), 0, 0, 0))
		if spec.Mode == Switched || n.Media == nil {
			n.Media = append(n.Media, server(spec.Medium, spec.Buffer, spec.Loss, spec.L))
		}
	}
	for _, l := range spec.Links {
		for range 2 { // directions
			n.links = append(n.links, server(l.Block, l.Buffer, l.Loss, l.L))
		}
	}
	if spec.Fabric != nil {
		n.Active = newActivity(len(hosts), n.time(spec.Fabric.Active()))
	}
	return n
}

func (n *Network[T]) time(seconds float64) T { return T(math.Round(seconds * n.second)) }

// Send takes a packet into its host's sending block at that time. It returns when the packet leaves the block, and from
// when on the medium may serve it: before that where the medium cuts through.
func (n *Network[T]) Send(at T, src, payload int) (left, from T) {
	tx := &n.Tx[src]
	if payload == Follows {
		left = max(at, tx.idle)
		return left, left
	}
	service := n.service(tx.block, payload)
	left = tx.enter(at, at, service)
	if n.spec.CutThrough {
		return left, left - service
	}
	return left, left
}

// Link is the link's server that packets of src to dst pass next after a server, or first, with −1; −1 is none.
func (n *Network[T]) Link(src, dst, after int) int {
	return n.route(n.hosts[src], n.hosts[dst], after)
}

// Delays is how long a packet takes from src to dst that skips all servers.
func (n *Network[T]) Delays(src, dst int) T {
	d := n.Delay
	for l := n.Link(src, dst, -1); l >= 0; l = n.Link(src, dst, l) {
		d += n.links[l].delay
	}
	return d
}

// Pass takes a packet through a link's server and then its delay, or drops it. A medium that cuts through begins with
// the packet later by the time that this took: the caller adds that to Cross's from.
func (n *Network[T]) Pass(at T, link, payload int) (left T, why Drop) {
	return n.through(&n.links[link], at, at, payload)
}

// Cross takes a packet over the medium and out of the receiving block, or drops it. It reaches the medium at that time,
// and takes its room there then. A cut-through medium may have begun with it at from.
func (n *Network[T]) Cross(at, from T, src, dst, payload int) (left T, why Drop) {
	port, delay := &n.Media[0], T(0)
	if n.spec.Mode == Switched {
		port = &n.Media[dst]
	}
	if payload != Follows && n.Active != nil { // the host counts as active whether the packet is lost or not
		gs := n.spec.Service(n.Tx[src].block, payload)
		delay = n.time(n.spec.Fabric.Delay(payload, n.Active.Sent(at, src), gs))
	}
	if left, why = n.through(port, at, from, payload); why != Kept {
		return 0, why
	}
	return n.through(&n.Rx[dst], left+delay, left+delay, payload)
}

// through takes a packet that has arrived at time at through a server and the delay behind it, or drops it.
func (n *Network[T]) through(s *Server[T], at, from T, payload int) (left T, why Drop) {
	if payload == Follows {
		return max(at, s.idle) + s.delay, Kept
	}
	s.leaveUntil(at)
	switch {
	case s.room > 0 && s.inside.Len() >= s.room:
		return 0, NoRoom
	case s.loss > 0 && n.rng.Float64() < s.loss:
		return 0, Unlucky
	}
	return s.enter(at, from, n.service(s.block, payload)) + s.delay, Kept
}

func (s *Server[T]) leaveUntil(at T) {
	for s.inside.Len() > 0 && s.inside.Peek() <= at {
		s.inside.Pop()
	}
}

// enter takes in a packet that has arrived as a whole at time at and returns when it leaves. Its service may have begun
// as soon as from, before at, and does not end before at.
func (s *Server[T]) enter(at, from, service T) T {
	s.idle = max(max(from, s.idle)+service, at)
	if s.room > 0 {
		s.leaveUntil(at)
		s.inside.Push(s.idle)
		s.Most = max(s.Most, s.inside.Len())
	}
	return s.idle
}

// The two queues of a simulation of packets: a heap of events by time, and a first-in first-out queue in a ring buffer.
// Neither allocates while it is no longer than it has been. Package container/heap would allocate for every event.

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
	last   []Time               // by host, when it sent last; long ago where it is not active
	sent   Queue[sending[Time]] // in the window, in order
}

type sending[Time ~int64] struct {
	at   Time
	host int
}

// newActivity returns the activity of that many hosts, none of which has sent anything. A host is active until window
// after it has sent.
func newActivity[Time ~int64](hosts int, window Time) *activity[Time] {
	return &activity[Time]{window: window, latest: math.MinInt64, last: slices.Repeat([]Time{math.MinInt64}, hosts)}
}

// Sent notes that a host has sent something at time at, and returns how many hosts are active then. A time before that
// of an earlier call counts as that.
func (a *activity[Time]) Sent(at Time, host int) int {
	a.latest = max(a.latest, at)
	for a.sent.Len() > 0 && a.sent.Peek().at < a.latest-a.window {
		if old := a.sent.Pop(); a.last[old.host] == old.at {
			a.last[old.host] = math.MinInt64
			a.active--
		}
	}
	if a.last[host] == math.MinInt64 {
		a.active++
	}
	a.last[host] = a.latest
	a.sent.Push(sending[Time]{a.latest, host})
	return a.active
}
