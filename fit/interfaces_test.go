package fit

import (
	"strings"
	"testing"

	"calib/internal/dataset"
	"calib/params"
)

func TestInterfaceFindings(t *testing.T) {
	for _, c := range []struct {
		name, cpu string
		env       map[string]string
		code      params.Code // "" is none
		level     params.Level
		says      string
	}{
		{"nothing known", "", nil, "", "", ""},
		{"no coalescing", "", map[string]string{"nic.coalesce.rx_usecs": "0", "nic.coalesce.adaptive_rx": "0"}, "", "", ""},
		{"fixed", "", map[string]string{"nic.coalesce.rx_usecs": "50", "nic.coalesce.adaptive_rx": "0"},
			"interrupt-coalescing", params.Warning, "up to 50 µs"},
		{"adaptive", "", map[string]string{"nic.coalesce.rx_usecs": "8", "nic.coalesce.adaptive_rx": "1"},
			"interrupt-coalescing", params.Warning, "by the load"},
		{"far node", "17", map[string]string{"nic.numa_node": "0", "numa.cpus": "0:0-15 1:16-31"}, "numa-node",
			params.Warning, "CPU 17 on NUMA node 1, the interface is on node 0"},
		{"near node", "3", map[string]string{"nic.numa_node": "0", "numa.cpus": "0:0-15 1:16-31"}, "", "", ""},
		{"any node", "", map[string]string{"nic.numa_node": "0", "numa.cpus": "0:0-15 1:16-31"}, "numa-node", params.Note,
			"may run on any"},
	} {
		got := interfaces([]dataset.Host{{Name: "a", CPU: c.cpu, Env: c.env}, {Name: "b", CPU: c.cpu, Env: c.env}})
		if c.code == "" {
			if len(got) != 0 {
				t.Errorf("%s: %v", c.name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Code != c.code || got[0].Level != c.level || !strings.Contains(got[0].Message, c.says) ||
			len(got[0].Hosts) != 2 {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
