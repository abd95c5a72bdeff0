package agent

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// stream is a net.Conn over any byte stream: the standard streams of a process, a pipe, a socket. It has no deadlines:
// every call on it is bounded by timers above.
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

func newCheckedStream(rw io.ReadWriteCloser) *checkedStream {
	return &checkedStream{ReadWriteCloser: rw, in: bufio.NewReader(rw)}
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
