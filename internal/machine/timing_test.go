package machine

import (
	"strings"
	"testing"
)

// The timing thread is near the interface, beside its interrupts, and on CPU 0 only where nothing else is left.
func TestTiming(t *testing.T) {
	c := fake(map[string]string{
		"sys/devices/system/node/node1/cpulist":           "4-7\n",
		"sys/class/net/eth0/device/msi_irqs/31":           "msix\n",
		"sys/class/net/eth0/device/msi_irqs/32":           "msix\n",
		"proc/irq/31/effective_affinity_list":             "4\n",
		"proc/irq/32/effective_affinity_list":             "6-7\n",
		"proc/irq/33/effective_affinity_list":             "5\n",
		"sys/class/net/eth1/device/msi_irqs/not-a-number": "msix\n",
	}, fakeDriver{})
	for _, k := range []struct {
		name    string
		env     map[string]string
		allowed []int
		want    string
	}{
		{"a far node last", map[string]string{"nic.name": "eth0", "nic.numa_node": "1"}, []int{0, 1, 4, 5, 6}, "5 4 6 1 0"},
		{"no node", map[string]string{"nic.name": "eth0"}, []int{0, 4, 5}, "5 0 4"},
		{"nothing known", map[string]string{}, []int{0, 1, 2}, "1 2 0"},
		{"one CPU", map[string]string{"nic.name": "eth1"}, []int{0}, "0"},
	} {
		if got := strings.Join(c.timing(k.env, k.allowed), " "); got != k.want {
			t.Errorf("%s: %q, want %q", k.name, got, k.want)
		}
	}
}
