package agent

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
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
func (l *singleListener) Addr() net.Addr { return streamAddr }

// ListenUnix serves coordinators of this user and root over a unix socket of mode 0600, until ctx ends. A socket on
// which nobody listens any longer is replaced.
func (s *Server) ListenUnix(ctx context.Context, path string) error {
	// Agents that begin at once would replace each other's socket. Where there is no lock to be had, they go on.
	dir, _ := os.Open(filepath.Dir(path))
	_ = lock(dir)
	var l net.Listener
	err := removeStale(path)
	if err == nil {
		l, err = new(net.ListenConfig).Listen(ctx, "unix", path)
	}
	dir.Close() // nil has nothing to close
	if err != nil {
		return fmt.Errorf("listen for coordinators on %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(fmt.Errorf("listen for coordinators: %w", err), l.Close())
	}
	return s.serveGate(ctx, newGate(l, s.opts.Log, admitUser))
}

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
	if cfg == nil || cfg.ClientAuth != tls.RequireAndVerifyClientCert ||
		cfg.MinVersion < tls.VersionTLS13 || cfg.VerifyConnection == nil {
		return fmt.Errorf("listen for coordinators on %s: %w: an agent sends traffic for whoever reaches it, and every user "+
			"of a machine reaches its TCP ports", addr, ErrOpen)
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
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, callerKey{}, c)
	}
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

// stream is a net.Conn over any byte stream: the standard streams of a process, a pipe, a socket. It has no deadlines:
// every call on it is bounded by timers above.
type stream struct {
	io.ReadWriteCloser
	ctx  context.Context // ends at the first failed read or write, whose error is the cause, or at Close
	end  context.CancelCauseFunc
	used atomic.Bool // a byte was read
}

func newStream(rw io.ReadWriteCloser) *stream {
	c := &stream{ReadWriteCloser: rw}
	c.ctx, c.end = context.WithCancelCause(context.Background())
	return c
}

// Read remembers the first error: it is why the stream ended, which HTTP does not pass on.
func (c *stream) Read(b []byte) (int, error) {
	n, err := c.ReadWriteCloser.Read(b)
	if n > 0 {
		c.used.Store(true)
	}
	if err != nil {
		c.end(err)
	}
	return n, err
}

// alertTime is how long the reason may take to be read of a stream that can no longer be written to.
const alertTime = time.Second

// Write remembers the first error too. Where the other end has ended either call may fail first, and the reader knows
// better: in TLS 1.3 the client has finished its part before the server looks at its certificate, so that the refusal
// comes as an alert while the client writes already.
func (c *stream) Write(b []byte) (int, error) {
	n, err := c.ReadWriteCloser.Write(b)
	if err != nil {
		select { // HTTP/2 has a reader from the beginning
		case <-c.ctx.Done():
		case <-time.After(alertTime):
			c.end(err)
		}
	}
	return n, err
}

func (c *stream) Close() error {
	c.end(net.ErrClosed)
	return c.ReadWriteCloser.Close()
}

var streamAddr net.Addr = &net.UnixAddr{Name: "stream", Net: "stream"}

func (c *stream) LocalAddr() net.Addr              { return streamAddr }
func (c *stream) RemoteAddr() net.Addr             { return streamAddr }
func (c *stream) SetDeadline(time.Time) error      { return nil }
func (c *stream) SetReadDeadline(time.Time) error  { return nil }
func (c *stream) SetWriteDeadline(time.Time) error { return nil }

// streamPair joins two byte streams into one, and lets Close end a Read that blocks in one which cannot be interrupted,
// as standard input cannot. Its goroutine ends with the input.
type streamPair struct {
	*io.PipeReader
	in  io.Closer
	out io.WriteCloser
}

func joinStreams(in io.ReadCloser, out io.WriteCloser) *streamPair {
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, in)
		w.CloseWithError(err) // nil reads as io.EOF
	}()
	return &streamPair{r, in, out}
}

func (p *streamPair) Write(b []byte) (int, error) { return p.out.Write(b) }

func (p *streamPair) Close() error {
	return errors.Join(p.PipeReader.Close(), p.out.Close(), p.in.Close())
}

// checkedStream is the client's end of a stream. It checks the first bytes from the other end, so that the error about
// a login script's greeting, or about a server that is no agent, quotes them.
type checkedStream struct {
	io.ReadWriteCloser
	in      *bufio.Reader // of the stream
	checked bool
}

const settingsFrame = 4 // HTTP/2 frame type (RFC 9113, section 6.5) with which a server begins

func (c *checkedStream) Read(b []byte) (int, error) {
	if !c.checked {
		c.checked = true
		head, _ := c.in.Peek(9) // length (3), type, flags, stream (4); Read repeats the error
		if len(head) > 3 && head[3] != settingsFrame {
			return 0, fmt.Errorf("%w: it begins with %q", ErrStranger, head)
		}
	}
	return c.in.Read(b)
}
