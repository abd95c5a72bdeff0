package machine

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"calib/internal/units"
)

// timing sets which of the allowed CPUs a thread that times should have, the best first: those of the interface's NUMA
// node; of these, those that take none of its interrupts; and CPU 0 last, where Linux puts what has no place of its own.
func (c collector) timing(env map[string]string, allowed []int) {
	near := c.cpus("sys/devices/system/node/node" + env["nic.numa_node"] + "/cpulist")
	irqs, _ := fs.Glob(c.root, "sys/class/net/"+env["nic.name"]+"/device/msi_irqs/*") // the pattern is good
	var busy []int
	for _, irq := range irqs {
		busy = append(busy, c.cpus("proc/irq/"+path.Base(irq)+"/effective_affinity_list")...)
	}
	order := slices.Clone(allowed)
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(first(slices.Contains(near, a), slices.Contains(near, b)),
			first(!slices.Contains(busy, a), !slices.Contains(busy, b)), first(a != 0, b != 0))
	})
	env[nowPrefix+NowCPUs] = strings.Trim(fmt.Sprint(order), "[]")
}

// first compares so that what is true comes first.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// cpus reads a file that lists CPUs; none where there is no such file.
func (c collector) cpus(file string) []int {
	list, _ := units.ParseSet(c.read(file), maxCPU)
	return list
}

// maxCPU is the largest number of a CPU that Linux may be built for.
const maxCPU = 8191
