package agent

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport"
)

// fakePlane is a data plane without sockets. It counts what a server must not forget.
type fakePlane struct {
	mu       sync.Mutex
	session  plane.Session
	sessions int
	resets   int
	aborted  int
	closed   bool
	refuse   error // of Prepare
	foreign  transport.Foreign
}

func (p *fakePlane) Addr() string    { return "[::]:4100" }
func (p *fakePlane) Consent() string { return "yes" }

func (p *fakePlane) Foreign() transport.Foreign {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.foreign
	p.foreign = transport.Foreign{}
	return f
}

func (p *fakePlane) Prepare(s plane.Session) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session, p.sessions = s, p.sessions+1
	return p.refuse
}

func (p *fakePlane) Group(_ context.Context, t bench.Task) (group, error) {
	return &fakeGroup{plane: p, size: len(t.Team), rank: t.Rank}, nil
}

func (p *fakePlane) Thread(units.Bytes) (func(), error) { return func() {}, nil }

func (p *fakePlane) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resets++
}

func (p *fakePlane) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

func (p *fakePlane) count(n *int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return *n
}

type fakeGroup struct {
	plane      *fakePlane
	size, rank int
}

var errFake = errors.New("no network in this test")

func (g *fakeGroup) Rank() int                               { return g.rank }
func (g *fakeGroup) Size() int                               { return g.size }
func (g *fakeGroup) Send(int, []byte) error                  { return errFake }
func (g *fakeGroup) Recv(int, []byte) error                  { return errFake }
func (g *fakeGroup) Now() units.Nanos                        { return 0 }
func (g *fakeGroup) RecvAt(int, []byte) (units.Nanos, error) { return 0, errFake }
func (g *fakeGroup) WaitUntil(units.Nanos) error             { return nil }
func (g *fakeGroup) Counters(int) (dataset.TCP, error)       { return dataset.TCP{}, nil }
func (g *fakeGroup) Close()                                  {}
func (g *fakeGroup) Pending(int) (int, error)                { return 0, errFake }
func (g *fakeGroup) Unacked(int) (int, error)                { return 0, errFake }
func (g *fakeGroup) Reopen(plane.Socket) error               { return errFake }
func (g *fakeGroup) OpenDatagrams(units.Nanos) error         { return errFake }
func (g *fakeGroup) SendDatagram(int, []byte) error          { return errFake }
func (g *fakeGroup) Machine() plane.Machine                  { return nil }
func (g *fakeGroup) Place() plane.Place                      { return plane.Place{} }
func (g *fakeGroup) Stamp() error                            { return nil }
func (g *fakeGroup) RecvPolling(int, []byte) error           { return errFake }

func (g *fakeGroup) RecvAny([]byte) (int, int, units.Nanos, error) { return 0, 0, 0, errFake }

func (g *fakeGroup) SendSome(int, []byte, units.Nanos) (int, error) { return 0, errFake }

func (g *fakeGroup) Lines(int, int, func(int, plane.Line) error) error { return errFake }

func (g *fakeGroup) Beside(func(plane.Mover) error, func(plane.Second) error) error { return errFake }

func (g *fakeGroup) RecvDatagram([]byte, units.Nanos) (plane.Datagram, error) {
	return plane.Datagram{}, errFake
}

func (g *fakeGroup) Abort() {
	g.plane.mu.Lock()
	defer g.plane.mu.Unlock()
	g.plane.aborted++
}

// rig is a server and a client that reach each other through a pipe, in a bubble of fake time.
type rig struct {
	t      *testing.T
	plane  *fakePlane
	server *Server
	client *Client
	wire   *valve     // the client's end, under the client
	served chan error // what ServeStream returned
}

// perform as a bench.Perform that never touches the group.
type script func(ctx context.Context, t bench.Task, progress func(int)) ([]dataset.Sample, error)

func (f script) perform(ctx context.Context, _ *bench.Experiment, _ bench.Group, t bench.Task,
	p func(int)) ([]dataset.Sample, error) {
	return f(ctx, t, p)
}

// bubble runs a test on a rig in fake time: time stands still until everybody waits, so that no test sleeps.
func bubble(t *testing.T, so ServerOptions, co ClientOptions, f script, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, so, co, f)
		test(r)
		r.client.Close()
		<-r.served
		synctest.Wait()
	})
}

