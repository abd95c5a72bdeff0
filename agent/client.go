package agent

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/transport"
)

// ClientOptions configure a client. Zero values mean what their comments say.
type ClientOptions struct {
	// DataAddr is the address by which peers will reach the host, where the coordinator knows it (addr= of hosts.txt):
	// the environment then describes the interface that carries it. A port in it does not matter.
	DataAddr string
	// Silence is how long an agent may give no sign of life during a call; 0 is 5 s.
	Silence time.Duration
	// Progress, if not nil, is called at least once a second while a task runs, by the goroutine that called Run: done
	// of the slot's points are finished.
	Progress func(slot, done, of int)
	// Warn, if not nil, is told what a user should know of the host, by the goroutine that called Run.
	Warn func(string)
}

const (
	clientSilence = 5 * time.Second
	keepAlive     = 3 * time.Second  // between two signs of life of a coordinator
	helloLimit    = 30 * time.Second // for a starting agent to answer at all
	releaseLimit  = 2 * time.Second
	maxAnswer     = 64 << 20  // bytes of one line of an agent
	maxReply      = 512 << 20 // bytes of raw times of one task
)

// Client is the coordinator's hold on one agent. Its methods are for one goroutine at a time, Close excepted.
type Client struct {
	host   string
	opts   ClientOptions
	conn   *stream
	http   *http.Transport
	lease  atomic.Pointer[held] // of the run that was prepared; an empty one where there is none
	silent atomic.Bool          // since the last answer

	alive sync.Once
	stop  context.CancelFunc // ends the keepalives
	ctx   context.Context
	ended sync.WaitGroup
	close func() error // once
}

// held is what shows that a run holds the agent.
type held struct {
	run    string // alone: the tickets of a thousand hosts are not kept
	secret []byte
}

// NewClient speaks to the agent of a host over a byte stream, which the client then owns: Close closes it. For an agent
// that was started for it, closing the stream is to end the process. host is for messages.
func NewClient(host string, rw io.ReadWriteCloser, o ClientOptions) *Client {
	o.Silence = cmp.Or(o.Silence, clientSilence)
	c := &Client{host: host, opts: o, conn: newStream(&checkedStream{ReadWriteCloser: rw, in: bufio.NewReader(rw)})}
	c.lease.Store(&held{})
	c.close = sync.OnceValue(c.shut)
	c.ctx, c.stop = context.WithCancel(context.Background())
	var first sync.Once
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	c.http = &http.Transport{
		Protocols: p, DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (conn net.Conn, err error) {
			if first.Do(func() { conn = c.conn }); conn != nil {
				return conn, nil
			}
			// There is one stream, and no other when it has ended. A call may come before net/http has put the
			// connection of the call before it where later ones find it: it asks for another, and is given that one
			// while this waits.
			select {
			case <-c.conn.ctx.Done():
				return nil, net.ErrClosed
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	}
	return c
}

// Hello asks who the agent is. Its Host.Addr is where the agent listens for data: an unspecified address there means
// that only the port counts. From then on the client keeps the agent alive until Close. With closer, the agent also
// looks for the switch that it is at, and measures its host's loopback.
func (c *Client) Hello(ctx context.Context, closer bool) (dataset.Host, error) {
	q := request{Protocol: Protocol, DataAddr: c.opts.DataAddr, Closer: closer}
	a, err := c.ask(ctx, helloLimit, callHello, q)
	if err != nil {
		return dataset.Host{}, err
	}
	r := cmp.Or(a.Hello, &greeting{Protocol: Protocol})
	if r.Protocol != Protocol {
		what := fmt.Sprintf("it speaks protocol %d, this calib %d", r.Protocol, Protocol)
		return dataset.Host{}, versionError(c.host, what, r.Version, r.Build)
	}
	c.alive.Do(func() { c.ended.Go(c.keep) })
	h := r.Host
	h.MostBytes, h.Consent, h.Now = r.MostBytes, r.Consent, r.Now
	return h, nil
}

// Prepare takes the agent for a run. It fails with ErrBusy while another holds it.
func (c *Client) Prepare(ctx context.Context, s plane.Session) error {
	q := request{Protocol: Protocol, Secret: c.lease.Load().secret, Session: &s}
	a, err := c.ask(ctx, c.opts.Silence, callPrepare, q)
	if err == nil {
		c.lease.Store(&held{s.Run, a.Secret})
	}
	return err
}

// Close releases the agent and closes its stream. It is safe to call twice, and during another call, which then fails.
func (c *Client) Close() error { return c.close() }

func (c *Client) shut() error {
	c.stop()
	c.ended.Wait()
	if l := c.lease.Load(); l.run != "" && !c.silent.Load() && context.Cause(c.conn.ctx) == nil {
		// If the call fails, the end of the stream releases the agent.
		_, _ = c.ask(context.Background(), releaseLimit, callRelease, request{Run: l.run, Secret: l.secret})
	}
	defer c.http.CloseIdleConnections()
	if err := c.conn.Close(); !errors.Is(err, net.ErrClosed) { // the stream may have ended by itself
		return err
	}
	return nil
}

// keep tells the agent that its coordinator lives, until Close. It ignores errors: the next call meets the same trouble
// and reports it.
func (c *Client) keep() {
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		l := c.lease.Load()
		_, _ = c.ask(c.ctx, c.opts.Silence, callAlive, request{Run: l.run, Secret: l.secret})
	}
}

// ask makes a call that has one answer, within a time, and explains its error.
func (c *Client) ask(ctx context.Context, limit time.Duration, call string, q request) (a answer, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrSilent)
	defer cancel()
	err = c.exchange(ctx, call, q, func(got answer) error { a = got; return nil })
	return a, c.explain(ctx, limit, err)
}

