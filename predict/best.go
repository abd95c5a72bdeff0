package predict

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"calib/bench/pattern"
)

// Choice is the best algorithm of an operation at one size and number of hosts, by one model.
type Choice struct {
	Operation string `json:"operation"`
	Hosts     int    `json:"hosts"`
	Bytes     int    `json:"bytes"`
	Model     string `json:"model"`
	// Best and Next are the two fastest; Next is nil where there is no other, or all others take as long. What takes as
	// long as Best is not Next.
	Best Prediction  `json:"best"`
	Next *Prediction `json:"next,omitempty"`
	// Margin is by how much Next takes longer, over the time of Best; CI95 its interval.
	Margin     float64     `json:"margin"`
	MarginCI95 *[2]float64 `json:"margin_ci95,omitempty"`
	// Decided says that there is no other algorithm, or that the interval of the margin is above zero: else the
	// parameters do not allow the choice.
	Decided bool `json:"decided"`
}

// Best names the fastest algorithm of an operation by the first model of p that predicts any. The algorithms are
// compared draw by draw, so that what both depend on does not blur the margin. It returns an error where no model
// predicts any.
func (p *Predictor) Best(operation string, hosts, bytes int) (Choice, error) {
	var err error
	for _, m := range p.models {
		var c Choice
		if c, err = m.best(operation, hosts, bytes); err == nil {
			return c, nil
		}
	}
	return Choice{}, fmt.Errorf("%s of %d B on %d hosts: %w", operation, bytes, hosts, err)
}

func (m *model) best(operation string, hosts, bytes int) (Choice, error) {
	type candidate struct {
		Query
		seconds float64
	}
	var all []candidate
	err := fmt.Errorf("no algorithm of %q (operations: %v)", operation, pattern.Operations())
	for _, p := range pattern.Variants(operation, bytes) {
		q := Query{p, hosts, bytes}
		t, e := m.time(q.traffic())
		if e != nil {
			err = e
			continue
		}
		all = append(all, candidate{q, t})
	}
	if len(all) == 0 {
		return Choice{}, err
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.seconds, b.seconds) })
	c := Choice{Operation: operation, Hosts: hosts, Bytes: bytes, Model: m.name, Decided: true}
	// Those that take as long are the same to the model, and no other choice.
	next := slices.IndexFunc(all, func(v candidate) bool { return v.seconds > all[0].seconds*(1+sameTime) })
	if next < 0 {
		c.Best, _ = m.predict(all[0].traffic())
		return c, nil
	}
	x := m.compare(all[0].Query, all[next].Query, 0)
	c.Best, c.Next, c.Margin, c.MarginCI95 = x.First, &x.Second, x.Margin, x.CI95
	c.Decided = x.CI95 != nil && x.CI95[0] > 0
	return c, nil
}

// sameTime is the relative difference of times that are equal but for the order of equal events.
const sameTime = 1e-6

// Comparison is how much longer one pattern takes than another, by one model.
type Comparison struct {
	First, Second Prediction
	// Margin is by how much Second takes longer, over the time of First; CI95 its interval, nil where the parameters
	// have none.
	Margin float64
	CI95   *[2]float64
}

// Compare compares two queries by a model, draw by draw. For the interval, the model has the relative error of doubt on
// each, as one standard deviation, or its own on messages between two hosts where that is more. It returns an error
// where the model does not predict both.
func (p *Predictor) Compare(name string, first, second Query, doubt float64) (Comparison, error) {
	i := slices.IndexFunc(p.models, func(m *model) bool { return m.name == name })
	if i < 0 {
		return Comparison{}, fmt.Errorf("no model %q", name)
	}
	x := p.models[i].compare(first, second, doubt)
	for _, v := range []Prediction{x.First, x.Second} {
		if v.Why != "" {
			return Comparison{}, fmt.Errorf("%s of %d B on %d hosts by model %s: %s", v.Operation+"-"+v.Algorithm, v.Bytes, v.Hosts, name, v.Why)
		}
	}
	return x, nil
}

// Times returns the times [s] of queries by the first model of p that predicts all of them, and its name; an error
// where none does.
func (p *Predictor) Times(all []Query) (name string, seconds []float64, err error) {
	err = errors.New("nothing is asked for")
models:
	for _, m := range p.models {
		seconds = make([]float64, len(all))
		for i, q := range all {
			if seconds[i], err = m.time(q.traffic()); err != nil {
				err = fmt.Errorf("%s of %d B on %d hosts: %w", q.Pattern.Name(), q.Bytes, q.Hosts, err)
				continue models
			}
		}
		return m.name, seconds, nil
	}
	return "", nil, err
}

func (m *model) compare(first, second Query, doubt float64) (x Comparison) {
	var ofFirst, ofSecond []float64
	x.First, ofFirst = m.predict(first.traffic())
	x.Second, ofSecond = m.predict(second.traffic())
	x.Margin = x.Second.Seconds/x.First.Seconds - 1
	if x.First.CI95 == nil {
		return x
	}
	half := marginHalf(ofFirst, ofSecond, x.Margin, max(doubt, m.misfit))
	x.CI95 = &[2]float64{x.Margin - half, x.Margin + half}
	return x
}

// marginHalf is half the width of the margin's interval: what the drawn parameters leave open, of which best and next
// are the times, and the model's relative error on both sides.
func marginHalf(best, next []float64, margin, misfit float64) float64 {
	sum, n := 0.0, 0
	for i := range best {
		if d := next[i]/best[i] - 1 - margin; !math.IsNaN(d) {
			sum, n = sum+d*d, n+1
		}
	}
	sd := math.Sqrt2 * misfit * (1 + margin)
	if n >= minDraws {
		sd = math.Hypot(sd, math.Sqrt(sum/float64(n)))
	}
	return normal95 * sd
}
