package certs

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo repeats what it reads.
type echo struct{}

func (echo) ServeStream(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	defer context.AfterFunc(ctx, func() { in.Close() })()
	_, err := io.Copy(out, in)
	return errors.Join(err, in.Close())
}

// task is one agent as a scheduler runs it.
type task struct {
	hash  string
	input *io.PipeWriter
	ended chan error
}

// begin starts an agent, and returns what it has announced.
func begin(t *testing.T, name string) task {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	k := task{input: inW, ended: make(chan error, 1)}
	go func() { k.ended <- Join(t.Context(), echo{}.ServeStream, "127.0.0.1", name, inR, outW) }()
	line, err := bufio.NewReader(outR).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(line)
	if len(words) != 4 || words[0] != "calib-launch" || words[1] != name || words[2] != "join" {
		t.Fatalf("the agent announced %q", line)
	}
	k.hash = words[3]
	return k
}

func (k task) tell(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(k.input, line); err != nil {
		t.Fatal(err)
	}
}

func listen(t *testing.T) *Listener {
	t.Helper()
	l, err := Listen(Ports{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestAgentsJoin(t *testing.T) {
	l := listen(t)
	var tasks []task
	for _, name := range []string{"x1", "x2"} {
		k := begin(t, name)
		l.Expect(k.hash)
		tasks = append(tasks, k)
	}
	for _, k := range tasks {
		k.tell(t, l.Invitation())
	}
	for i, k := range tasks {
		c, err := l.Await(t.Context(), k.hash)
		if err != nil {
			t.Fatal(err)
		}
		said := "to " + strconv.Itoa(i)
		back := make([]byte, len(said))
		if _, err := io.WriteString(c, said); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, back); err != nil || string(back) != said {
			t.Errorf("%q came back as %q, %v", said, back, err)
		}
		if i == 0 {
			k.input.Close() // the coordinator has died
		} else {
			c.Close() // it has closed this agent
		}
		if err := <-k.ended; err != nil {
			t.Errorf("agent %d: %v", i, err)
		}
		c.Close()
		k.input.Close()
	}
}

// Whoever is not announced gets nothing from the coordinator, and no agent serves another coordinator.
func TestStrangers(t *testing.T) {
	l, other := listen(t), listen(t)
	t.Run("agent", func(t *testing.T) {
		known, stranger := begin(t, "x1"), begin(t, "x2")
		l.Expect(known.hash)
		stranger.tell(t, l.Invitation())
		if err := <-stranger.ended; err == nil {
			t.Error("a stranger was served")
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(net.ErrClosed)
		if _, err := l.Await(ctx, known.hash); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a stranger took the place of an agent: %v", err)
		}
		if _, err := l.Await(t.Context(), stranger.hash); err == nil {
			t.Error("a stranger is awaited")
		}
		stranger.input.Close()
		known.input.Close()
		<-known.ended
	})
	t.Run("coordinator", func(t *testing.T) {
		k := begin(t, "x1")
		other.Expect(k.hash)
		_, hash, _ := strings.Cut(l.Invitation(), " ")
		k.tell(t, strconv.Itoa(other.Port())+" "+hash)
		if err := <-k.ended; !errors.Is(err, ErrStranger) {
			t.Errorf("the agent served another coordinator: %v", err)
		}
		k.input.Close()
	})
	t.Run("twice", func(t *testing.T) {
		k := begin(t, "x1")
		l.Expect(k.hash)
		k.tell(t, l.Invitation())
		c, err := l.Await(t.Context(), k.hash)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		<-k.ended
		k.input.Close()
	})
}

// Connections that say nothing keep no agent from joining.
func TestSilentConnections(t *testing.T) {
	l := listen(t)
	for range maxOpen {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(l.Port())))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	k := begin(t, "x1")
	l.Expect(k.hash)
	k.tell(t, l.Invitation())
	ctx, cancel := context.WithTimeout(t.Context(), handshakeTime/2)
	defer cancel()
	c, err := l.Await(ctx, k.hash)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	<-k.ended
	k.input.Close()
}

// short is a listener of a system that has no descriptor left for some calls of Accept.
type short struct {
	net.Listener
	calls int
}

func (s *short) Accept() (net.Conn, error) {
	if s.calls--; s.calls >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return s.Listener.Accept()
}

// An agent that comes after a moment without a descriptor can join too.
func TestDescriptorsShort(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Listener{tcp: &short{tcp, 3}}
	if l.cert, l.hash, err = identity(); err != nil {
		t.Fatal(err)
	}
	k := begin(t, "x1")
	l.Expect(k.hash)
	l.accept.Go(l.serve)
	k.tell(t, l.Invitation())
	ctx, cancel := context.WithTimeout(t.Context(), handshakeTime) // the agent waits no longer
	defer cancel()
	c, err := l.Await(ctx, k.hash)
	if err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
	<-k.ended
	k.input.Close()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestPorts(t *testing.T) {
	taken := listen(t)
	if _, err := Listen(Ports{taken.Port(), taken.Port()}); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a port was taken twice: %v", err)
	}
	l, err := Listen(Ports{taken.Port(), 65535})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Port() <= taken.Port() {
		t.Errorf("took port %d of those from %d", l.Port(), taken.Port())
	}
}

func FuzzInvitation(f *testing.F) {
	f.Add("7433 " + strings.Repeat("0f", 32) + "\n")
	f.Add("70000 \n")
	f.Fuzz(func(t *testing.T, line string) {
		if m := invitation.FindStringSubmatch(line); m != nil && m[1]+" "+m[2]+"\n" != line {
			t.Errorf("%q was read as %q", line, m[1:])
		}
	})
}
