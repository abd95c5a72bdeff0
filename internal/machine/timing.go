package machine

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"calib/internal/lists"
	"calib/internal/units"
)

// timing is which of the allowed CPUs a thread that times should have, the best first: those of the interface's NUMA
// node; of these, those that take none of its interrupts; and CPU 0 last, where Linux puts what has no place of its
// own.
func (c collector) timing(env map[string]string, allowed []int) []string {
	near := c.cpus("sys/devices/system/node/node" + env["nic.numa_node"] + "/cpulist")
	irqs, _ := fs.Glob(c.root, "sys/class/net/"+env["nic.name"]+"/device/msi_irqs/*") // the pattern is good
	busy := lists.Flat(irqs, func(irq string) []int {
		return c.cpus("proc/irq/" + path.Base(irq) + "/effective_affinity_list")
	})
	rank := func(cpu int) (n int) {
		for i, worse := range []bool{cpu == 0, slices.Contains(busy, cpu), !slices.Contains(near, cpu)} {
			if worse {
				n += 1 << i
			}
		}
		return n
	}
	order := slices.Clone(allowed)
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	return strings.Fields(strings.Trim(fmt.Sprint(order), "[]"))
}

// cpus reads a file that lists CPUs; none where there is no such file.
func (c collector) cpus(file string) []int {
	list, _ := units.ParseSet(c.read(file))
	return list
}
