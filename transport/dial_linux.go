package transport

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport/kernel"
)

// dial makes a connection, installs it, and returns it held.
func (m *Mesh) dial(ctx context.Context, s *session, l *link) (*Conn, error) {
	l.dialing.Lock()
	defer l.dialing.Unlock()
	if c, _, err := m.cached(s, l, false); c != nil || err != nil {
		return c, err // another caller was first
	}
	stop := context.CancelFunc(nil)
	ctx, stop = context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(m.ctx, stop)()
	if l.peer.Consent == "" {
		return nil, fmt.Errorf("%w: its agent has not agreed to be dialled", ErrConsent)
	}
	if m.tells(s, l) {
		return m.dialAll(ctx, s, l)
	}
	return m.dialQuietly(ctx, s, l)
}

// dialAll tries every address of a peer.
func (m *Mesh) dialAll(ctx context.Context, s *session, l *link) (*Conn, error) {
	addrs, err := resolve(ctx, l.peer.Addr)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, a := range addrs {
		c, err := m.dialOne(ctx, a, s, l)
		if err == nil {
			c.hold()
			if err = m.install(s, l, c, 0); err == nil {
				return c, nil
			}
			c.Release()
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (m *Mesh) dialOne(ctx context.Context, a netip.AddrPort, s *session, l *link) (*Conn, error) {
	o, epoch := m.optionsOf(l)
	fd, err := sysConnect(ctx, m.addr.Addr(), a, o)
	if err != nil {
		return nil, err
	}
	c := newConn(fd, describe(l.peer))
	c.epoch = epoch
	c.port, err = kernel.LocalPort(fd)
	if err = errors.Join(err, kernel.SetPace(fd, m.rate), c.SetTimeouts(handshakeTimeout, handshakeTimeout)); err == nil {
		err = dialHandshake(ctx, c, s.hash, &l.ticket, l.peer.Consent, l.line)
	}
	if err != nil {
		c.Release()
		return nil, err
	}
	c.admit(l, o)
	return c, nil
}

// connectSlice is how long one wait for the peer's host lasts before the context is checked.
const connectSlice = 50 * units.Millisecond

// sysConnect opens a connection to ap with o set, within ctx. It returns ErrTimeout, or what the network said. The
// connection comes from the address here, unless that is unspecified or of another family.
func sysConnect(ctx context.Context, here netip.Addr, ap netip.AddrPort, o plane.Socket) (int, error) {
	return kernel.OpenSocket(ap, unix.SOCK_STREAM, func(fd int, sa unix.Sockaddr) error {
		if err := errors.Join(kernel.SetOptions(fd, o), kernel.SetTimeouts(fd, connectSlice, connectSlice)); err != nil {
			return err
		}
		if err := kernel.BindFrom(fd, here, ap.Addr()); err != nil {
			return err
		}
		if err := connect(ctx, fd, sa); err != nil {
			return err
		}
		return kernel.SetCongestion(fd, o.Congestion) // a route may name another (ip-route(8), congctl), which connect has set
	})
}

// connect repeats a blocking connect bounded by the send timeout: called again, it continues to wait for the same
// attempt. It ends with the attempt or with ctx.
func connect(ctx context.Context, fd int, sa unix.Sockaddr) error {
	for {
		err := unix.Connect(fd, sa)
		switch {
		case err == nil, errors.Is(err, unix.EISCONN):
			return nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EINPROGRESS), errors.Is(err, unix.EALREADY):
		case errors.Is(err, unix.ECONNREFUSED):
			return fmt.Errorf("%w (is the agent running there, and is the port open?)", err)
		case errors.Is(err, unix.EADDRNOTAVAIL):
			return fmt.Errorf("%w (every local port is taken: wait a minute, or widen net.ipv4.ip_local_port_range)", err)
		default:
			return err
		}
		if ctx.Err() != nil {
			return ctxErr(ctx)
		}
	}
}

// discreetTime is how long dialling a host that has not agreed takes, whatever becomes of it.
const discreetTime = 5 * time.Second

// Consent is what peers must have been told of this mesh, by who coordinates the run, to open a connection to it. It is
// another in every process.
func (m *Mesh) Consent() string { return m.consent }

// Discreet makes the mesh one whose caller is not to learn from it which ports are open elsewhere: until a host has
// proven its ticket, all that becomes of dialling it is one and the same error, at one and the same time. log is told
// what it was. Call it before the first session.
func (m *Mesh) Discreet(log func(error)) { m.discreet, m.patience = log, discreetTime }

// tells reports whether the caller may learn what becomes of dialling a peer.
func (m *Mesh) tells(s *session, l *link) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.discreet == nil || s.met[l.peer.Host]
}

// dialQuietly is dialAll with an error that says nothing, after a time that says nothing.
func (m *Mesh) dialQuietly(ctx context.Context, s *session, l *link) (*Conn, error) {
	limited, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	c, err := m.dialAll(limited, s, l)
	if err == nil {
		return c, nil
	}
	m.discreet(fmt.Errorf("connect to %s: %w", describe(l.peer), err))
	<-limited.Done()
	if ctx.Err() != nil {
		return nil, ctxErr(ctx)
	}
	return nil, fmt.Errorf("%w: it has not answered with the run's ticket within %v; why is in this agent's log", ErrConsent, m.patience)
}

// Foreign returns what has come since the last call.
func (m *Mesh) Foreign() Foreign {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := Foreign{Strays: m.strays.Swap(0), Refused: m.refused}
	if m.refused > 0 {
		f.Why = m.why.Error()
	}
	m.refused, m.why = 0, nil
	return f
}
