package machine

import (
	"maps"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"calib/internal/files"

	"github.com/google/go-cmp/cmp"
)

func tree(m map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range m {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

type fakeDriver struct {
	on   map[string]bool
	says map[string]string
}

func (d fakeDriver) ask(string) (map[string]string, map[string]bool) { return d.says, d.on }

var nics = []nic{
	{1, "lo", 65536, []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")}},
	{2, "eth0", 1500, []netip.Addr{netip.MustParseAddr("10.0.0.4"), netip.MustParseAddr("fe80::1")}},
	{3, "eth1", 9000, []netip.Addr{netip.MustParseAddr("fd00::4"), netip.MustParseAddr("fe80::1")}},
}

func fake(root map[string]string, d fakeDriver) collector {
	return collector{
		root: tree(root), interfaces: func() []nic { return nics }, driver: d.ask,
	}
}

func TestCollect(t *testing.T) {
	root := map[string]string{
		"proc/sys/kernel/osrelease":                                       "6.12.1-amd64\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
		"proc/cpuinfo": "processor\t: 0\nmodel name\t: Some  CPU @ 3GHz\nflags\t\t: fpu vme hypervisor\n\nprocessor\t: 1\n" +
			"model name\t: Other\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
		"sys/devices/system/cpu/cpu2/cpufreq/scaling_governor": "powersave\n",
		"sys/class/dmi/id/sys_vendor":                          "QEMU\n",
		".dockerenv":                                           "",
		"proc/sys/net/ipv4/tcp_rmem":                           "4096\t131072\t6291456\n",
		"proc/sys/net/ipv4/tcp_congestion_control":             "cubic\n",
		"proc/sys/net/core/default_qdisc":                      "fq_codel\n",
		"sys/class/net/eth0/speed":                             "25000\n",
		"sys/class/net/eth0/duplex":                            "full\n",
		"sys/class/net/eth0/device/numa_node":                  "1\n",
		"sys/devices/system/node/node0/cpulist":                "0-15\n",
		"sys/devices/system/node/node1/cpulist":                "16-31\n",
		"sys/devices/system/cpu/cpuidle/current_driver":        "intel_idle\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state0/name":      "POLL\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state0/latency":   "0\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state1/name":      "C1E\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state1/latency":   "10\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state2/name":      "C6\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state2/latency":   "133\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state2/disable":   "0\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state3/name":      "C10\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state3/latency":   "890\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state3/disable":   "1\n",
	}
	d := fakeDriver{
		on: map[string]bool{
			"tx-tcp-segmentation": false, "tx-tcp6-segmentation": true, "rx-gro": true, "rx-lro": false, "rx-checksum": true,
			"tx-checksum-ipv4": false,
		},
		says: map[string]string{"nic.driver": "mlx5_core", "nic.coalesce.rx_usecs": "8", "nic.ring.rx": "1024"},
	}
	want := map[string]string{
		"kernel": "6.12.1-amd64", "clocksource": "tsc", "cpu.model": "Some CPU @ 3GHz",
		"cpu.governor": "performance powersave", "cpu.idle_driver": "intel_idle", "cpu.idle_deepest": "C6",
		"cpu.idle_wake_us": "133", "virt": "qemu", "container": "docker",
		"tcp.rmem": "4096 131072 6291456", "tcp.congestion": "cubic", "core.default_qdisc": "fq_codel",
		"nic.name": "eth0", "nic.mtu": "1500", "nic.segment": "1448", "nic.numa_node": "1", "numa.cpus": "0:0-15 1:16-31",
		"nic.speed_mbps": "25000", "nic.duplex": "full",
		"nic.driver": "mlx5_core", "nic.coalesce.rx_usecs": "8", "nic.ring.rx": "1024",
		"nic.tso": "on", "nic.gro": "on", "nic.lro": "off", "nic.rx_checksum": "on", "nic.tx_checksum": "off",
	}
	if diff := cmp.Diff(want, fake(root, d).collect("10.0.0.4:4100")); diff != "" {
		t.Error(diff)
	}
}

// A host that answers nothing has an empty fingerprint, not an invented one.
func TestNothingIsInvented(t *testing.T) {
	c := fake(nil, fakeDriver{})
	if got := c.collect("10.9.9.9:1"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	c.driver = func(string) (map[string]string, map[string]bool) { return nil, nil }
	want := map[string]string{"nic.name": "eth0", "nic.mtu": "1500", "nic.segment": "1448"}
	if diff := cmp.Diff(want, c.collect("10.0.0.4")); diff != "" {
		t.Error(diff)
	}
	down := fake(map[string]string{"sys/class/net/eth0/speed": "-1\n"}, fakeDriver{})
	if got := down.collect("10.0.0.4"); got["nic.speed_mbps"] != "" {
		t.Errorf("a link without a speed has %s", got["nic.speed_mbps"])
	}
}

func TestInterfaceOfAnAddress(t *testing.T) {
	for addr, want := range map[string]string{
		"10.0.0.4": "eth0", "10.0.0.4:99": "eth0", "[fd00::4]:99": "eth1", "fd00::4": "eth1", "[fe80::1%eth1]:5": "eth1",
		"127.0.0.1:1": "lo", "127.0.0.77:1": "lo", "[::1]:1": "lo", "::ffff:10.0.0.4": "eth0",
		"0.0.0.0:1": "", "[::]:1": "", ":1": "", "": "", "10.0.0.5:1": "", "node3:1": "", "[fe80::1%eth7]:5": "",
	} {
		if got := fake(nil, fakeDriver{}).collect(addr)["nic.name"]; got != want {
			t.Errorf("%q is on %q, want %q", addr, got, want)
		}
	}
}

func TestVirtualisation(t *testing.T) {
	const metal, guest = "flags: fpu vme\n", "flags: fpu hypervisor\n"
	for _, c := range []struct{ cpu, vendor, product, want string }{
		{metal, "Dell Inc.", "PowerEdge", "none"},
		{guest, "QEMU", "Standard PC", "qemu"},
		{guest, "QEMU", "KVM", "kvm"},
		{guest, "Microsoft Corporation", "Virtual Machine", "microsoft"},
		{guest, "Amazon EC2", "m5.large", "amazon"},
		{metal, "Amazon EC2", "m5.metal", "none"},
		{guest, "Acme", "Cloud", "other"},
		{guest, "", "", "other"},
		{"", "QEMU", "", "qemu"}, // a CPU without flags, as arm64 has
		{"", "Acme", "", ""},
	} {
		env := fake(map[string]string{
			"proc/cpuinfo": c.cpu, "sys/class/dmi/id/sys_vendor": c.vendor, "sys/class/dmi/id/product_name": c.product,
		}, fakeDriver{}).collect("")
		if env["virt"] != c.want {
			t.Errorf("%q %q on %q: %q, want %q", c.vendor, c.product, c.cpu, env["virt"], c.want)
		}
	}
}

// This host answers: keys have values, and the interface of the loopback address is one.
func TestCollectHere(t *testing.T) {
	env, _ := Collect("127.0.0.1:80")
	for _, k := range []string{"os", "arch", "cpu.cores", "calib.version", "nic.name", "nic.mtu"} {
		if env[k] == "" {
			t.Errorf("no %s in %v", k, env)
		}
	}
	for k, v := range env {
		if v == "" || v != strings.TrimSpace(v) {
			t.Errorf("%s is %q", k, v)
		}
	}
}

func TestBuildHashIsThatOfThisExecutable(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := files.SHA256(exe)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := BuildHash(); err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if _, _, err := files.SHA256("/no/such/file"); err == nil {
		t.Error("hash of a file that is not there")
	}
}

func FuzzCPUInfo(f *testing.F) {
	f.Add("model name\t: x\nflags : hypervisor\n", "QEMU")
	f.Fuzz(func(t *testing.T, cpuinfo, vendor string) {
		env := fake(map[string]string{"proc/cpuinfo": cpuinfo, "sys/class/dmi/id/sys_vendor": vendor},
			fakeDriver{}).collect("")
		for v := range maps.Values(env) {
			if v == "" || strings.ContainsAny(v, "\n\t") {
				t.Errorf("value %q", v)
			}
		}
	})
}

// A segment is what a packet of the interface holds without its headers: jumbo frames, IPv6, overlays, the loopback.
func TestSegment(t *testing.T) {
	for _, c := range []struct {
		mtu        int
		six, times bool
		want       int
	}{
		{1500, false, true, 1448}, {1500, false, false, 1460}, {1500, true, true, 1428}, {1450, false, true, 1398},
		{9000, false, true, 8948}, {65536, false, true, 65483},
	} {
		if got := segment(c.mtu, c.six, c.times); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	if got := fake(nil, fakeDriver{}).collect("[fd00::4]:99")["nic.segment"]; got != "8928" {
		t.Errorf("an IPv6 address on jumbo frames: %s", got)
	}
}
