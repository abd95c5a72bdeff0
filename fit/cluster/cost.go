package cluster

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/internal/stats"
	"calib/params"
)

// bent is by how much a function may miss a size before that is said.
const bent = 0.05

// curves holds several costs by message size in one table, so that a bootstrap draws the same rounds for all of them. K
// tells the costs apart.
type curves[K comparable] struct{ table resample.Table[sizeOf[K]] }

type sizeOf[K comparable] struct {
	cost  K
	bytes float64
}

// add appends values [s] of n timings at m bytes.
func (c *curves[K]) add(cost K, m float64, b *fit.Batch, n int, values ...float64) {
	c.table.AddTeam(c.table.Duration(sizeOf[K]{cost, m}), b.Team(), b.Dir, b.Round, n, values...)
}

// sizes are those of a cost, or of all where none is named, ascending.
func (c *curves[K]) sizes(of ...K) []float64 {
	return resample.Distinct(&c.table, func(k sizeOf[K]) (float64, bool) {
		return k.bytes, len(of) == 0 || slices.Contains(of, k.cost)
	})
}

func (c *curves[K]) point(cost K, m float64) (int, bool) {
	i, ok := c.table.Index[sizeOf[K]{cost, m}]
	return i, ok
}

// of returns a cost as resampled, of sizes above one and up to another; without points where there are none.
func (c *curves[K]) of(est *resample.Estimates, cost K, above, most float64) *costData {
	sizes := slices.DeleteFunc(c.sizes(cost), func(m float64) bool { return m <= above || m > most })
	points := lists.Map(sizes, func(m float64) int { return c.table.Index[sizeOf[K]{cost, m}] })
	return &costData{sizes, est.Select(points)}
}

// costData is a cost by size [s], resampled.
type costData struct {
	sizes []float64
	*resample.Estimates
}

// weights are 1/variance. They are equal where a cost is not positive, as a cost within the noise may be.
func (d *costData) weights() []float64 {
	if slices.Min(d.Values) <= 0 {
		return slices.Repeat([]float64{1}, len(d.Values))
	}
	return lsq.Weights(d.Values, d.Replicates)
}

// furthest is the largest relative distance of a function from the points, and the size where it is.
func (d *costData) furthest(at func(float64) float64) (off, m float64) {
	for i, x := range d.sizes {
		if e := math.Abs(at(x)/d.Values[i] - 1); fit.Finite(e) && e > off {
			off, m = e, x
		}
	}
	return off, m
}

// series records the points of a cost beside a function of the size.
func (d *costData) series(r *fit.Result, symbol string, at func(float64) float64) {
	r.AddSeries(params.Series{Name: symbol + "(m)", Quantity: params.CostOfSize, Symbol: symbol, XName: "bytes"},
		d.sizes, d.Estimates, at)
}

// costFit is a cost function with the bootstrap of its coefficients. nil is a cost that is not known, and counts as
// none.
type costFit struct {
	params.Cost
	symbol     string
	replicates []params.Cost
	rows       [][]float64 // the same: c0, c1 and the floor
	condition  float64
	left       []float64 // leave-one-size-out error, where it is known
}

// replicate returns the cost of replicate k; replicates of two bootstraps are independent and pair by number.
func (c *costFit) replicate(k int) params.Cost {
	if c == nil || len(c.replicates) == 0 {
		return params.Cost{}
	}
	return c.replicates[k%len(c.replicates)]
}

func (c *costFit) cost() params.Cost {
	if c == nil {
		return params.Cost{}
	}
	return c.Cost
}

type costFitter func(x, y, w []float64) (params.Cost, error)

func lineCost(x, y, w []float64) (params.Cost, error) {
	l, err := lsq.FitLine(x, y, w)
	return params.Cost{C0: l.C0, C1: l.C1}, err
}

// refit fits every replicate; one that fails is left out.
func (d *costData) refit(fit costFitter, w []float64) []params.Cost {
	return resample.Map(d.Replicates, func(y []float64) (params.Cost, error) { return fit(d.sizes, y, w) })
}

// fitCost fits a line, or a floor and a line where floors are looked for and one shows, and records the function, its
// points and findings about it. Terms widen the intervals of what does not depend on the size. It needs two sizes.
func fitCost(r *fit.Result, symbol, label string, d *costData, floors bool, terms ...params.Term) (*costFit, error) {
	w := d.weights()
	out := &costFit{symbol: symbol}
	l, err := lsq.FitLine(d.sizes, d.Values, w)
	if err != nil {
		return nil, fmt.Errorf("%s(m): %w", symbol, err)
	}
	out.condition = l.Cond
	line := params.Cost{C0: l.C0, C1: l.C1}
	fitter, shows := costFitter(lineCost), false
	if floors {
		out.Cost, out.replicates, shows = fitFloor(d, w, line)
	}
	if shows {
		fitter = floorCost
	} else {
		out.Cost, out.replicates = line, d.refit(lineCost, w)
	}
	c := out.Cost
	fn := r.Function(params.Line, label, map[string][2]float64{"m": {d.sizes[0], d.sizes[len(d.sizes)-1]}})
	coefficients := []string{"c0", "c1"}
	if shows {
		fn.Form, coefficients = params.Floored, append(coefficients, "floor")
	}
	numbers := func(q params.Cost) []float64 { return []float64{q.C0, q.C1, q.Floor} }
	at := func(i int) float64 { return c.Of(d.sizes[i]) }
	v, rows, ci, misfit := fit.Uncertain(d.Estimates, c, out.replicates, numbers, at, len(coefficients),
		func(y []float64) (params.Cost, error) { return fitter(d.sizes, y, w) })
	for j, name := range coefficients {
		if name != "c1" {
			misfit[j] = append(misfit[j], terms...)
		}
		fn.Set(name, v[j], fit.Add(v[j], ci[j], misfit[j]))
	}
	r.Functions[symbol] = fn
	out.rows = rows
	together(r, nil, nil, out)
	d.series(r, symbol, c.Of)
	if ci, ok := fn.CI95["c1"]; c.C1 < 0 && (!ok || ci[1] < 0) {
		r.Add(params.Warnf("negative-slope", "%s falls with the size: by %.3g s a byte", symbol, -c.C1).Of(symbol))
	}
	if slices.Min(d.Values) > 0 {
		e, ok := lsq.LeaveOneOut(d.sizes, d.Values, func(x, y []float64) (lsq.Func, error) {
			q, err := fitter(x, y, nil)
			return q.Of, err
		})
		if ok {
			out.left = []float64{e}
		}
	}
	return out, nil
}

