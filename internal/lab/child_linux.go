package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"calib/internal/netspec"
)

// selfCommand runs a hidden verb of this same program, in a session of its own, so that a Ctrl-C does not reach it.
func selfCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Args[0] = "calib"
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// childConfig is what the processes of a lab, its wire and its holder, read from their standard input.
type childConfig struct {
	Spec    netspec.Spec `json:"spec"`
	Options Options      `json:"options"`
	// Attached: end when standard input does.
	Attached bool `json:"attached"`
	// Socket is where the wire answers requests for statistics.
	Socket string `json:"socket"`
}

// child is a process of this program that takes one request and gives one reply.
type child struct {
	in  io.WriteCloser
	out io.ReadCloser
}

func startChild(cmd *exec.Cmd) (*child, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// An os.Pipe rather than StdoutPipe, which Wait would close under the reader.
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = w
	err = cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	go func() { _ = cmd.Wait() }() // reaps it; how it ended is in its log
	return &child{in: in, out: r}, nil
}

// reply is a child's reply: what it made, or why it could not.
type reply struct {
	Error string          `json:"error,omitempty"`
	Class int             `json:"class,omitempty"` // of the error, in classes
	Value json.RawMessage `json:"value,omitempty"`
}

// classes are those of a child's errors; the first is that of any other.
var classes = []error{ErrWire, ErrPermission, ErrExists}

// relayed is an error of another process, with the text it had there.
type relayed struct {
	text  string
	class error
}

func (r relayed) Error() string { return r.text }
func (r relayed) Unwrap() error { return r.class }

// request sends the child a document and waits for its reply, which it decodes into value if that is not nil.
func (c *child) request(ctx context.Context, document, value any) error {
	defer c.out.Close()
	if err := json.NewEncoder(c.in).Encode(document); err != nil {
		return fmt.Errorf("send it what to build: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	answers := make(chan error, 1)
	var r reply
	go func() { answers <- json.NewDecoder(c.out).Decode(&r) }()
	select {
	case err := <-answers:
		if err != nil {
			return fmt.Errorf("%w: it ended without a reply: %w", ErrWire, err)
		}
	case <-ctx.Done():
		return fmt.Errorf("it is not ready: %w", context.Cause(ctx))
	}
	if r.Error != "" {
		return relayed{r.Error, classes[r.Class]}
	}
	if value == nil {
		return nil
	}
	return json.Unmarshal(r.Value, value)
}

// untilStopped returns a context that ends with SIGTERM. Ctrl-C and the end of a terminal do nothing from then on.
func untilStopped() (context.Context, context.CancelFunc) {
	signal.Ignore(unix.SIGINT, unix.SIGHUP)
	return signal.NotifyContext(context.Background(), unix.SIGTERM)
}

// whenEnds calls stop when in ends: the process at its other end has closed it, or died.
func whenEnds(in io.Reader, stop func()) {
	_, _ = io.Copy(io.Discard, in)
	stop()
}

// respond is the child's side of request.
func respond(out io.Writer, value any, err error) error {
	var r reply
	if err != nil {
		r.Error = err.Error()
		for i, class := range classes {
			if errors.Is(err, class) {
				r.Class = i
			}
		}
	} else if r.Value, err = json.Marshal(value); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}
