// Package environ takes a host's fingerprint: what, besides the network itself, decides how fast a message is. Two runs
// can be compared only if their fingerprints agree, so a fingerprint is flat text, key by key. A key that could not be read
// from a file or a driver is absent; nothing is guessed. Nothing here changes the host.
package environ

import (
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Collect describes this host and the network interface that has dataAddr, an IP address with or without a port. Keys
// of the interface are left out where no interface has the address, as with an unspecified one.
func Collect(dataAddr string) map[string]string {
	c := collector{root: os.DirFS("/"), interfaces: systemInterfaces, driver: askDriver}
	env := c.collect(dataAddr)
	env["os"], env["arch"] = runtime.GOOS, runtime.GOARCH
	env["cpu.cores"] = strconv.Itoa(runtime.NumCPU())
	env["calib.version"] = Version()
	return env
}

// collector reads a fingerprint; tests give it a root and interfaces of their own.
type collector struct {
	root       fs.FS
	interfaces func() []nic
	driver     driver
}

// nic is a network interface and its addresses.
type nic struct {
	name  string
	mtu   int
	addrs []netip.Addr
}

func (c collector) collect(dataAddr string) map[string]string {
	env := make(map[string]string)
	c.file(env, "kernel", "proc/sys/kernel/osrelease")
	c.file(env, "clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource")
	c.cpu(env)
	c.virtual(env)
	c.sysctls(env)
	c.nic(env, dataAddr)
	return env
}

// file sets key to the trimmed content of a file, its white space made single.
func (c collector) file(env map[string]string, key, path string) {
	if v := c.read(path); v != "" {
		env[key] = v
	}
}

func (c collector) read(path string) string {
	b, err := fs.ReadFile(c.root, path)
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(b)), " ")
}

// cpu reads the model and the frequency governors in use.
func (c collector) cpu(env map[string]string) {
	if m := c.cpuinfo("model name"); m != "" {
		env["cpu.model"] = m
	}
	paths, err := fs.Glob(c.root, "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
	if err != nil {
		return
	}
	governors := make(map[string]bool)
	for _, p := range paths {
		if g := c.read(p); g != "" {
			governors[g] = true
		}
	}
	if len(governors) > 0 {
		env["cpu.governor"] = strings.Join(slices.Sorted(maps.Keys(governors)), " ")
	}
}

// cpuinfo returns the first value of a key of /proc/cpuinfo, "" where there is none.
func (c collector) cpuinfo(key string) string {
	b, err := fs.ReadFile(c.root, "proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		k, v, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.Join(strings.Fields(v), " ")
		}
	}
	return ""
}

// sysctls are those that change what a TCP connection does to timing.
func (c collector) sysctls(env map[string]string) {
	for key, path := range map[string]string{
		"tcp.congestion":            "net/ipv4/tcp_congestion_control",
		"tcp.rmem":                  "net/ipv4/tcp_rmem",
		"tcp.wmem":                  "net/ipv4/tcp_wmem",
		"tcp.slow_start_after_idle": "net/ipv4/tcp_slow_start_after_idle",
		"tcp.timestamps":            "net/ipv4/tcp_timestamps",
		"tcp.sack":                  "net/ipv4/tcp_sack",
		"tcp.window_scaling":        "net/ipv4/tcp_window_scaling",
		"tcp.no_metrics_save":       "net/ipv4/tcp_no_metrics_save",
		"tcp.autocorking":           "net/ipv4/tcp_autocorking",
		"tcp.moderate_rcvbuf":       "net/ipv4/tcp_moderate_rcvbuf",
		"tcp.limit_output_bytes":    "net/ipv4/tcp_limit_output_bytes",
		"tcp.notsent_lowat":         "net/ipv4/tcp_notsent_lowat",
		"tcp.min_tso_segs":          "net/ipv4/tcp_min_tso_segs",
		"tcp.mtu_probing":           "net/ipv4/tcp_mtu_probing",
		"core.rmem_max":             "net/core/rmem_max",
		"core.wmem_max":             "net/core/wmem_max",
		"core.default_qdisc":        "net/core/default_qdisc",
		"core.busy_poll":            "net/core/busy_poll",
		"core.busy_read":            "net/core/busy_read",
		"core.netdev_max_backlog":   "net/core/netdev_max_backlog",
		"core.netdev_budget":        "net/core/netdev_budget",
		"core.rps_sock_flow":        "net/core/rps_sock_flow_entries",
	} {
		c.file(env, key, "proc/sys/"+path)
	}
}

func systemInterfaces() []nic {
	list, err := net.Interfaces()
	if err != nil {
		return nil
	}
	var out []nic
	for _, i := range list {
		n := nic{name: i.Name, mtu: i.MTU}
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

// vendors are what the firmware says of itself under each hypervisor, in the order to look: sys_vendor, product_name and
// bios_vendor of the DMI tables, as systemd-detect-virt reads them.
var vendors = []struct{ text, name string }{
	{"KVM", "kvm"},
	{"OpenStack", "kvm"},
	{"KubeVirt", "kvm"},
	{"Amazon EC2", "amazon"},
	{"Google Compute Engine", "google"},
	{"QEMU", "qemu"},
	{"VMware", "vmware"},
	{"VMW", "vmware"},
	{"innotek GmbH", "oracle"},
	{"VirtualBox", "oracle"},
	{"Xen", "xen"},
	{"Bochs", "bochs"},
	{"Parallels", "parallels"},
	{"BHYVE", "bhyve"},
	{"Hyper-V", "microsoft"},
	{"Virtual Machine", "microsoft"},
	{"Apple Virtualization", "apple"},
}

// virtual sets "virt" to the hypervisor, "other" where the CPU says there is one and the firmware does not say which,
// "none" where the CPU says there is none; and "container" where the host is one.
func (c collector) virtual(env map[string]string) {
	hypervisor := slices.Contains(strings.Fields(c.cpuinfo("flags")), "hypervisor")
	name := c.firmware()
	switch {
	// Amazon's and Google's machines without a hypervisor carry the same vendor as those with one.
	case name != "" && (hypervisor || c.cpuinfo("flags") == ""):
		env["virt"] = name
	case hypervisor:
		env["virt"] = "other"
	case c.cpuinfo("flags") != "":
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
			if strings.HasPrefix(text, v.text) {
				return v.name
			}
		}
	}
	return ""
}
