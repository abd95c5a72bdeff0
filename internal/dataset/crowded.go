package dataset

import "slices"

// ByCPU lists hosts by the machine and the CPU of their timing threads, where both are known.
func ByCPU(hosts []Host) map[[2]string][]int {
	out := map[[2]string][]int{}
	for i, h := range hosts {
		if h.Boot != "" && h.CPU != "" {
			at := [2]string{h.Boot, h.CPU}
			out[at] = append(out[at], i)
		}
	}
	return out
}

// emulated says that a program carries the host's packets, from one TUN device to another, as in calib lab: that
// program is the network, and not the CPUs.
func (h Host) emulated() bool { return h.Env["nic.driver"] == "tun" }

// Machine identifies the host's machine; "" where nobody knows, and where the network is emulated.
func (h Host) Machine() string {
	if h.emulated() {
		return ""
	}
	return h.Boot
}

// Crowded says which two hosts have their timing threads on one CPU, and so run by turns: a message between them takes
// another time than between others. It is nil where no two hosts have one, where all have one and the same, and where
// the network is emulated.
func Crowded(hosts []Host) func(a, b int) bool {
	group := map[int]int{} // of hosts that share a CPU, by one of them
	for _, sharing := range ByCPU(hosts) {
		if len(sharing) == len(hosts) {
			return nil
		}
		for _, i := range sharing {
			if len(sharing) > 1 {
				group[i] = 1 + sharing[0]
			}
		}
	}
	if len(group) == 0 || slices.ContainsFunc(hosts, Host.emulated) {
		return nil
	}
	return func(a, b int) bool { return group[a] != 0 && group[a] == group[b] }
}

// CrowdedTeam reports whether a team of two is on one CPU, as crowded says.
func CrowdedTeam(crowded func(a, b int) bool, team []int) bool {
	return crowded != nil && len(team) == 2 && crowded(team[0], team[1])
}
