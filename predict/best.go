package predict

import (
	"cmp"
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
	// Best and Next are the two fastest; Next is nil where there is one algorithm only.
	Best Prediction  `json:"best"`
	Next *Prediction `json:"next,omitempty"`
	// Margin is by how much Next takes longer, over the time of Best; CI95 its interval.
	Margin     float64     `json:"margin"`
	MarginCI95 *[2]float64 `json:"margin_ci95,omitempty"`
	// Decided says that there is no other algorithm, or that the interval of the margin is above zero: else the parameters do not allow
	// the choice.
	Decided bool `json:"decided"`
}

// Best names the fastest algorithm of an operation by the first model of p that predicts any. The algorithms are
// compared draw by draw, so that what both depend on does not blur the margin. It returns an error where no model predicts any.
func (p *Predictor) Best(operation string, hosts, bytes int) (Choice, error) {
	var err error
	for _, m := range p.models {
		var c Choice
		if c, err = m.best(operation, hosts, bytes); err == nil {
			return c, nil
		}
	}
	return Choice{}, fmt.Errorf("%s of %d bytes on %d hosts: %w", operation, bytes, hosts, err)
}

func (m *model) best(operation string, hosts, bytes int) (Choice, error) {
	type candidate struct {
		Query
		seconds float64
	}
	var all []candidate
	err := fmt.Errorf("no algorithm of %q (operations: %v)", operation, pattern.Operations())
	for _, p := range pattern.Variants(operation) {
		q := Query{p, hosts, bytes}
		t, e := m.time(q)
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
	var ofBest []float64
	c.Best, ofBest = m.predict(all[0].Query)
	if len(all) == 1 {
		return c, nil
	}
	next, ofNext := m.predict(all[1].Query)
	c.Next = &next
	c.Margin = next.Seconds/c.Best.Seconds - 1
	if c.Best.CI95 == nil {
		c.Decided = false
		return c, nil
	}
	half := m.marginHalf(ofBest, ofNext, c.Margin)
	c.MarginCI95 = &[2]float64{c.Margin - half, c.Margin + half}
	c.Decided = c.MarginCI95[0] > 0
	return c, nil
}

// marginHalf is half the width of the margin's interval: what the drawn parameters leave open, of which best and next are the times, and
// the model's misfit on both sides.
func (m *model) marginHalf(best, next []float64, margin float64) float64 {
	sum, n := 0.0, 0
	for i := range best {
		if d := next[i]/best[i] - 1 - margin; !math.IsNaN(d) {
			sum, n = sum+d*d, n+1
		}
	}
	sd := math.Sqrt2 * m.misfit * (1 + margin)
	if n >= leastDraws {
		sd = math.Hypot(sd, math.Sqrt(sum/float64(n)))
	}
	return normal95 * sd
}
