package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"syscall"
)

// ListenUnix serves coordinators of this user and root over a unix socket of mode 0600, until ctx ends. A socket on
// which nobody listens any longer is replaced.
func (s *Server) ListenUnix(ctx context.Context, path string) error {
	if err := removeStale(path); err != nil {
		return fmt.Errorf("listen for coordinators on %s: %w", path, err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return fmt.Errorf("listen for coordinators: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(fmt.Errorf("listen for coordinators: %w", err), l.Close())
	}
	return s.serveGate(ctx, newGate(l, s.opts.Log, admitUser))
}

// removeStale removes a socket that a daemon has left behind.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("it is there, and no socket")
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
		return errors.New("another agent listens there")
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}

// ListenTLS serves coordinators over TCP until ctx ends, loopback included: those that show a certificate which cfg
// believes.
func (s *Server) ListenTLS(ctx context.Context, addr string, cfg *tls.Config) error {
	if cfg == nil || cfg.ClientAuth != tls.RequireAndVerifyClientCert || cfg.MinVersion < tls.VersionTLS13 || cfg.VerifyConnection == nil {
		return fmt.Errorf("listen for coordinators on %s: %w: an agent sends traffic for whoever reaches it, and every user of a "+
			"machine reaches its TCP ports", addr, ErrOpen)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for coordinators on %s: %w", addr, err)
	}
	return s.serveGate(ctx, newGate(l, s.opts.Log, admitTLS(cfg)))
}

func (s *Server) serveGate(ctx context.Context, g *gate) error {
	s.opts.Log.Info("listening", "control", g.Addr().String(), "data", s.plane.Addr())
	srv := s.httpServer()
	srv.IdleTimeout, srv.ReadTimeout = s.opts.Silence, 2*s.opts.Silence // of a connection without calls, and of a request
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, callerKey{}, c) }
	srv.Handler = s.guarded(srv.Handler)
	defer context.AfterFunc(ctx, func() {
		s.dropAny(errClosing)
		srv.Close()
	})()
	err := srv.Serve(g)
	err = errors.Join(err, g.Close())
	s.Close()
	if ctx.Err() != nil && errors.Is(err, http.ErrServerClosed) {
		return ctx.Err()
	}
	return err
}

type callerKey struct{}

// guarded refuses calls of who has been let in and would not be now, and more calls at once than there is memory for.
func (s *Server) guarded(next http.Handler) http.Handler {
	calls := make(chan struct{}, maxCalls)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, ok := r.Context().Value(callerKey{}).(*visit)
		if !ok {
			http.Error(w, "nobody is known to call", http.StatusForbidden)
			return
		}
		if err := v.check(); err != nil {
			s.opts.Log.Warn("call refused", "of", v.name, "why", err.Error())
			v.Close()
			return
		}
		select {
		case calls <- struct{}{}:
			defer func() { <-calls }()
			next.ServeHTTP(w, r)
		default:
			http.Error(w, "too many calls at once", http.StatusServiceUnavailable)
		}
	})
}
