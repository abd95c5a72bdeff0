package agent

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxRequest  = 4 << 20 // bytes of one request: a session with tickets for 4096 peers has 1.2 MB
	maxTask     = 1 << 20 // of a task: it takes many times as much in memory
	maxCalls    = 64      // of a daemon at once
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
		case <-conn.ctx.Done():
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

// httpServer speaks HTTP/2 without encryption and nothing else. A coordinator that is stopped, and so answers no ping,
// loses its connection, which ends the calls that wait for it.
func (s *Server) httpServer() *http.Server {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: s.calls(), Protocols: p, ReadHeaderTimeout: headTimeout,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 16, SendPingTimeout: s.opts.Silence, PingTimeout: s.opts.Silence,
			WriteByteTimeout: s.opts.Silence,
			// A coordinator keeps a buffer as long as its longest frame to each agent: that of a thousand tickets is
			// 175 KB.
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
	<-l.conn.ctx.Done()
	return nil, http.ErrServerClosed
}

func (l *singleListener) Close() error   { return nil }
func (l *singleListener) Addr() net.Addr { return streamAddr{} }