// ask makes a call of a run, without a client.
func (s *Server) ask(call, run string, secret []byte) error {
	w, q := httptest.NewRecorder(), strings.NewReader(`{"Run": "`+run+`", "Secret": "`+base64.StdEncoding.EncodeToString(secret)+`"}`)
	s.calls().ServeHTTP(w, httptest.NewRequest("POST", call, q))
	var a answer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		return err
	}
	if a.Refused != nil {
		return a.Refused
	}
	return nil
}

// noFacts are those of a host that says nothing of itself.
func noFacts(string) (map[string]string, dataset.Now) { return nil, dataset.Now{} }

func newRig(t *testing.T, so ServerOptions, co ClientOptions, f script) *rig {
	ours, theirs := net.Pipe()
	r := &rig{t: t, plane: &fakePlane{}, wire: &valve{ReadWriteCloser: ours}, served: make(chan error, 1)}
	r.server = newServer(so, r.plane)
	r.server.env = func(addr string) (map[string]string, dataset.Now) {
		return map[string]string{"asked": addr, "arch": "amd64"}, dataset.Now{Load: 2.5, NICs: map[int]string{2: "eth0"}}
	}
	if f != nil {
		r.server.perform = f.perform
	}
	go func() {
		r.served <- r.server.ServeStream(context.Background(), theirs, theirs)
		close(r.served)
	}()
	r.client = NewClient("node3", r.wire, co)
	return r
}

// prepared takes the agent for run r1 as host 4.
func (r *rig) prepared() *rig {
	r.t.Helper()
	if _, err := r.client.Hello(context.Background(), false); err != nil {
		r.t.Fatal(err)
	}
	if err := r.client.Prepare(context.Background(), session("r1")); err != nil {
		r.t.Fatal(err)
	}
	return r
}

func (r *rig) run(t bench.Task) ([]dataset.Sample, error) {
	return r.client.Run(context.Background(), t)
}

// bubbleStart is where the time of a bubble begins [s].
const bubbleStart = 946_684_800

// renewed is session with tickets that have not served.
func renewed(run string, time byte) plane.Session {
	s := session(run)
	s.Tickets[0].Key[0] += time
	return s
}

func session(run string) plane.Session {
	return plane.Session{
		Run: run, Self: 4,
		Peers: []plane.Peer{{Host: 2, Name: "node2", Addr: "10.0.0.2:4100", Consent: "yes", Machine: "m",
			Clock: "m time:[1]"},
			{Host: 4, Name: "node4", Addr: "10.0.0.4:4100", Machine: "m", Clock: "m time:[1]"}},
		Tickets: []plane.Ticket{{A: 2, B: 4, Key: sha256.Sum256([]byte(run)), MaxBytes: units.MiB,
			Expires: bubbleStart + 3600}},
		Socket: plane.Socket{SndBuf: 64 * units.KiB, RcvBuf: 32 * units.KiB, Congestion: "reno", NoEOR: true, Nagle: true},
	}
}

func task() bench.Task {
	return bench.Task{
		Run: "r1", Slot: 17, Round: 2, Exp: "pingpong", Team: []int{2, 4}, Rank: 1, Reps: 0.5,
		Points: []bench.Point{{"bytes": 64}, {"bytes": 1500}}, Deadline: 20 * units.Second, Recv: units.Second,
	}
}

// forever is a task that ends when it is cancelled.
func forever(ctx context.Context, _ bench.Task, _ func(int)) ([]dataset.Sample, error) {
	<-ctx.Done()
	return nil, errors.New("socket shut down")
}

func quick(context.Context, bench.Task, func(int)) ([]dataset.Sample, error) { return nil, nil }

func mustBe(t *testing.T, err, want error, words ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want one that is %q", err, want)
	}
	for _, w := range words {
		if !contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

// valve is a stream that can be made to swallow what it should deliver, as a stopped process or a cut cable does.
type valve struct {
	io.ReadWriteCloser
	shut atomic.Bool
}

func (g *valve) Read(b []byte) (int, error) {
	for {
		n, err := g.ReadWriteCloser.Read(b)
		if err != nil || !g.shut.Load() {
			return n, err
		}
	}
}

const minute = time.Minute
