package transport

import (
	"fmt"
	"time"

	"calib/internal/units"
)

// Session is what a mesh must know before it opens or takes a connection: the run, who the others are, and the tickets.
type Session struct {
	Run     string
	Self    int // this agent's host index
	Peers   []Peer
	Tickets []Ticket // those that name Self
	Options Options
}

// Peer is where another agent takes data connections.
type Peer struct {
	Host int    // index of the host in the run
	Name string // for messages
	Addr string // host:port, or [IPv6%zone]:port
}

// Ticket allows one pair of hosts data connections to each other, in one run, up to a size and a time. The coordinator
// makes the key and gives it to the two hosts only.
type Ticket struct {
	A, B     int // host indices, A < B; A dials
	Key      [32]byte
	MaxBytes units.Bytes // over all connections of the pair, both directions
	Expires  int64       // Unix seconds
}

// check rejects a ticket the coordinator cannot have meant.
func (t *Ticket) check(self int) error {
	switch {
	case t.A < 0 || t.A >= t.B:
		return fmt.Errorf("%w: between hosts %d and %d, want 0 ≤ A < B", ErrTicket, t.A, t.B)
	case self != t.A && self != t.B:
		return fmt.Errorf("%w: between hosts %d and %d, but this is host %d", ErrTicket, t.A, t.B, self)
	case t.Key == [32]byte{}:
		return fmt.Errorf("%w: between hosts %d and %d, without a key", ErrTicket, t.A, t.B)
	case t.MaxBytes <= 0:
		return fmt.Errorf("%w: between hosts %d and %d, for %d bytes", ErrTicket, t.A, t.B, int64(t.MaxBytes))
	}
	return nil
}

// left is how long the ticket is still good for; an error says it is not.
func (t *Ticket) left(now time.Time) (time.Duration, error) {
	d := time.Unix(t.Expires, 0).Sub(now)
	if d <= 0 {
		return 0, fmt.Errorf("%w: it expired at %s (check that the hosts' clocks agree, or start the run again)",
			ErrTicket, time.Unix(t.Expires, 0).UTC().Format(time.RFC3339))
	}
	return d, nil
}

// other is the host at the far end of the ticket.
func (t *Ticket) other(self int) int {
	if t.A == self {
		return t.B
	}
	return t.A
}
