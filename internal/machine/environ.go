// Package machine is the host itself as experiments use it beside its network: its processors, its caches, and copies
// within its memory (plane.Machine).
//
// Its opinions. A processor is measured by a thread that is bound to it and that times itself, so that the time does
// not include moves between processors. Memory is cold because the program has since used much other memory, in an
// order that prefetchers do not follow, as in an application, and not because an instruction flushed it. Memory and
// threads are taken on first use and kept until Close. The memory is not part of the garbage-collected heap, so that it
// does not use up the room that the collector is given during measurements.
//
// Beside it the host's fingerprint (Collect): what, besides the network itself, decides how fast a message is. Two runs
// can be compared only if their fingerprints agree, so a fingerprint is flat text, key by key. A key that could not be
// read from a file or a driver is absent; nothing is guessed. Nothing there changes the host.
//
// Collect also says what is no part of the fingerprint: what the host has left, what else it does, what it could be set
// to (dataset.Now).
package machine

import (
	"io/fs"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"calib/internal/dataset"
	"calib/internal/lists"
)

// Collect describes this host and the network interface that has dataAddr, an IP address with or without a port. Keys
// of the interface are left out where no interface has the address, as with an unspecified one.
func Collect(dataAddr string) (env map[string]string, now dataset.Now) {
	c := collector{root: os.DirFS("/"), interfaces: systemInterfaces, driver: askDriver}
	env = c.collect(dataAddr)
	env["os"], env["arch"] = runtime.GOOS, runtime.GOARCH
	env["cpu.cores"] = strconv.Itoa(runtime.NumCPU())
	env["calib.version"] = Version()
	now = c.now()
	now.CPUTime = cpuTime()
	c.systemNow(&now, env)
	return env, now
}

// collector reads a fingerprint; tests give it a root and interfaces of their own.
type collector struct {
	root       fs.FS
	interfaces func() []nic
	driver     driver
}

type nic struct {
	index int
	name  string
	mtu   int
	addrs []netip.Addr
}

// facts are files whose content is a fact. The sysctls are those that change what a TCP connection does to timing.
func facts() map[string]string {
	const tcp, core = "proc/sys/net/ipv4/tcp_", "proc/sys/net/core/"
	paths := map[string]string{
		"kernel":             "proc/sys/kernel/osrelease",
		"clocksource":        "sys/devices/system/clocksource/clocksource0/current_clocksource",
		"tcp.congestion":     tcp + "congestion_control",
		"core.rps_sock_flow": core + "rps_sock_flow_entries",
	}
	for _, name := range []string{"rmem", "wmem", "slow_start_after_idle", "timestamps", "sack", "window_scaling",
		"no_metrics_save", "autocorking", "moderate_rcvbuf", "limit_output_bytes",
		"notsent_lowat", "min_tso_segs", "mtu_probing"} {
		paths["tcp."+name] = tcp + name
	}
	for _, name := range []string{"rmem_max", "wmem_max", "default_qdisc", "busy_poll", "busy_read",
		"netdev_max_backlog", "netdev_budget"} {
		paths["core."+name] = core + name
	}
	return paths
}

func (c collector) collect(dataAddr string) map[string]string {
	env := make(map[string]string)
	c.files(env, facts())
	c.cpu(env)
	c.nodes(env)
	c.idle(env)
	c.virtual(env)
	c.nic(env, dataAddr)
	return env
}

// files sets each key to the content of its file, where that is not empty.
func (c collector) files(env, paths map[string]string) {
	for key, path := range paths {
		set(env, key, c.read(path))
	}
}

func set(env map[string]string, key, value string) {
	if value != "" {
		env[key] = value
	}
}

func (c collector) read(path string) string {
	b, _ := fs.ReadFile(c.root, path)
	return strings.Join(strings.Fields(string(b)), " ")
}

func (c collector) cpu(env map[string]string) {
	set(env, "cpu.model", c.cpuinfo("model name"))
	paths, _ := fs.Glob(c.root, "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor") // the pattern is good
	governors := lists.Map(paths, c.read)
	slices.Sort(governors)
	set(env, "cpu.governor", strings.TrimSpace(strings.Join(slices.Compact(governors), " ")))
}

// nodes sets "numa.cpus" to the CPUs of each NUMA node, such as "0:0-15 1:16-31", where there are several.
func (c collector) nodes(env map[string]string) {
	paths, _ := fs.Glob(c.root, "sys/devices/system/node/node[0-9]*/cpulist") // the pattern is good
	var all []string
	for _, p := range paths {
		name := strings.TrimPrefix(strings.Split(p, "/")[4], "node")
		if list := c.read(p); list != "" {
			all = append(all, name+":"+list)
		}
	}
	if len(all) > 1 {
		env["numa.cpus"] = strings.Join(all, " ")
	}
}

func (c collector) cpuinfo(key string) string {
	b, _ := fs.ReadFile(c.root, "proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		k, v, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.Join(strings.Fields(v), " ")
		}
	}
	return ""
}

func systemInterfaces() []nic {
	list, _ := net.Interfaces()
	var out []nic
	for _, i := range list {
		n := nic{index: i.Index, name: i.Name, mtu: i.MTU}
		addrs, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				n.addrs = append(n.addrs, p.Addr())
			}
		}
		out = append(out, n)
	}
	return out
}

// vendors are what the firmware says of itself under each hypervisor, in the order to look: sys_vendor, product_name
// and bios_vendor of the DMI tables, as systemd-detect-virt reads them.
var vendors = []struct {
	name  string
	texts []string
}{
	{"kvm", []string{"KVM", "OpenStack", "KubeVirt"}},
	{"amazon", []string{"Amazon EC2"}},
	{"google", []string{"Google Compute Engine"}},
	{"qemu", []string{"QEMU"}},
	{"vmware", []string{"VMware", "VMW"}},
	{"oracle", []string{"innotek GmbH", "VirtualBox"}},
	{"xen", []string{"Xen"}},
	{"bochs", []string{"Bochs"}},
	{"parallels", []string{"Parallels"}},
	{"bhyve", []string{"BHYVE"}},
	{"microsoft", []string{"Hyper-V", "Virtual Machine"}},
	{"apple", []string{"Apple Virtualization"}},
}

// virtual sets "virt" to the hypervisor, "other" where the CPU says there is one and the firmware does not say which,
// "none" where the CPU says there is none; and "container" where the host is one.
func (c collector) virtual(env map[string]string) {
	flags, name := c.cpuinfo("flags"), c.firmware()
	hypervisor := slices.Contains(strings.Fields(flags), "hypervisor")
	switch {
	// Amazon's and Google's machines without a hypervisor carry the same vendor as those with one.
	case name != "" && (hypervisor || flags == ""):
		env["virt"] = name
	case hypervisor:
		env["virt"] = "other"
	case flags != "":
		env["virt"] = "none"
	}
	for _, m := range []struct{ path, name string }{{".dockerenv", "docker"}, {"run/.containerenv", "podman"}} {
		if _, err := fs.Stat(c.root, m.path); err == nil {
			env["container"] = m.name
		}
	}
}

func (c collector) firmware() string {
	for _, f := range []string{"product_name", "sys_vendor", "bios_vendor"} {
		text := c.read("sys/class/dmi/id/" + f)
		for _, v := range vendors {
			if slices.ContainsFunc(v.texts, func(t string) bool { return strings.HasPrefix(text, t) }) {
				return v.name
			}
		}
	}
	return ""
}
