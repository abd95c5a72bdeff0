package predict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"calib/bench/pattern"
	"calib/fit/review"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/params"
)

// spoilt are the flags of a batch that says nothing about the pattern. A lost segment is part of what a network does.
var spoilt = []string{dataset.FlagTimeout, dataset.FlagDeadlock, dataset.FlagDrift}

// observed is a pattern as it was measured.
type observed struct {
	asked Query
	row   params.Validation // without a prediction
}

// teamsPlayed is how many of the teams that a pattern was measured on are played where hosts are in groups.
const teamsPlayed = 12

// patterns returns those that a dataset holds, by operation, algorithm, hosts and bytes: the median of the rounds'
// medians, of those whose team had no slow host if there are any. Its teams are indices of hosts, those of a run; one
// with another host is not played. It returns an error for a pattern that this build does not know, and for samples
// that cannot be read.
func patterns(d dataset.Source, hosts []string, slow map[string]bool) ([]observed, error) {
	of, isSlow := map[int]int{}, map[int]bool{} // by the dataset's own index: that of hosts, -1 for none
	for i, h := range d.Head().Hosts {
		of[i], isSlow[i] = slices.Index(hosts, h.Name), slow[h.Name]
	}
	type key struct {
		id           int64
		hosts, bytes int
		slow         bool
	}
	rounds, teams := map[key]map[int][]float64{}, map[key][][]int{}
	for _, s := range d.Select(names.Pattern, names.PhasePattern) {
		if slices.ContainsFunc(s.Flags, func(f string) bool { return slices.Contains(spoilt, f) }) {
			continue
		}
		k := key{s.Point[names.FactorPattern], int(s.Point[names.FactorHosts]), int(s.Point[names.FactorBytes]),
			slices.ContainsFunc(s.Ranks, func(h int) bool { return isSlow[h] })}
		if rounds[k] == nil {
			rounds[k] = map[int][]float64{}
		}
		rounds[k][s.Round] = append(rounds[k][s.Round], stats.Floats(s.NS)...)
		team := lists.Map(s.Ranks, func(h int) int { return of[h] })
		if len(teams[k]) < teamsPlayed && !slices.Contains(team, -1) {
			teams[k] = append(teams[k], team)
		}
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	var out []observed
	for k, of := range rounds {
		if k.slow && rounds[key{k.id, k.hosts, k.bytes, false}] != nil {
			continue
		}
		p, ok := pattern.ByID(k.id)
		if !ok {
			return nil, fmt.Errorf("samples of pattern %d, which this build of calib does not know: use the one "+
				"that measured it", k.id)
		}
		medians := lists.Map(slices.Collect(maps.Values(of)), stats.Median)
		out = append(out, observed{Query{p, k.hosts, k.bytes, teams[k]}, params.Validation{Pattern: p.Name(), Hosts: k.hosts,
			Bytes: int64(k.bytes), Measured: stats.Median(medians) / 1e9, SlowHost: k.slow}})
	}
	slices.SortFunc(out, func(x, y observed) int {
		a, b := x.row, y.row
		return cmp.Or(cmp.Compare(a.Pattern, b.Pattern), cmp.Compare(a.Hosts, b.Hosts), cmp.Compare(a.Bytes, b.Bytes))
	})
	return out, nil
}

// maxWork bounds the packets of one simulation of a validation. The draws behind an interval are as many as go through
// so many messages or packets together, and minDraws at least: patterns of a thousand hosts would else take minutes.
const maxWork = 100_000

// Validate predicts the patterns that d holds by every model that p has the parameters of, records both in
// p.Validation, and says where the simulation misses them (mark). No fit has read these samples. It does nothing where
// d has none.
func Validate(p *params.Params, d dataset.Source) error {
	slow := map[string]bool{}
	for _, f := range p.AllFindings(params.Warning) {
		for _, h := range f.Hosts {
			slow[h] = slow[h] || f.Code == params.SlowHost
		}
	}
	seen, err := patterns(d, p.Run.Hosts, slow)
	if err != nil || len(seen) == 0 {
		return err
	}
	forget(p)
	q, err := New(p, Models)
	if err != nil {
		why := strings.ReplaceAll(err.Error(), "\n", "; ")
		p.Findings = append(p.Findings, params.Warnf(params.NotPredicted,
			"no model has the parameters to predict the patterns that were measured: %s", why))
		return nil
	}
	for _, m := range q.models {
		m.most = maxWork
	}
	p.Validation = []params.Validation{}
	for _, o := range seen {
		for _, v := range q.Predict(o.asked) {
			if r := o.row; v.Why == "" {
				r.Model, r.Predicted, r.CI95, r.Error = v.Model, v.Seconds, v.CI95, (r.Measured-v.Seconds)/r.Measured
				p.Validation = append(p.Validation, r)
			}
		}
	}
	q.mark(p)
	return nil
}

// missBoth begins the reason of a parameter that mark has made provisional.
const missBoth = "the simulation and the formulas of "

// forget takes back what an earlier call has found.
func forget(p *params.Params) {
	p.Findings = slices.DeleteFunc(p.Findings, func(f params.Finding) bool {
		return f.Code == params.NotPredicted || f.Code == params.SimulationMisses ||
			f.Code == params.Provisional && strings.Contains(f.Message, missBoth)
	})
	for name, q := range p.Parameters {
		if strings.HasPrefix(q.Why, missBoth) {
			q.Status, q.Why = params.StatusOK, ""
			p.Parameters[name] = q
		}
	}
	for name, f := range p.Functions {
		if strings.HasPrefix(f.Why, missBoth) {
			f.Status, f.Why = params.StatusOK, ""
			p.Functions[name] = f
		}
	}
	p.Distribute()
}

// mark adds a warning if the better of the two simulations, with warm and with cold connections, misses what was
// measured by more than params.ValidationLimit on average. A parameter that the simulation uses becomes provisional
// only if the formulas of the parameter's own model miss as much. Else the simulation is at fault, not the parameter.
func (q *Predictor) mark(p *params.Params) {
	g, _ := params.BestSimulation(p.Validation)
	if g.Mean <= params.ValidationLimit {
		return
	}
	text := fmt.Sprintf("the simulation misses the patterns that were measured by %.0f%% on average, limit %.0f%%",
		100*g.Mean, 100*params.ValidationLimit)
	if best, _ := params.BestOf(p.Validation); best.Mean <= params.ValidationLimit {
		text += fmt.Sprintf(": predict with --model %s (%.0f%%)", best.Model, 100*best.Mean)
	}
	p.Findings = append(p.Findings, params.Warnf(params.SimulationMisses, "%s", text))
	w := q.simulation()
	if w == nil {
		return
	}
	for _, m := range q.models {
		of, _ := params.GradeOf(p.Validation, m.name, "")
		if m.world != nil || of.Mean <= params.ValidationLimit {
			continue
		}
		var told []string
		for _, name := range slices.Compact(slices.Sorted(slices.Values(w.From))) {
			// The families of fits have the names of the models that predict by them: "hyperbolic-network", "cluster-gap".
			family, _, _ := strings.Cut(cmp.Or(p.Parameters[name].Model, p.Functions[name].Model), "-")
			if family == m.name {
				told = append(told, name)
			}
		}
		review.Contradicted(p, told, fmt.Sprintf(missBoth+"%s both miss the patterns that were "+
			"measured (by %.0f%% and %.0f%%, limit %.0f%%)", m.name, 100*g.Mean, 100*of.Mean, 100*params.ValidationLimit))
	}
}
