package agent

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"

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
	session atomic.Pointer[pinned]
}

// pinned is a session, and the CPU that the timing thread is bound to in it, -1 for none.
type pinned struct {
	plane.Session
	cpu int
}

func newMeshPlane(addr string, o transport.Options) (*meshPlane, error) {
	host, err := machine.New()
	if err != nil {
		return nil, err
	}
	m, err := transport.NewMesh(addr, o)
	if err != nil {
		return nil, err
	}
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1) // a thread that waits in a timed receive keeps its own
	p := &meshPlane{Mesh: m, machine: host}
	p.session.Store(&pinned{cpu: -1})
	return p, nil
}

func (p *meshPlane) Addr() string { return p.Mesh.Addr().String() }

func (p *meshPlane) Prepare(s plane.Session) error {
	cpu, err := tryCPU(s.Peer(s.Self).CPU)
	if err != nil {
		return err
	}
	p.session.Store(&pinned{s, cpu})
	return p.Mesh.SetSession(s)
}

// peerUser is who made the other end of a unix socket.
func peerUser(fd int) (uid uint32, err error) {
	c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return c.Uid, nil
}

// tryCPU reads the number of a CPU, "" for none, and binds a thread to it that then ends: so a run fails at once, not
// in its first task.
func tryCPU(number string) (cpu int, err error) {
	if number == "" {
		return -1, nil
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("cpu %q: want the number of one CPU, counted from 0", number)
	}
	bound := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		bound <- kernel.Pin(int(n))
	}()
	return int(n), <-bound
}

func (p *meshPlane) Group(ctx context.Context, t bench.Task) (group, error) {
	p.Mesh.Epoch(t.Epoch)
	g, err := transport.NewGroup(ctx, p.Mesh, t.Team, t.Rank, t.Recv)
	if err != nil {
		return nil, err
	}
	s := p.session.Load()
	shared, crowded := s.Sharing(t.Team)
	if shared {
		g.Share(crowded)
	}
	if err := g.Open(); err != nil {
		g.Abort()
		g.Close()
		return nil, err
	}
	return meshGroup{g, p.machine, plane.Place{Crowded: crowded, CPU: s.cpu}}, nil
}

func (p *meshPlane) Thread(room units.Bytes) (restore func(), err error) {
	if err := kernel.Pin(p.session.Load().cpu); err != nil {
		return nil, err
	}
	return kernel.Quiet(room), nil
}

type meshGroup struct {
	*transport.Group
	machine *machine.Machine
	place   plane.Place
}

func (g meshGroup) Machine() plane.Machine { return g.machine }

func (g meshGroup) Place() plane.Place {
	g.place.On = kernel.CPU()
	return g.place
}

// Close also gives back what the task took of the machine: threads and memory.
func (g meshGroup) Close() {
	g.Group.Close()
	g.machine.Close()
}
