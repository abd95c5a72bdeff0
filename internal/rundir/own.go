package rundir

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"calib/internal/files"
)

// ErrForeign reports a directory or a file that other users may change: whoever can put a file into a run directory
// could have this process write to any file of its user, or run a command of theirs when the run is resumed.
var ErrForeign = errors.New("other users may change it")

// ownDir refuses a run directory that another user owns or that everybody may write to.
func ownDir(path string) error {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return err
	}
	return foreignDir(path, s, os.Geteuid())
}

func foreignDir(path string, s unix.Stat_t, user int) error {
	switch {
	case int(s.Uid) != user:
		return fmt.Errorf("%w: its owner has user id %d, this process %d; choose another --out, or go on with a copy of your own (cp -r %s COPY)",
			ErrForeign, s.Uid, user, path)
	case s.Mode&0o002 != 0:
		return fmt.Errorf("%w: it is writable for everybody; mend it with chmod o-w %s", ErrForeign, path)
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
