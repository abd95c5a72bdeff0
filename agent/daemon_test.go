package agent

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"calib/internal/dataset"
	"calib/internal/units"
)

// TestMain plays an agent where a test starts this binary as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "role=agent" {
		memory, err := strconv.ParseInt(os.Args[2], 10, 64)
		if err != nil {
			panic(err)
		}
		s, err := NewServer(ServerOptions{Data: "127.0.0.1:0", Limits: Limits{Memory: units.Bytes(memory)}})
		if err == nil {
			collect := s.env
			s.env = func(addr string) (map[string]string, dataset.Now) {
				env, now := collect(addr)
				env["pid"] = strconv.Itoa(os.Getpid())
				return env, now
			}
			err = s.ServeStream(context.Background(), os.Stdin, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == crowdArg {
		fmt.Fprintln(os.Stderr, crowd(os.Args[2]))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func TestTCPOnlyWithCertificates(t *testing.T) {
	s := newServer(ServerOptions{}, &fakePlane{})
	for _, cfg := range map[string]*tls.Config{
		"none": nil, "no client certificate": {MinVersion: tls.VersionTLS13},
		"older TLS": {ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12},
	} {
		mustBe(t, s.ListenTLS(context.Background(), "127.0.0.1:0", cfg), ErrOpen, "127.0.0.1:0")
	}
}

// daemon serves on a listener until the test ends, and returns the gate.
func daemon(t *testing.T, l net.Listener, admit func(context.Context, net.Conn) (net.Conn, caller, error)) *gate {
	t.Helper()
	s := newServer(ServerOptions{}, &fakePlane{})
	s.perform = script(quick).perform
	g := newGate(l, s.opts.Log, admit)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- s.serveGate(ctx, g) }()
	t.Cleanup(func() {
		cancel()
		mustBe(t, <-served, context.Canceled)
	})
	return g
}

func listen(t *testing.T, network, addr string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A daemon that ends by itself is no error of who closes the connection to it.
func TestCloseAfterTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.sock")
	s := newServer(ServerOptions{}, &fakePlane{})
	g := newGate(listen(t, "unix", path), s.opts.Log, admitUser)
	ctx, end := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- s.serveGate(ctx, g) }()
	c, err := Dial(context.Background(), "node3", path, nil, ClientOptions{})
	if err == nil {
		_, err = c.Hello(context.Background(), false)
	}
	if err != nil {
		t.Fatal(err)
	}
	end()
	<-served
	<-c.conn.ctx.Done()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestDaemonServesOneRunAfterTheOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.sock")
	daemon(t, listen(t, "unix", path), admitUser)
	ctx := context.Background()
	dial := func() *Client {
		c, err := Dial(ctx, "node3", path, nil, ClientOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Hello(ctx, false); err != nil {
			t.Fatal(err)
		}
		return c
	}
	one, two := dial(), dial()
	if err := one.Prepare(ctx, session("r1")); err != nil {
		t.Fatal(err)
	}
	mustBe(t, two.Prepare(ctx, session("r2")), ErrBusy, "another run")
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if err := two.Prepare(ctx, session("r2")); err != nil {
		t.Errorf("after the first run: %v", err)
	}
	x := task()
	x.Run = "r2"
	if _, err := two.Run(ctx, x); err != nil {
		t.Error(err)
	}
	if err := two.Close(); err != nil {
		t.Error(err)
	}
}

// The socket is the user's alone, replaces one that was left behind, and no other.
func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.sock")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(ServerOptions{}, &fakePlane{})
	if err := s.ListenUnix(context.Background(), path); err == nil || !contains(err.Error(), "another agent listens") {
		t.Errorf("a second agent: %v", err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- s.ListenUnix(ctx, path) }()
	var c *Client
	for c == nil { // until it listens
		if c, err = Dial(ctx, "node3", path, nil, ClientOptions{}); err != nil {
			runtime.Gosched()
		}
	}
	if _, err := c.Hello(ctx, false); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
	c.Close()
	cancel()
	mustBe(t, <-served, context.Canceled)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := removeStale(path); err == nil || !contains(err.Error(), "no socket") {
		t.Errorf("a file is in the way: %v", err)
	}
}

// Of agents that find a socket left behind at once, one listens, and is reached.
func TestUnixSocketAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.sock")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // which ends what should not listen
	defer cancel()
	ended := make(chan error)
	const agents = 8
	for range agents {
		s := newServer(ServerOptions{}, &fakePlane{})
		go func() { ended <- s.ListenUnix(ctx, path) }()
	}
	for range agents - 1 {
		if err := <-ended; err == nil || !contains(err.Error(), "another agent listens") {
			t.Error(err)
		}
	}
	c, err := Dial(ctx, "node3", path, nil, ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Hello(ctx, false); err != nil {
		t.Error(err)
	}
	c.Close()
	cancel()
	mustBe(t, <-ended, context.Canceled)
}

func TestDialWrongAddress(t *testing.T) {
	ctx := context.Background()
	if _, err := Dial(ctx, "node3", "node3", nil, ClientOptions{}); err == nil {
		t.Error("an address without a port was dialled")
	}
	if _, err := Dial(ctx, "node3", "node3:1", nil, ClientOptions{}); err == nil || !contains(err.Error(), "--cert") {
		t.Errorf("without a certificate: %v", err)
	}
	l := listen(t, "tcp", "127.0.0.1:0")
	l.Close() // nobody listens there now
	cfg := func(string) *tls.Config { return &tls.Config{} }
	for _, addr := range []string{l.Addr().String(), filepath.Join(t.TempDir(), "none.sock")} {
		if _, err := Dial(ctx, "node3", addr, cfg, ClientOptions{}); err == nil ||
			!contains(err.Error(), "calib agent --listen") {
			t.Errorf("dialling %s, where nobody is: %v", addr, err)
		}
	}
}

func TestServerOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]ServerOptions{
		"cpu is not a number":  {CPU: "two"},
		"cpu is not there":     {CPU: "1023"},
		"data address":         {Data: "nowhere"},
		"data address is busy": {Data: busyPort(t)},
	} {
		if s, err := NewServer(o); err == nil {
			s.Close()
			t.Errorf("%s: %+v accepted", name, o)
		}
	}
}

func busyPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}
