package fit

import (
	"fmt"
	"math"
	"slices"

	"calib/fit/review"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/params"
)

// part is a dataset without the messages of some pairs.
type part struct {
	dataset.Source
	has func(a, b int) bool
}

func (s part) Select(exp, phase string) []*dataset.Sample {
	return lists.Where(s.Source.Select(exp, phase),
		func(l *dataset.Sample) bool { return len(l.Ranks) != 2 || s.has(l.Ranks[0], l.Ranks[1]) })
}

// classify adds to out the groups and kinds of hosts that looks at pairs show, and the numbers of each class of pairs:
// the models that need single pairs only are fitted to its messages.
func (p *Prepared) classify(models []Model, out *params.Params) {
	slow := p.Slow()
	group, kind, j := slow.group, slow.kind, slow.judged
	if n := len(j.Groups); n > 0 {
		such := map[bool]string{true: ", each on one machine", false: ", such as racks"}[j.Machines]
		out.Groups = &params.Groups{Apart: j.Apart, Hosts: lists.Map(j.Groups, p.hostNames), Machines: j.Machines}
		out.Findings = append(out.Findings, params.Notef("host-groups", "the hosts are in %d groups%s: latency between "+
			"them is %.2f times that within", n, such, j.Apart).
			With("groups", float64(n)).With("ratio", j.Apart))
		alike := *slow // what parts the classes is no reason to leave a pair out of its own
		alike.group = nil
		within, _ := p.class(params.WithinGroups, models, &alike,
			func(a, b int) bool { return group[a] > 0 && group[a] == group[b] })
		between, _ := p.class(params.BetweenGroups, models, &alike,
			func(a, b int) bool { return group[a] > 0 && group[b] > 0 && group[a] != group[b] })
		out.Classes = append(out.Classes, within, between)
	}
	for i, k := range j.Kinds {
		out.Kinds = append(out.Kinds, p.hostNames(k))
		alike := *slow
		alike.kind = nil
		c, times := p.class(params.KindName(i), models, &alike,
			func(a, b int) bool { return kind[a] == i+1 && kind[b] == i+1 })
		if len(times) > 0 {
			hostCosts(&c, times[0], out)
		}
		out.Classes = append(out.Classes, c)
	}
	if n := len(j.Kinds); n > 0 {
		out.Findings = append(out.Findings, params.Notef("host-kinds", "the hosts are of %d kinds, which differ in "+
			"latency or rate: each has numbers of its own", n).With("kinds", float64(n)))
	}
}

// class fits the messages of some pairs, of which those that are slow are left out, and returns their times T(x) as
// well.
func (p *Prepared) class(name string, models []Model, slow *SlowHosts, has func(a, b int) bool) (
	params.Class, []params.Residual) {
	of := Prepare(part{p.Data, has}, p.settings)
	of.Slow = func() *SlowHosts { return slow }
	var fits []*params.Fit
	for _, m := range models {
		if !slices.Equal(m.Needs, []string{names.Pingpong}) {
			continue
		}
		if f, err := m.Fit(of); err == nil { // what the class lacks it has no number of
			fits = append(fits, f)
		}
	}
	found := Collect(of, fits)
	review.Apply(found)
	return params.Class{Name: name, Pairs: len(found.Pairs), Parameters: found.Parameters, Functions: found.Functions},
		found.Times()
}

// hostCosts adds what the hosts of a kind cost, where the network's part, which is that of all pairs, is known: a of
// T(1 B) = 2a + a_c, and b, which limits long messages where it is above b_c. Source: Stoica, Sultan, Keyes 1994,
// eq. 4.
func hostCosts(c *params.Class, first params.Residual, all *params.Params) {
	const short = 64 // B: its bytes do not matter
	if v, lo, hi, ok := ends(all.Parameters["a_c"]); ok && first.Lo > 0 && first.X <= short {
		q := all.Parameters["a"]
		value, half := (first.Measured-v)/2, (hi-lo)/2
		ci := [2]float64{value - math.Hypot(first.Measured-first.Lo, half)/2,
			value + math.Hypot(first.Hi-first.Measured, half)/2}
		q.Value, q.CI95, q.Estimate, q.Bound, q.Budget, q.Why = &value, &ci, nil, nil, nil, ""
		q.Status, q.Experiment, q.Source = params.StatusOK, names.Pingpong, "Stoica, Sultan, Keyes 1994 eq. 4"
		if ci[1]-ci[0] > 2*params.Useful*value {
			q.Status = params.StatusProvisional
			q.Why = fmt.Sprintf("T(1 B) and a_c leave it wider than ± %.0f%%", 100*params.Useful)
		} else if limit := c.Parameters["a_prime_limits"]; limit.Status == params.StatusProvisional {
			q.Status, q.Why = limit.Status, limit.Why
		}
		if value > 0 {
			c.Parameters["a"] = q
		}
	}
	long, limit := c.Parameters["b_prime_limits"], all.Parameters["b_c"]
	if _, _, hi, ok := ends(limit); ok && long.Value != nil && long.CI95 != nil && long.CI95[0] > hi {
		long.Label = all.Parameters["b"].Label
		c.Parameters["b"] = long
	}
}

// ends are a parameter of the network, the middle of its bound where it has no value, and the least and the most that
// it may be.
func ends(q params.Parameter) (v, lo, hi float64, ok bool) {
	if v, lo, hi, ok := q.Ends(); ok {
		return v, lo, hi, true
	}
	if q.Bound == nil || math.IsInf(q.Bound[1], 0) {
		return 0, 0, 0, false
	}
	lo, hi = max(0, q.Bound[0]), q.Bound[1]
	return (lo + hi) / 2, lo, hi, true
}
