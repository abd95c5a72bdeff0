package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// unsynchronised is STA_UNSYNC of adjtimex(2): nothing keeps the wall clock right.
const unsynchronised = 0x40

// systemNow asks the kernel for facts of the present.
func systemNow(env map[string]string) {
	env[nowPrefix+NowUnix] = strconv.FormatInt(time.Now().UnixNano(), 10)
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		env[nowPrefix+NowFiles] = strconv.FormatUint(files.Cur, 10)
	}
	var clock unix.Timex
	if _, err := unix.Adjtimex(&clock); err == nil {
		env[nowPrefix+NowSynced] = "yes"
		if clock.Status&unsynchronised != 0 {
			env[nowPrefix+NowSynced] = "no"
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return
	}
	var disk unix.Statfs_t
	if dir := filepath.Dir(exe); unix.Statfs(dir, &disk) == nil {
		env[nowPrefix+NowDisk] = strconv.FormatUint(disk.Bavail*uint64(disk.Bsize), 10)
		env[nowPrefix+NowDiskPath] = dir
	}
}
