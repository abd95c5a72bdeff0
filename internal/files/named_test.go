package files

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// odd makes a directory of what is no regular file, and enters it. As root it makes devices there: those of the machine
// are left alone.
func odd(t *testing.T) (names []string) {
	t.Helper()
	t.Chdir(t.TempDir())
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	for _, err := range []error{os.WriteFile("target", []byte("old"), 0o600), os.Symlink("target", "link"),
		os.Symlink("none", "dangling"),
		unix.Mkfifo("fifo", 0o600), os.Mkdir("dir", 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, d := range map[string][3]uint32{"null": {unix.S_IFCHR, 1, 3}, "full": {unix.S_IFCHR, 1, 7},
		"zero": {unix.S_IFCHR, 1, 5}, "disk": {unix.S_IFBLK, 7, 200}} {
		if unix.Mknod(name, d[0]|0o600, int(unix.Mkdev(d[1], d[2]))) != nil {
			continue // not allowed to this user
		}
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil && name != "disk" { // no devices in this file system
			os.Remove(name)
			continue
		}
		f.Close()
		names = append(names, name)
	}
	return append(names, "socket", "link", "dangling", "fifo", "dir")
}

// What is no regular file is written to or refused, and stays what it is.
func TestWrite(t *testing.T) {
	want := map[string]string{"full": "write full: no space left on device", "disk": "it is a block device",
		"socket":   "it is a socket",
		"dangling": "it is a symbolic link", "fifo": "write fifo: nobody reads it", "dir": "it is a directory"}
	names := odd(t)
	kinds := func() (s string) {
		for _, name := range names {
			info, err := os.Lstat(name)
			s += fmt.Sprintln(name, info.Mode().Type(), err)
		}
		return s
	}
	before := kinds()
	text := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	for _, name := range names {
		if err := Write(name, text); (err == nil) != (want[name] == "") || err != nil &&
			!strings.Contains(err.Error(), want[name]) {
			t.Errorf("%s: %v, want %q", name, err, want[name])
		}
		if err := ReplaceBy(name, text); err == nil || !strings.Contains(err.Error(), "is not replaced") {
			t.Errorf("%s was replaced: %v", name, err)
		}
	}
	if after := kinds(); after != before {
		t.Errorf("changed:\n%s\nto\n%s", before, after)
	}
	if b, err := os.ReadFile("target"); string(b) != "new" {
		t.Errorf("behind the link is %q, %v", b, err)
	}
	reader, err := os.OpenFile("fifo", os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := Write("fifo", text); err != nil {
		t.Error(err)
	}
	if b, err := io.ReadAll(reader); string(b) != "new" {
		t.Errorf("through the FIFO came %q, %v", b, err)
	}
	log, err := os.OpenFile("log", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = log
	err = errors.Join(text(log), Write("log", text), log.Close())
	os.Stdout = stdout
	if b, _ := os.ReadFile("log"); string(b) != "newnew" || err != nil {
		t.Errorf("standard output is %q, %v", b, err)
	}
	if left, err := filepath.Glob(".*"); len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Only a regular file and a pipe without a name are read, each up to a bound.
func TestRead(t *testing.T) {
	for _, name := range odd(t) {
		if b, err := Read(name, 100); name == "link" && string(b) != "old" || name != "link" && err == nil {
			t.Errorf("%s: %q, %v", name, b, err)
		} else if name == "fifo" && err.Error() != "open fifo: it is a FIFO; give a regular file" {
			t.Error(err)
		}
	}
	for limit, want := range map[int64]string{3 << 20: "", 3<<20 - 1: "it is larger than 2 MiB"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() { // as a shell's <(command)
			io.WriteString(w, strings.Repeat("x", 3<<20))
			w.Close()
		}()
		if err := os.WriteFile("large", make([]byte, 3<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"large", fmt.Sprintf("/dev/fd/%d", r.Fd())} {
			b, err := Read(path, limit)
			if want == "" && len(b) != 3<<20 || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s with a limit of %d: %d bytes, %v", path, limit, len(b), err)
			}
		}
		r.Close()
	}
}
