package transport

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"calib/internal/kernel"
	"calib/internal/plane"
	"calib/internal/units"
)

// openTimeout bounds the making of one connection, whatever the caller's context allows.
const openTimeout = 10 * units.Second

// Mesh is one agent's part of the data plane: a listener, and for the run of the current session one connection to each
// peer that is used, opened on first use and kept for the next, until the epoch ends.
type Mesh struct {
	fd         int
	addr       netip.AddrPort
	defaults   plane.Socket    // the listener's own
	udp        *datagramSocket // of datagrams
	options    Options
	pace       pacer         // of datagrams; belongs to the goroutine of the group there is
	consent    string        // that peers must have been told of
	patience   time.Duration // with Options.Discreet: how long dialling takes that fails
	ctx        context.Context
	cancel     context.CancelFunc
	wg         sync.WaitGroup
	handshakes chan struct{} // one for each handshake in progress

	mu        sync.Mutex
	session   *session
	epoch     uint32        // of the connections that are opened and taken
	listening plane.Socket  // what the listener was given
	pending   []*Conn       // handshakes in progress, oldest first
	run       string        // of the last session
	moved     map[int]int64 // bytes, by host, in the sessions of that run that have ended
	foreign   Foreign       // since it was last asked for

	close sync.Once
}

// NewMesh listens on addr: "host:port", "[IPv6]:port", or ":port" for every address of the host; port 0 lets the kernel
// choose. It fails with kernel.ErrPortInUse where that is the reason.
func NewMesh(addr string, o Options) (*Mesh, error) {
	fd, udp, bound, err := kernel.ListenBoth(addr)
	if err != nil {
		return nil, fmt.Errorf("listen for data on %s: %w", addr, err)
	}
	m := &Mesh{fd: fd, addr: bound, udp: &datagramSocket{fd: udp, refs: 1}, options: o, pace: newPacer(o.Rate),
		consent: rand.Text(), patience: discreetTime, handshakes: make(chan struct{}, maxPending)}
	if m.defaults, err = kernel.ListenDefaults(fd); err != nil {
		kernel.Close(fd)
		kernel.Close(udp)
		return nil, fmt.Errorf("listen for data on %s: %w", addr, err)
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.wg.Go(m.acceptLoop)
	return m, nil
}

// Addr is where the mesh listens: for connections, and for datagrams on the port of the same number.
func (m *Mesh) Addr() netip.AddrPort { return m.addr }

// SetSession ends the session there may be and begins s. Connections of peers are taken from then on.
func (m *Mesh) SetSession(s plane.Session) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("session of run %s on host %d: %w", s.Run, s.Self, err)
		}
	}()
	next, err := newSession(s)
	if err != nil {
		return err
	}
	m.Reset()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		return fmt.Errorf("the mesh is closed: %w", ErrStopped)
	}
	if err := m.listenWith(s.Socket); err != nil {
		return err
	}
	if m.run != s.Run || m.moved == nil {
		m.run, m.moved = s.Run, map[int]int64{}
	}
	m.session, m.epoch = next, 0
	for id, l := range next.links {
		if m.options.Most > 0 {
			l.given = max(0, min(l.given, int64(m.options.Most)-m.moved[id.host]))
			l.allowed.Store(l.given)
		}
		if d, err := ticketLife(&l.ticket, time.Now()); err == nil {
			l.expiry = time.AfterFunc(d, func() { m.expire(next, id.host) })
		}
	}
	return nil
}

// Epoch begins epoch n of the session, which begins with 0: connections of other epochs are closed, and those that are
// asked for are opened anew, from other ports. Peers of a team begin the same epoch. A peer may have done so before:
// its connections are kept.
func (m *Mesh) Epoch(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch = uint32(n)
	if m.session == nil {
		return
	}
	for _, l := range m.session.links {
		if l.conn != nil && l.conn.epoch != m.epoch {
			l.drop(fmt.Errorf("%w: its epoch has ended", ErrStopped))
		}
	}
}

func (m *Mesh) expire(s *session, host int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, l := range s.links {
		if id.host == host && l.conn != nil {
			l.conn.stop(fmt.Errorf("%w: it expired during the connection", ErrTicket))
		}
	}
}

// Reset ends the session: every connection is shut down, and calls waiting in take or in a Conn return ErrStopped.
func (m *Mesh) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.session
	if s == nil {
		return
	}
	m.session = nil
	close(s.done)
	for id, l := range s.links {
		if id.line == 0 {
			m.moved[id.host] += l.given - l.allowed.Load()
		}
		if l.expiry != nil {
			l.expiry.Stop()
		}
		l.drop(nil)
	}
}

// Close ends the session and the listener, and returns when every goroutine of the mesh has gone.
func (m *Mesh) Close() {
	m.close.Do(func() {
		m.cancel()
		m.Reset()
		_ = unix.Shutdown(m.fd, unix.SHUT_RDWR)
		m.wg.Wait()
		kernel.Close(m.fd)
		m.udp.release()
	})
}

// take returns a line to a host of the session, made if there is none: the lower host index dials, the higher waits to
// be dialled. The caller holds it and must Release it. It fails with ErrNoSession, ErrBusy, ErrTicket, ErrTimeout,
// ErrStopped, or what the network said. With fresh, which says that the connection is new, it returns the connection
// even if the peer has ended it since, so that what the peer sent before can be read.
func (m *Mesh) take(ctx context.Context, host, line int, fresh bool) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(openTimeout))
	defer cancel()
	s, l, err := m.link(host, line)
	if err != nil {
		return nil, err
	}
	for {
		c, arrived, err := m.cached(s, l, fresh)
		if err == nil && c == nil && l.ticket.A == s.Self {
			c, err = m.dial(ctx, s, l)
		}
		if err != nil {
			return nil, fmt.Errorf("connect to %s: %w", describe(l.peer), err)
		}
		if c != nil {
			return c, nil
		}
		select {
		case <-arrived:
		case <-s.done:
			return nil, fmt.Errorf("wait for %s to connect: %w", describe(l.peer), ErrStopped)
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s to connect: %w", describe(l.peer), ctxErr(ctx))
		}
	}
}

func (m *Mesh) link(host, line int) (*session, *link, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session == nil {
		return nil, nil, fmt.Errorf("connect to host %d: %w", host, ErrNoSession)
	}
	l, ok := m.session.link(host, line)
	if !ok {
		return nil, nil, fmt.Errorf("connect to host %d from host %d: no ticket: %w", host, m.session.Self, ErrNoSession)
	}
	return m.session, l, nil
}

// cached returns the connection there is, held; or nil and the channel that closes when one arrives.
func (m *Mesh) cached(s *session, l *link, fresh bool) (*Conn, chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session != s {
		return nil, nil, ErrStopped
	}
	if l.conn != nil && !fresh && !l.conn.alive() {
		l.drop(nil)
	}
	if l.conn == nil {
		return nil, l.arrived, nil
	}
	return l.conn, nil, l.conn.hold()
}

// install makes c the connection of l, in place of an earlier one. The mesh takes over the caller's hold.
func (m *Mesh) install(s *session, l *link, c *Conn, turn uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session != s || turn < l.turn || c.epoch < m.epoch {
		c.stop(nil)
		c.Release()
		return ErrStopped
	}
	l.turn, s.met[l.peer.Host] = turn, true
	l.drop(fmt.Errorf("%w and opened another", ErrPeerClosed))
	l.conn = c
	close(l.arrived)
	return nil
}
