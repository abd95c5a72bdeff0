package machine

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// Received implements plane.Machine by the kernel's counts of receive softirqs.
func (m *Machine) Received() []int64 {
	text, err := os.ReadFile("/proc/softirqs")
	if err != nil {
		return nil
	}
	return receiveSoftirqs(string(text), m.cpus)
}

// receiveSoftirqs reads the line NET_RX of /proc/softirqs for some processors, 0 for one that is not listed; nil
// without the line. The first line of the file names the processors that are on line.
func receiveSoftirqs(text string, cpus []int) []int64 {
	head, rest, _ := strings.Cut(text, "\n")
	columns := strings.Fields(head)
	for line := range strings.Lines(rest) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "NET_RX:" {
			continue
		}
		out := make([]int64, len(cpus))
		for i, cpu := range cpus {
			k := slices.Index(columns, "CPU"+strconv.Itoa(cpu))
			if k < 0 || k+1 >= len(f) {
				continue
			}
			out[i], _ = strconv.ParseInt(f[k+1], 10, 64) // what is no number counts as 0
		}
		return out
	}
	return nil
}
