package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"calib/internal/units"
)

const (
	// slowWake is above which waking from sleep shows in a message that comes after a pause [µs].
	slowWake = 20
	// longWait is above which a driver's wait for more packets does [µs].
	longWait = 10
	// fewPorts is below which a run that opens new connections in every round may use up all local ports.
	fewPorts = 10_000
	// moreFiles is what an agent opens beside two connections to each host.
	moreFiles = 128
	// minDisk is what an agent's binary needs.
	minDisk = 64 * units.MiB
	// busy is the share of the CPUs that others may use.
	busy = 0.5
	// apart is how far a clock may be off before log files cannot be compared. Tickets are refused as over where it is
	// ahead by tooFar, and as too long where it is behind by tooOld, in a run of up to twelve hours.
	apart  = 2 * time.Second
	tooFar = 20 * time.Hour
	tooOld = 5 * 24 * time.Hour
)

// slowClocks are sources of the time that take microseconds to read.
var slowClocks = []string{"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"}

// alone are what is wrong with a host, whatever the others are.
func alone(f Facts) []Finding {
	var out []Finding
	for _, h := range f.Hosts {
		if h.Lost != "" {
			continue
		}
		add := func(severity, code, what, mend string) {
			out = append(out, Finding{severity, code, []string{h.Name}, what, mend})
		}
		processor(h, add)
		nic(h, add)
		room(h, len(f.Hosts), add)
		clock(h, add)
	}
	return out
}

type adder func(severity, code, what, mend string)

func processor(h Host, add adder) {
	if g := h.Env["cpu.governor"]; g != "" && g != "performance" {
		add(Disturbs, "governor",
			fmt.Sprintf("the CPUs change their frequency (governor %s): the same message takes different times", g),
			"cpupower frequency-set -g performance")
	}
	if us := number(h.Env["cpu.idle_wake_us"], 0); us > slowWake {
		add(Notes, "sleep",
			fmt.Sprintf("the CPUs sleep as deep as %s, and take %d µs to wake: a message after a pause takes that "+
				"much longer",
				h.Env["cpu.idle_deepest"], us),
			fmt.Sprintf("cpupower idle-set -D %d (until the next boot; idle-set -E undoes it)", slowWake))
	}
	if v := h.Env["virt"]; v != "" && v != "none" {
		v = strings.Replace(v, "other", "of a kind that it does not say", 1)
		add(Notes, "virtual",
			"a virtual machine ("+v+"): other machines share its CPUs and network, and disturb its times",
			"virsh vcpupin on the machine below, or measure that one")
	}
	if c := h.Env["container"]; c != "" {
		add(Notes, "container",
			"a container ("+c+"): what is measured is its network, with bridge and address translation",
			word(c, "podman")+" run --network host")
	}
	if cores := number(h.Env["cpu.cores"], 0); cores > 0 && h.Now.Load > busy*float64(cores) {
		add(Disturbs, "load",
			fmt.Sprintf("others use the CPUs: %.1f processes at a time on %d CPUs in the last minute", h.Now.Load, cores),
			"top -b -n 1 | head -15 shows which")
	}
}

func nic(h Host, add adder) {
	name := h.Env["nic.name"]
	if name == "" {
		add(Notes, "nic-unknown",
			"the interface of its data address is not known: nothing can be said of its speed and settings",
			"addr= with the IP address, in the hosts file")
		return
	}
	dev := orNIC(name)
	if d := h.Env["nic.duplex"]; d == "half" {
		add(Disturbs, "duplex", name+" runs in half duplex: not both ways at once", "ethtool -s "+dev+" autoneg on")
	}
	us, adaptive := number(h.Env["nic.coalesce.rx_usecs"], 0), h.Env["nic.coalesce.adaptive_rx"]
	if us > longWait || adaptive != "" && adaptive != "0" {
		what := fmt.Sprintf("%s delays interrupts by up to %d µs, for more packets (interrupt coalescing)", name, us)
		if adaptive != "" && adaptive != "0" {
			what = name + " delays interrupts, for more packets, by as much as it chooses " +
				"(adaptive interrupt coalescing)"
		}
		add(Notes, "coalescing", what, "ethtool -C "+dev+" adaptive-rx off rx-usecs 0 for the least latency")
	}
	if h.Env["nic.lro"] == "on" {
		add(Notes, "lro", name+" joins packets before the kernel sees them (large receive offload)",
			"ethtool -K "+dev+" lro off")
	}
	for _, o := range [][2]string{{"nic.rx_checksum", "rx"}, {"nic.tx_checksum", "tx"}} {
		if h.Env[o[0]] == "off" {
			add(Notes, "checksum", "the CPU computes the checksums of "+name+" ("+o[1]+")",
				"ethtool -K "+dev+" "+o[1]+" on")
		}
	}
}

func room(h Host, hosts int, add adder) {
	need := 2*hosts + moreFiles
	if most := h.Now.Files; most > 0 && most < uint64(need) {
		add(Blocks, "open-files", fmt.Sprintf("a process may open %d files: %d hosts need %d", most, hosts, need),
			"ulimit -n 65536, lasting in /etc/security/limits.d")
	}
	if n := h.Now.Ports[1] - h.Now.Ports[0] + 1; h.Now.Ports != [2]int{} && n < fewPorts {
		add(Disturbs, "ports", fmt.Sprintf("there are %d local ports: new connections in every round use them up", n),
			`sysctl -w net.ipv4.ip_local_port_range="32768 60999", or keep_connections: true in a plan file`)
	}
	if free, path := h.Now.Disk, h.Now.DiskPath; path != "" && free < uint64(minDisk) {
		add(Disturbs, "disk",
			fmt.Sprintf("%v are free in %s, where the agent's program is: the next build may not fit", units.Bytes(free), path),
			"df -h "+word(path, "DIRECTORY"))
	}
}

func clock(h Host, add adder) {
	if c := h.Env["clocksource"]; slices.Contains(slowClocks, c) {
		mend := "dmesg | grep -i tsc shows why the kernel does not use tsc; tsc=reliable on its command line, " +
			"where the hardware is known to be good"
		if slices.Contains(h.Now.Clocks, "tsc") {
			mend = "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"
		}
		add(Disturbs, "clocksource",
			fmt.Sprintf("reading the clock takes about a microsecond (clock source %s): every short time includes it", c), mend)
	}
	off := h.Offset.Abs() - h.Bound
	switch {
	case h.Bound > 0 && off > tooFar && (h.Offset > 0 || off > tooOld):
		add(Blocks, "time", fmt.Sprintf("its clock is off by %v: tickets, which last a day, are refused",
			h.Offset.Round(time.Minute)), "chronyc makestep")
	case h.Bound > 0 && off > apart:
		add(Disturbs, "time", fmt.Sprintf("its clock is off by %v from here: its log cannot be compared with others",
			h.Offset.Round(100*time.Millisecond)), "chronyc makestep")
	case h.Now.Unsynced:
		add(Notes, "time", "no time synchronization runs", "timedatectl set-ntp true")
	}
}

// number reads a number; what is none is otherwise.
func number(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return otherwise
}
