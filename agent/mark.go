package agent

import (
	"errors"
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

// mark leaves this host to a watch, also while that has no agent here, or says who has it. All users share its file,
// and each network namespace has one. Whoever planted a link there leads it to no file but one that every user may write
// anyway. Where the file cannot be had, watches do not know of each other.
func mark(w plane.Watch) error {
	const flags, mode = os.O_RDWR | syscall.O_NOFOLLOW | syscall.O_NONBLOCK, 0o666
	network, _ := os.Readlink("/proc/self/ns/net")
	path := filepath.Join(os.TempDir(), "calib-watch-"+network)
	umask := syscall.Umask(0)
	f, err := os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL, mode)
	syscall.Umask(umask)
	if errors.Is(err, fs.ErrExist) { // the kernel may forbid O_CREATE alone where another user has made it
		f, err = os.OpenFile(path, flags, 0)
	}
	defer f.Close() // nil has nothing to close
	if info, _ := f.Stat(); err != nil || info.Mode() != mode {
		return nil
	}
	for tries := 0; syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil; tries++ {
		if tries == 1000 { // a stranger may hold it for ever
			return nil
		}
		time.Sleep(time.Duration(tries) * time.Microsecond)
	}
	text := make([]byte, 4096)
	n, _ := f.Read(text)
	line, _, _ := strings.Cut(string(text[:n]), "\n")
	until, name, _ := strings.Cut(line, " ")
	end, _ := time.Parse(time.RFC3339, until) // what is no mark has long ended
	if left := time.Until(end); name != w.Name && left > 0 && left <= longestMark {
		return fault(ErrWatched, "%q; it has the host until %s at least: end it, or wait", name, until)
	}
	_, _ = f.WriteAt([]byte(time.Now().Add(w.Keep).UTC().Format(time.RFC3339)+" "+w.Name+"\n"), 0) // the disk may be full
	return nil
}
