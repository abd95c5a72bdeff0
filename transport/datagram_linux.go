package transport

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"calib/internal/plane"
	"calib/internal/units"
)

// maxDatagram is one more than the largest datagram [B]: with its headers it fits a packet of 1,500 bytes.
const maxDatagram = 1400

// liveness is how long a sender of datagrams goes on without looking whether the receiver still holds its connection.
const liveness = 10 * units.Millisecond

// Datagrams of a mesh use one socket, bound to the port of the listener's number. So where a peer takes connections is
// also where it takes datagrams, and nothing need be told. A datagram is only sent to a rank whose connection is open,
// which proves that it has a ticket and wants traffic of this run; and only those are received that come from such a
// rank's address. They carry no proof themselves: whoever can forge addresses on the network can forge datagrams.

// port is the datagram socket of a mesh. The descriptor is closed when the last holder has released it.
type port struct {
	fd    int
	bound netip.AddrPort

	mu   sync.Mutex
	refs int
}

func newPort(fd int, bound netip.AddrPort) *port { return &port{fd: fd, bound: bound, refs: 1} }

// begin adds a holder, a group, and throws away what came before it. It returns how many the kernel has dropped so far; ok
// is false once the last holder has gone.
func (p *port) begin() (dropped uint32, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refs == 0 {
		return 0, false
	}
	p.refs++
	sysDrain(p.fd)
	return sysDropped(p.fd), true
}

func (p *port) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refs--; p.refs == 0 {
		sysClose(p.fd)
	}
}

// source is the address of a datagram: 16 bytes of IP, IPv4 mapped, and the port.
type source struct {
	ip   [16]byte
	port uint16
}

func sourceOf(ap netip.AddrPort) source { return source{ap.Addr().As16(), ap.Port()} }

// mail is a group's use of the datagram socket. Its memory is made once, so that a datagram allocates nothing.
type mail struct {
	in     inbox
	out    []*outbox // by rank, nil where there is no connection
	ranks  map[source]int
	seen   int           // Group.changes when out and ranks were made
	looked []units.Nanos // when each rank's connection was last looked at
	stray  int64         // datagrams from elsewhere
}

// post returns the group's mail, with an entry for each connection that is open. The first time it opens those there are
// not yet, since datagrams are known by them.
func (g *Group) post() (*mail, error) {
	m := g.mail
	if m == nil {
		if err := g.Open(); err != nil {
			return nil, err
		}
		if err := sysStampDatagrams(g.mesh.port.fd, g.shared); err != nil {
			return nil, fmt.Errorf("stamp the arrival of datagrams: %w", err)
		}
		m = &mail{seen: -1, looked: make([]units.Nanos, len(g.team))}
		g.mail = m
	}
	if m.seen == g.changes {
		return m, nil
	}
	m.out, m.ranks = make([]*outbox, len(g.team)), make(map[source]int)
	for rank, c := range g.conns {
		if c == nil {
			continue
		}
		r, err := g.route(rank, c)
		if err != nil {
			return nil, err
		}
		m.out[rank] = newOutbox(r)
		m.ranks[sourceOf(r.to)] = rank
		m.ranks[source{r.seen.As16(), r.to.Port()}] = rank
		m.looked[rank] = Now()
	}
	m.seen = g.changes
	return m, nil
}

// route is the way of datagrams to a rank.
type route struct {
	to   netip.AddrPort
	seen netip.Addr // the peer's end of the connection: its datagrams come from there or from to
	from netip.Addr // the address to send from; not valid where the socket is bound to one
	six  bool       // the socket's family
}

