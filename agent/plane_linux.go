package agent

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"calib/bench"
	"calib/internal/kernel"
	"calib/internal/machine"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport"
)

type meshPlane struct {
	*transport.Mesh
	machine *machine.Machine
	cpu     int
	session atomic.Pointer[plane.Session]
}

// newMeshPlane listens on addr, and keeps the limits of rate and bytes. Where discreet is set, it is told what becomes
// of dialling hosts that have not agreed, and the coordinator is not. It fails at once, not in the first task, where
// this process may not use the CPU.
func newMeshPlane(addr string, cpu int, l Limits, discreet func(error)) (*meshPlane, error) {
	pinned := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		pinned <- kernel.Pin(cpu)
	}()
	if err := <-pinned; err != nil {
		return nil, err
	}
	host, err := machine.New()
	if err != nil {
		return nil, err
	}
	m, err := transport.NewMesh(addr)
	if err != nil {
		return nil, err
	}
	m.Limit(l.Rate)
	m.Most(l.Bytes)
	if discreet != nil {
		m.Discreet(discreet)
	}
	addProcessors(1)
	return &meshPlane{Mesh: m, machine: host, cpu: cpu}, nil
}

func (p *meshPlane) Addr() string { return p.Mesh.Addr().String() }

func (p *meshPlane) Close() {
	p.Mesh.Close()
	addProcessors(-1)
}

// processors guards Go's count of processors, which the planes of one process share.
var processors sync.Mutex

// addProcessors gives Go as many more processors: a thread that waits in a timed receive keeps its own, so each plane
// adds one.
func addProcessors(n int) {
	processors.Lock()
	defer processors.Unlock()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
}

func (p *meshPlane) Prepare(s plane.Session) error {
	p.session.Store(&s)
	return p.Mesh.SetSession(s)
}

func (p *meshPlane) shares(team []int) bool {
	s := p.session.Load()
	return s != nil && s.SharesMachine(team)
}

func (p *meshPlane) Group(ctx context.Context, t bench.Task) (group, error) {
	p.Mesh.Epoch(t.Epoch)
	g, err := transport.NewGroup(ctx, p.Mesh, t.Team, t.Rank, t.Recv)
	if err != nil {
		return nil, err
	}
	if p.shares(t.Team) {
		g.Share()
	}
	if err := g.Open(); err != nil {
		g.Abort()
		g.Close()
		return nil, err
	}
	return meshGroup{g, p.machine, plane.Place{Shared: p.shares(t.Team), CPU: p.cpu}}, nil
}

func (p *meshPlane) Thread(room units.Bytes) (restore func(), err error) {
	if err := kernel.Pin(p.cpu); err != nil {
		return nil, err
	}
	return kernel.Quiet(room), nil
}

type meshGroup struct {
	*transport.Group
	machine *machine.Machine
	place   plane.Place
}

func (g meshGroup) Place() plane.Place     { return g.place }
func (g meshGroup) Machine() plane.Machine { return g.machine }

// Close also gives back what the task took of the machine: threads and memory.
func (g meshGroup) Close() {
	g.Group.Close()
	g.machine.Close()
}
