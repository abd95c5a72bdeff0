package fit

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"calib/internal/lsq"
)

// curves holds several costs by message size in one table, so that a bootstrap draws the same rounds for all of them. No
// clock offset bears on them: directions stay apart.
type curves struct {
	table table
	of    map[string]*curve
}

// curve is one cost by size: its points in the table, by size.
type curve struct {
	number int
	points map[float64]int
	sizes  []float64 // ascending
}

// add appends values [s] of n timings at m bytes.
func (c *curves) add(name string, m float64, b *batch, n int, values ...float64) {
	q := c.of[name]
	if q == nil {
		if c.of == nil {
			c.of = map[string]*curve{}
		}
		q = &curve{number: len(c.of), points: map[float64]int{}}
		c.of[name] = q
	}
	i, ok := q.points[m]
	if !ok {
		i = c.table.at(float64(len(c.table.points)))
		c.table.points[i].apart = true
		q.points[m] = i
		q.sizes = append(q.sizes, m)
		sort.Float64s(q.sizes)
	}
	c.table.add(i, b.dir, b.round, n, values...)
}

// costData is a cost by size [s], resampled.
type costData struct {
	sizes, values []float64
	replicates    [][]float64
	n             []int // timings
	from          *sampled
}

// costData returns a curve as resampled, up to the size most; without points where there are none.
func (c *curves) costData(s *sampled, name string, most float64) *costData {
	d := &costData{from: s}
	q := c.of[name]
	if q == nil {
		return d
	}
	var at []int
	for _, m := range q.sizes {
		if m <= most {
			d.sizes, at = append(d.sizes, m), append(at, q.points[m])
		}
	}
	pick := func(v []float64) []float64 {
		out := make([]float64, len(at))
		for i, k := range at {
			out[i] = v[k]
		}
		return out
	}
	d.values = pick(s.values)
	for _, k := range at {
		d.n = append(d.n, s.n[k])
	}
	for _, r := range s.replicates {
		d.replicates = append(d.replicates, pick(r))
	}
	return d
}

func (d *costData) interval(i int) [2]float64 { return d.from.interval(d.values[i], d.replicates, i) }

// weights are 1/variance; equal where a cost is not positive, as one within the noise may be.
func (d *costData) weights() []float64 {
	if slices.Min(d.values) <= 0 {
		return filled(len(d.values), 1)
	}
	return weights(d.values, d.replicates)
}

// costFit is a cost function with the bootstrap of its coefficients.
type costFit struct {
	Cost
	name       string
	replicates []Cost
	condition  float64
	left       float64 // leave-one-size-out error
	predictive bool    // left is known
}

// replicate returns the cost of replicate k; replicates of two bootstraps are independent and pair by number.
func (c *costFit) replicate(k int) Cost {
	if c == nil || len(c.replicates) == 0 {
		return Cost{}
	}
	return c.replicates[k%len(c.replicates)]
}

// at returns the cost of m bytes; a cost that is not known is none.
func (c *costFit) at(m float64) float64 {
	if c == nil {
		return 0
	}
	return c.At(m)
}

// costFitter fits a cost to values by size.
type costFitter func(x, y, w []float64) (Cost, error)

func lineCost(x, y, w []float64) (Cost, error) {
	l, _, err := fitLine(x, y, w)
	return Cost{C0: l.c0, C1: l.c1}, err
}

// refit fits every replicate; one that fails is left out.
func (d *costData) refit(fit costFitter, w []float64) []Cost {
	var out []Cost
	for _, r := range d.replicates {
		if c, err := fit(d.sizes, r, w); err == nil {
			out = append(out, c)
		}
	}
	return out
}

