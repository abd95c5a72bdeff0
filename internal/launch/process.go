package launch

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"calib/internal/lists"
)

// Process is a started agent: reading gives its standard output, writing goes to its standard input. When it has died,
// both fail with ErrDied and what it last said on standard error.
type Process struct {
	cmd      *exec.Cmd
	stdin    *os.File
	stdout   *os.File
	out      *bufio.Reader // of stdout
	stderr   *tail
	exitWait time.Duration

	done  chan struct{} // closed when the process has been waited for
	state error         // of Wait; read it after done
	close sync.Once
}

// start runs a command with pipes of its own, in a process group of its own: an interrupt typed at a terminal is for
// the coordinator, which then ends its agents in order.
func start(exitWait time.Duration, argv []string) (*Process, error) {
	inR, inW, err := os.Pipe()
	outR, outW, errOut := os.Pipe()
	if err = cmp.Or(err, errOut); err != nil {
		for _, f := range []*os.File{inR, inW, outR, outW} {
			f.Close() // also of none
		}
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	p := &Process{
		cmd: exec.Command(argv[0], argv[1:]...), stdin: inW, stdout: outR,
		out: bufio.NewReader(outR), stderr: &tail{}, exitWait: exitWait, done: make(chan struct{}),
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, p.stderr
	p.cmd.SysProcAttr = attributes()
	p.cmd.WaitDelay = exitWait // where another process keeps standard error open

	started := make(chan error)
	go p.run(started)
	err = <-started
	inR.Close()
	outW.Close()
	if err != nil {
		inW.Close()
		outR.Close()
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s (is it installed here?): %w", ErrCommand, argv[0], err)
		}
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	return p, nil
}

// run starts the command and waits for it on one thread: the kernel tells a child of its parent's death when the thread
// that started it ends, not the process.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.state = p.cmd.Wait()
		close(p.done)
	}
}

func (p *Process) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if errors.Is(err, io.EOF) {
		err = p.explain(ErrDied, err)
	}
	return n, err
}

func (p *Process) Write(b []byte) (int, error) {
	n, err := p.stdin.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		err = p.explain(ErrDied, err)
	}
	return n, err
}

// setTimeout bounds the next reads and writes; 0 removes the bound. Pipes always have deadlines.
func (p *Process) setTimeout(d time.Duration) {
	var t time.Time
	if d > 0 {
		t = time.Now().Add(d)
	}
	_ = errors.Join(p.stdout.SetReadDeadline(t), p.stdin.SetWriteDeadline(t))
}

func (p *Process) Stderr() string { return p.stderr.String() }

// Close closes the input, which ends an agent and what launched it; waits; then signals the process group, first to
// terminate, then to die. It returns when the process has been waited for. It is safe to call twice.
func (p *Process) Close() error {
	p.close.Do(func() {
		p.stdin.Close()
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			if p.ended(p.exitWait) {
				break
			}
			p.signal(s)
		}
		<-p.done
		p.signal(syscall.SIGKILL) // what is left of the group
		p.stdout.Close()
	})
	return nil
}

// end asks the process to end, and kills one that does not: what a killed srun has started stays until the end of the
// job.
func (p *Process) end() {
	p.stdin.Close()
	p.signal(syscall.SIGTERM)
	if !p.ended(p.exitWait) {
		p.signal(syscall.SIGKILL)
	}
}

// signal signals the whole group. An error means that no process is left, and is ignored.
func (p *Process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

func (p *Process) ended(within time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(within):
		return false
	}
}

// Exits of a shell that cannot run a command (POSIX 2.8.2), and of ssh where ssh itself fails.
const (
	exitNoExec   = 126
	exitNotFound = 127
	exitSSH      = 255
)

// explain returns the error that says why the stream ended, with the last lines of the process's standard error. It is
// of the class given, unless the exit status shows a better one.
func (p *Process) explain(class, err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: %w, no answer; it said %s", class, ErrTimeout, p.quote())
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EPIPE) {
		return fmt.Errorf("%w: %w", class, err)
	}
	if !p.ended(p.exitWait) {
		return fmt.Errorf("%w: it closed its output but has not ended; it said %s", class, p.quote())
	}
	status := "exit status 0"
	if p.state != nil {
		status = p.state.Error()
	}
	if exit, ok := errors.AsType[*exec.ExitError](p.state); ok {
		switch code := exit.ExitCode(); {
		case code == exitSSH && filepath.Base(p.cmd.Args[0]) == "ssh":
			class = ErrUnreachable
		case class == ErrDied && code == exitNoExec:
			return fmt.Errorf("%w: it cannot be executed there: %s; it said %s", class, status, p.quote())
		case class != ErrUnreachable:
		case code == exitNotFound || code == exitNoExec:
			return fmt.Errorf("%w: sh, or a command of the prefix %q: %s; it said %s",
				ErrCommand, strings.Join(p.cmd.Args[:len(p.cmd.Args)-1], " "), status, p.quote())
		}
	}
	said := p.quote()
	return fmt.Errorf("%w: %s%s; it said %s", class, status, why(status, said), said)
}

func (p *Process) quote() string {
	if s := p.stderr.String(); s != "" {
		return strings.ReplaceAll(s, "\n", " | ")
	}
	return "nothing"
}

const (
	keptBytes = 1 << 20 // of standard error: a crash says first why it comes, and then much else
	tailBytes = 4 << 10 // of these, with which a process is quoted that did not crash
	tailLines = 8
	// crashBytes bounds what is quoted of a line of a crash, crashLines the lines.
	crashBytes = 300
	crashLines = 2
)

type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.b = append(t.b, b...); len(t.b) > 2*keptBytes {
		t.b = append(t.b[:0], t.b[len(t.b)-keptBytes:]...)
	}
	return len(b), nil
}

// crashes begin the line by which a Go program says why it dies. What follows it, stacks and registers, says nothing to
// a user.
var crashes = []string{"fatal error: ", "panic: ", "runtime: cannot allocate memory", "runtime: out of memory",
	"runtime: failed to create new OS thread"}

// String returns why a Go program died, or else the last lines, without the white space around them.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var died []string
	for line := range strings.Lines(string(t.b)) {
		line = strings.TrimSpace(line)
		is := slices.ContainsFunc(crashes, func(start string) bool { return strings.HasPrefix(line, start) })
		if is && len(died) < crashLines {
			died = append(died, line[:min(len(line), crashBytes)])
		}
	}
	if len(died) > 0 {
		return strings.Join(died, "\n")
	}
	end := strings.TrimSpace(string(t.b[max(0, len(t.b)-tailBytes):]))
	lines := lists.Map(strings.Split(end, "\n"), strings.TrimSpace)
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}

// why is what can be said of the way a process ended beyond its status, as a clause in parentheses, or "".
func why(status, said string) string {
	switch {
	case strings.Contains(said, "cannot allocate memory"), strings.Contains(said, "out of memory"):
		return " (the host gave it no more memory: raise the limit there, ulimit -v or the memory of its cgroup or job)"
	case status == "signal: killed" || status == "exit status 137":
		return " (somebody killed it, or the kernel did for want of memory: dmesg there tells)"
	}
	return ""
}