// explain finds out why a call failed: the caller's context, silence, the stream's end, or what the agent said.
func (c *Client) explain(ctx context.Context, limit time.Duration, err error) error {
	if err == nil {
		c.silent.Store(false)
		return nil
	}
	if cause := context.Cause(ctx); errors.Is(cause, ErrSilent) {
		c.silent.Store(true)
		return fmt.Errorf("agent %s: %w: no sign of life for %v; it is stopped, overloaded or cut off",
			c.host, ErrSilent, limit)
	} else if cause != nil {
		return fmt.Errorf("agent %s: %w", c.host, cause)
	}
	_, said := errors.AsType[*refusal](err)
	if gone := context.Cause(c.conn.ctx); gone != nil && !said {
		if remote, ok := errors.AsType[*net.OpError](gone); ok && remote.Op == "remote error" { // a TLS alert
			return fmt.Errorf("agent %s: %w: it refuses this certificate (%w): it is revoked, expired or of another authority; "+
				"the agent's log says which", c.host, ErrTrust, gone)
		}
		if errors.Is(gone, io.EOF) {
			return fmt.Errorf("agent %s: %w: the agent exited; its log on the host says why", c.host, ErrGone)
		}
		return fmt.Errorf("agent %s: %w: %w", c.host, ErrGone, gone)
	}
	return classify(c.host, err)
}

// Run has the agent perform a task and returns its samples: all of them, or an error. It ends when the task does, when
// ctx ends, when the agent is silent (ErrSilent), or a little after the task's deadline at the latest. The agent
// cancels a task that Run no longer waits for.
func (c *Client) Run(ctx context.Context, t bench.Task) ([]dataset.Sample, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if t.Deadline > 0 { // the agent ends the task itself; this is for one that only says that it lives
		over := time.AfterFunc(time.Duration(t.Deadline)+c.opts.Silence, func() { cancel(errOverdue) })
		defer over.Stop()
	}
	watch := time.AfterFunc(c.opts.Silence, func() { cancel(ErrSilent) })
	defer watch.Stop()

	var samples []dataset.Sample
	var size int
	err := c.exchange(ctx, callRun, request{Secret: c.lease.Load().secret, Task: &t}, func(a answer) error {
		watch.Reset(c.opts.Silence)
		if p := a.Progress; p != nil && c.opts.Progress != nil {
			c.opts.Progress(p.Slot, p.Done, p.Of)
		}
		if a.Foreign != nil && c.opts.Warn != nil {
			c.opts.Warn(foreignText(c.host, a.Foreign))
		}
		if a.Sample == nil {
			return nil
		}
		if size += 8 * len(a.Sample.NS); size > maxReply {
			return fmt.Errorf("more than %d bytes of times in answer to slot %d", maxReply, t.Slot)
		}
		samples = append(samples, *a.Sample)
		return belongs(a.Sample, t)
	})
	if err := c.explain(ctx, c.opts.Silence, err); err != nil {
		return nil, err
	}
	return samples, nil
}

var errOverdue = fmt.Errorf("%w, and the agent does not end the task", ErrDeadline)

func foreignText(host string, f *transport.Foreign) string {
	text := fmt.Sprintf("host %s: its data port was reached by %d foreign datagrams and %d connections "+
		"without a ticket of this run", host, f.Strays, f.Refused)
	if f.Why != "" {
		text += fmt.Sprintf(", the last: %q", f.Why) // what a stranger may have chosen is quoted
	}
	return text
}

// Dial reaches a running daemon: over the unix socket of a path, or, given host:port, over TLS with what credentials
// says for the host.
func Dial(
	ctx context.Context, host, addr string, credentials func(host string) *tls.Config, o ClientOptions,
) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, helloLimit)
	defer cancel()
	var conn net.Conn
	var err error
	if strings.HasPrefix(addr, "/") {
		conn, err = dialUnix(ctx, addr)
	} else {
		conn, err = dialTLS(ctx, addr, credentials)
	}
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", host, err)
	}
	return NewClient(host, conn, o), nil
}

const notRunning = "%w (is calib agent --listen running there?)"

func dialUnix(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf(notRunning, err)
	}
	if _, err := sameUser(conn); err != nil && os.Geteuid() != 0 {
		conn.Close()
		return nil, fmt.Errorf("socket %s: %w: it is not this user's agent", path, err)
	}
	return conn, nil
}

func dialTLS(ctx context.Context, addr string, credentials func(host string) *tls.Config) (net.Conn, error) {
	name, _, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return nil, fmt.Errorf("address %q: want host:port or /path", addr)
	case credentials == nil:
		return nil, fmt.Errorf("calib://%s: a daemon on TCP asks for a certificate: give --cert DIR, which calib cert "+
			"issue has made", addr)
	}
	var d net.Dialer
	raw, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf(notRunning, err)
	}
	conn := tls.Client(raw, credentials(name))
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		if _, plain := errors.AsType[tls.RecordHeaderError](err); plain {
			err = fmt.Errorf("%w: what listens there does not speak TLS", err)
		}
		return nil, fmt.Errorf("calib://%s: no trust: %w", addr, err)
	}
	return conn, nil
}
