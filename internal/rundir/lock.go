package rundir

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"calib/internal/files"
)

const lockFile = ".lock"

// ErrLocked reports a run directory that another coordinator writes.
var ErrLocked = errors.New("in use")

// self names this process for a person on any host that shares the file system.
func self() string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	return fmt.Sprintf("pid %d on %s", os.Getpid(), host)
}

// acquire takes the lock of dir, or fails with ErrLocked at once. The coordinator that writes a run directory holds it.
// The kernel frees it when the process ends, however that happens. The file names its holder, for the error that a
// second coordinator gets.
func acquire(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	f, err := files.Lock(path, unix.LOCK_EX|unix.LOCK_NB, func() (*os.File, error) {
		return openOwn(path, os.O_CREATE|os.O_RDWR)
	})
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		holder, _ := io.ReadAll(io.LimitReader(f, 200))
		err = fmt.Errorf("%w by %s; wait for it or end it", ErrLocked,
			cmp.Or(strings.TrimSpace(string(holder)), "another process"))
	case f != nil && err != nil:
		err = fmt.Errorf("lock %s: %w; the file system may not have locks", lockFile, err)
	case err == nil:
		if err = f.Truncate(0); err == nil {
			_, err = f.WriteAt([]byte(self()+"\n"), 0)
		}
	}
	if err != nil {
		f.Close()
		return nil, files.Reason(err)
	}
	return f, nil
}

// release removes the file while the lock is held, so that nobody can hold a lock on a file that is gone.
func release(lock *os.File) error { return errors.Join(os.Remove(lock.Name()), lock.Close()) }

// ErrForeign reports a directory or a file that other users may change: whoever can put a file into a run directory
// could have this process write to any file of its user, or run a command of theirs when the run is resumed.
var ErrForeign = errors.New("other users may change it")

// ownDir refuses a run directory that another user owns or that everybody may write to.
func ownDir(path string) error {
	if err := files.Alone(path+"/.", 0o002); err != nil { // of what a link names
		return fmt.Errorf("%w: %w; or go on with a copy of your own (cp -r %s COPY)", ErrForeign, err, path)
	}
	return nil
}

// openOwn opens a file of a run directory to write. It refuses what is no plain file of this user with one name: a link
// there would lead the writing to another file.
func openOwn(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644) // a pipe there must not block
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("%w: %s is a symbolic link; remove it (rm %s)", ErrForeign, path, path)
	}
	if err != nil {
		return nil, files.Reason(err)
	}
	var s unix.Stat_t
	if err = unix.Fstat(int(f.Fd()), &s); err == nil {
		err = foreignFile(path, s, os.Geteuid())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func foreignFile(path string, s unix.Stat_t, user int) error {
	var what string
	switch {
	case s.Mode&unix.S_IFMT != unix.S_IFREG:
		what = "is no plain file"
	case int(s.Uid) != user:
		what = fmt.Sprintf("belongs to the user with id %d", s.Uid)
	case s.Nlink > 1:
		what = "is another file too (a hard link)"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s %s; remove it (rm %s)", ErrForeign, path, what, path)
}
