package machine

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"calib/internal/dataset"
)

// now is what is read alike on every system.
func (c collector) now() dataset.Now {
	now := dataset.Now{NICs: map[int]string{}}
	// Where there is no such file nothing is read.
	_, _ = fmt.Sscan(c.read("proc/sys/net/ipv4/ip_local_port_range"), &now.Ports[0], &now.Ports[1])
	_, _ = fmt.Sscan(c.read("proc/loadavg"), &now.Load)
	now.Clocks = strings.Fields(c.read("sys/devices/system/clocksource/clocksource0/available_clocksource"))
	for _, n := range c.interfaces() {
		now.NICs[n.index] = n.name
	}
	return now
}

// cpuTime is how much processor time this process has used; 0 where it is not known.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// idle sets which driver lets the CPUs sleep, the deepest state it may use, and how long waking from it takes [µs].
func (c collector) idle(env map[string]string) {
	const dir = "sys/devices/system/cpu/"
	c.files(env, map[string]string{"cpu.idle_driver": dir + "cpuidle/current_driver"})
	states, _ := fs.Glob(c.root, dir+"cpu0/cpuidle/state[0-9]*") // the pattern is good
	slices.Sort(states)
	deepest := -1
	for _, s := range states {
		wake, err := strconv.Atoi(c.read(s + "/latency"))
		name := c.read(s + "/name")
		if err != nil || name == "" || wake <= deepest || c.read(s+"/disable") == "1" {
			continue
		}
		deepest = wake
		env["cpu.idle_deepest"], env["cpu.idle_wake_us"] = name, strconv.Itoa(wake)
	}
}
