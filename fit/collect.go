package fit

import (
	"fmt"
	"slices"
	"sort"

	"calib/fit/params"
	"calib/internal/dataset"
)

// Collect makes a params.json of the fits of one dataset. The first fit to name a parameter or function owns the plain
// name; a later one of the same name is stored as "model.name".
func Collect(p *Prepared, fits []*params.Fit) *params.Params {
	out := &params.Params{
		Schema:      params.Schema,
		Run:         runOf(p.Data),
		Environment: environmentOf(p.Data.Header.Hosts),
		Parameters:  map[string]params.Parameter{},
		Functions:   map[string]params.Function{},
		Fits:        []*params.Fit{},
		Validation:  []params.Validation{},
		Pairs:       []params.Pair{},
	}
	if len(out.Run.Versions) > 1 {
		out.Findings = append(out.Findings, params.Warnf(params.MixedVersions, "the agents are of different versions: %q", out.Run.Versions))
	}
	out.Findings = append(out.Findings, interfaces(p.Data.Header.Hosts)...)
	out.Findings = append(out.Findings, p.Slow().Findings...)
	if f, shared := p.oneMachine(); shared {
		out.Findings = append(out.Findings, f)
	}
	for _, f := range fits {
		out.Fits = append(out.Fits, f)
		out.Pairs = append(out.Pairs, f.Pairs...)
		if f.Network != nil {
			out.Network = f.Network
		}
		addNamed(out.Parameters, f.Parameters, f.Model)
		addNamed(out.Functions, f.Functions, f.Model)
	}
	p.addLoss(out)
	out.Run.Missing = p.settings.Missing
	return out
}

// oneMachine says which hosts share a machine, where some do.
func (p *Prepared) oneMachine() (f params.Finding, shared bool) {
	hosts := p.Data.Header.Hosts
	on := map[string]int{}
	most := 0
	for _, h := range hosts {
		if h.Boot != "" {
			on[h.Boot]++
			most = max(most, on[h.Boot])
		}
	}
	if most < 2 || p.InLab() {
		return f, false
	}
	return params.Notef(params.OneMachine, "%d of %d hosts share one machine: a_c and b_c are contention for its CPUs", most, len(hosts)).With("hosts", float64(most)), true
}

func addNamed[T any](to, from map[string]T, model string) {
	for name, v := range from {
		if _, taken := to[name]; taken {
			name = model + "." + name
		}
		to[name] = v
	}
}

func runOf(d *dataset.Dataset) params.Run {
	r := params.Run{ID: d.Header.Run, Seed: d.Header.Seed, Plan: d.Header.Plan, Hosts: []string{}, Versions: []string{}}
	versions := map[string]bool{}
	for _, h := range d.Header.Hosts {
		r.Hosts = append(r.Hosts, h.Name)
		if h.Version != "" && !versions[h.Version] {
			versions[h.Version] = true
			r.Versions = append(r.Versions, h.Version)
		}
	}
	sort.Strings(r.Versions)
	rounds := map[int]bool{}
	for i := range d.Samples {
		rounds[d.Samples[i].Round] = true
		r.Timings += len(d.Samples[i].NS)
	}
	r.Rounds, r.Batches = len(rounds), len(d.Samples)
	r.Sampled = sampledOf(d)
	return r
}

// sampledOf counts by experiment the rounds, hosts, pairs and larger teams of its lines.
func sampledOf(d *dataset.Dataset) map[string]params.Sampled {
	type seen struct {
		rounds, hosts map[int]bool
		pairs         map[[2]int]bool
		teams         map[string]bool
	}
	all := map[string]*seen{}
	for i := range d.Samples {
		s := &d.Samples[i]
		x := all[s.Exp]
		if x == nil {
			x = &seen{map[int]bool{}, map[int]bool{}, map[[2]int]bool{}, map[string]bool{}}
			all[s.Exp] = x
		}
		x.rounds[s.Round] = true
		for _, h := range s.Ranks {
			x.hosts[h] = true
		}
		switch n := len(s.Ranks); {
		case n == 2:
			x.pairs[[2]int{min(s.Ranks[0], s.Ranks[1]), max(s.Ranks[0], s.Ranks[1])}] = true
		case n > 2:
			team := slices.Clone(s.Ranks)
			slices.Sort(team)
			x.teams[fmt.Sprint(team)] = true
		}
	}
	out := map[string]params.Sampled{}
	hosts := len(d.Header.Hosts)
	for exp, x := range all {
		n := params.Sampled{Rounds: len(x.rounds), Hosts: len(x.hosts), Teams: len(x.teams)}
		if len(x.pairs) > 0 {
			n.Pairs, n.Of = len(x.pairs), hosts*(hosts-1)/2
		}
		out[exp] = n
	}
	return out
}

func environmentOf(hosts []dataset.Host) params.Environment {
	e := params.Environment{Common: map[string]string{}, Differences: map[string]map[string]string{}}
	facts := map[string]map[string]string{}
	for _, h := range hosts {
		for fact, value := range h.Env {
			if facts[fact] == nil {
				facts[fact] = map[string]string{}
			}
			facts[fact][h.Name] = value
		}
	}
	for fact, byHost := range facts {
		if value, same := sameEverywhere(byHost, len(hosts)); same {
			e.Common[fact] = value
		} else {
			e.Differences[fact] = byHost
		}
	}
	return e
}

func sameEverywhere(byHost map[string]string, hosts int) (string, bool) {
	first, value := true, ""
	for _, v := range byHost {
		if !first && v != value {
			return "", false
		}
		first, value = false, v
	}
	return value, len(byHost) == hosts
}
