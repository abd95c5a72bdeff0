package sim

import "fmt"

// wait is what a blocked rank waits for.
type wait struct {
	kind     waitKind
	c        *conn   // of a Send, SendSome or Recv
	deadline instant // 0 is none
	patience instant // of a SendSome
}

type waitKind int

const (
	waitSleep waitKind = iota
	waitSend
	waitSome // SendSome
	waitRecv
	waitAny
	waitReopen
	waitRoom // for a datagram
	waitGram
)

// limit is when a wait that begins now is over time.
func (w *world) limit() instant {
	if w.opt.Deadline > 0 {
		return w.now + fromNanos(w.opt.Deadline)
	}
	return 0
}

// wait parks p, which runs, until something releases it, but no longer than the deadline.
func (w *world) wait(p *proc, x wait) error {
	p.wait = x
	w.arm(p)
	return w.block(p)
}

// arm sees to it that the agenda has an entry no later than the deadline of p's wait. The entry follows a rank from wait to
// wait, so that a million short receptions do not leave a million entries.
func (w *world) arm(p *proc) {
	d := p.wait.deadline
	if d > 0 && (p.armed == 0 || d < p.armed) {
		p.armed = d
		w.agenda.add(d, w.lane(p, laneDeadline))
	}
}

// checkDeadline ends a wait that is over time.
func (w *world) checkDeadline(p *proc) {
	if w.now != p.armed {
		return // an earlier entry has done what this one was for
	}
	p.armed = 0
	switch x := p.wait; {
	case p.state != blocked || x.deadline == 0:
	case w.now < x.deadline:
		w.arm(p)
	case x.kind == waitGram || x.kind == waitSome: // which the caller expects
		w.release(p, nil)
	default:
		p.abandon()
		w.release(p, ErrTimeout)
	}
}

// abandon forgets what p waits for, or waited for until just now.
func (p *proc) abandon() {
	switch x := p.wait; x.kind {
	case waitSend, waitSome:
		x.c.pending = nil
	case waitRecv:
		x.c.want = nil
	case waitReopen:
		if p.state == blocked {
			p.crew.came--
		}
	}
}

// waitsFor reports whether p's wait is in vain now that gone has left.
func (p *proc) waitsFor(gone *proc) bool {
	switch x := p.wait; x.kind {
	case waitSend, waitSome, waitRecv:
		return x.c.lost()
	case waitAny:
		return p.crew == gone.crew && spent(gone, p)
	case waitReopen:
		return p.crew == gone.crew
	}
	return false
}

// spent reports whether src has left and dst has received all it sent.
func spent(src, dst *proc) bool {
	c := src.to(dst)
	return src.state == dead && (c == nil || c.data.n == 0)
}

// String says what a blocked rank waits for.
func (p *proc) String() string {
	switch x := p.wait; x.kind {
	case waitSend, waitSome:
		return fmt.Sprintf("host %d sends, with %d bytes without room, to host %d", p.host, len(x.c.pending), x.c.dst.host)
	case waitRecv:
		return fmt.Sprintf("host %d awaits %d bytes of host %d", p.host, len(x.c.want), x.c.src.host)
	case waitAny:
		return fmt.Sprintf("host %d awaits bytes of any host", p.host)
	case waitReopen:
		return fmt.Sprintf("host %d reopens its connections", p.host)
	case waitRoom:
		return fmt.Sprintf("host %d awaits room for a datagram", p.host)
	case waitGram:
		return fmt.Sprintf("host %d awaits a datagram", p.host)
	}
	return fmt.Sprintf("host %d sleeps", p.host)
}
