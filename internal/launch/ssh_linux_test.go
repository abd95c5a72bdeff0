package launch

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"calib/internal/needs"
)

// sshServer is a real sshd on a loopback port with keys, configuration and cache of its own.
type sshServer struct {
	dir, prefix, cache string
	host               Host
	port               int
}

func startSSH(t *testing.T) sshServer {
	t.Helper()
	sshd := needs.Program(t, "sshd")
	needs.Program(t, "ssh")
	keygen := needs.Program(t, "ssh-keygen")
	if os.Getuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // sshd as root insists on it
			t.Fatal(err)
		}
	}
	s := sshServer{dir: t.TempDir()}
	s.cache = filepath.Join(s.dir, "cache")
	for _, key := range []string{"host", "user"} {
		run(t, keygen, "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(s.dir, key))
	}
	s.host, s.port = Host{Name: "127.0.0.1"}, freePort(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s.host.User = me.Username
	s.write(t, "sshd_config", `ListenAddress 127.0.0.1
HostKey %[1]s/host
AuthorizedKeysFile %[1]s/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
SetEnv XDG_CACHE_HOME=%[2]s
`, s.dir, s.cache)
	pub, err := os.ReadFile(filepath.Join(s.dir, "host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "known_hosts", "[127.0.0.1]:%d %s", s.port, pub)
	s.write(t, "ssh_config", "UserKnownHostsFile %[1]s/known_hosts\nIdentitiesOnly yes\nIdentityFile %[1]s/user\n"+
		"StrictHostKeyChecking yes\nPort %[2]d\n", s.dir, s.port)
	s.prefix = "ssh -F " + s.dir + "/ssh_config"
	s.serve(t, sshd)
	return s
}

func (s sshServer) write(t *testing.T, name, format string, args ...any) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), fmt.Appendf(nil, format, args...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// serve returns when sshd says that it listens.
func (s sshServer) serve(t *testing.T, sshd string) {
	t.Helper()
	cmd := exec.Command(sshd, "-D", "-e", "-f", s.dir+"/sshd_config", "-p", fmt.Sprint(s.port))
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said, done := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(done)
		var all strings.Builder
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if fmt.Fprintln(&all, lines.Text()); strings.Contains(lines.Text(), "Server listening") {
				said <- ""
			}
		}
		select {
		case said <- all.String():
		default:
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done
		_ = cmd.Wait() // killed: that is its status
	})
	if trouble := <-said; trouble != "" {
		t.Fatalf("sshd does not start:\n%s", trouble)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func TestSSH(t *testing.T) {
	s := startSSH(t)
	b := elsewhere(t)
	l := template(t, s.prefix+" {host}", b)
	for _, round := range []string{"copied", "cached"} {
		t.Run(round, func(t *testing.T) {
			p, err := l.Launch(context.Background(), s.host, "role=agent", "it's", "$HOME")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			pid, exe, args := greet(t, p)
			if want := filepath.Join(s.cache, "calib", "calib-"+b.Hash); exe != want || args != "it's|$HOME" {
				t.Errorf("ran %s with %q, want %s", exe, args, want)
			}
			p.Close()
			waitGone(t, pid)
		})
	}
	t.Run("the connection is cut", func(t *testing.T) {
		p, err := l.Launch(context.Background(), s.host, "role=agent")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		pid, _, _ := greet(t, p)
		p.kill() // the local ssh only
		waitGone(t, pid)
		_, err = p.Read(make([]byte, 1))
		mustBe(t, err, ErrDied, "killed")
	})
	t.Run("the agent dies", func(t *testing.T) {
		p, err := l.Launch(context.Background(), s.host, "role=die")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		_, err = p.Read(make([]byte, 1))
		mustBe(t, err, ErrDied, "exit status 3", "port in use")
	})
	t.Run("unknown user", func(t *testing.T) {

		_, err := l.Launch(context.Background(), Host{Name: "127.0.0.1", User: "nobody-here"})
		mustBe(t, err, ErrUnreachable, "launch 127.0.0.1", "Permission denied")
	})
	t.Run("nobody listens", func(t *testing.T) {
		l := template(t, fmt.Sprintf("%s -p %d {host}", s.prefix, freePort(t)), b)
		_, err := l.Launch(context.Background(), s.host, "role=agent")
		mustBe(t, err, ErrUnreachable, "launch 127.0.0.1", "255", "refused")
	})
}
