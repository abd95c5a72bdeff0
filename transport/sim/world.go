package sim

import (
	"math/rand/v2"
	"sync"

	"calib/internal/netspec"
)

// world is one simulation: the ranks of one or more teams, the blocks between them and the time. Only the rank that
// runs uses it; the mutex is for Close, which any goroutine may call.
type world struct {
	net *Net
	opt *Options

	mu     sync.Mutex
	now    instant
	events netspec.Heap[instant, happening]
	procs  []*proc
	ready  netspec.Queue[*proc]
	live   int
	broken error // set by a deadlock: every call fails with it

	path   *netspec.Network[instant]
	links  []line[packet]         // in a direction of a link
	lost   line[packet]           // to be sent again, in order of time
	acks   map[instant]*line[ack] // on their way to a sender, by how long that is
	delack line[ack]              // kept back by a receiver, in order of time
	rng    *rand.Rand
	factor float64     // noise that all packets share
	gone   []*datagram // lost, or copied by their receivers: used again
}

type node struct {
	owner  int // id of the rank on the host; its lines are on it, too
	host   int
	clock  *clock
	tx, rx line[packet]
	// kernelFree is when the host has handled all packets that came out of its receiving block; kernelTime is the CPU
	// time that this took so far.
	kernelFree, kernelTime instant
}

// proc is a rank, or one of its lines, and the state of its goroutine.
type proc struct {
	*node
	id     int // index in world.procs
	rank   int // in its team
	team   *team
	out    map[*proc]*conn
	cpu    instant // time that its sends and receptions took
	parent *proc   // of a line: its rank
	lines  []*proc // of a rank: its lines that have not ended
	mover  *proc   // of a rank: its second thread, while that uses the rank's connections
	second bool    // this is a second thread

	opensTo *proc   // of a rank: the peer that it waits for with lines
	opens   []*proc // these lines

	sending   int                      // bytes of datagrams that have not left the host's block
	datagrams netspec.Queue[*datagram] // not yet received
	dropped   int64                    // datagrams

	state state
	wake  chan struct{} // a token in it lets the goroutine go on
	begun bool          // the goroutine has taken its first token; the goroutine's own
	err   error         // what the wait ended with
	wait  wait          // what a blocked call waits for
	alarm instant       // the earliest overdue of the rank; 0 is none
}

type state int

const (
	ready state = iota // has what it waited for, and waits for its turn to run
	running
	blocked
	dead
)

// enter locks the world for a call of p. It returns with the lock held if and only if err is nil.
func (w *world) enter(p *proc) error {
	w.begin(p)
	w.mu.Lock()
	if err := w.fault(p); err != nil {
		w.mu.Unlock()
		return err
	}
	return nil
}

// begin waits until p may run for the first time.
func (w *world) begin(p *proc) {
	if !p.begun {
		<-p.wake
		p.begun = true
	}
}

func (w *world) fault(p *proc) error {
	if p.state == dead {
		return ErrClosed
	}
	return w.broken
}

// block parks p, which runs, until something makes it ready and it is its turn. It returns what the wait ended with.
func (w *world) block(p *proc) error {
	p.state = blocked
	w.handOver()
	w.mu.Unlock()
	<-p.wake
	w.mu.Lock()
	p.wait = wait{}
	if err := w.fault(p); err != nil {
		return err
	}
	err := p.err
	p.err = nil
	return err
}

// release makes a blocked rank ready; err is what its call returns.
func (w *world) release(p *proc, err error) {
	p.state, p.err = ready, err
	w.ready.Push(p)
}

// wake makes a rank ready if it waits for what the kind says.
func (w *world) wake(p *proc, kind waitKind) {
	if p.state == blocked && p.wait.kind == kind {
		w.release(p, nil)
	}
}

// handOver lets the next ready rank run, after as many events as it takes until there is one.
func (w *world) handOver() {
	for w.live > 0 {
		for w.ready.Len() > 0 {
			if p := w.ready.Pop(); p.state == ready {
				p.state = running
				p.wake <- struct{}{}
				return
			}
		}
		if w.events.Len() == 0 {
			w.breakDeadlock()
			return
		}
		var next happening
		w.now, next = w.events.Pop()
		next.happen(w)
	}
}

func (w *world) sleep(p *proc, t instant) error {
	if t <= w.now {
		return nil
	}
	if w.ready.Len() == 0 && w.events.Quiet(t) {
		w.now = t
		return nil
	}
	w.events.Push(t, (*sleeper)(p))
	return w.block(p)
}

// breakDeadlock ends a simulation in which all ranks wait and nothing is under way.
func (w *world) breakDeadlock() {
	w.broken = ErrDeadlock
	for _, p := range w.procs {
		if p.state == blocked {
			p.state = running
			p.wake <- struct{}{}
		}
	}
}

// leave ends p's part. What it sent before still arrives; a rank that waits for more gets ErrPeer.
func (w *world) leave(p *proc) {
	if p.state == dead {
		return
	}
	was := p.state
	p.cancelWait()
	p.state = dead
	w.live--
	w.net.ended(p.host, w.now)
	p.endLines(w)
	for _, q := range w.procs {
		if q.state == blocked && q.waitsFor(p) {
			q.cancelWait()
			w.release(q, ErrPeer)
		}
	}
	switch {
	case was != running:
		p.wake <- struct{}{} // its goroutine may be parked, or come later: either way it finds itself dead
	case w.broken == nil:
		w.handOver()
	}
}

// happening is something that the world waits for in virtual time.
type happening interface{ happen(w *world) }

// line is a queue of what happens in order of time: the packets in a block, the retransmissions. Only its head is in
// the heap of events, so the heap stays as small as the number of hosts.
type line[T any] struct {
	netspec.Queue[timed[T]]
	then func(T)
}

type timed[T any] struct {
	at    instant
	value T
}

// add appends v, which happens at that time.
func (l *line[T]) add(w *world, at instant, v T) {
	l.Push(timed[T]{at, v})
	if l.Len() == 1 {
		w.events.Push(at, l)
	}
}

func (l *line[T]) happen(w *world) {
	v := l.Pop().value
	if l.Len() > 0 {
		w.events.Push(l.Peek().at, l)
	}
	l.then(v)
}

// sleeper and overdue are ranks: one wakes, one may have waited too long.
type (
	sleeper proc
	overdue proc
)

func (s *sleeper) happen(w *world) {
	if s.state == blocked {
		w.release((*proc)(s), nil)
	}
}

func (o *overdue) happen(w *world) { w.checkDeadline((*proc)(o)) }
