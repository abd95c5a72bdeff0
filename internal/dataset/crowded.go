package dataset

// Crowded says which two hosts have their timing threads on one CPU, and so run by turns: a message between them takes
// another time than between others. It is nil where no two hosts have one, where all have one and the same, and where a
// program carries the packets, from one TUN device to another, as in calib lab: the network is then what takes time.
func Crowded(hosts []Host) func(a, b int) bool {
	at := func(i int) [2]string { return [2]string{hosts[i].Boot, hosts[i].CPU} }
	shared, apart := false, false
	for i, h := range hosts {
		if h.Env["nic.driver"] == "tun" {
			return nil
		}
		for k := range i {
			if same := h.Boot != "" && h.CPU != "" && at(i) == at(k); same {
				shared = true
			} else {
				apart = true
			}
		}
	}
	if !shared || !apart {
		return nil
	}
	return func(a, b int) bool { return hosts[a].Boot != "" && hosts[a].CPU != "" && at(a) == at(b) }
}

// CrowdedTeam reports whether a team of two is on one CPU, as crowded says.
func CrowdedTeam(crowded func(a, b int) bool, team []int) bool {
	return crowded != nil && len(team) == 2 && crowded(team[0], team[1])
}
