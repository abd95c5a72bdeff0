package agent

import (
	"context"
	"errors"
	"io"
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
		_, err := c.Hello(context.Background())
		mustBe(t, err, ErrGone, "node3", errExit.Error())
	})
}
