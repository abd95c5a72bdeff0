package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"calib/fit/params"
)

// Text writes the whole report as plain text.
func Text(w io.Writer, p *params.Params, o Options) error {
	pg := newPage(o)
	pg.verdict(p)
	pg.heading("Parameters")
	pg.parameters(p)
	pg.unidentifiable(p)
	pg.sources(p)
	pg.warnings(p)
	pg.findings(p)
	pg.functions(p)
	pg.pairs(p)
	pg.validation(p)
	pg.quality(p)
	pg.residuals(p)
	pg.environment(p)
	if pg.Dir != "" {
		pg.heading("Files and next steps")
		pg.whereAndNext(p)
	}
	_, err := w.Write(pg.Bytes())
	return err
}

// environment writes what the hosts share and where they differ: hosts that differ are the first suspects.
func (p *page) environment(ps *params.Params) {
	e := ps.Environment
	if len(e.Common) == 0 && len(e.Differences) == 0 {
		return
	}
	p.heading("Environment")
	part := EnvironmentOf(ps)
	p.line(2, "%s", part.Says)
	if len(part.Differs.Rows) > 0 {
		p.line(2, "%s", p.paint(yellow, "The hosts differ in:"))
		p.write(grid{Grid: part.Differs, wrap: true})
		p.WriteByte('\n')
	}
	p.write(grid{Grid: part.Common, wrap: true})
}

type valueHosts struct {
	value string
	hosts []string
}

// byValue turns host → value around, the commonest value first; hosts that reported none come last.
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

// hostsShown bounds a list of hosts in a sentence.
const hostsShown = 12

func hostList(hosts []string) string {
	if len(hosts) <= hostsShown {
		return Clean(strings.Join(hosts, ", "))
	}
	return Clean(strings.Join(hosts[:hostsShown], ", ")) + fmt.Sprintf(" and %d more", len(hosts)-hostsShown)
}
