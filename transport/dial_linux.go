package transport

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
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
	c.port, err = sysLocalPort(fd)
	if err = errors.Join(err, sysPace(fd, m.rate), c.SetTimeouts(handshakeTimeout, handshakeTimeout)); err == nil {
		err = dialHandshake(ctx, c, s.hash, &l.ticket, l.peer.Consent, l.line)
	}
	if err != nil {
		c.Release()
		return nil, err
	}
	c.admit(l, o)
	return c, nil
}
