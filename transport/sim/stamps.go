package sim

import (
	"errors"
	"fmt"

	"calib/internal/plane"
	"calib/internal/units"
)

// passage is where the last packet of a connection was, when. What a real kernel and a real interface stamp is here
//
//	scheduled   when the packet comes to the host's block
//	sent        when the block begins with it
//	nicSent     when it leaves the block
//	nicArrived  when it reaches the receiving block
//	taken       when it leaves the receiving block, before the kernel's O_r
type passage struct{ scheduled, sent, nicSent, nicArrived, taken instant }

const (
	// wallAhead is by how much a host's wall clock is ahead of its own, nicAhead the same for the clock of its
	// interface.
	wallAhead = 1_700_000_000 * units.Second
	nicAhead  = 37 * units.Second
)

var errUnstamped = errors.New("StampMessages was not called")

// StampMessages lets this host keep the stamps of messages to and from a peer, or ends that. A stamped message costs
// its sender Cost.Stamp.
func (g *Group) StampMessages(peer int, on bool) error {
	if err := g.enter(peer); err != nil {
		return fmt.Errorf("stamp messages of rank %d: %w", peer, err)
	}
	defer g.w.mu.Unlock()
	g.w.conn(g.self, g.team[peer]).stampedOut = on
	g.w.conn(g.team[peer], g.self).stampedIn = on
	return nil
}

// RecvStamped is Recv, or RecvPolling, and returns the stamps of the last packet that has arrived.
func (g *Group) RecvStamped(from int, b []byte, polls bool) (at plane.Arrival, err error) {
	wake := g.w.opt.Cost.Wake
	if polls {
		wake = 0
	}
	if err := g.receive(from, b, wake); err != nil {
		return at, err
	}
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	c := g.w.conn(g.team[from], g.self)
	if !c.stampedIn {
		return at, fmt.Errorf("receive from rank %d with stamps: %w", from, errUnstamped)
	}
	at.Taken = g.wall(c.last.taken)
	if g.w.opt.StampingNIC {
		at.NIC = g.nic(c.last.nicArrived)
	}
	return at, nil
}

// Departure returns the stamps of the last packet that has left for a peer.
func (g *Group) Departure(to int, _ units.Nanos) (d plane.Departure, err error) {
	if err := g.enter(to); err != nil {
		return d, fmt.Errorf("the stamps of a message to rank %d: %w", to, err)
	}
	defer g.w.mu.Unlock()
	c := g.w.conn(g.self, g.team[to])
	if !c.stampedOut {
		return d, fmt.Errorf("the stamps of a message to rank %d: %w", to, errUnstamped)
	}
	d = plane.Departure{Scheduled: g.wall(c.last.scheduled), Sent: g.wall(c.last.sent)}
	if g.w.opt.StampingNIC {
		d.NIC = g.nic(c.last.nicSent)
	}
	return d, nil
}

// StampClock is exact.
func (g *Group) StampClock() (ahead, bound units.Nanos) { return wallAhead, 0 }

func (g *Group) wall(t instant) units.Nanos { return g.self.clock.read(t) + wallAhead }
func (g *Group) nic(t instant) units.Nanos  { return g.self.clock.read(t) + nicAhead }
