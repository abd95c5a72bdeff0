package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"calib/internal/needs"
)

// A link in a run directory does not lead its writer to another file.
func TestLinksAreNotFollowed(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(target, link string) error
		want string
	}{
		{"symbolic link", os.Symlink, "is a symbolic link; remove it (rm "},
		{"symbolic link to nothing", func(target, link string) error { return os.Symlink(target+"-none", link) },
			"is a symbolic link"},
		{"hard link", os.Link, "is another file too (a hard link)"},
		{"pipe", func(_, link string) error { return unix.Mkfifo(link, 0o600) }, "is no plain file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := filepath.Join(t.TempDir(), "precious")
			if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
				t.Fatal(err)
			}
			d := create(t)
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			if err := c.make(target, d.File(lockFile)); err != nil {
				t.Fatal(err)
			}
			if _, err := Resume(d.Path()); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("resume: %v, want %q", err, c.want)
			}
			if got, err := os.ReadFile(target); err != nil || string(got) != "precious" {
				t.Errorf("the target of the link now holds %q, %v", got, err)
			}
			if _, err := os.Stat(target + "-none"); err == nil {
				t.Error("a file was made through the link")
			}
			if err := os.Rename(d.File(lockFile), d.File(LogFile)); err != nil {
				t.Fatal(err)
			}
			if c.name == "pipe" {
				return // which has no reader
			}
			if _, _, err := d.OpenLog(); !errors.Is(err, ErrForeign) {
				t.Errorf("log: %v", err)
			}
		})
	}
}

// Nobody's directory but one's own is written into: its owner could exchange every file in it.
func TestAnotherUsersDirectory(t *testing.T) {
	needs.Root(t, "give a directory to another user")
	d := create(t)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(d.Path(), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(d.Path()); !errors.Is(err, ErrForeign) ||
		!strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("resume: %v", err)
	}
	if got := names(t, d.Path()); got != RunFile {
		t.Errorf("a refused directory holds %s", got)
	}
}

// A directory that others may change is refused, before anything in it is touched.
func TestForeignDirectories(t *testing.T) {
	d := create(t)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.Path(), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() error{
		"resume": func() error { _, err := Resume(d.Path()); return err },
		"edit":   func() error { _, err := Edit(d.Path()); return err },
		"create": func() error { _, err := Create(d.Path(), sample()); return err },
	} {
		if err := open(); !errors.Is(err, ErrForeign) ||
			!strings.Contains(err.Error(), "(mode 0777): chmod 0775 "+d.Path()+"; or go on with a copy") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := names(t, d.Path()); got != RunFile {
		t.Errorf("a refused directory holds %s", got)
	}
	if _, err := Open(d.Path()); err != nil {
		t.Errorf("reading it: %v", err)
	}
	if err := foreignFile("runs/x/.lock", unix.Stat_t{Uid: 1001, Mode: unix.S_IFREG | 0o600, Nlink: 1},
		1000); !errors.Is(err, ErrForeign) {
		t.Errorf("a file of another user: %v", err)
	}
}
