package transport

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"calib/internal/plane"
	"calib/internal/units"
)

// maxDatagram is one more than the largest datagram [B]: with its headers it fits a packet of 1,500 bytes.
const maxDatagram = 1400

// liveness is the longest time between two checks, while datagrams are sent, that the receiver still has its connection.
const liveness = 10 * units.Millisecond

// Datagrams of a mesh use one socket, bound to the port of the listener's number, so a peer's address for connections is
// also its address for datagrams. A datagram is sent only to a rank whose connection is open, which proves that the rank has
// a ticket and expects traffic of this run; and only datagrams from such a rank's address are received. They carry no proof
// themselves: whoever can forge addresses on the network can forge datagrams.

// datagramSocket is the socket of a mesh for datagrams. The descriptor is closed when the last holder has released it.
type datagramSocket struct {
	fd    int
	bound netip.AddrPort

	mu   sync.Mutex
	refs int
}

func newDatagramSocket(fd int, bound netip.AddrPort) *datagramSocket {
	return &datagramSocket{fd: fd, bound: bound, refs: 1}
}

// begin adds a holder, which is a group, and discards the datagrams that came before. It returns how many the kernel has
// dropped so far; ok is false once the socket is closed.
func (p *datagramSocket) begin() (dropped uint32, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refs == 0 {
		return 0, false
	}
	p.refs++
	sysDrain(p.fd)
	return sysDropped(p.fd), true
}

func (p *datagramSocket) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refs--; p.refs == 0 {
		sysClose(p.fd)
	}
}

// datagrams is a group's use of the datagram socket. Its memory is allocated once, so that a datagram allocates nothing.
type datagrams struct {
	in      messageReader
	out     []*datagramWriter      // by rank, nil where there is no connection
	ranks   map[netip.AddrPort]int // by where its datagrams come from, without a zone
	seen    int                    // Group.changes when out and ranks were made
	checked []units.Nanos          // when each rank's connection was last looked at
	strays  int64                  // datagrams from elsewhere
}

// openDatagrams returns the group's datagrams, with an entry for each open connection. The first call opens the connections
// that are missing, because the address of a datagram is recognised by them.
func (g *Group) openDatagrams() (*datagrams, error) {
	m := g.datagrams
	if m == nil {
		if err := g.Open(); err != nil {
			return nil, err
		}
		if err := sysStamp(g.mesh.udp.fd, g.stamped); err != nil {
			return nil, fmt.Errorf("stamp the arrival of datagrams: %w", err)
		}
		m = &datagrams{seen: -1, checked: make([]units.Nanos, len(g.team))}
		g.datagrams = m
	}
	if m.seen == g.changes {
		return m, nil
	}
	m.out, m.ranks = make([]*datagramWriter, len(g.team)), make(map[netip.AddrPort]int)
	for rank, c := range g.conns {
		if c == nil {
			continue
		}
		r, err := g.route(rank, c)
		if err != nil {
			return nil, err
		}
		m.out[rank] = newDatagramWriter(r)
		for _, from := range []netip.Addr{r.to.Addr(), r.seen} {
			m.ranks[netip.AddrPortFrom(from.WithZone(""), r.to.Port())] = rank
		}
		m.checked[rank] = Now()
	}
	m.seen = g.changes
	return m, nil
}

// route is the addresses of datagrams to and from a rank.
type route struct {
	to   netip.AddrPort
	seen netip.Addr // the peer's end of the connection: its datagrams come from there or from to
	from netip.Addr // the address to send from; not valid where the socket is bound to one
	six  bool       // the socket's family
}

func (g *Group) route(rank int, c *Conn) (r route, err error) {
	_, l, err := g.mesh.link(g.team[rank], 0)
	if err != nil {
		return r, fmt.Errorf("datagrams to %s: %w", c.peer, err)
	}
	said := l.peer.Addr
	p, err := strconv.ParseUint(said[strings.LastIndexByte(said, ':')+1:], 10, 16)
	if err != nil {
		return r, fmt.Errorf("datagrams to %s: no port in %q", c.peer, said)
	}
	here, there, err := sysEnds(c.fd)
	if err != nil {
		return r, fmt.Errorf("datagrams to %s: %w", c.peer, err)
	}
	bound := g.mesh.udp.bound.Addr()
	r = route{seen: there.Addr(), six: bound.Is6(), to: netip.AddrPortFrom(there.Addr(), uint16(p))}
	// A peer that dialled may have done so from another address than the one it listens on.
	if ap, err := netip.ParseAddrPort(said); err == nil && !g.dials(rank) && ap.Addr().Unmap().Is4() == there.Addr().Is4() {
		r.to = netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	}
	if bound.IsUnspecified() {
		r.from = here.Addr()
	} else if bound.Is6() != r.to.Addr().Is6() {
		return r, fmt.Errorf("datagrams to %s: the agent here takes them on %v only, of the other address family "+
			"(calib agent --data :0 takes both)", c.peer, bound)
	}
	return r, nil
}

