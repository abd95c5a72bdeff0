package agent

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"connectrpc.com/connect"

	"calib/agent/internal/controlv1"
	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/machine"
)

// ServerOptions configure an agent. Zero values mean what their comments say.
type ServerOptions struct {
	Data    string        // host:port on which to take data connections; "" is any port of every address
	CPU     string        // number of the CPU on which the timing thread is pinned; "" leaves it free
	Limits  Limits        // what no coordinator can raise
	Silence time.Duration // after which a coordinator is taken for dead; 0 is 15 s
	Log     *slog.Logger  // nil discards
	// Shared says that coordinators may be others than who started the agent, as with a daemon: they are not told which
	// ports are open where the agent can reach and they cannot.
	Shared bool
}

func (o ServerOptions) filled() ServerOptions {
	o.Data, o.Limits = cmp.Or(o.Data, ":0"), o.Limits.filled()
	if o.Silence <= 0 {
		o.Silence = defaultSilence
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// discreet is where the data plane is to report what no coordinator is told; nil where all is told.
func (o ServerOptions) discreet() func(error) {
	if !o.Shared {
		return nil
	}
	return func(err error) { o.Log.Warn("not told to the coordinator", "err", err.Error()) }
}

const (
	defaultSilence = 15 * time.Second
	progressEvery  = time.Second // between two reports of a running task
	// grace is how long an agent that exits waits for its cancelled task to end, so that it exits within 2 s.
	grace = 1500 * time.Millisecond
)

// Server is one agent: it serves one run at a time, to whoever reaches its control stream.
type Server struct {
	opts    ServerOptions
	plane   dataPlane
	perform performer
	env     func(dataAddr string) map[string]string

	mu      sync.Mutex
	lease   *lease // who holds the agent, or nil
	tickets usedTickets
	tasks   sync.WaitGroup // running tasks: one at most, but it may outlive its lease for a moment
	close   sync.Once
}

type performer func(context.Context, *bench.Experiment, bench.Group, bench.Task, func(point int)) ([]dataset.Sample, error)

// NewServer opens the data port. The server serves nobody until ServeStream or Listen.
func NewServer(o ServerOptions) (*Server, error) {
	cpu := -1
	if o.CPU != "" {
		n, err := strconv.ParseUint(o.CPU, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("cpu %q: want the number of one CPU, counted from 0", o.CPU)
		}
		cpu = int(n)
	}
	o = o.filled()
	plane, err := newMeshPlane(o.Data, cpu, o.Limits, o.discreet())
	if err != nil {
		return nil, err
	}
	return newServer(o, plane), nil
}

func newServer(o ServerOptions, plane dataPlane) *Server {
	return &Server{opts: o.filled(), plane: plane, perform: bench.Perform, env: machine.Collect}
}

// Close cancels what runs, waits for it as long as an agent may, and closes the data port.
func (s *Server) Close() { s.close.Do(s.shut) }

func (s *Server) shut() {
	s.dropAny(errClosing)
	ended := make(chan struct{})
	go func() {
		s.tasks.Wait()
		close(ended)
	}()
	if !await(context.Background(), ended, grace) {
		s.opts.Log.Warn("a task does not end; leaving it")
	}
	s.plane.Close()
}

// control serves the control protocol on a Server: every method checks the request, calls the server and makes the
// answer.
type control struct{ s *Server }

func (c control) Hello(_ context.Context, r *controlv1.HelloRequest) (*controlv1.HelloResponse, error) {
	if err := sameProtocol(r.Protocol); err != nil {
		return nil, err
	}
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	build, err := machine.BuildHash()
	if err != nil {
		return nil, fault(kindTask, "hash the agent's executable: %w", err)
	}
	addr := c.s.plane.Addr()
	about := r.DataAddr
	if about == "" {
		about = addr
	}
	return &controlv1.HelloResponse{
		Protocol: Protocol, Version: machine.Version(), Build: build, Name: name, DataAddr: addr,
		Env: c.s.env(about), Limits: limitsToWire(c.s.opts.Limits), Cpu: c.s.opts.CPU,
		Boot: machine.Boot(), Clock: machine.Clock(), Consent: c.s.plane.Consent(),
	}, nil
}

func (c control) Prepare(_ context.Context, r *controlv1.PrepareRequest) (*controlv1.PrepareResponse, error) {
	if err := sameProtocol(r.Protocol); err != nil {
		return nil, err
	}
	session, err := sessionFromWire(r)
	if err != nil {
		return nil, fault(kindInvalid, "%w", err)
	}
	if err := c.s.opts.Limits.session(session); err != nil {
		return nil, err
	}
	secret, err := c.s.prepare(session, r.Secret)
	return &controlv1.PrepareResponse{Secret: secret}, err
}

func (c control) KeepAlive(_ context.Context, r *controlv1.KeepAliveRequest) (*controlv1.KeepAliveResponse, error) {
	if r.Run == "" {
		return &controlv1.KeepAliveResponse{}, nil // no run yet: the stream itself is what stays alive
	}
	return &controlv1.KeepAliveResponse{}, c.s.keepAlive(r.Run, r.Secret)
}

func (c control) Release(_ context.Context, r *controlv1.ReleaseRequest) (*controlv1.ReleaseResponse, error) {
	return &controlv1.ReleaseResponse{}, c.s.release(r.Run, r.Secret)
}

func (c control) Run(ctx context.Context, r *controlv1.RunRequest, out *connect.ServerStream[controlv1.RunEvent]) error {
	return c.s.run(ctx, taskFromWire(r), r.Secret, out)
}

func sameProtocol(theirs uint32) error {
	if theirs != Protocol {
		return fault(kindVersion, "it speaks protocol %d, the coordinator %d", Protocol, theirs)
	}
	return nil
}
