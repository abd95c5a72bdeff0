package machine

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const nowPrefix = "now."

// Facts of the present, as Split returns them.
const (
	NowUnix     = "unix_ns"      // the host's wall clock
	NowSynced   = "clock_synced" // "no" where the kernel says that nothing keeps the wall clock right
	NowLoad     = "load"         // processes that ran or wanted to, mean of a minute
	NowClocks   = "clocksources" // that the host could use
	NowPorts    = "ports"        // local ports of connections, the first and the last
	NowFiles    = "open_files"   // most descriptors of the agent
	NowDisk     = "disk_free"    // bytes where the agent's executable lies
	NowDiskPath = "disk_path"
	NowNICs     = "nics"   // "2=eth0 3=ib0"
	NowCPUTime  = "cpu_ns" // processor time of the agent so far
	NowCPUs     = "cpus"   // that the agent may use, the best for a thread that times first: "3 2 0"
)

func SetNow(env map[string]string, name, value string) { env[nowPrefix+name] = value }

// setCPUTime says how much processor time this process has used.
func setCPUTime(env map[string]string) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err == nil {
		env[nowPrefix+NowCPUTime] = strconv.FormatInt(used.Utime.Nano()+used.Stime.Nano(), 10)
	}
}

// CPUTime is the processor time of an agent; 0 where it is not known.
func CPUTime(now map[string]string) time.Duration {
	ns, _ := strconv.ParseInt(now[NowCPUTime], 10, 64)
	return time.Duration(ns)
}

func Split(env map[string]string) (fingerprint, now map[string]string) {
	fingerprint, now = map[string]string{}, map[string]string{}
	for k, v := range env {
		if name, ok := strings.CutPrefix(k, nowPrefix); ok {
			now[name] = v
		} else {
			fingerprint[k] = v
		}
	}
	return fingerprint, now
}

func (c collector) now(env map[string]string) {
	c.files(env, map[string]string{
		nowPrefix + NowPorts:  "proc/sys/net/ipv4/ip_local_port_range",
		nowPrefix + NowClocks: "sys/devices/system/clocksource/clocksource0/available_clocksource",
	})
	if load, _, ok := strings.Cut(c.read("proc/loadavg"), " "); ok {
		env[nowPrefix+NowLoad] = load
	}
	var nics []string
	for _, n := range c.interfaces() {
		nics = append(nics, strconv.Itoa(n.index)+"="+n.name)
	}
	set(env, nowPrefix+NowNICs, strings.Join(nics, " "))
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
