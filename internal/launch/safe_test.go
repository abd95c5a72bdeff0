package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"calib/internal/needs"
)

// stranger puts a sha256sum on PATH that lets another user of the machine act right after each check of a binary: it
// writes to the directories where everybody may write, and nowhere else. The stranger's calib says so when it is run.
func stranger(t *testing.T, act string) (took string) {
	t.Helper()
	sum, err := exec.LookPath("sha256sum")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	took = filepath.Join(dir, "took")
	script := "#!/bin/sh\n" + sum + ` "$@"; code=$?
open() { case $(ls -ld "$1") in ????????w*) ;; *) false ;; esac; }
evil() { printf '#!/bin/sh\ntouch ` + took + `\n' >"$1"; chmod 755 "$1"; }
` + act + "\nexit $code\n"
	if err := os.WriteFile(filepath.Join(dir, "sha256sum"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return took
}

// openTo makes a directory in which everybody may write.
func openTo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// notTaken launches b, and fails the test where the stranger's program ran in its place.
func notTaken(t *testing.T, b Binary, took string) (exe string) {
	t.Helper()
	exe, _ = launch(t, template(t, prefix(t, `exec "$@"`), b))
	if _, err := os.Stat(took); err == nil {
		t.Error("the stranger's program ran")
	}
	return exe
}

// A binary in a directory that others can write is copied, and the copy is run: here it is exchanged after its hash was
// taken.
func TestExchangedInItsPlace(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", "")
	b := self(t)
	text, err := os.ReadFile(b.Path)
	if err != nil {
		t.Fatal(err)
	}
	for name, deep := range map[string]string{"its directory": "", "a directory above": "mine"} {
		t.Run(name, func(t *testing.T) {
			dir := openTo(t)
			place := filepath.Join(dir, deep)
			if err := os.MkdirAll(place, 0o755); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(place, "calib")
			if err := os.WriteFile(path, text, 0o755); err != nil {
				t.Fatal(err)
			}
			open, err := ReadBinary(path)
			if err != nil {
				t.Fatal(err)
			}
			took := stranger(t, `open `+dir+` && mkdir -p `+dir+`/other/`+deep+` && mv `+path+` `+dir+`/other/calib && evil `+path)
			if exe := notTaken(t, open, took); !strings.HasPrefix(exe, os.Getenv("HOME")) {
				t.Errorf("ran %s, want a copy in %s", exe, os.Getenv("HOME"))
			}
		})
	}
}

// A cache below a directory that others can write is exchanged whole after the hash of what is in it was taken.
func TestExchangedCache(t *testing.T) {
	b := elsewhere(t)
	home := openTo(t)
	t.Setenv("XDG_CACHE_HOME", home)
	took := stranger(t, `open `+home+` && mv `+home+`/calib `+home+`/was.$$ && mkdir -m 777 `+home+`/calib && evil `+home+`/calib/calib-`+b.Hash)
	notTaken(t, b, took)
}

// A cache that others can write, or that is a link, is refused.
func TestCacheOfOthers(t *testing.T) {
	b := elsewhere(t)
	for name, make := range map[string]func(cache string) error{
		"writable": func(cache string) error {
			if err := os.Mkdir(cache, 0o755); err != nil {
				return err
			}
			return os.Chmod(cache, 0o770)
		},
		"link": func(cache string) error { return os.Symlink(t.TempDir(), cache) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("XDG_CACHE_HOME", dir)
			if err := make(filepath.Join(dir, "calib")); err != nil {
				t.Fatal(err)
			}
			refused(t, b, "step cache", dir+"/calib", "XDG_CACHE_HOME")
		})
	}
	t.Run("of another user", func(t *testing.T) {
		needs.Root(t, "give a directory to another user")
		dir := t.TempDir()
		t.Setenv("XDG_CACHE_HOME", dir)
		cache := filepath.Join(dir, "calib")
		if err := os.Mkdir(cache, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(cache, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		refused(t, b, "step cache", "65534")
	})
}

// A cache may be made in a directory whose group is handed down, as that of a volume of Kubernetes is.
func TestCacheOfGroup(t *testing.T) {
	dir := openTo(t)
	if err := os.Chmod(dir, 0o777|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", dir)
	if exe, _ := launch(t, template(t, prefix(t, `exec "$@"`), elsewhere(t))); !strings.HasPrefix(exe, dir) {
		t.Errorf("ran %s, want a copy in %s", exe, dir)
	}
}

func refused(t *testing.T, b Binary, say ...string) {
	t.Helper()
	p, err := template(t, prefix(t, `exec "$@"`), b).Launch(t.Context(), Host{Name: "h1"}, "role=agent")
	if err == nil {
		p.Close()
	}
	mustBe(t, err, ErrUpload, say...)
}

// The script is for any POSIX shell: here for busybox's, with its own tools.
func TestBusybox(t *testing.T) {
	busybox := needs.Program(t, "busybox")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", "")
	dir := t.TempDir()
	run(t, busybox, "--install", "-s", dir)
	t.Setenv("PATH", dir)
	b := elsewhere(t)
	var copied os.FileInfo
	for range 2 {
		l := template(t, prefix(t, `exec "$@"`), b)
		exe, said := launch(t, l, "it's")
		if filepath.Base(exe) != "calib-"+b.Hash || said != "it's" {
			t.Errorf("ran %s with %q", exe, said)
		}
		there, err := os.Stat(exe)
		if err != nil || copied != nil && !os.SameFile(copied, there) {
			t.Errorf("%s is copied again: %v", exe, err)
		}
		copied = there
	}
}
