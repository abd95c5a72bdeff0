package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"calib/internal/plane"
	"calib/transport/kernel"
)

// maxPending bounds the handshakes in progress. One more ends the oldest, so that strangers who connect and send
// nothing cannot keep a peer out: a peer needs one round trip.
const maxPending = 64

// acceptPause is how long the loop waits when the system has no descriptor left for a connection.
const acceptPause = 10 * time.Millisecond

// listen opens the listener for addr, and the datagram socket on the port of the same number. An empty host is every
// address, of both families where the system has both.
func listen(addr string) (fd, udp int, bound netip.AddrPort, err error) {
	port, every := strings.CutPrefix(addr, ":")
	if every {
		addr = "[::]:" + port
	}
	addrs, err := resolve(context.Background(), addr)
	if err != nil {
		return -1, -1, bound, err
	}
	fd, udp, bound, err = listenBoth(addrs[0])
	if err != nil && every {
		return listenBoth(netip.AddrPortFrom(netip.IPv4Unspecified(), addrs[0].Port()))
	}
	return fd, udp, bound, err
}

// portTries is how often another port is tried where the kernel chose one that is free for connections only.
const portTries = 16

func listenBoth(ap netip.AddrPort) (fd, udp int, bound netip.AddrPort, err error) {
	for range portTries {
		fd, bound, err = kernel.Listen(ap)
		if err != nil {
			return -1, -1, bound, err
		}
		if udp, err = kernel.ListenDatagrams(bound); err == nil {
			return fd, udp, bound, nil
		}
		kernel.Close(fd)
		if ap.Port() != 0 || !errors.Is(err, kernel.ErrPortInUse) {
			break
		}
	}
	return -1, -1, bound, err
}

func parsePort(s string) (uint16, error) {
	p, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("port %q: want 0 to 65535", s)
	}
	return uint16(p), nil
}

// resolve returns the addresses of host:port, at least one. A literal address asks no resolver.
func resolve(ctx context.Context, addr string) ([]netip.AddrPort, error) {
	if ap, err := netip.ParseAddrPort(addr); err == nil {
		return []netip.AddrPort{ap}, nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%w (want host:port)", err)
	}
	p, err := parsePort(port)
	if err != nil {
		return nil, err
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("%w (give the data address with addr= in the hosts file)", err)
	}
	out := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		out[i] = netip.AddrPortFrom(ip.Unmap(), p)
	}
	return out, nil
}

// acceptLoop takes connections until Close shuts the listener down. It waits only for accept, for the end of a
// handshake that it has just ended, and for acceptPause.
func (m *Mesh) acceptLoop() {
	for turn := uint64(1); ; turn++ {
		fd, from, more, err := kernel.Accept(m.fd)
		if !more {
			return
		}
		if err != nil {
			time.Sleep(acceptPause)
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
	err := c.SetTimeouts(handshakeTimeout, handshakeTimeout)
	if err == nil {
		_, err = answerHandshake(m.ctx, c, m.consent, func(h *hello) (t *plane.Ticket, err error) {
			if s, l, err = m.lookup(h); err != nil {
				return nil, err
			}
			o, _ = m.optionsOf(l)
			c.epoch = h.Epoch
			return &l.ticket, errors.Join(kernel.SetOptions(c.fd, o), kernel.SetPace(c.fd, m.rate))
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
		m.refused++
		m.why = err
	}
}

// lookup finds the ticket a hello speaks of.
func (m *Mesh) lookup(h *hello) (*session, *link, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.session
	switch {
	case s == nil:
		return nil, nil, fmt.Errorf("%w: no session here", ErrTicket)
	case s.hash != h.Run:
		return nil, nil, fmt.Errorf("%w: for another run", ErrTicket)
	case int(h.To) != s.Self:
		return nil, nil, fmt.Errorf("%w: for host %d, this is host %d", ErrTicket, h.To, s.Self)
	}
	l, ok := s.link(int(h.From), int(h.Line))
	if !ok {
		return nil, nil, fmt.Errorf("%w: none for host %d", ErrTicket, h.From)
	}
	return s, l, nil
}
