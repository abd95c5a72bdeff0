package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/net/netutil"

	"calib/agent/internal/controlv1"
)

const (
	maxRequest  = 8 << 20 // bytes of one request: a session with tickets for 4096 peers has 0.5 MB
	openConns   = 32      // control connections of a daemon at once
	headTimeout = 10 * time.Second
)

// ErrStranger reports a control stream whose other end never spoke calib's protocol.
var ErrStranger = errors.New("the other end of the control stream does not speak calib's protocol")

// ServeStream serves one coordinator over a pair of byte streams, most often standard input and output, which must
// carry nothing else. It returns when the input ends (nil), ctx ends, or the coordinator is silent for longer than
// Silence, having cancelled what ran; it waits for that no longer than grace. It closes the streams.
func (s *Server) ServeStream(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	conn := newStream(joinStreams(in, out))
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	idle := time.AfterFunc(s.opts.Silence, func() { stop(errSilence) })
	defer idle.Stop()
	var spoke atomic.Bool
	srv := s.httpServer()
	handler := srv.Handler
	srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		spoke.Store(true)
		idle.Reset(s.opts.Silence)
		handler.ServeHTTP(w, r)
	})
	go func() {
		select {
		case <-conn.gone:
		case <-ctx.Done():
		}
		s.dropAny(errClosing)
		conn.Close() // first: srv.Close waits for Serve, which waits for conn
		srv.Close()
	}()
	err := srv.Serve(&singleListener{conn: conn})
	cause := context.Cause(ctx)
	stop(nil)
	s.Close()
	switch {
	case cause != nil:
		return cause
	case !errors.Is(err, http.ErrServerClosed):
		return err
	case !spoke.Load() && conn.used.Load():
		return ErrStranger
	}
	return nil
}

// Listen serves coordinators over TCP until ctx ends. It takes loopback addresses only: anything else needs credentials.
func (s *Server) Listen(ctx context.Context, addr string) error {
	if err := loopbackOnly(addr); err != nil {
		return err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for coordinators on %s: %w", addr, err)
	}
	return s.serveTCP(ctx, l)
}

func (s *Server) serveTCP(ctx context.Context, l net.Listener) error {
	s.opts.Log.Info("listening", "control", l.Addr().String(), "data", s.plane.Addr())
	srv := s.httpServer()
	defer context.AfterFunc(ctx, func() {
		s.dropAny(errClosing)
		srv.Close()
	})()
	err := srv.Serve(netutil.LimitListener(l, openConns))
	s.Close()
	if ctx.Err() != nil && errors.Is(err, http.ErrServerClosed) {
		return ctx.Err()
	}
	return err
}

func loopbackOnly(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("listen for coordinators on %q: want host:port, for example 127.0.0.1:7433", addr)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("listen for coordinators on %s: %w: an agent sends traffic for whoever reaches it, so that without "+
		"credentials it takes loopback addresses only; listen on 127.0.0.1:7433 and reach it through ssh -L, or let "+
		"calib start its own agents with ssh", addr, ErrOpen)
}

// httpServer speaks HTTP/2 without encryption and nothing else. A coordinator that is stopped, and so answers no ping,
// loses its connection, which ends the calls that wait for it.
func (s *Server) httpServer() *http.Server {
	mux := http.NewServeMux()
	mux.Handle(controlv1.NewControlHandler(control{s}, connect.WithReadMaxBytes(maxRequest),
		connect.WithCompression("gzip", nil, nil))) // nothing here is worth a CPU's time while it measures
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: mux, Protocols: p, ReadHeaderTimeout: headTimeout,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 16, SendPingTimeout: s.opts.Silence, PingTimeout: s.opts.Silence,
			WriteByteTimeout: s.opts.Silence,
			// A coordinator keeps a buffer as long as its longest frame to each agent: that of a thousand tickets is 175 KB.
			MaxReadFrameSize: 16 << 10,
		},
		ErrorLog: slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelWarn),
	}
}

// singleListener is a listener that yields one connection, and ends with it.
type singleListener struct {
	conn *stream
	once sync.Once
}

func (l *singleListener) Accept() (c net.Conn, err error) {
	l.once.Do(func() { c = l.conn })
	if c != nil {
		return c, nil
	}
	<-l.conn.gone
	return nil, http.ErrServerClosed
}

func (l *singleListener) Close() error   { return nil }
func (l *singleListener) Addr() net.Addr { return streamAddr{} }
