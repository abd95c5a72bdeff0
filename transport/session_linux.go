package transport

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"calib/internal/kernel"
	"calib/internal/plane"
)

type session struct {
	plane.Session
	hash  [sha256.Size]byte
	links map[linkID]*link
	met   map[int]bool // under Mesh.mu: hosts that have proven a ticket in this session
	// ours is, under Mesh.mu, where datagrams of teams of this session come from. One that was sent again may be late.
	ours map[netip.AddrPort]bool
	done chan struct{} // closed when the session ends
}

// linkID names a connection: the peer's host index, and which of the connections to it. Line 0 is that of Send and
// Recv.
type linkID struct{ host, line int }

type link struct {
	line    int
	peer    plane.Peer
	ticket  plane.Ticket
	options plane.Socket  // under Mesh.mu: of the next connection
	given   int64         // bytes that the pair may move in this session
	allowed *atomic.Int64 // what is left of them
	expiry  *time.Timer
	dialing sync.Mutex

	turn    uint64        // under Mesh.mu: which of the accepted connections conn is; 0 where this side dials
	conn    *Conn         // under Mesh.mu; nil when there is none
	arrived chan struct{} // closed if and only if conn is set
}

func newSession(s plane.Session) (*session, error) {
	n := &session{Session: s, hash: sha256.Sum256([]byte(s.Run)), links: map[linkID]*link{}, met: map[int]bool{},
		ours: map[netip.AddrPort]bool{}, done: make(chan struct{})}
	peers := map[int]plane.Peer{}
	for _, p := range s.Peers {
		if _, twice := peers[p.Host]; twice {
			return nil, fmt.Errorf("host %d is listed twice", p.Host)
		}
		peers[p.Host] = p
	}
	for _, t := range s.Tickets {
		if err := checkTicket(&t, s.Self); err != nil {
			return nil, err
		}
		other := t.A + t.B - s.Self
		p, ok := peers[other]
		if !ok {
			return nil, fmt.Errorf("%w: for host %d, which is not among the peers", ErrTicket, other)
		}
		if _, twice := n.links[linkID{other, 0}]; twice {
			return nil, fmt.Errorf("%w: host %d has two", ErrTicket, other)
		}
		n.links[linkID{other, 0}] = &link{peer: p, ticket: t, options: s.Socket, arrived: make(chan struct{}),
			given: int64(t.MaxBytes), allowed: allowance(int64(t.MaxBytes))}
	}
	return n, nil
}

// link returns the link of a line to a host, false where there is no ticket for the host. All lines of a host share its
// ticket, the bytes that the ticket allows, and its options. Mesh.mu is held.
func (s *session) link(host, line int) (*link, bool) {
	first, ok := s.links[linkID{host, 0}]
	if !ok || line == 0 {
		return first, ok
	}
	l := s.links[linkID{host, line}]
	if l == nil {
		l = &link{line: line, peer: first.peer, ticket: first.ticket, allowed: first.allowed, arrived: make(chan struct{})}
		s.links[linkID{host, line}] = l
	}
	l.options = first.options
	return l, true
}

// drop releases the mesh's hold on the connection. Mesh.mu is held.
func (l *link) drop(cause error) {
	if l.conn == nil {
		return
	}
	l.conn.stop(cause)
	l.conn.Release()
	l.conn, l.arrived = nil, make(chan struct{})
}

// admit applies the ticket's limits to a connection whose handshake is done.
func (c *Conn) admit(l *link, o plane.Socket) {
	c.peer, c.flags = describe(l.peer), kernel.SendFlags(o.NoEOR)
	c.allowed = l.allowed
}

func describe(p plane.Peer) string {
	if p.Name == "" {
		return fmt.Sprintf("host %d (%s)", p.Host, p.Addr)
	}
	return fmt.Sprintf("host %s (%s)", p.Name, p.Addr)
}

// checkTicket rejects a ticket the coordinator cannot have meant.
func checkTicket(t *plane.Ticket, self int) error {
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

// ticketLife is how long a ticket is still valid; an error says that it is not.
func ticketLife(t *plane.Ticket, now time.Time) (time.Duration, error) {
	d := time.Unix(t.Expires, 0).Sub(now)
	if d <= 0 {
		return 0, fmt.Errorf("%w: it expired at %s (check that the hosts' clocks agree, or start the run again)",
			ErrTicket, time.Unix(t.Expires, 0).UTC().Format(time.RFC3339))
	}
	return d, nil
}