// together records that costs, and some other numbers, come from the same replicates. Costs that lack one are left out.
func together(r *fit.Result, names []string, rows [][][]float64, costs ...*costFit) {
	for _, c := range costs {
		if c != nil && (rows == nil || len(c.rows) == len(rows[0])) {
			names, rows = append(names, c.symbol+".c0", c.symbol+".c1", c.symbol+".floor"), append(rows, c.rows)
		}
	}
	r.Together(names, rows[0], rows[1:]...)
}

// finishCosts states the quality of all cost functions of a fit together, and the range of sizes they saw.
func finishCosts(r *fit.Result, costs ...*costFit) *params.Fit {
	var series []params.Series
	worst := 0.0
	var left []float64
	for _, c := range costs {
		series = append(series, r.Named(c.symbol+"(m)"))
		worst = math.Max(worst, c.condition)
		left = append(left, c.left...)
	}
	r.Judge(fit.R2(2*len(costs), series...), worst, series...)
	r.LeaveOneOut(stats.Mean(left), len(left) > 0)
	for _, fn := range r.Functions {
		d, ok := fn.Domain["m"]
		if !ok {
			d = fn.Domain["bytes"]
		}
		r.WidenDomain("bytes", d[:]...)
	}
	return r.Fit
}

// checkForm warns where a cost is far off its function at a size.
func checkForm(r *fit.Result, d *costData, c *costFit) {
	if off, m := d.furthest(c.Of); off > bent {
		r.Add(params.Warnf("off-the-form", "%s(%g) is %.0f%% off its function: it is neither a line nor a floor and "+
			"a line", c.symbol, m, 100*off).Of(c.symbol).With("off", off).With("bytes", m))
	}
}

// minFlat is the fewest sizes a floor, and the line above it, must be seen at; minFloored the fewest in all.
const (
	minFlat    = 2
	minFloored = 5
)

// errInadmissible reports that no fit satisfies what its form asks for.
var errInadmissible = errors.New("no admissible fit")

// floorCost fits max(floor, c0 + c1·m) exactly. For every split of the sizes into a flat part below and a line above,
// the sum of squares has a minimum. Where line and floor would meet outside the gap between the two parts, the minimum
// has its corner on a size x_i: y = c0 + c1·max(m, x_i). All are tried, and the smallest is taken whose corner lies
// where its split has it.
func floorCost(x, y, w []float64) (params.Cost, error) {
	w, err := lsq.OrRelative(y, w)
	if err != nil {
		return params.Cost{}, err
	}
	best, least := params.Cost{}, math.Inf(1)
	try := func(c params.Cost, err error) {
		if err != nil || c.C1 <= 0 {
			return
		}
		if sse := lsq.SumOfSquares(x, y, w, c.Of); sse < least {
			best, least = c, sse
		}
	}
	for k := minFlat - 1; k+minFlat <= len(x); k++ {
		try(cornerCost(x, y, w, x[k]))
		if k < minFlat {
			continue
		}
		if c, err := lineCost(x[k:], y[k:], w[k:]); err == nil {
			c.Floor = lsq.WeightedMean(y[:k], w[:k])
			if corner := (c.Floor - c.C0) / c.C1; corner >= x[k-1]*(1-1e-9) && corner <= x[k]*(1+1e-9) {
				try(c, nil)
			}
		}
	}
	if math.IsInf(least, 1) {
		return params.Cost{}, errInadmissible
	}
	return best, nil
}

// cornerCost fits a floor that ends at the size corner.
func cornerCost(x, y, w []float64, corner float64) (params.Cost, error) {
	c, err := lineCost(lists.Map(x, func(v float64) float64 { return math.Max(v, corner) }), y, w)
	c.Floor = c.Of(corner)
	return c, err
}

// fitFloor returns the floor and line of a cost with those of each replicate, and whether the data show the floor: BIC
// must clearly take it rather than line, which was fitted to the same data, and it must lie above the line at the
// smallest size by a material share, with its whole 95% interval.
func fitFloor(d *costData, w []float64, line params.Cost) (c params.Cost, replicates []params.Cost, shows bool) {
	n := len(d.sizes)
	if n < minFloored {
		return c, nil, false
	}
	c, err := floorCost(d.sizes, d.Values, w)
	if err != nil {
		return c, nil, false
	}
	bic := func(c params.Cost, coefficients int) float64 {
		return lsq.BIC(lsq.SumOfSquares(d.sizes, d.Values, w, c.Of), n, coefficients)
	}
	depth := func(c params.Cost) float64 { return 1 - (c.C0+c.C1*d.sizes[0])/c.Floor }
	if bic(line, 2)-bic(c, 3) < lsq.Clearly || depth(c) < params.Material {
		return c, nil, false
	}
	replicates = d.refit(floorCost, w)
	return c, replicates, resample.Scatter(d.Estimates, depth(c), replicates, depth)[0] > 0
}
