package transport

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"calib/internal/kernel"
	"calib/internal/plane"
	"calib/internal/units"
)

// maxDatagram is one more than the largest datagram [B]: with its headers it fits a packet of 1,500 bytes.
const maxDatagram = 1400

// liveness is the longest time between two checks, while datagrams are sent, that the receiver still has its
// connection.
const liveness = 10 * units.Millisecond

// Datagrams of a mesh use one socket, bound to the port of the listener's number, so a peer's address for connections
// is also its address for datagrams. A datagram is sent only to a rank whose connection is open, which proves that the
// rank has a ticket and expects traffic of this run, and to the address of that connection's other end, once the rank
// has shown that the port there is its own (OpenDatagrams). Only datagrams from there are received. They carry no proof
// themselves: whoever can forge addresses on the network can forge datagrams.

// datagramSocket is the socket of a mesh for datagrams. The descriptor is closed when the last holder has released it.
type datagramSocket struct {
	fd   int
	mu   sync.Mutex
	refs int
}

// begin adds a holder, which is a group, and discards the datagrams that came before. It returns how many the kernel
// has dropped so far; ok is false once the socket is closed.
func (p *datagramSocket) begin() (dropped uint32, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refs == 0 {
		return 0, false
	}
	p.refs++
	kernel.Drain(p.fd)
	return kernel.Dropped(p.fd), true
}

func (p *datagramSocket) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refs--; p.refs == 0 {
		kernel.Close(p.fd)
	}
}

// datagrams is a group's use of the datagram socket. Its memory is allocated once, so that a datagram allocates
// nothing.
type datagrams struct {
	in      kernel.MessageReader
	out     []kernel.Target        // by rank, of open connections
	ranks   map[netip.AddrPort]int // by where its datagrams come from, without a zone
	seen    int                    // Group.changes when out and ranks were made
	checked []units.Nanos          // when each rank's connection was last looked at
	proven  []netip.AddrPort       // by rank: where out sends to, as OpenDatagrams found it
	open    bool                   // every rank has shown its port
}

// newDatagrams opens the connections that are missing, and prepares datagrams to the other ends of all.
func (g *Group) newDatagrams() (*datagrams, error) {
	if err := g.Open(); err != nil {
		return nil, err
	}
	if err := kernel.SetStamps(g.mesh.udp.fd, g.stamped); err != nil {
		return nil, fmt.Errorf("stamp the arrival of datagrams: %w", err)
	}
	g.datagrams = &datagrams{checked: make([]units.Nanos, len(g.team)), proven: make([]netip.AddrPort, len(g.team))}
	return g.datagrams, g.routeDatagrams(g.datagrams)
}

// openDatagrams returns the group's datagrams, with an entry for each open connection.
func (g *Group) openDatagrams() (m *datagrams, err error) {
	if m = g.datagrams; m == nil || !m.open {
		return nil, errNotOpen
	}
	if m.seen != g.changes {
		err = g.routeDatagrams(m)
	}
	return m, err
}

var errNotOpen = errors.New("datagrams are not open: every rank of the team calls OpenDatagrams first")

// routeDatagrams makes an entry for each open connection. Once datagrams are open, a rank keeps the address that it has
// shown.
func (g *Group) routeDatagrams(m *datagrams) error {
	m.out, m.ranks = make([]kernel.Target, len(g.team)), make(map[netip.AddrPort]int)
	for rank, c := range g.conns {
		if c == nil {
			continue
		}
		there, err := g.aim(&m.out[rank], rank, c)
		if err == nil && m.open && m.proven[rank] != there {
			err = fmt.Errorf("its connection now comes from %v, and it has shown %v", there, m.proven[rank])
		}
		if err != nil {
			return fmt.Errorf("datagrams to %s: %w", c.peer, err)
		}
		m.proven[rank] = there
		from := netip.AddrPortFrom(there.Addr().WithZone(""), there.Port())
		m.ranks[from] = rank
		g.mesh.expect(from)
		m.checked[rank] = kernel.Now()
	}
	m.seen = g.changes
	return nil
}

// aim makes out send to the other end of the connection to a rank, to the port on which its host takes connections.
func (g *Group) aim(out *kernel.Target, rank int, c *Conn) (to netip.AddrPort, err error) {
	_, l, err := g.mesh.link(g.team[rank], 0)
	if err != nil {
		return to, err
	}
	_, port, err := kernel.Split(l.peer.Addr)
	if err != nil {
		return to, err
	}
	here, there, err := kernel.Ends(c.fd)
	if err != nil {
		return to, err
	}
	to = netip.AddrPortFrom(there.Addr(), port)
	*out, err = kernel.Aim(g.mesh.addr.Addr(), here.Addr(), to)
	return to, err
}

// SendDatagram implements bench.Group. No datagram is sent before OpenDatagrams, nor long after the receiver has ended
// its connection.
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
	refuse := func(why error) error { return g.failed(to, c.failed("send a datagram,", len(b), why)) }
	if !c.take(len(b)) {
		return refuse(ErrTicketBytes)
	}
	now := kernel.Now()
	if at := g.mesh.pace.at(now, len(b)); at > now {
		if err := g.WaitUntil(at); err != nil {
			return err
		}
		now = at
	}
	if now-m.checked[to] > liveness {
		if !c.alive() {
			return refuse(ErrPeerClosed)
		}
		m.checked[to] = now
	}
	if c.broken.Load() {
		return refuse(ErrStopped)
	}
	if err := g.sendWhenRoom(&m.out[to], b); err != nil {
		return fmt.Errorf("send a datagram, %s, %s: %w", units.Bytes(len(b)), c.peer, err)
	}
	return nil
}

