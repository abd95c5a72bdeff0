package export

import (
	"fmt"

	"calib/internal/hosts"
	"calib/internal/lists"
)

// writeSlurm writes topology.conf of Slurm's plugin topology/tree (topology.conf(5)): a leaf switch for each group of
// hosts, and one above them. Hosts of no group are on none, which Slurm allows.
func writeSlurm(in *input) []byte {
	g := in.Params.Groups
	if g == nil {
		in.failf("groups of hosts: %w: the run found none. With one switch Slurm needs no topology.conf. If there are "+
			"racks, measure longer: %s --budget 10m", ErrMissing, in.Params.Command("run"))
		return nil
	}
	var lines []string
	for i, names := range g.Hosts {
		lines = append(lines, fmt.Sprintf("SwitchName=group%d Nodes=%s", i+1, hosts.Fold(lists.Map(names, plainName))))
	}
	lines = append(lines, fmt.Sprintf("SwitchName=core Switches=group[1-%d]", len(g.Hosts)))
	return in.render("slurm", map[string]any{"lines": lines})
}
