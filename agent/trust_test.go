package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"calib/internal/certs"
)

// party is an authority with an agent on 127.0.0.1, and what it has issued.
type party struct {
	t         *testing.T
	dir       string
	authority *certs.Authority
}

func newParty(t *testing.T) *party {
	t.Helper()
	p := &party{t: t, dir: t.TempDir()}
	var err error
	if p.authority, err = certs.Init(filepath.Join(p.dir, "ca"), "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	return p
}

// issue makes a certificate as of a time, and returns its directory.
func (p *party) issue(name string, role certs.Role, now time.Time) string {
	p.t.Helper()
	out := filepath.Join(p.dir, name)
	r := certs.Request{Name: name, Role: role, Addrs: []string{"127.0.0.1"}, Life: 24 * time.Hour}
	if _, err := p.authority.Issue(r, out, now); err != nil {
		p.t.Fatal(err)
	}
	return out
}

func (p *party) load(dir string) *certs.Credentials {
	p.t.Helper()
	c, err := certs.Load(dir)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// hello dials and says hello, which shows whether the agent believes the coordinator.
func hello(addr string, cfg func(string) *tls.Config) (*Client, error) {
	c, err := Dial(context.Background(), "node3", addr, cfg, ClientOptions{})
	if err != nil {
		return nil, err
	}
	if _, err := c.Hello(context.Background()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func TestCertificates(t *testing.T) {
	p, other := newParty(t), newParty(t)
	agentDir := p.issue("agent", certs.Agent, time.Now())
	l := listen(t, "tcp", "127.0.0.1:0")
	daemon(t, l, admitTLS(p.load(agentDir).Server()))
	addr := l.Addr().String()

	good := p.load(p.issue("alice", certs.Coordinator, time.Now())).Client
	c, err := hello(addr, good)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for name, cfg := range map[string]func(string) *tls.Config{
		"of another authority": other.load(other.issue("eve", certs.Coordinator, time.Now())).Client,
		"of an agent":          p.load(p.issue("agent2", certs.Agent, time.Now())).Client,
		"none": func(host string) *tls.Config {
			cfg := good(host)
			cfg.Certificates = nil
			return cfg
		},
		"for another protocol": func(host string) *tls.Config {
			cfg := good(host)
			cfg.NextProtos = nil
			return cfg
		},
		"of an older TLS": func(host string) *tls.Config {
			cfg := good(host)
			cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
			return cfg
		},
	} {
		if _, err := hello(addr, cfg); err == nil {
			t.Errorf("certificate %s: let in", name)
		}
	}
	wrong := func(string) *tls.Config { return good("127.0.0.2") }
	if _, err := hello(addr, wrong); err == nil || !contains(err.Error(), "127.0.0.2") {
		t.Errorf("an agent that is not the one asked for: %v", err)
	}
	plain, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	insecure := NewClient("node3", plain, ClientOptions{})
	defer insecure.Close()
	if _, err := insecure.Hello(context.Background()); err == nil {
		t.Error("let in without TLS")
	}
}

// A certificate that has expired is refused by both sides.
func TestExpiredCertificate(t *testing.T) {
	p := newParty(t)
	l := listen(t, "tcp", "127.0.0.1:0")
	daemon(t, l, admitTLS(p.load(p.issue("agent", certs.Agent, time.Now())).Server()))
	old := p.issue("alice", certs.Coordinator, time.Now().Add(-48*time.Hour))
	if _, err := certs.Load(old); err == nil || !contains(err.Error(), "has expired") {
		t.Errorf("its owner: %v", err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(old, "cert.pem"), filepath.Join(old, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	good := p.load(p.issue("bob", certs.Coordinator, time.Now())).Client
	_, err = hello(l.Addr().String(), func(host string) *tls.Config {
		cfg := good(host)
		cfg.Certificates = []tls.Certificate{pair}
		return cfg
	})
	mustBe(t, err, ErrTrust, "node3", "expired")
}

// A revoked certificate is refused as soon as the list lies in the agent's directory, also on a connection that was let in before;
// and without a list nobody is let in.
func TestRevokedCertificate(t *testing.T) {
	p := newParty(t)
	agentDir := p.issue("agent", certs.Agent, time.Now())
	l := listen(t, "tcp", "127.0.0.1:0")
	daemon(t, l, admitTLS(p.load(agentDir).Server()))
	addr := l.Addr().String()
	alice := p.load(p.issue("alice", certs.Coordinator, time.Now())).Client
	bob := p.load(p.issue("bob", certs.Coordinator, time.Now())).Client
	before, err := hello(addr, alice)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	if err := before.Prepare(context.Background(), session("r1")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.authority.Revoke("alice", time.Now()); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(p.authority.RevocationList())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(agentDir, "crl.pem"), list, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := before.Run(context.Background(), task()); err == nil {
		t.Error("a revoked certificate that was let in before goes on")
	}
	_, err = hello(addr, alice)
	mustBe(t, err, ErrTrust, "node3")
	c, err := hello(addr, bob)
	if err != nil {
		t.Fatalf("another's certificate: %v", err)
	}
	c.Close()
	if err := os.Remove(filepath.Join(agentDir, "crl.pem")); err != nil {
		t.Fatal(err)
	}
	_, err = hello(addr, bob)
	mustBe(t, err, ErrTrust)
}

// A thousand callers that drip keep nobody out, and only so many of them are heard at once.
func TestSlowDrips(t *testing.T) {
	p := newParty(t)
	l := listen(t, "tcp", "127.0.0.1:0")
	g := daemon(t, l, admitTLS(p.load(p.issue("agent", certs.Agent, time.Now())).Server()))
	cfg := p.load(p.issue("alice", certs.Coordinator, time.Now())).Client
	for i := range 1000 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = c.Write([]byte{0x16, 3, 1}[:i%4]) // a part of a hello, or nothing; the other end may have closed
	}
	g.mu.Lock()
	if n := len(g.waiting); n > maxWaiting {
		t.Errorf("%d strangers wait, the limit is %d", n, maxWaiting)
	}
	g.mu.Unlock()
	c, err := hello(l.Addr().String(), cfg)
	if err != nil {
		t.Fatalf("beside them: %v", err)
	}
	c.Close()
}

// pipes is a listener that yields ends of pipes.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Addr() net.Addr { return streamAddr{} }

func (p *pipes) Close() error {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	return nil
}

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

// ended waits until the other end has closed c, and reports when.
func ended(c net.Conn) time.Duration {
	from := time.Now()
	_, _ = io.Copy(io.Discard, c)
	return time.Since(from)
}

// Nobody has more than a share of the connections; those who say nothing lose theirs.
func TestSharesOfConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(ServerOptions{}, &fakePlane{})
		name := "alice"
		l := newPipes()
		g := newGate(l, s.opts.Log, func(_ context.Context, c net.Conn) (net.Conn, caller, error) {
			return c, caller{name, func() error { return nil }}, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- s.serveGate(ctx, g) }()
		var idle []net.Conn
		for range maxOfOne {
			idle = append(idle, l.dial())
			synctest.Wait()
		}
		if d := ended(l.dial()); d != 0 {
			t.Errorf("one connection too many ended after %v", d)
		}
		name = "bob"
		c := NewClient("node3", l.dial(), ClientOptions{})
		s.env = func(string) map[string]string { return nil }
		if _, err := c.Hello(ctx); err != nil {
			t.Errorf("beside alice's: %v", err)
		}
		for _, x := range idle {
			if d := ended(x); d > s.opts.Silence {
				t.Errorf("an idle connection ended after %v", d)
			}
		}
		synctest.Wait()
		if g.open != 1 || g.byName["alice"] != 0 || g.byName["bob"] != 1 {
			t.Errorf("%d open: %v", g.open, g.byName)
		}
		c.Close()
		cancel()
		mustBe(t, <-served, context.Canceled)
	})
}

// Strangers that do not say who they are are given up.
func TestStrangersAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPipes()
		g := newGate(l, newServer(ServerOptions{}, &fakePlane{}).opts.Log, func(ctx context.Context, c net.Conn) (net.Conn, caller, error) {
			stop := context.AfterFunc(ctx, func() { c.Close() })
			defer stop()
			_, err := c.Read(make([]byte, 1))
			return c, caller{}, err
		})
		first := l.dial()
		synctest.Wait()
		var rest []net.Conn
		for range maxWaiting {
			rest = append(rest, l.dial())
			synctest.Wait()
		}
		if d := ended(first); d != 0 {
			t.Errorf("the oldest of too many ended after %v", d)
		}
		if d := ended(rest[0]); d != admitTime {
			t.Errorf("a silent one ended after %v, want %v", d, admitTime)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
}
