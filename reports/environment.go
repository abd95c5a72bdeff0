package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"calib/internal/params"
	"calib/internal/units"
)

// EnvironmentPart is what the hosts share and where they differ.
type EnvironmentPart struct {
	Says    string
	Differs Grid // no rows where the hosts do not differ
	Common  Grid
}

// EnvironmentOf returns the fingerprint of the hosts.
func EnvironmentOf(p *params.Params) EnvironmentPart {
	e := p.Environment
	part := EnvironmentPart{
		Says: fmt.Sprintf("calib %s on %s: %s.", Clean(strings.Join(p.Run.Versions, ", ")), units.GroupedPlural(len(p.Run.Hosts), "host"),
			hostList(p.Run.Hosts)),
		Differs: newGrid(Column{"fact", KindText}, Column{"value", KindText}, Column{"on", KindWords}),
		Common:  newGrid(Column{"fact", KindText}, Column{"on every host", KindWords}),
	}
	for _, fact := range slices.Sorted(maps.Keys(e.Differences)) {
		values := byValue(e.Differences[fact], p.Run.Hosts)
		for i, v := range values[:min(len(values), valuesShown)] {
			name := ""
			if i == 0 {
				name = Clean(fact)
			}
			part.Differs.add(name, Clean(v.value), hostList(v.hosts))
		}
		if n := len(values) - valuesShown; n > 0 {
			part.Differs.add("", fmt.Sprintf("and %s", units.GroupedPlural(n, "more value")), "")
		}
	}
	for _, fact := range slices.Sorted(maps.Keys(e.Common)) {
		part.Common.add(Clean(fact), Clean(e.Common[fact]))
	}
	return part
}

type valueHosts struct {
	value string
	hosts []string
}

// byValue lists the hosts of each value, of host → value. The commonest value comes first, hosts without one last.
func byValue(by map[string]string, hosts []string) []valueHosts {
	groups := map[string][]string{}
	var silent []string
	for _, h := range hosts {
		if v, ok := by[h]; ok {
			groups[v] = append(groups[v], h)
		} else {
			silent = append(silent, h)
		}
	}
	out := make([]valueHosts, 0, len(groups)+1)
	for v, hs := range groups {
		out = append(out, valueHosts{v, hs})
	}
	slices.SortFunc(out, func(a, b valueHosts) int {
		return cmp.Or(cmp.Compare(len(b.hosts), len(a.hosts)), cmp.Compare(a.value, b.value))
	})
	if len(silent) > 0 {
		out = append(out, valueHosts{"not reported", silent})
	}
	return out
}

// hostsShown bounds a list of hosts that are named one by one, valuesShown the values of one fact: some facts differ on
// every host.
const (
	hostsShown  = 12
	valuesShown = 12
)

func hostList(hosts []string) string {
	if len(hosts) <= hostsShown {
		return Clean(strings.Join(hosts, ", "))
	}
	return namesOf(hosts)
}

// environment writes what the hosts share and where they differ.
func (p *page) environment(ps *params.Params) {
	if e := ps.Environment; len(e.Common) == 0 && len(e.Differences) == 0 {
		return
	}
	p.heading("Environment")
	part := EnvironmentOf(ps)
	p.line(2, "%s", part.Says)
	if len(part.Differs.Rows) > 0 {
		p.line(2, "%s", p.paint(yellow, "The hosts differ in:"))
		p.write(part.Differs)
		p.WriteByte('\n')
	}
	p.write(part.Common)
}