// SendDatagram sends b as one datagram, which may be lost on the way; b is not empty and below 1,400 bytes. It waits for
// room on this host and for the mesh's rate limit, never for the receiver. No datagram is sent before the receiver has
// shown its ticket on a connection, which is opened if necessary, nor long after the receiver has ended that connection.
func (g *Group) SendDatagram(to int, b []byte) error {
	if len(b) == 0 || len(b) >= maxDatagram {
		return fmt.Errorf("send a datagram of %s: want 1 to %d bytes", units.Bytes(len(b)), maxDatagram-1)
	}
	c, err := g.link(to)
	if err != nil {
		return err
	}
	m, err := g.openDatagrams()
	if err != nil {
		return err
	}
	if int64(len(b)) > c.sendLeft && !c.allowed.take(&c.sendLeft, len(b)) {
		return g.failed(to, c.failed("send a datagram,", len(b), ErrTicketBytes))
	}
	now := Now()
	if at := g.mesh.pace.at(now, len(b)); at > now {
		if err := g.WaitUntil(at); err != nil {
			return err
		}
		now = at
	}
	if now-m.checked[to] > liveness {
		if !c.alive() {
			return g.failed(to, c.failed("send a datagram,", len(b), ErrPeerClosed))
		}
		m.checked[to] = now
	}
	if c.broken.Load() {
		return g.failed(to, c.failed("send a datagram,", len(b), ErrStopped))
	}
	if err := g.sendWhenRoom(m.out[to], b); err != nil {
		return fmt.Errorf("send a datagram, %s, %s: %w", units.Bytes(len(b)), c.peer, err)
	}
	c.sendLeft -= int64(len(b))
	return nil
}

// sendWhenRoom hands b to the kernel once it has room, within the group's timeout.
func (g *Group) sendWhenRoom(o *datagramWriter, b []byte) error {
	var deadline units.Nanos
	for {
		errno := o.send(g.mesh.udp.fd, b)
		switch errno {
		case 0:
			return nil
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
		default:
			return errno
		}
		now := Now()
		if deadline == 0 {
			deadline = now + g.timeout
		}
		if now >= deadline {
			return ErrTimeout
		}
		if err := g.life.Err(); err != nil {
			return ctxErr(g.life)
		}
		if err := waitFor(g.mesh.udp.fd, unix.POLLOUT, min(deadline-now, waitSlice)); err != nil {
			return err
		}
	}
}

// RecvDatagram returns the next datagram of any rank of the team, or Got false when this host's clock reaches until. In a
// shared group after Stamp its time is the kernel's stamp, as with RecvAt. Datagrams from elsewhere are ignored.
func (g *Group) RecvDatagram(b []byte, until units.Nanos) (plane.Datagram, error) {
	m, err := g.openDatagrams()
	if err != nil {
		return plane.Datagram{}, err
	}
	fd := g.mesh.udp.fd
	for {
		n, at, errno := m.in.recv(fd, b, unix.MSG_DONTWAIT|unix.MSG_TRUNC)
		switch {
		case errno == 0:
			d, ok, err := g.take(m, n, at, len(b))
			if ok || err != nil {
				return d, err
			}
		case errno != syscall.EAGAIN && errno != syscall.EINTR:
			return plane.Datagram{}, fmt.Errorf("receive a datagram: %w", errno)
		}
		now := Now()
		if now >= until {
			return plane.Datagram{Dropped: int64(sysDropped(fd) - g.dropped)}, nil
		}
		if g.life.Err() != nil {
			return plane.Datagram{}, fmt.Errorf("receive a datagram: %w", ctxErr(g.life))
		}
		if errno == syscall.EAGAIN {
			if err := waitFor(fd, unix.POLLIN, min(until-now, waitSlice)); err != nil {
				return plane.Datagram{}, fmt.Errorf("receive a datagram: %w", err)
			}
		}
	}
}

// take counts a received datagram of n bytes; ok is false for one that is not from the team.
func (g *Group) take(m *datagrams, n int, at units.Nanos, room int) (d plane.Datagram, ok bool, err error) {
	if !g.stamped || at == 0 {
		at = Now()
	}
	rank, ok := m.ranks[m.in.source()]
	if !ok || g.conns[rank] == nil {
		m.strays++
		return d, false, nil
	}
	c := g.conns[rank]
	if n > room {
		return d, false, fmt.Errorf("receive a datagram, %s: it has %s, more than the %s there is room for", c.peer,
			units.Bytes(n), units.Bytes(room))
	}
	if int64(n) > c.recvLeft && !c.allowed.take(&c.recvLeft, n) {
		return d, false, g.failed(rank, c.failed("receive a datagram,", n, ErrTicketBytes))
	}
	c.recvLeft -= int64(n)
	return plane.Datagram{Got: true, From: rank, Bytes: n, At: at, Dropped: int64(m.in.dropped(g.dropped))}, true, nil
}

// pacer spaces datagrams so that the rate never exceeds a limit, whatever their size. Unused time is not saved up.
type pacer struct {
	rate units.Bytes // [B/s]; 0 is no limit
	next units.Nanos
}

// at returns when n bytes that are ready now may be sent, and counts them.
func (p *pacer) at(now units.Nanos, n int) units.Nanos {
	if p.rate <= 0 {
		return now
	}
	at := max(now, p.next)
	p.next = at + units.Nanos(int64(n)*int64(units.Second)/int64(p.rate))
	return at
}
