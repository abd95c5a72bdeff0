package launch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "role=") {
		os.Exit(play(strings.TrimPrefix(os.Args[1], "role="), os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// play is the agent's part: it says who it is and repeats its input until that closes, or does something worse.
func play(role string, args []string) int {
	switch role {
	case "die":
		io.WriteString(os.Stderr, "first line\ncannot listen for data: port in use\n")
		return 3
	case "step":
		return playStep(args)
	case "member":
		return playMember(args)
	case "deaf": // ignores its input and SIGTERM
		signal.Ignore(syscall.SIGTERM)
		io.WriteString(os.Stdout, "pid\t"+strconv.Itoa(os.Getpid())+"\n")
		select {}
	}
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return 1
	}
	io.WriteString(os.Stdout, "pid\t"+strconv.Itoa(os.Getpid())+"\t"+exe+"\t"+strings.Join(args, "|")+"\n")
	if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
		return 1
	}
	return 0
}

func self(t *testing.T) Binary {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := ReadBinary(exe)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// greet reads an agent's first line and checks that the streams work both ways.
func greet(t *testing.T, p *Process) (pid int, exe, args string) {
	t.Helper()
	r := bufio.NewReader(p)
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Split(strings.TrimRight(line, "\n"), "\t")
	if pid, err = strconv.Atoi(f[1]); err != nil {
		t.Fatalf("agent said %q", line)
	}
	if len(f) < 4 {
		return pid, "", ""
	}
	sent := strings.Repeat("\x00\xff binary\n", 1000)
	go io.WriteString(p, sent)
	back := make([]byte, len(sent))
	if _, err := io.ReadFull(r, back); err != nil || string(back) != sent {
		t.Fatalf("the stream changed what went through it: %v", err)
	}
	return pid, f[2], f[3]
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func mustBe(t *testing.T, err, want error, words ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want one that is %q", err, want)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

func TestLocal(t *testing.T) {
	p, err := Local(self(t).Path).Launch(context.Background(), Host{Name: "local1"}, "role=agent", "--stdio")
	if err != nil {
		t.Fatal(err)
	}
	pid, _, args := greet(t, p)
	if args != "--stdio" {
		t.Errorf("arguments %q", args)
	}
	p.Close()
	p.Close()
	if alive(pid) {
		t.Errorf("process %d is left", pid)
	}
}

func TestDeath(t *testing.T) {
	p, err := Local(self(t).Path).Launch(context.Background(), Host{Name: "local1"}, "role=die")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_, err = p.Read(make([]byte, 1))
	mustBe(t, err, ErrDied, "exit status 3", "first line | cannot listen for data: port in use")
	_, err = p.Write(make([]byte, 1))
	mustBe(t, err, ErrDied, "exit status 3")
}

func TestDeafAgentIsKilled(t *testing.T) {
	l := Local(self(t).Path)
	l.exitWait = time.Millisecond
	p, err := l.Launch(context.Background(), Host{Name: "local1"}, "role=deaf")
	if err != nil {
		t.Fatal(err)
	}
	pid, _, _ := greet(t, p)
	p.Close()
	if alive(pid) {
		t.Errorf("process %d is left", pid)
	}
}

func TestCommandNotFound(t *testing.T) {
	_, err := Local("/no/such/calib").Launch(context.Background(), Host{Name: "local1"})
	mustBe(t, err, ErrCommand, "local1", "/no/such/calib")
	l, err := Template("no-such-launcher {host}", self(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Launch(context.Background(), Host{Name: "h1"})
	mustBe(t, err, ErrCommand, "h1", "no-such-launcher", "installed")
}
