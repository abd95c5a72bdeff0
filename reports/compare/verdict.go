package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

func (v *Verdict) conclude() {
	v.Findings, v.Network, v.Hosts, v.Links = []Finding{}, []Change{}, []Change{}, []Change{}
	v.Tested, v.More = Tested{}, nil
	for _, kind := range []string{Regression, Inconclusive, Improvement, Changed} {
		v.Findings = append(v.Findings, v.find(kind)...)
		if kind == Regression && len(v.Dead) > 0 {
			v.Findings = append(v.Findings, ofNetwork(kind, "network: cannot be measured any more: "+namesOf(v.Dead)))
		}
		if kind == Inconclusive && len(v.Lost) > 0 {
			v.Findings = append(v.Findings, ofNetwork(NoLongerOK,
				"network: no longer ok: "+firstThree(v.Lost, "%d more", Lost.String)))
		}
	}
	for _, c := range v.changes {
		switch c.Scope {
		case ScopeNetwork:
			v.Tested.Network++
			v.Network = append(v.Network, c)
		case ScopeHost:
			v.Tested.Hosts++
			v.Hosts = append(v.Hosts, c)
		default:
			v.Tested.Links++
			if c.State != OK && (c.State != Inconclusive || c.large) {
				v.Links = append(v.Links, c)
			}
		}
		if c.State == Inconclusive && c.needs != (More{}) {
			if v.More == nil {
				v.More = &More{}
			}
			v.More.Old, v.More.New = max(v.More.Old, c.needs.Old), max(v.More.New, c.needs.New)
		}
	}
	v.decide()
}

// decide sets the outcome: sides that differ in what was measured are not comparable whatever was found, and a
// regression counts more than what is inconclusive. Of a parameter that is not ok any more nobody knows whether it
// became worse.
func (v *Verdict) decide() {
	v.Outcome, v.Why = OK, []string{}
	for _, f := range v.Findings {
		switch {
		case f.Kind == Regression:
			v.Outcome, v.Why = Regression, append(v.Why, f.Text)
		case (f.Kind == Inconclusive || f.Kind == NoLongerOK && !v.allowsLost) && v.Outcome != Regression:
			v.Outcome, v.Why = Inconclusive, append(v.Why, f.Text)
		}
	}
	if v.Outcome == Inconclusive && v.More != nil {
		v.Why = append(v.Why, "needed: "+v.More.String())
	}
	if v.gate && v.Outcome == OK && !slices.ContainsFunc(v.changes, func(c Change) bool { return c.judged }) {
		v.Outcome = Inconclusive
		v.Why = []string{"nothing decides: of " + decisive + " none is good in nine of ten runs of both sides"}
	}
	if len(v.changes) == 0 && len(v.Dead) == 0 {
		v.Outcome, v.Why = NotComparable, []string{"the runs have no quantity in common"}
	}
	if len(v.apart) > 0 {
		v.Outcome, v.Why = NotComparable, slices.Concat(v.apart, v.Why)
	}
}

// String is "3 more old runs and 2 more new runs".
func (m More) String() string {
	if m.Old > 0 && m.Old == m.New {
		return units.Plural(m.Old, "more run") + " on each side"
	}
	var sides []string
	if m.Old > 0 {
		sides = append(sides, units.Plural(m.Old, "more old run"))
	}
	if m.New > 0 {
		sides = append(sides, units.Plural(m.New, "more new run"))
	}
	return strings.Join(sides, " and ")
}

func ofNetwork(kind, text string) Finding {
	return Finding{Kind: kind, Scope: ScopeNetwork, Subject: ScopeNetwork, Text: text, Changes: []Change{}}
}

// find groups the changes of one kind into findings: each host, each link that no host explains, and the network. Where
// most links changed, they are one finding of the network. Quantities that only too few runs leave open are one finding
// together.
func (v *Verdict) find(kind string) (out []Finding) {
	by := map[string][]Change{}
	var links []string
	open := 0
	for _, c := range v.changes {
		s := c.Subject()
		switch {
		case c.State != kind:
			continue
		case kind == Inconclusive && !c.large:
			open++
			continue
		case c.Scope == ScopeLink && by[s] == nil:
			links = append(links, s)
		}
		by[s] = append(by[s], c)
	}
	if len(links) > 1 && 2*len(links) > len(v.moved) {
		for _, l := range links {
			by[ScopeNetwork] = append(by[ScopeNetwork], by[l]...)
			delete(by, l)
		}
	}
	for subject, changes := range by {
		out = append(out, v.finding(kind, subject, changes))
	}
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Subject, b.Subject))
	})
	out = attachNetwork(out)
	if open > 0 {
		f := ofNetwork(kind, "")
		f.Undecided = open
		f.Text = f.text()
		out = append(out, f)
	}
	return out
}

// attachNetwork moves the parameters of the network to the finding of the worst host or link, where the links that no
// host explains did not change: the cause is most likely the same.
func attachNetwork(all []Finding) []Finding {
	i := slices.IndexFunc(all, func(f Finding) bool { return f.Scope == ScopeNetwork })
	if i < 0 || len(all) < 2 || slices.ContainsFunc(all[i].Changes, ofLinks) {
		return all
	}
	along := all[i].Changes
	all = slices.Delete(all, i, i+1)
	all[0].Along = along
	all[0].Text += fmt.Sprintf("; %s of the network changed with it", units.Plural(len(along), "parameter"))
	return all
}

func ofLinks(c Change) bool { return c.Scope != ScopeNetwork || strings.HasPrefix(c.Name, linksPrefix) }

func (v *Verdict) finding(kind, subject string, changes []Change) Finding {
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.severity(), a.severity()), cmp.Compare(a.id(), b.id()))
	})
	f := Finding{Kind: kind, Subject: subject, Scope: changes[0].Scope, Severity: changes[0].severity(), Changes: changes}
	if subject == ScopeNetwork {
		f.Scope = ScopeNetwork
	}
	if f.Scope != ScopeLink {
		f.Links, f.OfLinks = v.count(f)
	}
	f.Text = f.text()
	return f
}

func (c Change) severity() float64 {
	if c.Ratio == nil {
		return 0
	}
	return math.Abs(math.Log(*c.Ratio))
}

// count returns how many links of the finding's host, or of all, moved in the direction of the finding.
func (v *Verdict) count(f Finding) (moved, of int) {
	if !slices.ContainsFunc(f.Changes, ofLinks) {
		return 0, 0
	}
	host := f.Subject
	if f.Scope == ScopeNetwork {
		host = ""
	}
	for l, kinds := range v.moved {
		if host != "" && l[0] != host && l[1] != host {
			continue
		}
		of++
		if slices.Contains(kinds, f.Kind) {
			moved++
		}
	}
	return moved, of
}

// moves returns, for each link, the kinds of finding that its metrics would be by the relative threshold alone.
func (t *table) moves(o Options) map[[2]string][]string {
	out := map[[2]string][]string{}
	for _, l := range t.links {
		k := [2]string{l.From, l.To}
		was, is := stats.Median(known(l.raw[:t.old])), stats.Median(known(l.raw[t.old:]))
		d := (is - was) / was
		switch {
		case math.Abs(d) <= o.Relative:
			out[k] = append(out[k], OK)
		case l.Better == params.BetterNeither:
			out[k] = append(out[k], Changed)
		case (d > 0) == (l.Better == params.BetterLower):
			out[k] = append(out[k], Regression, Inconclusive)
		default:
			out[k] = append(out[k], Improvement)
		}
	}
	return out
}
