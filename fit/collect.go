package fit

import (
	"maps"
	"slices"

	"calib/fit/fault"
	"calib/fit/resample"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/params"
)

// Collect makes a params.json of the fits of one dataset. No two models name a parameter or a function alike.
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
		out.Findings = append(out.Findings, params.Warnf(params.MixedVersions,
			"the agents are of different versions: %q; install one, or let calib start them by ssh", out.Run.Versions))
	}
	out.Findings = append(out.Findings, interfaces(p.hosts)...)
	out.Findings = append(out.Findings, p.Slow().Findings...)
	out.Findings = append(out.Findings, p.oneMachine()...)
	for _, f := range fits {
		out.Fits = append(out.Fits, f)
		out.Pairs = append(out.Pairs, f.Pairs...)
		if f.Network != nil {
			out.Network = f.Network
		}
		maps.Copy(out.Parameters, f.Parameters)
		maps.Copy(out.Functions, f.Functions)
	}
	out.Correlations = correlationsOf(fits, out)
	p.addLoss(out)
	out.Run.Missing, out.Run.Where = p.settings.Missing, p.settings.Where
	return out
}

// oneMachine says how many hosts share a machine, where some do.
func (p *Prepared) oneMachine() []params.Finding {
	most := sharing(p.hosts, dataset.Host.Machine)
	if most < 2 {
		return nil
	}
	return []params.Finding{params.Notef(params.OneMachine, "%d of %d hosts share one machine: a_c and b_c are "+
		"contention for its CPUs", most, len(p.hosts)).With("hosts", float64(most))}
}

func runOf(d dataset.Source) params.Run {
	h, seen := d.Head(), d.Survey()
	r := params.Run{ID: h.Run, Seed: h.Seed, Plan: h.Plan, Hosts: []string{}, Versions: []string{}}
	for _, h := range h.Hosts {
		r.Hosts = append(r.Hosts, h.Name)
		if h.Version != "" && !slices.Contains(r.Versions, h.Version) {
			r.Versions = append(r.Versions, h.Version)
		}
	}
	slices.Sort(r.Versions)
	r.Rounds, r.Batches, r.Timings = len(seen.Rounds), seen.Lines, seen.Timings
	r.Sampled = map[string]params.Sampled{}
	for exp, x := range seen.Experiments {
		n := params.Sampled{Rounds: len(x.Rounds), Hosts: len(x.Hosts), Teams: len(x.Teams)}
		if len(x.Pairs) > 0 {
			n.Pairs, n.Of = len(x.Pairs), len(h.Hosts)*(len(h.Hosts)-1)/2
		}
		r.Sampled[exp] = n
	}
	return r
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
		if values := slices.Compact(slices.Sorted(maps.Values(byHost))); len(byHost) == len(hosts) && len(values) == 1 {
			e.Common[fact] = values[0]
		} else {
			e.Differences[fact] = byHost
		}
	}
	return e
}

// undisturbed are the experiments whose messages share the way with no others of the team: what they lose, the network
// loses.
var undisturbed = []string{names.Pingpong, names.PRTT, names.Wakeup, names.Overhead}

// notedLoss is the rate of loss from which it is a warning: from there on, retransmissions are no rare accident of a
// batch.
const notedLoss = 1e-3

// addLoss records the share of segments that was sent again, of all pairs of hosts together and of each.
func (p *Prepared) addLoss(out *params.Params) {
	all, pairs := &params.Loss{}, map[[2]int]*params.Loss{}
	for _, exp := range undisturbed {
		for _, s := range p.Samples(exp, "") {
			if s.TCP == nil || len(s.Ranks) != 2 || s.TCP.DataSegsOut <= 0 {
				continue
			}
			if s.Phase == names.PhaseSend || s.Phase == names.PhaseComputeIdle {
				continue // its connection is counted with the other line of the batch
			}
			pair := fault.Pair(s.Ranks[0], s.Ranks[1])
			if pairs[pair] == nil {
				pairs[pair] = &params.Loss{}
			}
			again := max(0, s.TCP.Retrans)
			for _, l := range []*params.Loss{all, pairs[pair]} {
				l.Again += again
				l.Segments += max(s.TCP.DataSegsOut+s.TCP.DataSegsIn, again) // of both ranks, as Retrans is
			}
		}
	}
	if all.Segments == 0 {
		return
	}
	out.Loss = all
	all.Rate, all.CI95 = resample.Share(all.Again, all.Segments)
	entry := p.entries(out)
	for _, pair := range fault.Sorted(pairs) {
		l := pairs[pair]
		l.Rate, l.CI95 = resample.Share(l.Again, l.Segments)
		entry(pair).Loss = l
	}
	if all.Again == 0 {
		return
	}
	say := params.Notef
	if out.Loss.CI95[0] > notedLoss {
		say = params.Warnf
	}
	out.Findings = append(out.Findings, say(params.LostSegments, "%.2g%% [%.2g, %.2g] of the segments were sent again: "+
		"%d of %d, in exchanges that nothing else disturbed", 100*out.Loss.Rate, 100*out.Loss.CI95[0],
		100*out.Loss.CI95[1], all.Again, all.Segments).With("rate", out.Loss.Rate))
}

// addSlow names the slow pairs that no model has entered: they were seen before the rounds, or lost something in every
// batch.
func (p *Prepared) addSlow(out *params.Params) {
	slow, entry := p.Slow(), p.entries(out)
	for _, pair := range fault.Sorted(slow.Pairs) {
		entry(pair).Slow = slow.Why(p, pair)
	}
}

// entries finds the entry of a pair of hosts, or makes one.
func (p *Prepared) entries(out *params.Params) func(pair [2]int) *params.Pair {
	at := map[[2]string]int{}
	for i, q := range out.Pairs {
		at[[2]string{q.From, q.To}], at[[2]string{q.To, q.From}] = i, i
	}
	return func(pair [2]int) *params.Pair {
		a, b := p.HostName(pair[0]), p.HostName(pair[1])
		i, ok := at[[2]string{a, b}]
		if !ok {
			i = len(out.Pairs)
			out.Pairs = append(out.Pairs, params.Pair{From: a, To: b})
		}
		return &out.Pairs[i]
	}
}
