package fit

import (
	"sort"

	"calib/internal/dataset"
	"calib/internal/params"
)

// Collect makes a params.json of the fits of one dataset. The first fit to name a parameter or function owns the plain
// name; a later one of the same name is stored as "model.name".
func Collect(p *Prepared, fits []*params.Fit) *params.Params {
	out := &params.Params{
		Schema:      params.Schema,
		Run:         runOf(p.Data),
		Environment: environmentOf(p.hosts),
		Parameters:  map[string]params.Parameter{},
		Functions:   map[string]params.Function{},
		Fits:        []*params.Fit{},
		Validation:  []params.Validation{},
		Pairs:       []params.Pair{},
	}
	if len(out.Run.Versions) > 1 {
		out.Findings = append(out.Findings, params.Warnf(params.MixedVersions, "the agents are of different versions: %q", out.Run.Versions))
	}
	out.Findings = append(out.Findings, interfaces(p.hosts)...)
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
	hosts := p.hosts
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

func runOf(d dataset.Source) params.Run {
	h, seen := d.Head(), d.Survey()
	r := params.Run{ID: h.Run, Seed: h.Seed, Plan: h.Plan, Hosts: []string{}, Versions: []string{}}
	versions := map[string]bool{}
	for _, h := range h.Hosts {
		r.Hosts = append(r.Hosts, h.Name)
		if h.Version != "" && !versions[h.Version] {
			versions[h.Version] = true
			r.Versions = append(r.Versions, h.Version)
		}
	}
	sort.Strings(r.Versions)
	r.Rounds, r.Batches, r.Timings = len(seen.Rounds), seen.Lines, seen.Timings
	r.Sampled = sampledOf(seen, len(h.Hosts))
	return r
}

// sampledOf counts by experiment the rounds, hosts, pairs and larger teams of its lines.
func sampledOf(seen *dataset.Survey, hosts int) map[string]params.Sampled {
	out := map[string]params.Sampled{}
	for exp, x := range seen.Experiments {
		n := params.Sampled{Rounds: len(x.Rounds), Hosts: len(x.Hosts), Teams: len(x.Teams)}
		if len(x.Pairs) > 0 {
			n.Pairs, n.Of = len(x.Pairs), hosts*(hosts-1)/2
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
