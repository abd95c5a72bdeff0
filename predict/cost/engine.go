package cost

import (
	"math"

	"calib/internal/netspec"
	"calib/params"
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

// run evaluates a schedule. It returns the time of the last delivery [s].
func (m machine) run(l *list) float64 {
	sum := 0.0
	cost := make([]stages, len(l.messages))
	for i, q := range l.messages {
		cost[i] = m.of(float64(q.bytes))
		sum += cost[i].total()
	}
	if !possible(sum) {
		return sum
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
	return float64(r.last) * r.tick
}

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

type host struct {
	progress
	busy  instant // until when the processor is
	next  instant // when it may send again
	wakes instant // when it will look because of next
}

func (r *running) ticks(s float64) instant { return instant(math.Round(s / r.tick)) }

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

func (r *running) pass(k int, now instant) {
	i := 0
	if !r.shared {
		i = r.list.messages[k].to
	}
	done := max(now, r.server[i]) + r.ticks(r.cost[k].serve)
	r.server[i] = done + r.ticks(r.cost[k].rest)
	r.queue.Push(done, happening{isThere, k})
}

// Hockney predicts by T(m) = α + β·m [s], m in bytes (parameters alpha, beta). Hosts have a port out and a port in,
// which work at the same time and carry one message each. A message of m bytes occupies its sender for α + β·m and is
// then there. Its first byte comes to the receiver's port after α, and occupies that for β·m as soon as it is free.
// n messages of n senders are at a receiver after α + n·β·m, those of one sender to n receivers after n·(α + β·m). The
// receiver itself does nothing. The network is not shared. It returns ErrParameters without both parameters.
//
// Source: Hockney 1994, Parallel Computing 20, 389-398; Thakur, Rabenseifner, Gropp 2005, Optimization of collective
// communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), section 3 (one port, both directions).
func Hockney(p *params.Params) (Model, error) {
	r := reader{params: p, model: "hockney", all: []string{"alpha", "beta"}}
	alpha, beta := r.value("alpha"), r.value("beta")
	if err := r.err(); err != nil {
		return nil, err
	}
	return byEvents("hockney", func(m float64) stages {
		whole := alpha + beta*m
		return stages{send: whole, gap: whole, flight: alpha, serve: beta * m}
	}), nil
}

// LogGP predicts by the parameters L, o_s, o_r, g [s] and G [s/B] of LogGP, which are those of messages of 1 byte.
// Sending m bytes keeps the processor busy for o_s from when it is ready and its network interface is free, and the
// interface until max(g, o_s) + (m−1)·G after the start. The message is there o_s + (m−1)·G + L after the start, and
// at the receiver's interface at least g + (m−1)·G after the one before. It keeps the receiver busy for o_r from when
// it waits for it. A processor does not send and receive at once. The network is not shared. One of L, o_s, o_r and
// g that is zero within what the run can tell is zero. It returns ErrParameters without all five.
//
// Source: Alexandrov, Ionescu, Schauser, Scheiman 1995, LogGP: incorporating long messages into the LogP model, SPAA,
// section 2; for small messages Stoica, Sultan, Keyes 1994, section 6.
func LogGP(p *params.Params) (Model, error) {
	r := reader{params: p, model: "loggp", all: []string{"L", "o_s", "o_r", "g", "G"}}
	l, os, or, g, perByte := r.orZero("L"), r.orZero("o_s"), r.orZero("o_r"), r.orZero("g"), r.value("G")
	if err := r.err(); err != nil {
		return nil, err
	}
	return byEvents("loggp", func(m float64) stages {
		long := (m - 1) * perByte
		return stages{send: os, gap: math.Max(g, os) + long, flight: os + l, serve: long, rest: g, recv: or}
	}), nil
}
