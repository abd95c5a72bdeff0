package launch

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What a launch command leaves in its process group ends with it.
func TestGroupEndsWithTheProcess(t *testing.T) {
	l := Local("sh")
	l.exitWait = 10 * time.Millisecond
	p, err := l.Launch(context.Background(), Host{Name: "local1"}, "-c", `sleep 300 & printf "pid\t%s\n" $!`)
	if err != nil {
		t.Fatal(err)
	}
	pid, _, _ := greet(t, p)
	p.Close()
	waitGone(t, pid)
}

// waitGone waits for a process that is not a child to end.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int((10 * time.Second).Milliseconds()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n == 0 || err != nil {
			t.Errorf("process %d is left, %v", pid, err)
		}
		return
	}
}
