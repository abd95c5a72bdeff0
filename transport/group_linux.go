package transport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"calib/internal/dataset"
	"calib/internal/kernel"
	"calib/internal/plane"
	"calib/internal/units"
)

// Group is one rank's view of a team of hosts. It belongs to one goroutine, locked to its thread; only Abort may be
// called from others. A connection is opened by the first Send or Recv that needs it, or by Open; from then on Send and
// Recv take no lock and allocate nothing, so experiments pass a message over each connection before they time it.
type Group struct {
	conns []*Conn // by rank; written under mu, by the group's goroutine, or by those that it waits for (openAll)

	ctx     context.Context
	mesh    *Mesh
	team    []int
	rank    int
	others  []int // all ranks but rank
	hosts   []int // of others
	timeout units.Nanos
	spin    units.Nanos // of WaitUntil
	shared  bool        // others of the team are on this machine
	crowded bool        // and may have this rank's CPU
	stamped bool        // after Stamp, where shared
	release func() bool // stops watching ctx

	life        context.Context // ends with ctx, and with the group
	end         context.CancelCauseFunc
	changes     int          // of conns
	lines       []*Conn      // under mu: those of Lines beside conns
	anyReceiver *anyReceiver // nil until RecvAny
	datagrams   *datagrams   // nil until datagrams are used
	dropped     uint32       // datagrams the socket had no room for before the group began
	overridden  *session     // that in which Reopen changed options

	mu    sync.Mutex
	close sync.Once
}

// NewGroup returns rank's view of a team, given as host indices in rank order. timeout bounds each receive and each
// blocked send. When ctx ends, the team's connections are shut down and blocked calls return.
func NewGroup(ctx context.Context, m *Mesh, team []int, rank int, timeout units.Nanos) (*Group, error) {
	dropped, ok := m.udp.begin()
	if !ok {
		return nil, fmt.Errorf("rank %d of %d: the mesh is closed: %w", rank, len(team), ErrStopped)
	}
	g := &Group{ctx: ctx, mesh: m, team: slices.Clone(team), rank: rank, timeout: timeout,
		spin: kernel.DefaultSpin, conns: make([]*Conn, len(team)), dropped: dropped}
	for other, host := range team {
		if other != rank {
			g.others, g.hosts = append(g.others, other), append(g.hosts, host)
		}
	}
	g.life, g.end = context.WithCancelCause(ctx)
	g.release = context.AfterFunc(ctx, g.Abort)
	return g, nil
}

func (g *Group) Rank() int        { return g.rank }
func (g *Group) Size() int        { return len(g.team) }
func (g *Group) Now() units.Nanos { return kernel.Now() }

// waitSlice is how long a wait lasts before it checks the context.
const waitSlice = 100 * units.Millisecond

// WaitUntil returns when the clock has reached t, or ctx has ended.
func (g *Group) WaitUntil(t units.Nanos) error {
	for t-kernel.Now() > waitSlice {
		if err := kernel.WaitUntil(kernel.Now()+waitSlice, 0); err != nil {
			return err
		}
		if g.life.Err() != nil {
			return fmt.Errorf("wait: %w", ctxErr(g.life))
		}
	}
	return kernel.WaitUntil(t, g.spin)
}

// Send sends b to a rank as one message. See Conn.Send.
func (g *Group) Send(to int, b []byte) error {
	c, err := g.link(to)
	if err == nil {
		err = g.failed(to, c.Send(b))
	}
	return err
}

// Recv fills b with the next len(b) bytes from a rank. See Conn.Recv.
func (g *Group) Recv(from int, b []byte) error {
	c, err := g.link(from)
	if err == nil {
		err = g.failed(from, c.Recv(b))
	}
	return err
}

// Counters reads the kernel's counters of the connection to a rank. It is not for timed sections.
func (g *Group) Counters(peer int) (n dataset.TCP, err error) {
	c, err := g.link(peer)
	if err == nil {
		n, err = c.Counters()
	}
	return n, err
}

// Route returns by which interface packets of the connection to a rank leave, and how large the kernel makes them. It
// is not for timed sections.
func (g *Group) Route(to int) (r plane.Route, err error) {
	c, err := g.link(to)
	if err != nil {
		return r, err
	}
	if r, err = kernel.Route(c.fd); err != nil {
		err = fmt.Errorf("route to %s: %w", c.peer, err)
	}
	return r, err
}

// Open opens the connections to every other rank, first those this host dials. Every rank calls it at the same time.
// Without it the first Send waits until the peer uses the same connection, which may never happen in an experiment that
// relies on the peer's buffer.
func (g *Group) Open() error { return g.openAll(g.life) }

// dialsAtOnce bounds the connections that a rank opens at once. One after the other they take too long where many hosts
// are far apart.
const dialsAtOnce = 8