func (g *Group) route(rank int, c *Conn) (r route, err error) {
	said := g.mesh.addrOf(g.team[rank])
	p, err := strconv.ParseUint(said[strings.LastIndexByte(said, ':')+1:], 10, 16)
	if err != nil {
		return r, fmt.Errorf("datagrams to %s: no port in %q", c.peer, said)
	}
	here, there, err := sysEnds(c.fd)
	if err != nil {
		return r, fmt.Errorf("datagrams to %s: %w", c.peer, err)
	}
	bound := g.mesh.port.bound.Addr()
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
// room on this host and for the mesh's limit of rate, never for the receiver. No datagram leaves before the receiver has
// shown its ticket on a connection, which is opened if it must be, nor long after the receiver has ended it.
func (g *Group) SendDatagram(to int, b []byte) error {
	if len(b) == 0 || len(b) >= maxDatagram {
		return fmt.Errorf("send a datagram of %s: want 1 to %d bytes", units.Bytes(len(b)), maxDatagram-1)
	}
	c, err := g.link(to)
	if err != nil {
		return err
	}
	m, err := g.post()
	if err != nil {
		return err
	}
	if int64(len(b)) > c.sendLeft && !c.allowed.lease(&c.sendLeft, len(b)) {
		return g.failed(to, c.failed("send a datagram,", len(b), ErrTicketBytes))
	}
	now := Now()
	if at := g.mesh.pace.at(now, len(b)); at > now {
		if err := g.WaitUntil(at); err != nil {
			return err
		}
		now = at
	}
	if now-m.looked[to] > liveness {
		if !c.alive() {
			return g.failed(to, c.failed("send a datagram,", len(b), ErrPeerClosed))
		}
		m.looked[to] = now
	}
	if c.broken.Load() {
		return g.failed(to, c.failed("send a datagram,", len(b), ErrStopped))
	}
	if err := g.push(m.out[to], b); err != nil {
		return fmt.Errorf("send a datagram, %s, %s: %w", units.Bytes(len(b)), c.peer, err)
	}
	c.sendLeft -= int64(len(b))
	return nil
}

// push hands b to the kernel once it has room, within the group's timeout.
func (g *Group) push(o *outbox, b []byte) error {
	var deadline units.Nanos
	for {
		errno := o.send(g.mesh.port.fd, b)
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
		if errno := waitWrite(g.mesh.port.fd, min(deadline-now, waitSlice)); errno != 0 {
			return errno
		}
	}
}

// RecvDatagram returns the next datagram of any rank of the team, or Got false when this host's clock reaches until. In a
// shared group its time is the kernel's stamp, as with RecvAt. Datagrams from elsewhere are ignored; Strays counts them.
func (g *Group) RecvDatagram(b []byte, until units.Nanos) (plane.Datagram, error) {
	m, err := g.post()
	if err != nil {
		return plane.Datagram{}, err
	}
	fd := g.mesh.port.fd
	for {
		n, at, errno := m.in.recv(fd, b)
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
			if errno := waitRead(fd, min(until-now, waitSlice)); errno != 0 {
				return plane.Datagram{}, fmt.Errorf("receive a datagram: %w", errno)
			}
		}
	}
}

// take accounts for a datagram of n bytes that came; ok is false for one that is not the team's.
func (g *Group) take(m *mail, n int, at units.Nanos, room int) (d plane.Datagram, ok bool, err error) {
	if !g.shared || at == 0 {
		at = Now()
	}
	rank, ok := m.ranks[m.in.source()]
	if !ok || g.conns[rank] == nil {
		m.stray++
		return d, false, nil
	}
	c := g.conns[rank]
	if n > room {
		return d, false, fmt.Errorf("receive a datagram, %s: it has %s, more than the %s there is room for", c.peer,
			units.Bytes(n), units.Bytes(room))
	}
	if int64(n) > c.recvLeft && !c.allowed.lease(&c.recvLeft, n) {
		return d, false, g.failed(rank, c.failed("receive a datagram,", n, ErrTicketBytes))
	}
	c.recvLeft -= int64(n)
	return plane.Datagram{Got: true, From: rank, Bytes: n, At: at, Dropped: int64(m.in.dropped(g.dropped))}, true, nil
}

// Strays is how many datagrams came from outside the team, and were ignored.
func (g *Group) Strays() int64 {
	if g.mail == nil {
		return 0
	}
	return g.mail.stray
}

// addrOf is where a host of the session listens; empty when there is none.
func (m *Mesh) addrOf(host int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session == nil || m.session.links[host] == nil {
		return ""
	}
	return m.session.links[host].peer.Addr
}

// pacer spaces what is sent so that no rate above a limit leaves, whatever the size. Time not used is not saved up.
type pacer struct {
	rate units.Bytes // [B/s]; 0 is no limit
	next units.Nanos
}

// at returns when n bytes may go that are ready now, and counts them.
func (p *pacer) at(now units.Nanos, n int) units.Nanos {
	if p.rate <= 0 {
		return now
	}
	at := max(now, p.next)
	p.next = at + units.Nanos(int64(n)*int64(units.Second)/int64(p.rate))
	return at
}
