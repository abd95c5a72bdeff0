package transport

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"calib/internal/kernel"
	"calib/internal/plane"
)

// dial makes a connection, installs it, and returns it held.
func (m *Mesh) dial(ctx context.Context, s *session, l *link) (*Conn, error) {
	l.dialing.Lock()
	defer l.dialing.Unlock()
	if c, _, err := m.cached(s, l, false); c != nil || err != nil {
		return c, err // another caller was first
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(m.ctx, stop)()
	if l.peer.Consent == "" {
		return nil, fmt.Errorf("%w: its agent has not agreed to be dialled", ErrConsent)
	}
	m.mu.Lock()
	tells := m.options.Discreet == nil || s.met[l.peer.Host]
	m.mu.Unlock()
	if tells {
		return m.dialAll(ctx, s, l)
	}
	return m.dialQuietly(ctx, s, l)
}

func (m *Mesh) dialAll(ctx context.Context, s *session, l *link) (*Conn, error) {
	until, _ := ctx.Deadline() // which take has set
	addrs, err := kernel.Resolve(ctx, l.peer.Addr)
	for i, a := range addrs { // one that does not answer leaves time for the others
		part, cancel := context.WithTimeout(ctx, time.Until(until)/time.Duration(len(addrs)-i))
		c, failed := m.dialOne(part, a, s, l)
		if cancel(); failed == nil {
			return c, nil
		}
		err = errors.Join(err, failed)
	}
	return nil, err
}

func (m *Mesh) dialOne(ctx context.Context, a netip.AddrPort, s *session, l *link) (*Conn, error) {
	m.mu.Lock()
	o, epoch := l.options, m.epoch
	m.mu.Unlock()
	fd, err := kernel.Connect(ctx, m.addr.Addr(), a, o)
	if errors.Is(err, context.DeadlineExceeded) {
		err = ErrTimeout
	}
	if err != nil {
		return nil, err
	}
	c := newConn(fd, describe(l.peer))
	c.epoch = epoch
	from, _, err := kernel.Ends(fd)
	c.port = from.Port()
	if err = errors.Join(err, kernel.SetPace(fd, m.options.Rate), c.SetTimeouts(handshakeTimeout)); err == nil {
		err = dialHandshake(ctx, c, s.hash, &l.ticket, l.peer.Consent, l.line)
	}
	if err == nil {
		c.admit(l, o)
		if err = c.hold(); err == nil {
			err = m.install(s, l, c, 0)
		}
	}
	if err != nil {
		c.Release()
		return nil, err
	}
	return c, nil
}

// discreetTime is how long dialling a host that has not agreed takes, whatever becomes of it.
const discreetTime = 5 * time.Second

// Consent is what peers must have been told of this mesh, by who coordinates the run, to open a connection to it. It is
// another in every process.
func (m *Mesh) Consent() string { return m.consent }

// dialQuietly is dialAll with an error that says nothing, after a time that says nothing.
func (m *Mesh) dialQuietly(ctx context.Context, s *session, l *link) (*Conn, error) {
	limited, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	c, err := m.dialAll(limited, s, l)
	if err == nil {
		return c, nil
	}
	m.options.Discreet(fmt.Errorf("connect to %s: %w", describe(l.peer), err))
	<-limited.Done()
	if ctx.Err() != nil {
		return nil, ctxErr(ctx)
	}
	return nil, fmt.Errorf("%w: it has not answered with the run's ticket within %v; why is in this agent's log",
		ErrConsent, m.patience)
}

// Foreign returns what has come since the last call.
func (m *Mesh) Foreign() Foreign {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.foreign
	m.foreign = Foreign{}
	return f
}

// maxPending bounds the handshakes in progress: as many hosts as a run has may dial one of them at once. One more ends
// the oldest, so that strangers who connect and send nothing cannot keep a peer out: a peer needs one round trip.
const maxPending = 1024

// acceptLoop takes connections until Close shuts the listener down. It waits only for accept, for the end of a
// handshake that it has just ended, and where the system has no descriptor left.
func (m *Mesh) acceptLoop() {
	for turn := uint64(1); ; turn++ {
		fd, from, more, err := kernel.Accept(m.fd)
		if !more {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		c := newConn(fd, "caller "+from.String())
		c.port = from.Port()
		m.beginHandshake(c)
		m.handshakes <- struct{}{}
		m.wg.Go(func() { m.serveHandshake(c, turn) })
	}
}

// beginHandshake records a handshake in progress, and ends the oldest when there are too many.
func (m *Mesh) beginHandshake(c *Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.pending) >= maxPending {
		m.pending[0].stop(fmt.Errorf("%w: no word before %d others connected", ErrTimeout, maxPending))
		m.pending = m.pending[1:]
	}
	m.pending = append(m.pending, c)
}

// serveHandshake takes one connection through its handshake; it ends within handshakeTimeout, or when the mesh closes.
// turn counts the accepted connections: handshakes run concurrently, so one that the peer has given up may end after
// the handshake of a connection that the peer opened later.
func (m *Mesh) serveHandshake(c *Conn, turn uint64) {
	defer func() { <-m.handshakes }()
	var s *session
	var l *link
	var o plane.Socket
	err := c.SetTimeouts(handshakeTimeout)
	if err == nil {
		err = answerHandshake(m.ctx, c, m.consent, func(h *hello) (t *plane.Ticket, err error) {
			if s, l, o, err = m.lookup(h); err != nil {
				return nil, err
			}
			c.epoch = h.Epoch
			return &l.ticket, errors.Join(kernel.SetOptions(c.fd, o), kernel.SetPace(c.fd, m.options.Rate))
		})
	}
	m.endHandshake(c, err)
	if err != nil {
		c.Release()
		return
	}
	c.admit(l, o)
	// It fails when the session has ended or the peer has opened another since; c is then closed.
	_ = m.install(s, l, c, turn)
}

func (m *Mesh) endHandshake(c *Conn, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending = slices.DeleteFunc(m.pending, func(p *Conn) bool { return p == c })
	if err != nil && !errors.Is(err, ErrPeerClosed) && m.ctx.Err() == nil {
		m.foreign.Refused++
		m.foreign.Why = err.Error()
	}
}

func (m *Mesh) lookup(h *hello) (s *session, l *link, o plane.Socket, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch s = m.session; {
	case s == nil:
		return s, l, o, fmt.Errorf("%w: no session here", ErrTicket)
	case s.hash != h.Run:
		return s, l, o, fmt.Errorf("%w: for another run", ErrTicket)
	case int(h.To) != s.Self:
		return s, l, o, fmt.Errorf("%w: for host %d, this is host %d", ErrTicket, h.To, s.Self)
	}
	l, ok := s.link(int(h.From), int(h.Line))
	if !ok {
		return s, l, o, fmt.Errorf("%w: none for host %d", ErrTicket, h.From)
	}
	return s, l, l.options, nil
}
