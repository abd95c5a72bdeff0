// Package tuned chooses the algorithms of Open MPI's collectives for the network of a run: what its component
// coll/tuned is to take instead of its compiled-in decision.
//
// The opinion of this package: never slower than the default matters more than winning. An algorithm is taken only
// where it is predicted to be faster than the one that Open MPI takes by itself, by more than the parameters' intervals
// and the model's own errors on this network's patterns leave open, at both ends of a range of sizes. Everywhere else,
// and where the default's messages are not among calib's patterns, the compiled-in decision stands.
package tuned

import (
	"fmt"
	"slices"

	"calib/params"
	"calib/predict"
	"calib/reports/export"
)

// Decision is what was decided for messages of From to To bytes, and why.
type Decision struct {
	Collective string `json:"collective"`
	Hosts      int    `json:"hosts"`
	From       int    `json:"from"`
	To         int    `json:"to"`
	Model      string `json:"model,omitempty"`
	// Default is what Open MPI takes by itself, Fastest the fastest option; Seconds are their times for From bytes.
	Default        string  `json:"default"`
	DefaultSeconds float64 `json:"default_seconds,omitempty"`
	Fastest        string  `json:"fastest,omitempty"`
	FastestSeconds float64 `json:"fastest_seconds,omitempty"`
	// Gain is by how much the default takes longer, over the time of Fastest, at the end of the range where that is
	// less; CI95 its interval.
	Gain float64     `json:"gain,omitempty"`
	CI95 *[2]float64 `json:"gain_ci95,omitempty"`
	// Why says why the compiled-in decision stands; "" where Fastest is taken.
	Why string `json:"why,omitempty"`

	taken Option
}

// Rules decides for every collective, on each number of hosts, which run a rank each, and for each size at which a rule
// begins [B], that of a block where the collective has Blocks. The last rule ends below twice the last size. It returns
// an error where no model can be made of p.
func Rules(p *params.Params, teams, begins []int) ([]export.Rules, []Decision, error) {
	q, err := predict.New(p, nil)
	if err != nil {
		return nil, nil, err
	}
	var rules []export.Rules
	var all []Decision
	sizes := slices.Compact(slices.Sorted(slices.Values(begins)))
	for _, c := range export.Collectives() {
		for _, hosts := range slices.Compact(slices.Sorted(slices.Values(teams))) {
			r := export.Rules{Collective: c, Ranks: hosts}
			for i, m := range sizes {
				to := 2*m - 1
				if i+1 < len(sizes) {
					to = sizes[i+1] - 1
				}
				d := (&judge{p, q, c, hosts}).decide(m, to)
				all = append(all, d)
				r.Rules = append(r.Rules, export.Rule{Bytes: c.Size(m, hosts), Algorithm: d.taken.Algorithm, Fanout: d.taken.Fanout,
					Segment: d.taken.Segment, Note: d.String()})
				r.Until = c.Size(to+1, hosts) - 1
			}
			rules = append(rules, r)
		}
	}
	return rules, all, nil
}

// String is a line for the rule file.
func (d Decision) String() string {
	if d.Fastest == "" || d.Fastest == d.Default {
		return fmt.Sprintf("%s: %s", d.Default, d.Why)
	}
	gain := fmt.Sprintf("%.4g s by %s instead of %.4g s by %s", d.FastestSeconds, d.Fastest, d.DefaultSeconds, d.Default)
	if d.CI95 != nil {
		gain += fmt.Sprintf(", which takes longer by %.0f%% (%.0f%% to %.0f%%)", 100*d.Gain, 100*d.CI95[0], 100*d.CI95[1])
	}
	if d.Why != "" {
		return d.Why + ": " + gain
	}
	return gain
}

type judge struct {
	p     *params.Params
	q     *predict.Predictor
	c     export.Collective
	hosts int
}

// decide takes the option that is fastest in the range, by the product of its times at both ends, if it gains enough at
// both.
func (j *judge) decide(from, to int) Decision {
	standard := Default(j.c, j.hosts, from)
	d := Decision{Collective: j.c.Name, Hosts: j.hosts, From: from, To: to, Default: j.name(standard)}
	changes := func(m int) bool { return m > from && m <= to && Default(j.c, j.hosts, m) != standard }
	if changes(to) || slices.ContainsFunc(j.c.Bounds(), changes) {
		d.Why = "the default changes within these sizes"
		return d
	}
	all, sent := options(j.c, j.hosts, from)
	n := len(all)
	queries := make([]predict.Query, 2*n) // for from bytes, then for to
	for i, p := range sent {
		queries[i] = predict.Query{Pattern: overTCP(p), Hosts: j.hosts, Bytes: from}
		queries[i+n] = predict.Query{Pattern: overTCP(p), Hosts: j.hosts, Bytes: to}
	}
	t, err := j.q.Times(queries)
	if err != nil {
		d.Why = err.Error()
		return d
	}
	d.Model = t.Model
	own := slices.Index(all, standard)
	if own < 0 {
		d.Why = "calib has no pattern of the default's messages"
		return d
	}
	both := func(i int) float64 { return t.Seconds[i] * t.Seconds[i+n] }
	best := own
	for i := range all {
		if both(i) < both(best)*(1-predict.SameTime) {
			best = i
		}
	}
	d.DefaultSeconds, d.Fastest, d.FastestSeconds = t.Seconds[own], j.name(all[best]), t.Seconds[best]
	if best == own {
		d.Why = "the default is the fastest"
		return d
	}
	doubt := j.errors(&d)
	if d.Why != "" {
		return d
	}
	for _, end := range []int{0, n} { // the one at which it gains less counts
		gain, ci := t.Margin(best+end, own+end, doubt)
		if end == 0 || d.CI95 != nil && (ci == nil || ci[0] < d.CI95[0]) {
			d.Gain, d.CI95 = gain, ci
		}
	}
	switch {
	case d.CI95 == nil:
		d.Why = "the parameters have no intervals"
	case d.CI95[0] <= 0:
		d.Why = "not sure"
	case d.CI95[0] <= minGain:
		d.Why = "too little to gain"
	default:
		d.taken = all[best]
	}
	return d
}

// minGain is the least gain for which the default is left, over the new time: what ranks of MPI do beside sending
// messages, no model knows.
const minGain = 0.05

func (j *judge) name(o Option) string {
	out := j.c.Algorithms[o.Algorithm]
	if o.Segment > 0 {
		out += fmt.Sprintf(", segments of %d", o.Segment)
	}
	return out
}

// errors is what the model's relative error on this network is taken for, as a standard deviation: its root mean square
// on all patterns that the run measured, or on those of the collective, or what makes a 95% interval of the largest
// error on these, whichever is most; where none was measured, the limit above which parameters are not to be relied on.
// It sets d.Why where those of the collective are above that limit.
func (j *judge) errors(d *Decision) float64 {
	all, ok := params.GradeOf(j.p.Validation, d.Model, "")
	if !ok {
		return params.ValidationLimit
	}
	its, _ := params.GradeOf(j.p.Validation, d.Model, j.c.Name)
	if its.Mean > params.ValidationLimit {
		d.Why = fmt.Sprintf("model %s does not predict %s on this network: validation is %.0f%% off on average", d.Model,
			j.c.Name, 100*its.Mean)
	}
	return max(all.RMS, its.RMS, its.Worst/predict.Normal95)
}
