package params

import "strings"

// Renamed is today's name of what was L(m,p) or L.l0 in older, when L_cluster had the name of LogGP's L.
func Renamed(name string) string {
	if name == "L(m,p)" || strings.HasPrefix(name, "L.") {
		return strings.TrimSuffix("L_cluster"+name[1:], "(m,p)")
	}
	return name
}

// renew gives what an older file holds the names of today.
func (p *Params) renew() {
	if f, ok := p.Functions["L"]; ok {
		p.Functions["L_cluster"] = f
		delete(p.Functions, "L")
	}
	for _, c := range p.Correlations {
		for i, name := range c.Names {
			c.Names[i] = Renamed(name)
		}
	}
}
