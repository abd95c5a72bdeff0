package agent

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/machine"
	"calib/transport"
)

// ServerOptions configure an agent. Zero values mean what their comments say.
type ServerOptions struct {
	Data    string        // host:port on which to take data connections; "" is any port of every address
	CPU     string        // number of the only CPU that the timing thread may be pinned to; "" is any
	Limits  Limits        // what no coordinator can raise
	Silence time.Duration // after which a coordinator is taken for dead; 0 is 15 s
	Log     *slog.Logger  // nil discards
	// Shared says that coordinators may be others than who started the agent, as with a daemon: they are not told which
	// ports are open where the agent can reach and they cannot.
	Shared bool
}

func (o ServerOptions) filled() ServerOptions {
	o.Data, o.Limits = cmp.Or(o.Data, ":0"), o.Limits.filled()
	o.Silence, o.Log = cmp.Or(o.Silence, defaultSilence), cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return o
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
	perform func(context.Context, *bench.Experiment, bench.Group, bench.Task, func(point int)) ([]dataset.Sample, error)
	env     func(dataAddr string) (map[string]string, dataset.Now)

	mu      sync.Mutex
	lease   *lease // who holds the agent, or nil
	tickets usedTickets
	close   sync.Once
}

// NewServer opens the data port. The server serves nobody until ServeStream or Listen.
func NewServer(o ServerOptions) (*Server, error) {
	if _, err := tryCPU(o.CPU); err != nil {
		return nil, err
	}
	o = o.filled()
	mesh := transport.Options{Rate: o.Limits.Rate, Most: o.Limits.Bytes}
	if o.Shared {
		mesh.Discreet = func(err error) { o.Log.Warn("not told to the coordinator", "err", err.Error()) }
	}
	plane, err := newMeshPlane(o.Data, mesh)
	if err != nil {
		return nil, err
	}
	return newServer(o, plane), nil
}

func newServer(o ServerOptions, plane dataPlane) *Server {
	return &Server{opts: o.filled(), plane: plane, perform: bench.Perform, env: machine.Collect}
}

// Close cancels what runs, waits for it as long as an agent may, and closes the data port.
func (s *Server) Close() {
	s.close.Do(func() {
		if task := s.dropAny(errClosing); task != nil && !await(context.Background(), task, grace) {
			s.opts.Log.Warn("a task does not end; leaving it")
		}
		s.plane.Close()
	})
}

// calls are the control protocol: every call checks the request, calls the server and makes the answer.
func (s *Server) calls() http.Handler {
	mux := http.NewServeMux()
	for path, call := range map[string]func(context.Context, *request, func(answer) error) error{
		callHello:   s.hello,
		callPrepare: s.takeSession,
		callAlive: func(_ context.Context, q *request, send func(answer) error) error {
			if q.Run == "" {
				return send(answer{}) // no run yet: the stream itself is what stays alive
			}
			return s.with(q, send, func(l *lease) { l.silent.Reset(s.opts.Silence) })
		},
		callRelease: func(_ context.Context, q *request, send func(answer) error) error {
			return s.with(q, send, func(l *lease) { s.end(l, errReleased) })
		},
		callRun: s.run,
	} {
		longest := int64(maxRequest)
		if path == callRun {
			longest = maxTask
		}
		mux.Handle("POST "+path, serve(longest, call))
	}
	return mux
}

func (s *Server) hello(_ context.Context, q *request, send func(answer) error) error {
	if err := sameProtocol(q.Protocol); err != nil {
		return err
	}
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	build, err := machine.BuildHash()
	if err != nil {
		return fault(ErrTask, "hash the agent's executable: %w", err)
	}
	addr := s.plane.Addr()
	env, now := s.env(cmp.Or(q.DataAddr, addr))
	if s.opts.CPU != "" {
		now.CPUs = []string{s.opts.CPU}
	}
	if q.Closer {
		begun := time.Now()
		now.Switch, now.Loopback = machine.Switch(env["nic.name"]), machine.Loopback()
		now.Longer = time.Since(begun)
	}
	return send(answer{Hello: &greeting{
		Protocol: Protocol, MostBytes: int64(s.opts.Limits.Bytes), Consent: s.plane.Consent(), Now: now,
		Host: dataset.Host{
			Name: name, Addr: addr, Version: machine.Version(), Build: build, Env: env, Arch: env["arch"],
			Boot: machine.Boot(), Clock: machine.Clock(),
		},
	}})
}

func (s *Server) takeSession(_ context.Context, q *request, send func(answer) error) error {
	if err := sameProtocol(q.Protocol); err != nil {
		return err
	}
	if q.Session == nil {
		return fault(ErrInvalid, "no session")
	}
	if err := s.opts.Limits.session(*q.Session); err != nil {
		return err
	}
	secret, err := s.prepare(*q.Session, q.Secret)
	if err != nil {
		return err
	}
	return send(answer{Secret: secret})
}

func sameProtocol(theirs int) error {
	if theirs != Protocol {
		return fault(ErrVersion, "it speaks protocol %d, the coordinator %d", Protocol, theirs)
	}
	return nil
}
