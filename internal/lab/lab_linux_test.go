package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"calib/internal/needs"
	"calib/internal/netspec"

	"golang.org/x/sys/unix"
)

func quickSpec() *netspec.Spec {
	return testSpec(switched, func(s *netspec.Spec) { s.Hosts, s.MSS = 2, 1448 })
}

// upOrFail builds a lab that the test's end takes down.
func upOrFail(t *testing.T, spec *netspec.Spec) *Lab {
	t.Helper()
	needs.Namespaces(t)
	return buildOrFail(t, spec, Up)
}

func buildOrFail(t *testing.T, spec *netspec.Spec,
	up func(context.Context, *netspec.Spec, Options) (*Lab, error)) *Lab {
	t.Helper()
	o := Options{Name: fmt.Sprintf("test%d", os.Getpid()), Dir: filepath.Join(t.TempDir(), "labs")}
	l, err := up(t.Context(), spec, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func onHost(l *Lab, host int, args ...string) *exec.Cmd {
	self, _ := os.Executable() // never fails on Linux with /proc, which the lab needs anyway
	argv := launchOn(&l.State, HostName(l.Name, host), append([]string{self}, args...)...)
	return exec.Command(argv[0], argv[1:]...)
}

func TestLabCarriesTCP(t *testing.T) {
	l := upOrFail(t, quickSpec())
	addr := Addr(1).String() + ":7000"
	server := onHost(l, 1, "lab", "digest", addr)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if out, err := onHost(l, 0, "lab", "send", addr).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
		_ = server.Process.Kill()
	}
	_ = server.Wait() // its failure is the sender's
	s, err := ReadStats(l.StatsPath)
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.Hosts[0], s.Hosts[1]
	// Retransmissions can only add.
	if a.SentBytes < testBytes || b.RecvBytes < testBytes || b.SentBytes < sha256.Size || b.SentFree == 0 {
		t.Errorf("counters: %+v %+v", a, b)
	}
	// 14 full or nearly full segments of 1448 B; some room for retransmissions.
	if n := a.SentPackets - a.SentFree; n < 14 || n > 14+10 {
		t.Errorf("%d charged packets carried %d B, want 14", n, a.SentBytes)
	}
	if want := (a.SentPackets - a.SentFree) + (b.SentPackets - b.SentFree); s.Lateness.Count > want ||
		s.Lateness.Count == 0 {
		t.Errorf("lateness of %d packets, %d were charged", s.Lateness.Count, want)
	}
	if s.Overruns+s.Refused+a.BufferDrops+a.LossDrops > 0 {
		t.Errorf("drops: %+v", s)
	}
	goesWithoutTrace(t, l)
}

// startSleeper runs a process on a host that stays until it is killed, and returns how to wait for that.
func startSleeper(t *testing.T, l *Lab) (wait func() error) {
	t.Helper()
	argv := launchOn(&l.State, HostName(l.Name, 0), "sh", "-c", "echo ready; exec sleep 60")
	cmd := exec.Command(argv[0], argv[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	return cmd.Wait
}

// goesWithoutTrace takes the lab down and looks for what is left.
func goesWithoutTrace(t *testing.T, l *Lab) {
	t.Helper()
	wait := startSleeper(t, l)
	if err := Down(l.dir, l.Name); err != nil {
		t.Fatal(err)
	}
	if wait() == nil {
		t.Error("a process of the lab ended by itself")
	}
	if l.Wire.alive() {
		t.Error("the wire still runs")
	}
	if left, _ := filepath.Glob(filepath.Join(netnsDir, l.Name+"-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := os.Stat(l.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", l.dir, err)
	}
	if err := Down(l.dir, l.Name); !errors.Is(err, ErrNoLab) {
		t.Errorf("down again: %v", err)
	}
}

// TestNamespacesAreShared: the first `ip netns add` mounts on the directory of namespaces, and would hide a lab's.
func TestNamespacesAreShared(t *testing.T) {
	upOrFail(t, quickSpec())
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || !strings.Contains(string(mounts), " "+netnsDir+" rw") {
		t.Errorf("%v: %s", err, mounts)
	}
}

func TestLabTwiceAndCrash(t *testing.T) {
	l := upOrFail(t, quickSpec())
	o := Options{Name: l.Name, Dir: l.dir}
	if _, err := Up(t.Context(), quickSpec(), o); !errors.Is(err, ErrExists) ||
		!strings.Contains(err.Error(), "calib lab down") {
		t.Errorf("up twice: %v", err)
	}
	if st, err := Load(l.dir, l.Name); err != nil || !st.Up {
		t.Errorf("the lab did not survive the second up: %+v, %v", st, err)
	}
	fd, ok := l.Wire.open()
	if !ok {
		t.Fatal("the wire does not run")
	}
	defer unix.Close(fd)
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil || !ended(fd, 5*time.Second) {
		t.Fatalf("kill the wire: %v", err)
	}
	st, err := Load(l.dir, l.Name)
	if err != nil || st.Up || !strings.Contains(st.Problem, "calib lab down") {
		t.Errorf("after the wire died: %+v, %v", st, err)
	}
	if _, err := Up(t.Context(), quickSpec(), o); !errors.Is(err, ErrExists) {
		t.Errorf("up over a crashed lab: %v", err)
	}
	code, err := Run(t.Context(), quickSpec(), o, Command{Args: []string{"true"}, Stdout: io.Discard, Stderr: io.Discard})
	if code != 0 || err != nil {
		t.Errorf("run over a crashed lab: %d, %v", code, err)
	}
	if _, err := Load(l.dir, l.Name); !errors.Is(err, ErrNoLab) {
		t.Errorf("left: %v", err)
	}
}

// A lab in a user namespace, which root can build too. What runs on its hosts outlives a wire that is killed, until
// Down.
func TestRootlessWireKilled(t *testing.T) {
	needs.UserNamespaces(t)
	l := buildOrFail(t, quickSpec(), func(ctx context.Context, spec *netspec.Spec, o Options) (*Lab, error) {
		return up(ctx, spec, o, wireConfig{Rootless: true})
	})
	if !l.Wire.alive() || !strings.HasPrefix(l.Launch, "nsenter ") {
		t.Fatalf("no wire: %+v", l.State)
	}
	wait := startSleeper(t, l)
	if err := unix.Kill(l.Wire.PID, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := Down(l.dir, l.Name); err != nil {
		t.Error(err)
	}
	if wait() == nil {
		t.Error("a process of the lab ended by itself")
	}
}

func TestRun(t *testing.T) {
	needs.Namespaces(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Name: fmt.Sprintf("test%d", os.Getpid()), Dir: filepath.Join(t.TempDir(), "labs")}
	for _, c := range []struct {
		name string
		args []string
		code int
		fail bool
	}{
		{"exit code and environment", []string{self, "lab", "environment", "{hosts}"}, 7, false},
		{"ended by a signal", []string{"sh", "-c", "kill -KILL $$"}, 128 + 9, false},
		{"no such command", []string{"/nonexistent/command"}, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var diag bytes.Buffer
			code, err := Run(t.Context(), quickSpec(), o, Command{Args: c.args, Stdout: io.Discard, Stderr: &diag})
			if code != c.code || (err != nil) != c.fail {
				t.Errorf("code %d, want %d; %v; %s", code, c.code, err, &diag)
			}
			if !strings.Contains(diag.String(), "on time: 0 packets") {
				t.Errorf("no verdict: %s", &diag)
			}
			if _, err := Load(o.Dir, o.Name); !errors.Is(err, ErrNoLab) {
				t.Errorf("left: %v", err)
			}
		})
	}
	if _, err := Run(t.Context(), quickSpec(), o, Command{}); !errors.Is(err, ErrUse) {
		t.Errorf("no command: %v", err)
	}
}

func TestUpRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "labs")
	small := quickSpec()
	small.MSS = 1
	if _, err := Up(t.Context(), small, Options{Dir: dir}); !errors.Is(err, ErrUse) {
		t.Errorf("bad spec: %v", err)
	}
	if _, err := Up(t.Context(), quickSpec(), Options{Dir: dir, Name: "a/b"}); !errors.Is(err, ErrUse) {
		t.Errorf("bad name: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Up(ctx, quickSpec(), Options{Dir: dir, Name: "cancelled"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
}

// The hosts have the congestion control that was asked for, one without a timer a packet where none was, and the least
// retransmission timeout of a network that is so many times slower.
func TestHostsTCP(t *testing.T) {
	needs.Namespaces(t)
	slow := quickSpec()
	slow.Slowdown = 20
	for asked, want := range map[string]string{"": "congctl reno", "cubic": "congctl cubic", OwnCongestion: ""} {
		dir := filepath.Join(t.TempDir(), "labs")
		l, err := Up(t.Context(), slow, Options{Dir: dir, Name: "cc" + asked, Congestion: asked})
		if err != nil {
			t.Fatalf("%q: %v", asked, err)
		}
		argv := launchOn(&l.State, HostName(l.Name, 1), "ip", "route")
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if has := strings.Contains(string(out), "congctl"); err != nil || !strings.Contains(string(out), want) ||
			has != (want != "") ||
			!strings.Contains(string(out), "rto_min lock 1s") {
			t.Errorf("%q: %v\n%s", asked, err, out)
		}
		argv = launchOn(&l.State, HostName(l.Name, 1), "cat", "/proc/sys/net/ipv4/tcp_congestion_control")
		out, err = exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil || asked == "" && string(out) != "reno\n" {
			t.Errorf("%q: a host says that it has %s: %v", asked, out, err)
		}
		if err := Down(l.dir, l.Name); err != nil {
			t.Error(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "labs")
	_, err := Up(t.Context(), quickSpec(), Options{Dir: dir, Name: "cc", Congestion: "no-such"})
	if err == nil || !strings.Contains(err.Error(), `"no-such"`) {
		t.Errorf("unknown congestion control: %v", err)
	}
}

func TestUpNoSuchCPU(t *testing.T) {
	needs.Namespaces(t)
	dir := filepath.Join(t.TempDir(), "labs")
	cpu := 1 << 9 // no machine that this runs on
	_, err := Up(t.Context(), quickSpec(), Options{Dir: dir, Name: "pinned", CPU: &cpu})
	if err == nil || !strings.Contains(err.Error(), "CPU 512") {
		t.Errorf("no such CPU: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
}
