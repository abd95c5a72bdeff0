package lsq

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// point is an observation y at x with weight w.
type point struct{ x, y, w float64 }

// group is a run points[lo:hi] of equal x.
type group struct {
	x      float64
	lo, hi int
}

// partition is the dynamic programme behind Segmented.
type partition struct {
	opt    SegmentOptions
	points []point // ascending x
	groups []group
	n      int
	top    float64 // largest |y|

	// By number of segments k and number of leading groups j: the least cost of covering groups[:j], its parameters,
	// and where its last segment begins.
	cost   [][]float64
	params [][]int
	from   [][]int
}

// newPartition validates the data and groups them by ascending x. Observations of zero weight are dropped.
func newPartition(x, y, w []float64, opt SegmentOptions) (*partition, error) {
	if opt.MinDistinct == 0 {
		opt.MinDistinct = 3
	}
	switch {
	case len(x) != len(y) || (w != nil && len(w) != len(x)):
		return nil, fmt.Errorf("%d x, %d y, %d weights: %w", len(x), len(y), len(w), ErrShape)
	case opt.Max < 0 || opt.MinDistinct < 2:
		return nil, fmt.Errorf("up to %d segments of %d sizes: %w", opt.Max, opt.MinDistinct, ErrShape)
	}
	for name, v := range map[string][]float64{"x": x, "y": y} {
		if err := allFinite(name, v); err != nil {
			return nil, err
		}
	}
	if err := checkWeights(w); err != nil {
		return nil, err
	}
	d := &partition{opt: opt, top: floats.Norm(y, math.Inf(1))}
	for i := range x {
		p := point{x[i], y[i], 1}
		if w != nil {
			p.w = w[i]
		}
		if p.w > 0 {
			d.points = append(d.points, p)
		}
	}
	slices.SortFunc(d.points, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y), cmp.Compare(a.w, b.w))
	})
	d.n = len(d.points)
	for i, p := range d.points {
		if i == 0 || p.x != d.points[i-1].x {
			d.groups = append(d.groups, group{x: p.x, lo: i})
		}
		d.groups[len(d.groups)-1].hi = i + 1
	}
	if len(d.groups) < opt.MinDistinct {
		return nil, fmt.Errorf("%d distinct x, %d needed: %w", len(d.groups), opt.MinDistinct, ErrShort)
	}
	if opt.Max == 0 {
		d.opt.Max = max(leastMax, min(mostMax, len(d.groups)/eachMax))
	}
	return d, nil
}

// SegmentOptions.Max where it is 0: a segment for each eachMax distinct x, within these limits.
const leastMax, mostMax, eachMax = 3, 6, 30

// choose lists the half-open ranges of groups that become segments: those between the breaks given, or those of the
// least BIC.
func (d *partition) choose() ([][2]int, error) {
	if len(d.opt.Breaks) > 0 {
		x := make([]float64, len(d.groups))
		for i, g := range d.groups {
			x[i] = g.x
		}
		return boundsAt(x, d.opt.Breaks, d.opt.MinDistinct)
	}
	d.search()
	best, least := 0, math.Inf(1)
	for k := 1; k <= d.opt.Max; k++ {
		if bic := d.bic(k); bic < least {
			best, least = k, bic
		}
	}
	if best == 0 {
		return nil, fmt.Errorf("every partition of %d sizes into up to %d segments has a falling one: %w", len(d.groups), d.opt.Max, ErrInadmissible)
	}
	return d.bounds(best), nil
}

// running is a weighted straight-line fit to the points seen so far. Means and second moments are updated about the
// current mean, and RSS by the squared recursive residual (Brown, Durbin and Evans 1975), so that neither suffers from
// cancellation, whatever the offset of the data.
type running struct {
	w, x, y    float64 // total weight, weighted means
	xx, xy, yy float64 // centred second moments
	rss        float64
}

// add includes a point.
func (r *running) add(p point) {
	dx, dy := p.x-r.x, p.y-r.y
	switch {
	case r.w > 0 && r.xx > 0:
		e := dy - r.xy/r.xx*dx
		r.rss += e * e / (1/p.w + 1/r.w + dx*dx/r.xx)
	case r.w > 0 && dx == 0: // still one x: the spread at that x is residual
		r.rss += dy * dy / (1/p.w + 1/r.w)
	}
	total := r.w + p.w
	shrink := p.w * r.w / total
	r.xx += shrink * dx * dx
	r.xy += shrink * dx * dy
	r.yy += shrink * dy * dy
	r.x += p.w / total * dx
	r.y += p.w / total * dy
	r.w = total
}

