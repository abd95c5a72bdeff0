package agent

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
)

var errExit = errors.New("exit status 3; it said out of memory")

// broken is a stream whose other end is gone, as the writer notices first.
type broken struct {
	closed chan struct{}
	once   *sync.Once
}

func (b broken) Read([]byte) (int, error) {
	<-b.closed
	return 0, io.ErrClosedPipe
}

func (b broken) Write([]byte) (int, error) { return 0, errExit }

func (b broken) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// TestReasonOfFailedWrite: the client says why the agent is gone, not that the stream was closed then.
func TestReasonOfFailedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClient("node3", broken{make(chan struct{}), new(sync.Once)}, ClientOptions{})
		_, err := c.Hello(context.Background(), false)
		mustBe(t, err, ErrGone, "node3", errExit.Error())
	})
}

// TestOneStream: a client dials its stream once. Whoever asks for another waits for the end of the first, or of the
// call, and net/http gives it the first meanwhile.
func TestOneStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClient("node3", broken{make(chan struct{}), new(sync.Once)}, ClientOptions{})
		if conn, err := c.http.DialContext(t.Context(), "tcp", "agent"); conn != c.conn || err != nil {
			t.Fatalf("the first dial gives %v, %v", conn, err)
		}
		again := func(ctx context.Context) chan error {
			failed := make(chan error, 1)
			go func() {
				_, err := c.http.DialContext(ctx, "tcp", "agent")
				failed <- err
			}()
			synctest.Wait()
			if len(failed) > 0 {
				t.Fatalf("another dial ends with %v while the stream is whole", <-failed)
			}
			return failed
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := again(ctx)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a call that has ended still dials: %v", err)
		}
		ended = again(t.Context())
		c.Close()
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("a dial after the stream's end: %v", err)
		}
	})
}
