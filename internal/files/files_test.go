package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The umask is kept, and nobody but the owner and the group may ever write.
func TestMode(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	path := filepath.Join(t.TempDir(), "x")
	for umask, want := range map[int]fs.FileMode{0o077: 0o600, 0o022: 0o644, 0o002: 0o664, 0: 0o664} {
		syscall.Umask(umask)
		if err := Replace(path, nil); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("with umask %04o: mode %v, %v, want %v", umask, info.Mode(), err, want)
		}
	}
}

// A write that fails leaves the old content and no temporary file.
func TestWriteIsAtomic(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "taken")
	if err := os.Mkdir(target, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Replace(target, []byte("x")); err == nil {
		t.Error("a directory was replaced by a file")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if err := Replace(filepath.Join(dir, "none", "x"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
	fine := filepath.Join(dir, "fine")
	for _, text := range []string{"one", "two"} {
		if err := Replace(fine, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(fine); err != nil || string(got) != text {
			t.Errorf("%q %v, want %q", got, err, text)
		}
	}
	t.Chdir(dir)
	if err := Replace("bare", []byte("x")); err != nil {
		t.Errorf("a name without a directory: %v", err)
	}
}