func (g *Group) openAll(ctx context.Context) error {
	dials, untilOneFails := errgroup.WithContext(ctx)
	dials.SetLimit(dialsAtOnce)
	for _, rank := range g.others {
		if g.conns[rank] == nil && g.dials(rank) {
			dials.Go(func() error {
				_, err := g.connect(untilOneFails, rank, 0, false)
				return err
			})
		}
	}
	if err := dials.Wait(); err != nil {
		return err
	}
	for _, rank := range g.others {
		if g.conns[rank] == nil {
			if _, err := g.connect(ctx, rank, 0, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// link returns the connection to a rank, which the first use and the next after a failure open.
func (g *Group) link(rank int) (*Conn, error) {
	if uint(rank) < uint(len(g.conns)) && g.conns[rank] != nil {
		return g.conns[rank], nil
	}
	return g.open(rank)
}

func (g *Group) open(rank int) (*Conn, error) {
	if rank < 0 || rank >= len(g.team) || rank == g.rank {
		return nil, fmt.Errorf("rank %d has no connection to rank %d of %d", g.rank, rank, len(g.team))
	}
	return g.connect(g.life, rank, 0, false)
}

// connect opens a line to another rank, or takes the one that the mesh has, and adds it to the group. fresh is that of
// Mesh.take. What is received on lines but 0 is never stamped.
func (g *Group) connect(ctx context.Context, rank, line int, fresh bool) (*Conn, error) {
	c, err := g.mesh.take(ctx, g.team[rank], line, fresh)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.SetTimeouts(g.timeout), c.StampArrivals(g.stamped && line == 0)); err != nil {
		c.Release()
		return nil, err
	}
	c.unseen = true
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.life.Err() != nil {
		c.stop(g.reason())
		c.Release()
		return nil, fmt.Errorf("connect to %s: %w", c.peer, g.reason())
	}
	if line > 0 {
		g.lines = append(g.lines, c)
		return c, nil
	}
	g.conns[rank] = c
	g.changes++
	return c, nil
}

// failed releases a connection that an error has broken, so that the next use opens another.
func (g *Group) failed(rank int, err error) error {
	if err != nil {
		g.letGo(rank)
	}
	return err
}

func (g *Group) letGo(rank int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.conns[rank]; c != nil {
		c.Release()
		g.conns[rank] = nil
		g.changes++
	}
}

// reason is why the group has ended.
func (g *Group) reason() error {
	if g.ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ErrStopped, context.Cause(g.ctx))
	}
	return ErrStopped
}

// Abort shuts the team's connections down: blocked calls, here and at the peers, return. Call it when an experiment
// fails, since what is still in its streams must not be read as the next one's. It is safe from any goroutine.
func (g *Group) Abort() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end(ErrStopped)
	for _, c := range slices.Concat(g.conns, g.lines) {
		if c != nil {
			c.stop(g.reason())
		}
	}
}

// Close gives the connections back to the mesh. The mesh keeps those that are usable and have the session's options for
// the next group.
func (g *Group) Close() {
	g.close.Do(func() {
		g.release()
		g.end(ErrStopped)
		for rank := range g.conns {
			g.letGo(rank)
		}
		g.mesh.dropLines(g.hosts)
		if g.overridden != nil {
			// It fails when the session has ended, and its connections with it; or when the listener keeps the buffer
			// sizes, which the next session or Reopen reports again.
			_, _ = g.mesh.override(g.overridden, g.hosts, nil)
		}
		g.mesh.udp.release()
	})
}

// Share prepares the group for a machine that several agents share. Where it is crowded, one may have to wait for
// another's CPU: waits then sleep to the end, because one that spins takes the CPU from another agent. Call it before
// the first use of a connection.
func (g *Group) Share(crowded bool) {
	g.shared, g.crowded = true, crowded
	if crowded {
		g.spin = 0
	}
}

// Stamp makes RecvAt of a group on a crowded machine return the kernel's timestamp, because the receiver may have to
// wait for a CPU before it can read the clock, and makes the calling thread yield to those that run (Yield). Receiving
// with a timestamp costs 0.13 µs, and a wake-up that yields 0.7 µs more, so a group is without both until it is asked.
func (g *Group) Stamp() error {
	if !g.crowded {
		return nil
	}
	g.stamped = true
	for _, c := range g.conns {
		if c != nil {
			if err := c.StampArrivals(true); err != nil {
				return err
			}
		}
	}
	return kernel.Yield()
}

// RecvAt implements bench.Group. After Stamp on a crowded machine, the time is when the kernel took the last byte.
func (g *Group) RecvAt(from int, b []byte) (units.Nanos, error) {
	c, err := g.link(from)
	if err != nil {
		return 0, err
	}
	at, err := c.RecvAt(b)
	return at, g.failed(from, err)
}
