package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"calib/internal/certs"
)

// playStep is srun: it runs its command once for each of the hosts, named by what they are to do, gives its input to
// all and passes on what they print line by line.
func playStep(hosts []string) int {
	var lines sync.Mutex
	var tasks sync.WaitGroup
	var inputs []io.Writer
	var ends []io.Closer
	for _, host := range hosts {
		cmd := exec.Command("sh")
		dir := filepath.Join(os.Getenv("STEP_DIR"), host)
		cmd.Env = append(os.Environ(), "SLURMD_NODENAME="+host, "SLURM_LAUNCH_NODE_IPADDR=127.0.0.1", "XDG_CACHE_HOME="+dir)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			return 1
		}
		out, err := cmd.StdoutPipe()
		if err != nil || cmd.Start() != nil {
			return 1
		}
		inputs, ends = append(inputs, ignoring{in}), append(ends, in)
		tasks.Go(func() {
			for s := bufio.NewScanner(out); s.Scan(); {
				lines.Lock()
				fmt.Println(s.Text())
				lines.Unlock()
			}
			_ = cmd.Wait() // srun goes on with the other tasks
		})
	}
	_, _ = io.Copy(io.MultiWriter(inputs...), os.Stdin)
	for _, e := range ends {
		e.Close()
	}
	tasks.Wait()
	return 0
}

// ignoring writes to a task that may have ended.
type ignoring struct{ io.Writer }

func (w ignoring) Write(b []byte) (int, error) {
	_, _ = w.Writer.Write(b)
	return len(b), nil
}

// playMember is the agent of a step: it repeats what it reads.
func playMember(args []string) int {
	name, host := args[len(args)-3], args[len(args)-1]
	if err := certs.Join(context.Background(), echo{}.ServeStream, host, name, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

type echo struct{}

func (echo) ServeStream(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	defer context.AfterFunc(ctx, func() { in.Close() })()
	_, err := io.Copy(out, in)
	return errors.Join(err, in.Close())
}

// beginStep starts the agents of a step on these hosts.
func beginStep(t *testing.T, dir string, b Binary, hosts ...string) (*Step, error) {
	t.Helper()
	t.Setenv("STEP_DIR", dir)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return StartStep(t.Context(), Job{Command: append([]string{exe, "role=step"}, hosts...), Hosts: hosts}, []Binary{b},
		[]string{"role=member"})
}

func TestStep(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad") // in place of a directory
	if err := os.WriteFile(bad, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := elsewhere(t)
	good := []string{"x1", "x2"}
	for range 2 {
		s, err := beginStep(t, dir, b, "x1", "bad", "x2")
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Connect(t.Context(), "bad")
		mustBe(t, err, ErrUpload, "launch bad", "step cache", "XDG_CACHE_HOME=/DIR in calib's environment")
		for _, host := range good {
			c, err := s.Connect(t.Context(), host)
			if err != nil {
				t.Fatal(err)
			}
			sent := "\x00 to " + host
			back := make([]byte, len(sent))
			go io.WriteString(c, sent)
			if _, err := io.ReadFull(c, back); err != nil || string(back) != sent {
				t.Errorf("%s: %q came back as %q, %v", host, sent, back, err)
			}
			if host == "x1" {
				c.Close()
				c.Close()
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, host := range good {
		if left, err := os.ReadDir(filepath.Join(dir, host, "calib")); err != nil || len(left) != 1 {
			t.Errorf("%s has %v, %v, want one binary", host, left, err)
		}
	}
}

// A step that has no host left, or no command, is an error at once.
func TestStepFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := beginStep(t, dir, elsewhere(t), "bad")
	mustBe(t, err, ErrUpload, "launch bad", "step cache")
	_, err = StartStep(t.Context(), Job{Command: []string{"no-such-srun"}, Hosts: []string{"x1"}}, []Binary{self(t)}, nil)
	mustBe(t, err, ErrCommand, "no-such-srun")
	_, err = StartStep(t.Context(), Job{Command: []string{"sh", "-c", "echo srun: error: no such node >&2; exit 1"},
		Hosts: []string{"x1"}}, []Binary{self(t)}, nil)
	mustBe(t, err, ErrUnreachable, "no such node")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = StartStep(ctx, Job{Command: []string{"sleep", "300"}, Hosts: []string{"x1"}}, []Binary{self(t)}, nil)
	mustBe(t, err, context.Canceled)
}

func TestSlurmCommand(t *testing.T) {
	got := strings.Join(Slurm("x[1-4]", 4), " ")
	for _, want := range []string{"srun --nodelist=x[1-4] --nodes=4 --ntasks=4 --ntasks-per-node=1 --overlap", " sh"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q has no %q", got, want)
		}
	}
}

func TestPickCommon(t *testing.T) {
	arm := Binary{Hash: "cd", GOOS: "linux", GOARCH: "arm64"}
	x, y := []string{"uname", "Linux", "x86_64"}, []string{"uname", "Linux", "aarch64"}
	if b, err := pickCommon([]Binary{amd64, arm}, map[string][]string{"x1": y, "x2": y}); err != nil || b.Hash != "cd" {
		t.Errorf("got %v, %v", b, err)
	}
	_, err := pickCommon([]Binary{amd64, arm}, map[string][]string{"x1": x, "x2": y})
	mustBe(t, err, ErrArch, "x1 and x2", "--launch 'srun --unbuffered")
}
