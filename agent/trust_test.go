package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
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
	if _, err := c.Hello(context.Background(), false); err != nil {
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
	if _, err := insecure.Hello(context.Background(), false); err == nil {
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

// A revoked certificate is refused as soon as the list lies in the agent's directory, also on a connection that was let
// in before; and without a list nobody is let in.
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
