package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"calib/internal/kernel"
	"calib/internal/units"
)

// processOf returns the process with a number. One that has ended, and is not waited for yet, is an error.
func processOf(pid int) (Process, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return Process{}, err
	}
	stat, err := p.Stat()
	if stat.State == "Z" || stat.State == "X" {
		err = unix.ESRCH
	}
	return Process{PID: pid, Start: stat.Starttime}, err
}

// alive reports whether p itself runs, not a later process with its number, nor its remains.
func (p Process) alive() bool {
	found, err := processOf(p.PID)
	return err == nil && found == p
}

// open returns a descriptor that stands for p and becomes readable when p ends; false if p is gone.
func (p Process) open() (int, bool) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return -1, false
	}
	if !p.alive() {
		unix.Close(fd)
		return -1, false
	}
	return fd, true
}

// deathTime is how long a killed process may take to end, with deviceTime more for each network device that ends with
// it.
const (
	deathTime  = 5 * time.Second
	deviceTime = 100 * time.Millisecond
)

// end asks p to stop, waits that long, and then kills it. devices are those that end with it.
func (p Process) end(patience time.Duration, devices int) error {
	fd, ok := p.open()
	if !ok {
		return nil
	}
	defer unix.Close(fd)
	for _, step := range []struct {
		sig  unix.Signal
		wait time.Duration
	}{{unix.SIGTERM, patience}, {unix.SIGKILL, deathTime + time.Duration(devices)*deviceTime}} {
		if err := unix.PidfdSendSignal(fd, step.sig, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("stop process %d: %w", p.PID, err)
		}
		if ended(fd, step.wait) {
			return nil
		}
	}
	return fmt.Errorf("process %d was killed and has not ended yet: take the lab down again in a moment", p.PID)
}

// ended waits for the process behind fd to end, at most for a time, and reports whether it did.
func ended(fd int, wait time.Duration) bool {
	deadline := time.Now().Add(wait)
	for {
		left := max(0, time.Until(deadline))
		n, err := kernel.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, units.Nanos(left))
		if n > 0 || err != nil || left == 0 {
			return n > 0
		}
	}
}

// processesOn returns the processes that run in one of the named network namespaces, the hosts of a lab.
func processesOn(names []string) []Process {
	inodes := map[uint64]bool{}
	for _, name := range names {
		var st unix.Stat_t
		// A name on which no namespace is mounted is a plain file of another file system.
		if path := filepath.Join(netnsDir, name); isNamespace(path) && unix.Stat(path, &st) == nil {
			inodes[st.Ino] = true
		}
	}
	return processesIn("net", inodes)
}

// processesIn returns the processes other than this one in namespaces of a kind, given by their inodes.
func processesIn(kind string, inodes map[uint64]bool) []Process {
	all, _ := procfs.AllProcs()
	var found []Process
	for _, p := range all {
		if p.PID == os.Getpid() || !inodes[namespaceOf(p.PID, kind)] {
			continue
		}
		if p, err := processOf(p.PID); err == nil {
			found = append(found, p)
		}
	}
	return found
}

// namespaceOf returns the inode of a process's namespace of a kind; 0, which none has, if it is gone or not to be seen.
func namespaceOf(pid int, kind string) uint64 {
	link, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, kind))
	ino, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(link, kind+":["), "]"), 10, 64)
	return ino
}

func isNamespace(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Type == unix.NSFS_MAGIC
}
