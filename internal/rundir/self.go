package rundir

import (
	"errors"
	"fmt"
	"os"
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
