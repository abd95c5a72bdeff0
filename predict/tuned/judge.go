package tuned

import (
	"fmt"
	"math"
	"slices"

	"calib/internal/params"
	"calib/predict"
	"calib/reports/export"
)

type judge struct {
	p     *params.Params
	q     *predict.Predictor
	c     export.Collective
	hosts int
}

func (j *judge) decide(from, to int) Decision {
	standard := Default(j.c, j.hosts, from)
	d := Decision{Collective: j.c.Name, Hosts: j.hosts, From: from, To: to, Default: j.name(standard)}
	if Default(j.c, j.hosts, to) != standard {
		d.Why = "the default changes within these sizes"
		return d
	}
	best, ok := j.fastest(&d, standard)
	if !ok {
		return d
	}
	d.Fastest = j.name(best)
	if best == standard {
		d.FastestSeconds, d.Why = d.DefaultSeconds, "the default is the fastest"
		return d
	}
	doubt := j.errors(&d)
	if d.Why == "" {
		j.compare(&d, best, standard, doubt)
	} else {
		d.FastestSeconds = j.seconds(d.Model, best, from)
	}
	if d.Why == "" {
		d.taken = best
	}
	return d
}

func (j *judge) name(o Option) string {
	out := j.c.Algorithms[o.Algorithm]
	if o.Segment > 0 {
		out += fmt.Sprintf(", segments of %d", o.Segment)
	}
	return out
}

func (j *judge) query(o Option, m int) (predict.Query, bool) {
	p, ok := Schedule(j.c, o, j.hosts, m)
	return predict.Query{Pattern: overTCP(p), Hosts: j.hosts, Bytes: m}, ok
}

// fastest finds the option that is fastest in the range: by the product of its times at both ends.
func (j *judge) fastest(d *Decision, standard Option) (Option, bool) {
	var options []Option
	ends := [2][]predict.Query{}
	for _, o := range Options(j.c, j.hosts, d.From) {
		a, okA := j.query(o, d.From)
		b, okB := j.query(o, d.To)
		if okA && okB {
			options = append(options, o)
			ends[0], ends[1] = append(ends[0], a), append(ends[1], b)
		}
	}
	model, times, err := j.q.Times(slices.Concat(ends[0], ends[1]))
	if err != nil {
		d.Why = err.Error()
		return Option{}, false
	}
	d.Model = model
	both := func(i int) float64 { return times[i] * times[i+len(options)] }
	own := slices.Index(options, standard)
	if own < 0 {
		d.Why = "calib has no pattern of the default's messages"
		return Option{}, false
	}
	d.DefaultSeconds = times[own]
	best := own
	for i := range options {
		if both(i) < both(best)*(1-sameTime) {
			best = i
		}
	}
	return options[best], true
}

// sameTime is the relative difference of times that are equal but for the order of equal events.
const sameTime = 1e-6

func (j *judge) seconds(model string, o Option, m int) float64 {
	q, _ := j.query(o, m)
	for _, v := range j.q.Predict(q) {
		if v.Model == model {
			return v.Seconds
		}
	}
	return math.NaN()
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
	return max(all.RMS, its.RMS, its.Worst/normal95)
}

// normal95 is the number of standard deviations on each side of a 95% interval.
const normal95 = 1.96

// compare holds the fastest option against the default at both ends of the range, and keeps the comparison in which it
// gains less.
func (j *judge) compare(d *Decision, best, standard Option, doubt float64) {
	for _, m := range []int{d.From, d.To} {
		a, _ := j.query(best, m)
		b, _ := j.query(standard, m)
		x, err := j.q.Compare(d.Model, a, b, doubt)
		if err != nil {
			d.Why = err.Error()
			return
		}
		if m == d.From {
			d.FastestSeconds = x.First.Seconds
		}
		if m == d.From || low(x.CI95) < low(d.CI95) {
			d.Gain, d.CI95 = x.Margin, x.CI95
		}
	}
	switch {
	case d.CI95 == nil:
		d.Why = "the parameters have no intervals"
	case d.CI95[0] <= 0:
		d.Why = "not sure"
	case d.CI95[0] <= minGain:
		d.Why = "too little to gain"
	}
}

// minGain is the least gain for which the default is left, over the new time: what ranks of MPI do beside sending
// messages, no model knows.
const minGain = 0.05

// low is the lower end of an interval, −∞ where there is none.
func low(ci *[2]float64) float64 {
	if ci == nil {
		return math.Inf(-1)
	}
	return ci[0]
}
