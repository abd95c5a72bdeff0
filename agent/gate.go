package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"calib/internal/certs"
)

const (
	maxWaiting = 64  // connections of strangers at once; one more ends the oldest
	maxOpen    = 128 // connections of those who are known
	maxOfOne   = 16  // of them, by one certificate or user
	admitTime  = 5 * time.Second
)

// caller is who is at the other end of a connection.
type caller struct {
	name  string
	check func() error // why it is not let in any longer, asked before every call
}

// gate is a listener that gives out connections of known callers only. Those who have not shown who they are wait
// outside, a bounded number for a bounded time, so that strangers who connect and say nothing, or drip, keep nobody out
// and take no memory. Nobody has more than its share of connections.
type gate struct {
	net.Listener
	admit  func(context.Context, net.Conn) (net.Conn, caller, error)
	log    *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	ready  chan net.Conn
	wg     sync.WaitGroup

	mu      sync.Mutex
	waiting []net.Conn // oldest first
	open    int
	byName  map[string]int
	said    time.Time // when a refusal was logged last
	silent  int       // refusals since
}

func newGate(l net.Listener, log *slog.Logger, admit func(context.Context, net.Conn) (net.Conn, caller, error)) *gate {
	g := &gate{Listener: l, admit: admit, log: log, ready: make(chan net.Conn), byName: map[string]int{}}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.wg.Go(func() {
		certs.Serve(l, func(c net.Conn) {
			g.begin(c)
			g.wg.Go(func() { g.ask(c) })
		})
	})
	return g
}

func (g *gate) Accept() (net.Conn, error) {
	select {
	case c := <-g.ready:
		return c, nil
	case <-g.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It returns when nothing of the gate runs any longer; connections that were given out
// stay open.
func (g *gate) Close() error {
	g.cancel()
	err := g.Listener.Close()
	g.mu.Lock()
	for _, c := range g.waiting {
		c.Close()
	}
	g.mu.Unlock()
	g.wg.Wait()
	if errors.Is(err, net.ErrClosed) { // http.Server closes its listeners more than once
		return nil
	}
	return err
}

// begin lets a connection wait, and ends the oldest when there are too many.
func (g *gate) begin(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) >= maxWaiting {
		g.waiting[0].Close()
		g.waiting = g.waiting[1:]
	}
	g.waiting = append(g.waiting, c)
}

// ask finds out who calls, within admitTime, and gives the connection out.
func (g *gate) ask(c net.Conn) {
	ctx, cancel := context.WithTimeout(g.ctx, admitTime)
	defer cancel()
	known, who, err := g.admit(ctx, c)
	g.mu.Lock()
	g.waiting = slices.DeleteFunc(g.waiting, func(w net.Conn) bool { return w == c })
	if err == nil {
		err = g.enter(who.name)
	}
	if err != nil {
		g.refuse(c, err)
	}
	g.mu.Unlock()
	if err != nil {
		c.Close()
		return
	}
	v := &visit{known, who, sync.OnceFunc(func() { g.leave(who.name) })}
	select {
	case g.ready <- v:
	case <-g.ctx.Done():
		v.Close()
	}
}

// enter, leave and refuse keep count. enter and refuse are called with the lock held.
func (g *gate) enter(name string) error {
	if n := g.byName[name]; g.open >= maxOpen || n >= maxOfOne {
		return fmt.Errorf("%s has %d connections of %d in all: the limits are %d and %d", name, n, g.open, maxOfOne, maxOpen)
	}
	g.open++
	g.byName[name]++
	return nil
}

func (g *gate) leave(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open--
	if g.byName[name]--; g.byName[name] == 0 {
		delete(g.byName, name)
	}
}

func (g *gate) refuse(c net.Conn, err error) {
	if g.silent++; time.Since(g.said) < time.Second {
		return
	}
	g.log.Warn("connection refused", "from", c.RemoteAddr().String(), "why", err.Error(), "refused", g.silent)
	g.said, g.silent = time.Now(), 0
}

type visit struct {
	net.Conn
	caller
	leave func() // once
}

func (v *visit) Close() error {
	err := v.Conn.Close()
	v.leave()
	return err
}

// admitTLS has a caller show its certificate. What is configured decides whether it holds, now and before every call.
func admitTLS(cfg *tls.Config) func(context.Context, net.Conn) (net.Conn, caller, error) {
	return func(ctx context.Context, c net.Conn) (net.Conn, caller, error) {
		t := tls.Server(c, cfg)
		if err := t.HandshakeContext(ctx); err != nil {
			return nil, caller{}, err
		}
		s := t.ConnectionState()
		leaf := s.PeerCertificates[0] // there is one: see ListenTLS
		return t, caller{
			name:  fmt.Sprintf("%s (%x)", leaf.Subject.CommonName, leaf.SerialNumber),
			check: func() error { return cfg.VerifyConnection(s) },
		}, nil
	}
}

// sameUser refuses the other end of a unix socket unless it is this user's or root's: the socket's mode says so too,
// but its directory may be another's, and it was made before it had that mode.
func sameUser(c net.Conn) (uid uint32, err error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0, errors.New("no unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, err
	}
	if e := raw.Control(func(fd uintptr) { uid, err = peerUser(int(fd)) }); e != nil {
		return 0, e
	}
	if own := uint32(os.Geteuid()); err == nil && uid != own && uid != 0 {
		err = fmt.Errorf("the other end runs as user %d, this is user %d", uid, own)
	}
	return uid, err
}

func admitUser(_ context.Context, c net.Conn) (net.Conn, caller, error) {
	uid, err := sameUser(c)
	if err != nil {
		return nil, caller{}, err
	}
	return c, caller{name: fmt.Sprintf("user %d", uid), check: func() error { return nil }}, nil
}
