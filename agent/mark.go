package agent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"calib/internal/plane"
)

// longestMark is how long a watch may have a host without another look. Who asks for more has none.
const longestMark = 72 * time.Hour

// mark leaves this host to a watch, also while that has no agent here, or says who has it. Where it cannot be written,
// watches do not know of each other.
func (s *Server) mark(w plane.Watch) error {
	f, err := openMark()
	defer f.Close() // nil has nothing to close
	if err == nil {
		text, _ := io.ReadAll(io.LimitReader(f, 4096))
		line, _, _ := strings.Cut(string(text), "\n")
		until, name, _ := strings.Cut(line, " ")
		end, _ := time.Parse(time.RFC3339, until) // what is no mark has long ended
		if left := time.Until(end); name != w.Name && left > 0 && left <= longestMark {
			return fault(ErrWatched, "%q; it has the host until %s at least: end it, or wait", name, until)
		}
		_, err = f.WriteAt([]byte(time.Now().Add(w.Keep).UTC().Format(time.RFC3339)+" "+w.Name+"\n"), 0)
	}
	if err != nil {
		s.opts.Log.Warn("other watches do not see this one", "err", err.Error())
	}
	return nil
}

// openMark opens the file that all users share, under a lock. Each network namespace has one: containers may share a
// directory. Whoever planted a link leads it to no file but one that every user may write anyway.
func openMark() (f *os.File, err error) {
	const flags, mode = os.O_RDWR | syscall.O_NOFOLLOW | syscall.O_NONBLOCK, 0o666
	network, _ := os.Readlink("/proc/self/ns/net")
	path := filepath.Join(os.TempDir(), "calib-watch-"+network)
	umask := syscall.Umask(0)
	f, err = os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL, mode)
	syscall.Umask(umask)
	if errors.Is(err, fs.ErrExist) { // the kernel may forbid O_CREATE alone where another user has made it
		f, err = os.OpenFile(path, flags, 0)
	}
	if err != nil {
		return f, err
	}
	if info, err := f.Stat(); err != nil || info.Mode() != mode {
		return f, fmt.Errorf("%s is no file of mode %04o", path, mode)
	}
	for tries := range 1000 { // a stranger may hold the lock for ever
		time.Sleep(time.Duration(tries) * time.Microsecond)
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			break
		}
	}
	return f, err
}
