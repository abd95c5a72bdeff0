package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"calib/internal/needs"
)

// sshServer is a real sshd on a loopback port with keys, configuration and cache of its own.
type sshServer struct {
	dir, prefix, cache string
	host               Host
	port               int
}

func startSSH(t *testing.T, options ...string) sshServer {
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
	s.write(t, "sshd_config", strings.Join(options, "\n")+`
ListenAddress 127.0.0.1
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
		p.signal(syscall.SIGKILL) // the local ssh only
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
}

// What goes wrong with ssh names its step and how to mend it.
func TestSSHFailures(t *testing.T) {
	s := startSSH(t)
	run(t, needs.Program(t, "ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(s.dir, "other"))
	other, err := os.ReadFile(filepath.Join(s.dir, "other.pub"))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "changed", "[127.0.0.1]:%d %s", s.port, other)
	s.write(t, "ssh_jump", "Host jumped\nProxyJump gate\nHost *\nHostName 127.0.0.1\nInclude %s/ssh_config\nHost gate\n"+
		"UserKnownHostsFile /dev/null\n", s.dir)
	s.write(t, "ssh_other", "UserKnownHostsFile %[1]s/known_hosts\nIdentitiesOnly yes\nIdentityFile %[1]s/other\n"+
		"Port %[2]d\n", s.dir, s.port)
	asks := startSSH(t, "PasswordAuthentication yes")
	for name, c := range map[string]struct {
		prefix string
		host   Host
		want   error
		say    []string
	}{
		"unknown user": {s.prefix + " {host}", Host{Name: "127.0.0.1", User: "nobody-here"}, ErrUnreachable,
			[]string{"Permission denied", "step login", "ssh-copy-id 127.0.0.1"}},
		"refused key": {"ssh -F " + s.dir + "/ssh_other {host}", s.host, ErrUnreachable, []string{"step login", "ssh -v"}},
		"password": {asks.prefix + " -o PubkeyAuthentication=no {host}", s.host, ErrUnreachable,
			[]string{"step login", "calib answers no password prompt", "ssh-add"}},
		"unknown host key": {s.prefix + " -o UserKnownHostsFile=/dev/null {host}", s.host, ErrUnreachable,
			[]string{"step host key", "known_hosts"}},
		"changed host key": {s.prefix + " -o UserKnownHostsFile=" + s.dir + "/changed {host}", s.host, ErrUnreachable,
			[]string{"step host key", "ssh-keygen -R 127.0.0.1"}},
		"nobody listens": {fmt.Sprintf("%s -p %d {host}", s.prefix, freePort(t)), s.host, ErrUnreachable,
			[]string{"255", "refused", "step connect", "no sshd listens"}},
		"unknown name": {s.prefix + " {host}", Host{Name: "no-such-host.invalid"}, ErrUnreachable,
			[]string{"step name", "~/.ssh/config"}},
		"configuration": {"ssh -o NoSuchOption=1 {host}", s.host, ErrUnreachable, []string{"step configuration"}},
		"jump host": {"ssh -F " + s.dir + "/ssh_jump -o UserKnownHostsFile=/dev/null {host}", Host{Name: "jumped"},
			ErrUnreachable, []string{"step host key"}},
		"other machine": {s.prefix + " {host} env PATH=" + s.fake(t, "uname", "echo Plan9"), s.host, ErrArch,
			[]string{"plan9/Plan9"}},
		"terminal": {s.prefix + " -tt {host}", s.host, ErrStreams, []string{"a terminal", "ssh -T"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := template(t, c.prefix, elsewhere(t)).Launch(t.Context(), c.host, "role=agent")
			if err == nil {
				p.Close()
			}
			mustBe(t, err, c.want, append(c.say, "launch "+c.host.Name)...)
		})
	}
}

// fake returns a PATH on which a program is another.
func (s sshServer) fake(t *testing.T, program, body string) string {
	t.Helper()
	s.script(t, "fake/"+program, body)
	return filepath.Join(s.dir, "fake") + ":" + os.Getenv("PATH")
}

// script makes a program, and returns its path.
func (s sshServer) script(t *testing.T, name, body string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file system there that takes no calib: too small, or mounted noexec. Another directory mends it.
func TestSSHFileSystems(t *testing.T) {
	needs.UserNamespaces(t)
	s := startSSH(t)
	cache := t.TempDir()
	for options, say := range map[string]string{"size=100k": "step copy: what was sent could not be written: make room",
		"noexec": "mounted noexec"} {
		t.Run(options, func(t *testing.T) {
			mounted := s.script(t, "mounted", "mount -t tmpfs -o "+options+" none "+s.dir+"/fake && XDG_CACHE_HOME="+s.dir+`/fake exec "$@"`)
			s.fake(t, "x", "")
			prefix := s.prefix + " {host} unshare --map-root-user --mount " + mounted
			p, err := template(t, prefix, elsewhere(t)).Launch(t.Context(), s.host, "role=agent")
			if err == nil {
				p.Close()
			}
			mustBe(t, err, ErrUpload, say, "--launch '"+prefix+" env XDG_CACHE_HOME=/DIR'")
			exe, _ := launchOn(t, template(t, prefix+" env XDG_CACHE_HOME="+cache, elsewhere(t)), s.host)
			if !strings.HasPrefix(exe, cache) {
				t.Errorf("ran %s, want a copy in %s", exe, cache)
			}
		})
	}
}

// What a user's own configuration says is followed: jump hosts, keys in an agent, a shell that greets.
func TestSSHConfigurations(t *testing.T) {
	s := startSSH(t, `ForceCommand echo Welcome; printf "no line end: "; eval "$SSH_ORIGINAL_COMMAND"`)
	s.write(t, "ssh_jump", "Host jumped\nHostName 127.0.0.1\nProxyJump gate\nHost gate\nHostName 127.0.0.1\nHost *\n"+
		"Include %s/ssh_config\n", s.dir)
	t.Run("jump host and greeting", func(t *testing.T) {
		launchOn(t, template(t, "ssh -F "+s.dir+"/ssh_jump {host}", self(t)), Host{Name: "jumped", User: s.host.User})
	})
	t.Run("agent", func(t *testing.T) {
		socket := filepath.Join(s.dir, "agent")
		keys := exec.Command(needs.Program(t, "ssh-agent"), "-D", "-a", socket)
		if err := keys.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = keys.Process.Kill()
			_ = keys.Wait() // killed: that is its status
		})
		t.Setenv("SSH_AUTH_SOCK", socket)
		add := exec.Command(needs.Program(t, "ssh-add"), filepath.Join(s.dir, "user"))
		for add.Run() != nil && t.Context().Err() == nil { // until the agent listens
			add = exec.Command(add.Path, add.Args[1:]...)
		}
		s.write(t, "ssh_keys", "UserKnownHostsFile %[1]s/known_hosts\nStrictHostKeyChecking yes\nPort %[2]d\n"+
			"IdentityFile none\n", s.dir, s.port)
		launchOn(t, template(t, "ssh -F "+s.dir+"/ssh_keys {host}", self(t)), s.host)
	})
}

func launchOn(t *testing.T, l *Launcher, h Host) (exe, said string) {
	t.Helper()
	p, err := l.Launch(t.Context(), h, "role=agent")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_, exe, said = greet(t, p)
	return exe, said
}

// ssh itself says which host an alias stands for, by the configuration, port and user of the prefix and the hosts file.
func TestHostname(t *testing.T) {
	needs.Program(t, "ssh")
	s := sshServer{dir: t.TempDir()}
	s.write(t, "ssh_config", "Host c4\nHostName 10.0.0.4\nMatch originalhost c5 user ann\nHostName five.example\n"+
		"Host *.short\nHostName %%h.example\n")
	prefix := "ssh -F " + s.dir + "/ssh_config {host} env A=b"
	for _, c := range []struct {
		prefix, name, user, want string
	}{
		{prefix, "c4", "", "10.0.0.4"},
		{prefix, "c5", "", "c5"},
		{prefix, "c5", "ann", "five.example"},
		{prefix, "a.short", "", "a.short.example"},
		{prefix, "Node7", "", "Node7"},
		{prefix, "fd00::4", "", "fd00::4"},
		{"ssh -oNoSuchOption=1 {host}", "c4", "", "c4"},
		{"ip netns exec {host}", "c4", "", "c4"},
		{"ssh -F " + s.dir + "/ssh_config c4 docker exec -i {host}", "c1", "", "c1"},
	} {
		if got := template(t, c.prefix, self(t)).Hostname(t.Context(), Host{Name: c.name, User: c.user}); got != c.want {
			t.Errorf("%s for %s of %q: %s, want %s", c.prefix, c.name, c.user, got, c.want)
		}
	}
	if got := Local("calib").Hostname(t.Context(), Host{Name: "local0"}); got != "local0" {
		t.Errorf("here: %s", got)
	}
}
