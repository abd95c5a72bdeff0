package sim

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
	waitLines // until the peer opens as many
	waitJoin  // until the lines have ended
	waitOrder // of a second thread: for a transfer
	waitDone  // until the second thread has made one
	waitRoom  // for a datagram
	waitDatagram
)

// limit is when a wait that begins now reaches Options.Deadline; 0 is never.
func (w *world) limit() instant {
	if w.opt.Deadline > 0 {
		return w.now + fromNanos(w.opt.Deadline)
	}
	return 0
}

// wait parks p, which runs, until something releases it, but no longer than the deadline.
func (w *world) wait(p *proc, x wait) error {
	p.wait = x
	w.setAlarm(p)
	return w.block(p)
}

// setAlarm adds an event for the deadline of p's wait, unless p has one that is earlier. That event then sets the next,
// so that a million short receptions do not leave a million events.
func (w *world) setAlarm(p *proc) {
	d := p.wait.deadline
	if d > 0 && (p.alarm == 0 || d < p.alarm) {
		p.alarm = d
		w.events.Push(d, (*overdue)(p))
	}
}

func (w *world) checkDeadline(p *proc) {
	if w.now != p.alarm {
		return // an earlier event has done what this one was for
	}
	p.alarm = 0
	switch x := p.wait; {
	case p.state != blocked || x.deadline == 0:
	case w.now < x.deadline:
		w.setAlarm(p)
	case x.kind == waitDatagram || x.kind == waitSome: // a timeout is no error for these
		w.release(p, nil)
	default:
		p.cancelWait()
		w.release(p, ErrTimeout)
	}
}

// cancelWait forgets what p waits for, or waited for until just now.
func (p *proc) cancelWait() {
	switch x := p.wait; x.kind {
	case waitSend, waitSome:
		x.c.pending = nil
	case waitRecv:
		x.c.want = nil
	case waitLines:
		p.opensTo = nil
	case waitReopen:
		if p.state == blocked {
			p.team.waiting--
		}
	}
}

// waitsFor reports whether p's wait can no longer succeed, now that gone has left.
func (p *proc) waitsFor(gone *proc) bool {
	switch x := p.wait; x.kind {
	case waitSend, waitSome, waitRecv:
		return x.c.lost()
	case waitLines:
		return p.opensTo == gone
	case waitAny:
		return p.team == gone.team && finished(gone, p)
	case waitReopen:
		return p.team == gone.team
	}
	return false
}

// finished reports whether src has left and dst has received all it sent.
func finished(src, dst *proc) bool {
	c := src.out[dst]
	return src.state == dead && (c == nil || c.held == 0)
}
