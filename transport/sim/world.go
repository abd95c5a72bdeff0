package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"calib/internal/netspec"
)

// world is one simulation: the ranks of one or more teams, the blocks between them and the time. Exactly one rank, the
// one that runs, may touch it; the mutex is for Close, which may come from anywhere.
type world struct {
	net *Net
	opt *Options

	mu     sync.Mutex
	now    instant
	agenda agenda
	procs  []*proc
	ready  fifo[*proc]
	live   int
	broken error // set by a deadlock: every call fails with it

	medium port // the shared medium
	ports  []port
	lost   fifo[packet] // to be sent again, in order of time
	rng    *rand.Rand
	factor float64 // noise that all packets share
}

// proc is a rank: what its host has of blocks, and where its goroutine stands.
type proc struct {
	id     int // index in world.procs
	host   int
	block  netspec.Block
	clock  *clock
	tx, rx fifo[packet]
	txFree instant // when the block has served all it was given
	rxFree instant
	out    []*conn // by the peer's id; nil until used

	state state
	wake  chan struct{} // holds the token that lets the goroutine go on
	begun bool          // the goroutine has taken its first token; the goroutine's own
	err   error         // what the wait ended with
	waits *conn         // what a blocked Send or Recv waits for
	// deadline of the wait; armed while the agenda holds an entry for it.
	deadline instant
	armed    bool
}

type state int

const (
	ready state = iota // has what it waited for, waits for its turn
	running
	blocked
	dead
)

func (w *world) lane(p *proc, kind int) lane { return lane(p.id*lanesPerRank + kind) }

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
	p.waits = nil
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
	w.ready.push(p)
}

// handOver lets the next ready rank run, after as many events as it takes until there is one.
func (w *world) handOver() {
	for w.live > 0 {
		for w.ready.n > 0 {
			if p := w.ready.pop(); p.state == ready {
				p.state = running
				p.wake <- struct{}{}
				return
			}
		}
		e, ok := w.agenda.next()
		if !ok {
			w.breakUp()
			return
		}
		w.now = e.at
		w.happen(e.lane)
	}
}

func (w *world) happen(l lane) {
	if l == laneLost {
		w.sendAgain()
		return
	}
	p := w.procs[l/lanesPerRank]
	switch l % lanesPerRank {
	case laneTx:
		w.leaveHost(p)
	case laneRx:
		w.deliver(p)
	case laneSleep:
		if p.state == blocked {
			w.release(p, nil)
		}
	case laneDeadline:
		w.checkDeadline(p)
	}
}

// sleep lets p, which runs, go on at t.
func (w *world) sleep(p *proc, t instant) error {
	if t <= w.now {
		return nil
	}
	if w.ready.n == 0 && w.agenda.quietUntil(t) {
		w.now = t
		return nil
	}
	w.agenda.add(t, w.lane(p, laneSleep))
	return w.block(p)
}

// wait parks p in a Send or Recv on c, for no longer than the deadline.
func (w *world) wait(p *proc, c *conn) error {
	p.waits = c
	if w.opt.Deadline > 0 {
		p.deadline = w.now + fromNanos(w.opt.Deadline)
		if !p.armed {
			p.armed = true
			w.agenda.add(p.deadline, w.lane(p, laneDeadline))
		}
	}
	return w.block(p)
}

// checkDeadline ends a wait that is over time. One entry in the agenda follows a rank from wait to wait, so that a
// million short receptions do not leave a million entries.
func (w *world) checkDeadline(p *proc) {
	p.armed = false
	if p.state != blocked || p.waits == nil {
		return
	}
	if w.now < p.deadline {
		p.armed = true
		w.agenda.add(p.deadline, w.lane(p, laneDeadline))
		return
	}
	p.waits.abandon(p)
	w.release(p, ErrTimeout)
}

// breakUp ends a simulation in which all ranks wait and nothing is under way.
func (w *world) breakUp() {
	var who []string
	for _, p := range w.procs {
		if p.state == blocked {
			who = append(who, p.String())
		}
	}
	const shown = 8
	if len(who) > shown {
		who = append(who[:shown], fmt.Sprintf("and %d more", len(who)-shown))
	}
	w.broken = fmt.Errorf("%w (%s)", ErrDeadlock, strings.Join(who, "; "))
	for _, p := range w.procs {
		if p.state == blocked {
			p.state = running
			p.wake <- struct{}{}
		}
	}
}

// String says what a blocked rank waits for.
func (p *proc) String() string {
	switch c := p.waits; {
	case c == nil:
		return fmt.Sprintf("host %d sleeps", p.host)
	case c.src == p:
		return fmt.Sprintf("host %d sends, with %d bytes without room, to host %d", p.host, len(c.pending), c.dst.host)
	default:
		return fmt.Sprintf("host %d awaits %d bytes of host %d", p.host, len(c.want), c.src.host)
	}
}

// leave ends p's part. What it sent before still arrives; who waits for more gets ErrPeer.
func (w *world) leave(p *proc) {
	if p.state == dead {
		return
	}
	was := p.state
	if p.waits != nil {
		p.waits.abandon(p)
	}
	p.state = dead
	w.live--
	w.net.ended(p.host, w.now)
	for _, q := range w.procs {
		if c := q.waits; c != nil && q.state == blocked && c.lost() {
			c.abandon(q)
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
