package transport

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
)

// session is a Session as the mesh uses it.
type session struct {
	Session
	hash  [sha256.Size]byte
	links map[int]*link
	done  chan struct{} // closed when the session ends
}

// link is a peer and the connection to it.
type link struct {
	peer    Peer
	ticket  Ticket
	options Options    // under Mesh.mu: of the next connection
	allowed *allowance // bytes of the ticket that are left
	expiry  *time.Timer
	dialing sync.Mutex

	turn    uint64        // under Mesh.mu: which of the accepted connections conn is; 0 where this side dials
	conn    *Conn         // under Mesh.mu; nil when there is none
	arrived chan struct{} // closed if and only if conn is set
}

func newSession(s Session) (*session, error) {
	n := &session{Session: s, hash: runHash(s.Run), links: make(map[int]*link), done: make(chan struct{})}
	peers := make(map[int]Peer)
	for _, p := range s.Peers {
		if _, twice := peers[p.Host]; twice {
			return nil, fmt.Errorf("host %d is listed twice", p.Host)
		}
		peers[p.Host] = p
	}
	for _, t := range s.Tickets {
		if err := t.check(s.Self); err != nil {
			return nil, err
		}
		other := t.other(s.Self)
		p, ok := peers[other]
		if !ok {
			return nil, fmt.Errorf("%w: for host %d, which is not among the peers", ErrTicket, other)
		}
		if _, twice := n.links[other]; twice {
			return nil, fmt.Errorf("%w: host %d has two", ErrTicket, other)
		}
		l := &link{peer: p, ticket: t, options: s.Options, arrived: make(chan struct{}),
			allowed: newAllowance(int64(t.MaxBytes))}
		n.links[other] = l
	}
	return n, nil
}

// drop gives up the mesh's hold on the connection. Mesh.mu is held.
func (l *link) drop(cause error) {
	if l.conn == nil {
		return
	}
	l.conn.stop(cause)
	l.conn.Release()
	l.conn, l.arrived = nil, make(chan struct{})
}

// admit puts a connection whose handshake is done under its ticket.
func (c *Conn) admit(l *link, o Options) {
	c.peer, c.flags = describe(l.peer), sendFlags(o.NoEOR)
	c.allowed, c.sendLeft, c.recvLeft = l.allowed, 0, 0
}

func describe(p Peer) string {
	if p.Name == "" {
		return fmt.Sprintf("host %d (%s)", p.Host, p.Addr)
	}
	return fmt.Sprintf("host %s (%s)", p.Name, p.Addr)
}
