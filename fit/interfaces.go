package fit

import (
	"slices"
	"strconv"
	"strings"

	"calib/internal/dataset"
	"calib/internal/units"
	"calib/params"
)

// interfaces says what the settings of the hosts' network interfaces do to the parameters, from the hosts'
// fingerprints: interrupt coalescing, and the NUMA node of the interface beside that of the CPU the timing thread is
// pinned to. Hosts that agree share a finding. A fact that is not known gives none.
func interfaces(hosts []dataset.Host) []params.Finding {
	var out []params.Finding
	for _, about := range []func(dataset.Host) (params.Finding, bool){coalescing, node} {
		var mine []params.Finding
		for _, h := range hosts {
			f, ok := about(h)
			if !ok {
				continue
			}
			i := slices.IndexFunc(mine, func(o params.Finding) bool { return o.Message == f.Message })
			if i < 0 {
				mine = append(mine, f.About(h.Name))
			} else {
				mine[i].Hosts = append(mine[i].Hosts, h.Name)
			}
		}
		out = append(out, mine...)
	}
	return out
}

// coalescing says how long the interface may hold a packet back before its interrupt.
func coalescing(h dataset.Host) (params.Finding, bool) {
	usecs, err := strconv.ParseFloat(h.Env["nic.coalesce.rx_usecs"], 64)
	if err != nil {
		return params.Finding{}, false
	}
	switch {
	case h.Env["nic.coalesce.adaptive_rx"] == "1":
		return params.Warnf("interrupt-coalescing", "the interface chooses its interrupt coalescing by the load "+
			"(adaptive-rx, rx-usecs %g now): single messages (alpha, a, L, L_cluster) and streams (b, g, G) were measured "+
			"under different settings; ethtool -C adaptive-rx off fixes it", usecs).With("wait", usecs*1e-6), true
	case usecs > 0:
		return params.Warnf("interrupt-coalescing", "the interface holds an arriving packet back for up to %g µs "+
			"(rx-usecs): alpha, a, L and L_cluster hold that, and shorter intervals in g, g_s and g_r are not the network's; "+
			"ethtool -C rx-usecs 0 ends it", usecs).
			With("wait", usecs*1e-6), true
	}
	return params.Finding{}, false
}

// node compares the NUMA node of the interface with that of the CPUs the agent is pinned to.
func node(h dataset.Host) (params.Finding, bool) {
	of, nodes := h.Env["nic.numa_node"], strings.Fields(h.Env["numa.cpus"])
	if of == "" || len(nodes) == 0 {
		return params.Finding{}, false
	}
	if h.CPU == "" {
		return params.Notef("numa-node", "the interface is on NUMA node %s, and the agent may run on any: what a "+
			"message costs the host (alpha, a, O_s, O_r) may change by some tenths of a microsecond with where it runs; "+
			"without cpu=none in the hosts file it is pinned", of), true
	}
	for _, n := range nodes {
		name, list, _ := strings.Cut(n, ":")
		cpus, _ := units.ParseSet(list)
		if c, err := strconv.Atoi(h.CPU); err == nil && name != of && slices.Contains(cpus, c) {
			return params.Warnf("numa-node", "the agent is pinned to CPU %d on NUMA node %s, the interface is on "+
				"node %s: every message crosses between them, which costs some tenths of a microsecond in alpha, a, "+
				"O_s and O_r, and bandwidth in b", c, name, of), true
		}
	}
	return params.Finding{}, false
}