// segment is the cost of a segment and its number of parameters: 2 for a line, 1 for a constant, 0 when it is not
// admissible.
func (d *partition) segment(r *running, span float64) (cost float64, params int) {
	slope := r.xy / r.xx
	switch {
	case math.Abs(slope)*span <= 1e-12*d.top:
		return r.yy, 1
	case slope > 0:
		return r.rss, 2
	case d.opt.AllowFlat:
		return r.yy, 1
	}
	return math.Inf(1), 0
}

// search fills the tables. Segments are tried by ascending start; when those that start at group i are tried, every
// best cover of groups[:i] is known.
func (d *partition) search() {
	g := len(d.groups)
	d.cost, d.params, d.from = make([][]float64, d.opt.Max+1), make([][]int, d.opt.Max+1), make([][]int, d.opt.Max+1)
	for k := range d.cost {
		d.cost[k], d.params[k], d.from[k] = make([]float64, g+1), make([]int, g+1), make([]int, g+1)
		for j := range d.cost[k] {
			d.cost[k][j] = math.Inf(1)
		}
	}
	d.cost[0][0] = 0
	for i := 0; i+d.opt.MinDistinct <= g; i++ {
		if i > 0 && !d.reachable(i) {
			continue
		}
		var r running
		for j := i; j < g; j++ {
			for _, p := range d.points[d.groups[j].lo:d.groups[j].hi] {
				r.add(p)
			}
			if j-i+1 < d.opt.MinDistinct {
				continue
			}
			cost, params := d.segment(&r, d.groups[j].x-d.groups[i].x)
			if params > 0 {
				d.extend(i, j+1, cost, params)
			}
		}
	}
}

// reachable reports whether groups[:i] has an admissible cover.
func (d *partition) reachable(i int) bool {
	for k := range d.cost {
		if !math.IsInf(d.cost[k][i], 1) {
			return true
		}
	}
	return false
}

// extend offers the segment groups[i:j] as the last one of every cover of groups[:j].
func (d *partition) extend(i, j int, cost float64, params int) {
	for k := 1; k <= d.opt.Max; k++ {
		if c := d.cost[k-1][i] + cost; c < d.cost[k][j] {
			d.cost[k][j], d.params[k][j], d.from[k][j] = c, d.params[k-1][i]+params, i
		}
	}
}

// bic is the criterion of the best cover by k segments; +Inf if there is none. RSS is held above the rounding of the
// data, so that exact data do not buy segments with rounding errors.
func (d *partition) bic(k int) float64 {
	g := len(d.groups)
	if math.IsInf(d.cost[k][g], 1) {
		return math.Inf(1)
	}
	var power float64
	for _, p := range d.points {
		power += p.w * p.y * p.y
	}
	n := float64(d.n)
	rss := max(d.cost[k][g], 1e-24*power, math.SmallestNonzeroFloat64)
	return n*math.Log(rss/n) + float64(d.params[k][g]+3*(k-1))*math.Log(n)
}

// bounds lists the half-open ranges of groups of the best cover by k segments.
func (d *partition) bounds(k int) [][2]int {
	out := make([][2]int, k)
	for j := len(d.groups); k > 0; k-- {
		i := d.from[k][j]
		out[k-1] = [2]int{i, j}
		j = i
	}
	return out
}

// refit fits the line, or the constant, of groups[i:j] by QR.
func (d *partition) refit(i, j int) (*Segment, error) {
	lo, hi := d.groups[i], d.groups[j-1]
	pts := d.points[lo.lo:hi.hi]
	var r running
	rows, y, w := make([][]float64, len(pts)), make([]float64, len(pts)), make([]float64, len(pts))
	for k, p := range pts {
		r.add(p)
		rows[k], y[k], w[k] = []float64{1, p.x}, p.y, p.w
	}
	seg := &Segment{Lo: lo.x, Hi: hi.x, Distinct: j - i}
	if _, params := d.segment(&r, hi.x-lo.x); params == 1 {
		seg.Flat = true
		for k := range rows {
			rows[k] = rows[k][:1]
		}
	}
	fit, err := Linear(rows, y, w)
	if err != nil {
		return nil, err
	}
	seg.Intercept = fit.Coef[0]
	if !seg.Flat {
		seg.Slope = fit.Coef[1]
	}
	if seg.Slope < 0 {
		return nil, fmt.Errorf("refitted slope %g: %w", seg.Slope, ErrInadmissible)
	}
	return seg, nil
}
