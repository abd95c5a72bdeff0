package cost

import (
	"math"

	"calib/internal/netspec"
)

// machine is what a model says of ranks and network: what each message takes, by its bytes. A rank has one processor,
// which sends and receives one message at a time. Of an exchange it sends the messages in order and receives them in
// order, at the same time: it does whichever can be done first, and a send before a receive. It sends whether or not
// anybody waits for the message. Every message passes one server, first come, first served.
type machine struct {
	// shared is one server for all messages, as a medium is; else there is one for each receiver, as the port of a
	// switch is.
	shared bool
	of     func(bytes float64) stages
}

// stages are the times of one message [s].
type stages struct {
	send   float64 // the sender is busy
	gap    float64 // from the start of this send to the start of the sender's next, at least
	flight float64 // from the start of the send until the message is at the server
	serve  float64 // the server is busy with it, and then it is there
	rest   float64 // the server then takes no other
	recv   float64 // the receiver is busy, once the message is there and its turn
}

// total is no less than what the message can hold up others.
func (s stages) total() float64 {
	return math.Max(s.send, s.gap) + s.flight + s.serve + s.rest + s.recv
}

// instant is a time in ticks. Whole ticks add up to the same whatever the order, so that what happens at the same time
// on paper does so here too. It is done in the order in which it was begun.
type instant int64

// Kinds of what happens.
const (
	wakes   = iota // a rank looks what it can do
	arrives        // a message comes to the server
	isThere        // a message has passed the server
)

// happening is what happens to a rank or a message, by its number.
type happening struct{ kind, of int }

// run evaluates a schedule. It returns the time of the last delivery [s], or ErrSchedule where ranks wait for ever.
func (m machine) run(l *list) (float64, error) {
	sum := 0.0
	cost := make([]stages, len(l.messages))
	for i, q := range l.messages {
		cost[i] = m.of(float64(q.bytes))
		sum += cost[i].total()
	}
	if !possible(sum) {
		return sum, nil
	}
	// No rank idles while nothing is under way, so that all ends before sum: half of the ticks there are.
	r := &running{machine: m, list: l, tick: sum / (1 << 61), cost: cost, there: make([]bool, len(cost)),
		hosts: make([]host, len(l.ranks)), server: make([]instant, len(l.ranks))}
	for i := range r.hosts {
		r.queue.Push(0, happening{wakes, i})
	}
	for r.queue.Len() > 0 {
		at, h := r.queue.Pop()
		switch h.kind {
		case wakes:
			r.work(h.of, at)
		case arrives:
			r.pass(h.of, at)
		case isThere:
			r.there[h.of] = true
			r.work(l.messages[h.of].to, at)
		}
	}
	return float64(r.last) * r.tick, l.ended(func(rank int) progress { return r.hosts[rank].progress })
}

// running is an evaluation on its way.
type running struct {
	machine
	list   *list
	tick   float64 // s
	cost   []stages
	there  []bool // by message
	hosts  []host
	server []instant // when each is free; of a shared medium the first
	queue  netspec.Heap[instant, happening]
	last   instant // delivery so far
}

// host is a rank with its processor.
type host struct {
	progress
	busy  instant // until when the processor is
	next  instant // when it may send again
	wakes instant // when it will look because of next
}

func (r *running) ticks(s float64) instant { return instant(math.Round(s / r.tick)) }

// work starts what a rank can do next.
func (r *running) work(rank int, now instant) {
	h := &r.hosts[rank]
	if h.busy > now {
		return
	}
	for h.step < len(r.list.ranks[rank]) {
		st := r.list.ranks[rank][h.step]
		sending, receiving := h.sent < len(st.out), h.received < len(st.in)
		switch {
		case sending && h.next <= now:
			k := st.out[h.sent]
			h.sent++
			h.busy, h.next = now+r.ticks(r.cost[k].send), now+r.ticks(r.cost[k].gap)
			r.queue.Push(now+r.ticks(r.cost[k].flight), happening{arrives, k})
			r.queue.Push(h.busy, happening{wakes, rank})
			return
		case receiving && r.there[st.in[h.received]]:
			h.busy = now + r.ticks(r.cost[st.in[h.received]].recv)
			h.received++
			r.last = max(r.last, h.busy)
			r.queue.Push(h.busy, happening{wakes, rank})
			return
		case sending && h.wakes < h.next:
			h.wakes = h.next
			r.queue.Push(h.next, happening{wakes, rank})
			return
		case sending || receiving:
			return
		}
		h.step, h.sent, h.received = h.step+1, 0, 0
	}
}

// pass takes a message through its server.
func (r *running) pass(k int, now instant) {
	i := 0
	if !r.shared {
		i = r.list.messages[k].to
	}
	done := max(now, r.server[i]) + r.ticks(r.cost[k].serve)
	r.server[i] = done + r.ticks(r.cost[k].rest)
	r.queue.Push(done, happening{isThere, k})
}
