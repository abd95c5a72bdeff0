package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"calib/internal/lists"
)

// fact is one in which the hosts of a cluster should agree. mend has the interface for %[1]s and the usual value for
// %[2]s.
type fact struct {
	key, what string
	severity  string
	mend      string
}

var facts = []fact{
	{"nic.speed_mbps", "the speed of the interface [Mbit/s]", Disturbs,
		"ethtool %[1]s; ethtool -s %[1]s autoneg on; another cable or port"},
	{"nic.mtu", "the MTU of the interface", Disturbs, "ip link set dev %[1]s mtu %[2]s"},
	{"nic.driver", "the driver of the interface", Notes, "ethtool -i %[1]s"},
	{"nic.firmware", "the firmware of the interface", Notes, "ethtool -i %[1]s; the vendor's tool installs %[2]s"},
	{"nic.tso", "TCP segmentation by the interface", Notes, "ethtool -K %[1]s tso %[2]s"},
	{"nic.gso", "segmentation below TCP", Notes, "ethtool -K %[1]s gso %[2]s"},
	{"nic.gro", "joining of received packets", Notes, "ethtool -K %[1]s gro %[2]s"},
	{"nic.lro", "joining of packets by the interface", Notes, "ethtool -K %[1]s lro %[2]s"},
	{"nic.coalesce.adaptive_rx", "adaptive coalescing", Notes, "ethtool -C %[1]s adaptive-rx off"},
	{"nic.ring.rx", "the receive ring", Notes, "ethtool -G %[1]s rx %[2]s"},
	{"kernel", "the kernel", Notes, "uname -r; the same kernel everywhere: %[2]s"},
	{"cpu.model", "the CPU", Notes, "lscpu; hosts that differ are measured as they are, and named as slow where they are"},
	{"cpu.governor", "the frequency governor", Notes, "cpupower frequency-set -g %[2]s"},
	{"clocksource", "the clock source", Notes,
		"echo %[2]s > /sys/devices/system/clocksource/clocksource0/current_clocksource"},
	{"tcp.congestion", "the congestion control", Disturbs,
		"sysctl -w net.ipv4.tcp_congestion_control=%[2]s, or calib run --hosts hosts.txt --congestion %[2]s"},
	{"tcp.rmem", "the receive buffers", Notes, `sysctl -w net.ipv4.tcp_rmem="%[2]s"`},
	{"tcp.wmem", "the send buffers", Notes, `sysctl -w net.ipv4.tcp_wmem="%[2]s"`},
	{"core.default_qdisc", "the queueing discipline", Notes,
		"sysctl -w net.core.default_qdisc=%[2]s, and a new start of the interface"},
	{"calib.version", "the version of calib", Notes, "give the hosts without calib:// and calib copies itself there"},
}

// differences are the facts in which hosts differ from most of the others.
func differences(f Facts) []Finding {
	var out []Finding
	for _, k := range facts {
		by := map[string][]Host{}
		known := 0
		for _, h := range f.Hosts {
			if v := h.Env[k.key]; v != "" && h.Lost == "" {
				by[v] = append(by[v], h)
				known++
			}
		}
		if len(by) < 2 {
			continue
		}
		usual := slices.MaxFunc(slices.Sorted(maps.Keys(by)), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(by[a]), len(by[b])), -cmp.Compare(a, b))
		})
		for _, v := range slices.Sorted(maps.Keys(by)) {
			if v == usual {
				continue
			}
			for _, h := range by[v] {
				fill := strings.NewReplacer("%[1]s", orNIC(h.Env["nic.name"]), "%[2]s", word(usual, "VALUE"))
				out = append(out, Finding{k.severity, "differs-" + k.key, []string{h.Name},
					fmt.Sprintf("%s: %s, on %d of %d hosts %s", k.what, v, len(by[usual]), known, usual), fill.Replace(k.mend)})
			}
		}
	}
	return out
}

// together are hosts that share a machine: each takes the other's CPUs.
func together(f Facts) []Finding {
	by := map[string][]string{}
	for _, h := range f.Hosts {
		if h.Boot != "" && h.Lost == "" {
			by[h.Boot] = append(by[h.Boot], h.Name)
		}
	}
	var out []Finding
	for _, names := range lists.ByKey(by) {
		if len(names) > 1 {
			out = append(out, Finding{Notes, "one-machine", names, "they share one machine: a_c and b_c are of its " +
				"CPUs, not of a network",
				"one line a machine in the hosts file, for a network; as it is, for trying calib"})
		}
	}
	return out
}
