package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// prefix writes a launch command: a script of sh that gets the host's name and then the command, as env would.
func prefix(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prefix")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nhost=$1; shift\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path + " {host}"
}

func template(t *testing.T, p string, b ...Binary) *Launcher {
	t.Helper()
	l, err := Template(p, b...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// elsewhere is this test's binary as a host would see it that does not have it in the same place.
func elsewhere(t *testing.T) Binary {
	b := self(t)
	copied := filepath.Join(t.TempDir(), "calib")
	text, err := os.ReadFile(b.Path)
	if err == nil {
		err = os.WriteFile(copied, text, 0o644) // not executable: nobody can run it there
	}
	if err != nil {
		t.Fatal(err)
	}
	b.Path = copied
	return b
}

func launch(t *testing.T, l *Launcher, args ...string) (exe, said string) {
	t.Helper()
	p, err := l.Launch(context.Background(), Host{Name: "h1"}, append([]string{"role=agent"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	pid, exe, said := greet(t, p)
	p.Close()
	if alive(pid) {
		t.Errorf("process %d is left", pid)
	}
	return exe, said
}

func TestSameFileSystem(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	b := self(t)
	for name, body := range map[string]string{
		"exec":         `exec "$@"`,
		"joined":       `exec sh -c "$*"`, // as ssh does
		"login script": `echo Welcome to $host; echo calib-launch; echo 'you have mail' >&2; exec "$@"`,
	} {
		t.Run(name, func(t *testing.T) {
			exe, said := launch(t, template(t, prefix(t, body), b), "it's", `a "b" $c`)
			if exe != b.Path || said != `it's|a "b" $c` {
				t.Errorf("ran %s with %q", exe, said)
			}
		})
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the home directory has %v, %v; nothing had to be copied", left, err)
	}
}

func TestUploadOnce(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home of ann")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	b := elsewhere(t)
	want := filepath.Join(home, ".cache/calib/calib-"+b.Hash)
	l := template(t, prefix(t, `exec "$@"`), b)
	exe, _ := launch(t, l)
	if exe != want {
		t.Errorf("ran %s, want the copy %s", exe, want)
	}
	first, err := os.Stat(want)
	old := time.Now().AddDate(0, -2, 0)
	if err := errors.Join(err, os.Chtimes(want, old, old)); err != nil {
		t.Fatal(err)
	}
	if exe, _ = launch(t, l); exe != want {
		t.Errorf("ran %s the second time", exe)
	}
	if second, err := os.Stat(want); err != nil || !os.SameFile(first, second) {
		t.Errorf("copied again: %v", err)
	} else if time.Since(second.ModTime()) > 24*time.Hour {
		t.Error("another build that is copied now would remove it before it is executed")
	}
	if err := os.WriteFile(want, []byte("#!/bin/sh\necho spoilt"), 0o755); err == nil {
		if exe, _ = launch(t, l); exe != want {
			t.Errorf("ran %s in place of a spoilt copy", exe)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(want)); err != nil || len(left) != 1 {
		t.Errorf("the cache has %v, %v, want the one binary", left, err)
	}
}

func TestLaunchFailures(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", "")
	readOnly := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(readOnly, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	wrong := elsewhere(t)
	wrong.Hash = strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		body   string
		binary Binary
		want   error
		say    []string
	}{
		"unreachable":    {`echo "connect to $host port 22: refused" >&2; exit 255`, self(t), ErrUnreachable, []string{"255", "refused"}},
		"no namespace":   {`echo "Cannot open network namespace" >&2; exit 1`, self(t), ErrUnreachable, []string{"Cannot open"}},
		"no shell":       {`exit 127`, self(t), ErrCommand, []string{"127", "sh"}},
		"silent exit":    {`exit 0`, self(t), ErrUnreachable, []string{"exit status 0", "nothing"}},
		"terminal":       {`read -r l; echo "$l"; exec "$@"`, self(t), ErrStreams, []string{"terminal", "docker exec -i"}},
		"no uname":       {`uname() { echo Plan9; }; PATH=; echo calib-launch uname Plan9 vax; read x`, self(t), ErrArch, []string{"vax"}},
		"noise":          {`yes`, self(t), ErrUnreachable, []string{"65536"}},
		"cannot write":   {`HOME=` + readOnly + ` exec "$@"`, wrong, ErrUpload, []string{"exit status 3", "step cache", "prefix {host} env XDG_CACHE_HOME"}},
		"no home":        {`unset HOME; exec "$@"`, wrong, ErrUpload, []string{"HOME"}},
		"no hash tool":   {`PATH=/nowhere; read l; echo calib-launch uname Linux x86_64; exec /bin/sh`, self(t), ErrUpload, []string{"no sha256sum"}},
		"spoilt on wire": {`exec "$@"`, wrong, ErrUpload, []string{"exit status 3", "step copy: what arrived"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := template(t, prefix(t, c.body), c.binary)
			p, err := l.Launch(context.Background(), Host{Name: "h1"}, "role=agent")
			if err == nil {
				p.Close()
			}
			mustBe(t, err, c.want, append(c.say, "launch h1")...)
		})
	}
}

func TestLaunchGivesUp(t *testing.T) {
	silent := prefix(t, `exec sleep 300`)
	l := template(t, silent, self(t))
	l.stepTimeout = 10 * time.Millisecond
	_, err := l.Launch(context.Background(), Host{Name: "h1"})
	mustBe(t, err, ErrTimeout, "h1", "step login", "h1 echo ready")
	mustBe(t, err, ErrUnreachable)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = template(t, silent, self(t)).Launch(ctx, Host{Name: "h1"})
	mustBe(t, err, context.Canceled, "h1")
}

// A launcher that keeps bytes until a line ends is found by the handshake, whichever stream it is.
func TestLineBuffers(t *testing.T) {
	const lines = `while IFS= read -r l; do printf '%s\n' "$l"; done`
	for name, c := range map[string]struct{ body, say string }{
		"output": {`"$@" | ` + lines, "3 of 6 bytes came"},
		"input":  {lines + ` | "$@"`, "did not reach the host"},
	} {
		t.Run(name, func(t *testing.T) {
			l := template(t, prefix(t, c.body), self(t))
			l.streamTimeout = 100 * time.Millisecond
			_, err := l.Launch(context.Background(), Host{Name: "h1"}, "role=agent")
			mustBe(t, err, ErrStreams, "launch h1", c.say, "srun --unbuffered")
		})
	}
}

// An agent that dies right after the handshake says why on the first read.
func TestAgentDiesAtOnce(t *testing.T) {
	p, err := template(t, prefix(t, `exec "$@"`), self(t)).Launch(context.Background(), Host{Name: "h1"}, "role=die")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_, err = p.Read(make([]byte, 1))
	mustBe(t, err, ErrDied, "exit status 3", "port in use")
}
