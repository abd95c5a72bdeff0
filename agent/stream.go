package agent

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// stream is a net.Conn over any byte stream: the standard streams of a process, a pipe, a socket. It has no deadlines
// of its own where the stream below has none; every call on it is bounded by timers above.
type stream struct {
	io.ReadWriteCloser
	gone chan struct{} // closed at the first failed read or write, or at Close
	used atomic.Bool   // a byte was read
	once sync.Once
	err  error // of the first failed read or write; nil after Close. Read it after gone.
}

func newStream(rw io.ReadWriteCloser) *stream {
	return &stream{ReadWriteCloser: rw, gone: make(chan struct{})}
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

// Write remembers it too: when the other end has ended, either call may fail first.
func (c *stream) Write(b []byte) (int, error) {
	n, err := c.ReadWriteCloser.Write(b)
	if err != nil {
		c.end(err)
	}
	return n, err
}

func (c *stream) end(err error) {
	c.once.Do(func() {
		c.err = err
		close(c.gone)
	})
}

func (c *stream) Close() error {
	c.end(nil)
	return c.ReadWriteCloser.Close()
}

// cause is why the stream ended, or nil while it has not.
func (c *stream) cause() error {
	select {
	case <-c.gone:
		if c.err == nil {
			return net.ErrClosed
		}
		return c.err
	default:
		return nil
	}
}

type streamAddr struct{}

func (streamAddr) Network() string { return "stream" }
func (streamAddr) String() string  { return "stream" }

func (c *stream) LocalAddr() net.Addr  { return streamAddr{} }
func (c *stream) RemoteAddr() net.Addr { return streamAddr{} }

func (c *stream) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *stream) SetReadDeadline(t time.Time) error {
	if d, ok := c.ReadWriteCloser.(interface{ SetReadDeadline(time.Time) error }); ok {
		return d.SetReadDeadline(t)
	}
	return nil
}

func (c *stream) SetWriteDeadline(t time.Time) error {
	if d, ok := c.ReadWriteCloser.(interface{ SetWriteDeadline(time.Time) error }); ok {
		return d.SetWriteDeadline(t)
	}
	return nil
}

// streamPair joins two byte streams into one, and lets Close end a Read that blocks in one which cannot be interrupted, as standard
// input cannot. Its goroutine ends with the input.
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

// checkedStream is the client's end of a stream. It checks the first bytes from the other end, so that the error about a
// login script's greeting, or about a server that is no agent, quotes them.
type checkedStream struct {
	io.ReadWriteCloser
	looked bool
	head   []byte
}

const settingsFrame = 4 // HTTP/2 frame type (RFC 9113, section 6.5) with which a server begins

func (c *checkedStream) Read(b []byte) (int, error) {
	if !c.looked {
		c.looked = true
		head := make([]byte, 9) // length (3), type, flags, stream (4)
		n, err := io.ReadFull(c.ReadWriteCloser, head)
		c.head = head[:n]
		if n > 3 && head[3] != settingsFrame {
			return 0, fmt.Errorf("%w: it begins with %q", ErrStranger, c.head)
		}
		if n == 0 || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, err
		}
	}
	if len(c.head) > 0 {
		n := copy(b, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	return c.ReadWriteCloser.Read(b)
}