// sendWhenRoom hands b, which is not empty, to the kernel once it has room, within the group's timeout.
func (g *Group) sendWhenRoom(o *kernel.Target, b []byte) error {
	var deadline units.Nanos
	for {
		switch err := o.Send(g.mesh.udp.fd, b); err {
		case unix.EINTR:
			continue
		case unix.EAGAIN:
		default:
			return err
		}
		now := kernel.Now()
		deadline = cmp.Or(deadline, now+g.timeout)
		if now >= deadline {
			return ErrTimeout
		}
		if g.life.Err() != nil {
			return ctxErr(g.life)
		}
		if err := kernel.WaitFor(g.mesh.udp.fd, unix.POLLOUT, min(deadline-now, waitSlice)); err != nil {
			return err
		}
	}
}

// RecvDatagram implements bench.Group. In a shared group after Stamp its time is the kernel's stamp, as with RecvAt.
// Datagrams from elsewhere are ignored.
func (g *Group) RecvDatagram(b []byte, until units.Nanos) (plane.Datagram, error) {
	m, err := g.openDatagrams()
	if err != nil {
		return plane.Datagram{}, err
	}
	fd := g.mesh.udp.fd
	for {
		n, at, errno := m.in.Recv(fd, b, unix.MSG_DONTWAIT|unix.MSG_TRUNC)
		switch {
		case errno == 0:
			d, ok, err := g.take(m, n, at, b)
			if ok || err != nil {
				return d, err
			}
		case errno != syscall.EAGAIN && errno != syscall.EINTR:
			return plane.Datagram{}, fmt.Errorf("receive a datagram: %w", errno)
		}
		now := kernel.Now()
		if now >= until {
			return plane.Datagram{Dropped: int64(kernel.Dropped(fd) - g.dropped)}, nil
		}
		if g.life.Err() != nil {
			return plane.Datagram{}, fmt.Errorf("receive a datagram: %w", ctxErr(g.life))
		}
		if errno == syscall.EAGAIN {
			if err := kernel.WaitFor(fd, unix.POLLIN, min(until-now, waitSlice)); err != nil {
				return plane.Datagram{}, fmt.Errorf("receive a datagram: %w", err)
			}
		}
	}
}

// expect notes where datagrams of a team of the session come from.
func (m *Mesh) expect(from netip.AddrPort) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session != nil {
		m.session.ours[from] = true
	}
}

// stray counts a datagram that is not of the team, unless it is of another team of the session: a proof that was sent
// again is late.
func (m *Mesh) stray(from netip.AddrPort) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session == nil || !m.session.ours[from] {
		m.foreign.Strays++
	}
}

// take counts a received datagram of n bytes, of which b has the first; ok is false for one that is not from the team.
func (g *Group) take(m *datagrams, n int, at units.Nanos, b []byte) (d plane.Datagram, ok bool, err error) {
	if !g.stamped || at == 0 {
		at = kernel.Now()
	}
	rank, ok := m.ranks[m.in.Source()]
	if !ok || g.conns[rank] == nil {
		g.mesh.stray(m.in.Source())
		return d, false, nil
	}
	if isProof(b, n) {
		return d, false, nil // one of OpenDatagrams that was sent again
	}
	c := g.conns[rank]
	if room := len(b); n > room {
		return d, false, fmt.Errorf("receive a datagram, %s: it has %s, more than the %s there is room for", c.peer,
			units.Bytes(n), units.Bytes(room))
	}
	if !c.take(n) {
		return d, false, g.failed(rank, c.failed("receive a datagram,", n, ErrTicketBytes))
	}
	return plane.Datagram{Got: true, From: rank, Bytes: n, At: at}, true, nil
}

// DatagramRate bounds the rate of datagrams [B/s] where Mesh.Limit does not: 10 Gbit/s, which is more than one thread
// sends on hosts of today. A flood of them has no congestion control that would give way to others.
const DatagramRate = 1250 * 1000 * 1000

// pacer spaces datagrams so that the rate never exceeds a limit, whatever their size. Of unused time at most slack is
// saved up.
type pacer struct {
	rate  units.Bytes // [B/s]
	slack units.Nanos
	next  units.Nanos
}

// newPacer keeps the rate that was asked for to the letter. The one that holds otherwise is kept over a millisecond, so
// that no datagram waits for the nanoseconds of the one before.
func newPacer(rate units.Bytes) pacer {
	if rate <= 0 {
		return pacer{rate: DatagramRate, slack: units.Millisecond}
	}
	return pacer{rate: rate}
}

// at returns when n bytes that are ready now may be sent, and counts them.
func (p *pacer) at(now units.Nanos, n int) units.Nanos {
	at := max(now-p.slack, p.next)
	p.next = at + units.Nanos(int64(n)*int64(units.Second)/int64(p.rate))
	return at
}