// fitCost fits a line, or a floor and a line where floors are looked for and one shows, and records the function, its
// residuals and what a reader must hear of it. It needs two sizes.
func (f *Fit) fitCost(name, label string, d *costData, floors bool) (*costFit, error) {
	w := d.weights()
	fit, form := costFitter(lineCost), LineForm
	out := &costFit{name: name}
	if floors {
		var shows bool
		if out.Cost, out.replicates, shows = fitFloor(d, w); shows {
			fit, form = floorCost, FloorForm
		}
	}
	l, sol, err := fitLine(d.sizes, d.values, w)
	if err != nil {
		return nil, fmt.Errorf("%s(m): %w", name, err)
	}
	out.condition = sol.Cond
	if form == LineForm {
		out.Cost, out.replicates = Cost{C0: l.c0, C1: l.c1}, d.refit(lineCost, w)
	}
	c := out.Cost
	var coeffs [][]float64
	for _, q := range out.replicates {
		coeffs = append(coeffs, []float64{q.C0, q.C1, q.Floor})
	}
	fn := f.function(form, label, map[string][2]float64{"m": {d.sizes[0], d.sizes[len(d.sizes)-1]}})
	fn.set("c0", c.C0, d.from.interval(c.C0, coeffs, 0))
	fn.set("c1", c.C1, d.from.interval(c.C1, coeffs, 1))
	if form == FloorForm {
		fn.set("floor", c.Floor, d.from.interval(c.Floor, coeffs, 2))
	}
	f.Functions[name] = fn
	f.costResiduals(name, d, c.At)
	if ci, ok := fn.CI95["c1"]; c.C1 < 0 && (!ok || ci[1] < 0) {
		f.warn("%s falls with the size: by %.3g s a byte", name, -c.C1)
	}
	if slices.Min(d.values) > 0 {
		out.left, out.predictive = leaveOneOut(d.sizes, d.values, func(x, y []float64) (func(float64) float64, error) {
			q, err := fit(x, y, nil)
			return q.At, err
		})
	}
	return out, nil
}

// function returns an empty function of the fit in seconds, and makes room for it.
func (f *Fit) function(form, label string, domain map[string][2]float64) Function {
	if f.Functions == nil {
		f.Functions = map[string]Function{}
	}
	return Function{Form: form, Coeff: map[string]float64{}, CI95: map[string][2]float64{}, Unit: "s", Domain: domain,
		Model: f.Model, Source: f.Source, Label: label}
}

// set records a coefficient. An interval without width is none, as with parameters.
func (f Function) set(name string, v float64, ci [2]float64) {
	f.Coeff[name] = v
	if ci[1]-ci[0] > 1e-12*math.Abs(v) {
		f.CI95[name] = ci
	}
}

// costResiduals records the points of a cost beside the function.
func (f *Fit) costResiduals(name string, d *costData, at func(float64) float64) {
	for i, m := range d.sizes {
		ci := d.interval(i)
		f.Residuals = append(f.Residuals, Residual{Series: name + "(m)", X: m, XName: "bytes", Measured: d.values[i],
			Lo: ci[0], Hi: ci[1], Fitted: at(m), N: d.n[i]})
	}
}

// finishCosts states the quality of all cost functions of a fit together, and the range of sizes they saw.
func (f *Fit) finishCosts(costs []*costFit) *Fit {
	var series []string
	worst, left, n := 0.0, 0.0, 0
	for _, c := range costs {
		series = append(series, c.name+"(m)")
		worst = math.Max(worst, c.condition)
		if c.predictive {
			left += c.left
			n++
		}
	}
	f.judge(r2(f.Residuals, series...), worst, series...)
	if n > 0 {
		left /= float64(n)
		f.Quality.LeaveOneOut = &left
	}
	for _, fn := range f.Functions {
		d, ok := fn.Domain["m"]
		if !ok {
			d = fn.Domain["bytes"]
		}
		if have, ok := f.Domain["bytes"]; ok {
			d = [2]float64{math.Min(d[0], have[0]), math.Max(d[1], have[1])}
		}
		f.Domain["bytes"] = d
	}
	return f
}

// furthest is the largest relative distance of a cost from its points, and the size where it is.
func furthest(d *costData, at func(float64) float64) (off, m float64) {
	for i, x := range d.sizes {
		if e := math.Abs(at(x)/d.values[i] - 1); finite(e) && e > off {
			off, m = e, x
		}
	}
	return off, m
}

// bic is the Bayesian information criterion of n points fitted with q coefficients. Residuals are relative; what is below
// a billionth is rounding.
func bic(rss float64, n, q int) float64 {
	return float64(n)*math.Log(math.Max(rss/float64(n), 1e-18)) + float64(q)*math.Log(float64(n))
}

// clearly is by how much BIC must be lower for the richer of two models to be taken: strong evidence.
// Source: Kass, Raftery 1995, Bayes factors, J. Am. Stat. Assoc. 90, section 3.2.
const clearly = 6

// sumOfSquares is Σ w·(y − at(x))².
func sumOfSquares(x, y, w []float64, at func(float64) float64) float64 {
	sum := 0.0
	for i, v := range x {
		d := y[i] - at(v)
		sum += w[i] * d * d
	}
	return sum
}

// relative returns weights under which residuals are relative, where w is nil.
func relative(y, w []float64) ([]float64, error) {
	if w != nil {
		return w, nil
	}
	return lsq.RelativeWeights(y)
}
