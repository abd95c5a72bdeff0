package agent

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

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

func (p *pipes) Addr() net.Addr { return streamAddr }

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
		s.env = noFacts
		if _, err := c.Hello(ctx, false); err != nil {
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
		g := newGate(l, newServer(ServerOptions{}, &fakePlane{}).opts.Log,
			func(ctx context.Context, c net.Conn) (net.Conn, caller, error) {
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
