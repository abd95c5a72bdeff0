package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"calib/internal/rundir"
)

// cpu is the CPU time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // which Linux never says of a process itself
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fit runs calib fit on a run directory.
func fit(calib, dir string) (f fitted, err error) {
	cmd := exec.Command(calib, "fit", "--quiet", dir)
	begun := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return f, fmt.Errorf("%s: %w: %s", cmd, err, out)
	}
	f.Fit = time.Since(begun).Seconds()
	f.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		f.Peak = float64(usage.Maxrss) * 1024 // Linux counts KiB
	}
	info, err := os.Stat(filepath.Join(dir, rundir.HTMLFile))
	if err == nil {
		f.Report = info.Size()
	}
	return f, err
}
