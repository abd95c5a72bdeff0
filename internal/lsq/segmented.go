package lsq

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/floats"
)

// SegmentOptions are the settings of Segmented. The zero value means: breaks that are found, segments of at least three
// x each.
type SegmentOptions struct {
	Max      int // largest number of segments tried; 0 means one for every 30 x, but 3 at least and 6 at most
	MinSizes int // fewest x in a segment, at least 2; 0 means 3
	// Breaks are the x that end a segment each, ascending; an x on a break belongs to the segment below it. Empty means
	// that they are found.
	Breaks []float64
}

// SegmentOptions.Max where it is 0: a segment for each eachMax x, within these limits.
const leastMax, mostMax, eachMax = 3, 6, 30

// minSizes is the fewest points that a line over a range is fitted to, unless less is asked for.
const minSizes = 3

// Segment is a line y = Intercept + Slope·x over the data with Lo ≤ x ≤ Hi.
type Segment struct {
	Lo, Hi           float64 // smallest and largest x in the segment
	Intercept, Slope float64
	Distinct         int  // values of x
	Flat             bool // a constant: the slope is zero and was not fitted
}

// Segments is a piecewise-linear fit, its segments in ascending x.
type Segments struct {
	Segments []Segment
	// Breaks are the x at which one segment hands over to the next: those that were given, or where their lines cross
	// if that lies between the data of both, otherwise half way between.
	Breaks []float64
}

// Segmented fits y by straight lines over consecutive ranges of the ascending distinct x. For each number of segments k
// the breakpoints are those that minimise Σ w·residual² over all partitions, found exactly by dynamic programming in
// O(n²·k) time and O(n·k) memory; k is chosen by
//
//	BIC = n·ln(RSS/n) + q·ln n,  q = 2 per line, 1 per constant, 3 per breakpoint,
//
// the penalty of a breakpoint being that of Hall, Osborn and Sakkas (2013), Inference on structural breaks using
// information criteria, Manchester School 81(S3), 54-81. Neighbouring segments need not meet. Breaks that are given are
// taken as they are.
//
// BIC is asymptotic: where there are few x for each segment it takes too many. Max 0 therefore tries one segment for
// every 30 x, but always up to three, and never more than six, the five breaks up to which Bai and Perron (2003),
// Computation and analysis of multiple structural change models, J. Applied Econometrics 18, 1-22, search.
//
// No slope is clamped: a segment whose least-squares slope is negative is a constant, which is marked Flat. A rise over
// the whole segment below 10⁻¹² of the largest |y| is rounding, and is marked Flat too.
//
// w is nil or proportional to 1/variance; RelativeWeights(y) makes residuals relative. Outliers move breakpoints: fit
// medians.
//
// Errors: ErrNotFinite, ErrShort (fewer than MinSizes x), ErrBreaks (CheckBreaks).
func Segmented(x, y, w []float64, opt SegmentOptions) (*Segments, error) {
	d, err := newPartition(x, y, w, opt)
	if err != nil {
		return nil, fmt.Errorf("segmented fit: %w", err)
	}
	var bounds [][2]int
	if len(opt.Breaks) > 0 {
		if bounds, err = boundsAt(x, opt.Breaks, d.opt.MinSizes); err != nil {
			return nil, fmt.Errorf("segmented fit: %w", err)
		}
	} else {
		bounds = d.best()
	}
	out := &Segments{Breaks: slices.Clone(opt.Breaks)}
	for _, b := range bounds {
		seg, err := d.refit(b[0], b[1])
		if err != nil {
			return nil, fmt.Errorf("segmented fit: x in [%g, %g]: %w", x[b[0]], x[b[1]-1], err)
		}
		if n := len(out.Segments); n > 0 && len(opt.Breaks) == 0 {
			last := out.Segments[n-1]
			at := (seg.Intercept - last.Intercept) / (last.Slope - seg.Slope)
			if !(at >= last.Hi && at <= seg.Lo) {
				at = last.Hi + (seg.Lo-last.Hi)/2
			}
			out.Breaks = append(out.Breaks, at)
		}
		out.Segments = append(out.Segments, seg)
	}
	return out, nil
}

// partition is the dynamic programme behind Segmented.
type partition struct {
	opt     SegmentOptions
	x, y, w []float64
	top     float64 // largest |y|

	// By number of segments k and number of leading points j: the least cost of covering x[:j], its parameters, and
	// where its last segment begins.
	cost   [][]float64
	params [][]int
	from   [][]int
}

func newPartition(x, y, w []float64, opt SegmentOptions) (*partition, error) {
	opt.MinSizes = cmp.Or(opt.MinSizes, minSizes)
	opt.Max = cmp.Or(opt.Max, max(leastMax, min(mostMax, len(x)/eachMax)))
	if len(x) < opt.MinSizes {
		return nil, fmt.Errorf("%d x, %d needed: %w", len(x), opt.MinSizes, ErrShort)
	}
	if w == nil {
		w = slices.Repeat([]float64{1}, len(x))
	}
	return &partition{opt: opt, x: x, y: y, w: w, top: floats.Norm(y, math.Inf(1))}, allFinite("y", y)
}

// best lists the half-open ranges that become segments, those of the least BIC.
func (d *partition) best() [][2]int {
	d.search()
	best, least := 1, math.Inf(1)
	for k := 1; k <= d.opt.Max; k++ {
		if bic := d.bic(k); bic < least {
			best, least = k, bic
		}
	}
	out := make([][2]int, best)
	for k, j := best, len(d.x); k > 0; k-- {
		out[k-1] = [2]int{d.from[k][j], j}
		j = d.from[k][j]
	}
	return out
}

// running is a weighted straight-line fit to the points seen so far. Means and second moments are updated about the
// current mean, and RSS by the squared recursive residual (Brown, Durbin and Evans 1975), so that neither suffers from
// cancellation, whatever the offset of the data.
type running struct {
	w, x, y    float64 // total weight, weighted means
	xx, xy, yy float64 // centred second moments
	rss        float64
}

// add includes a point y at x with weight w.
func (r *running) add(x, y, w float64) {
	dx, dy := x-r.x, y-r.y
	if r.xx > 0 {
		e := dy - r.xy/r.xx*dx
		r.rss += e * e / (1/w + 1/r.w + dx*dx/r.xx)
	}
	total := r.w + w
	shrink := w * r.w / total
	r.xx += shrink * dx * dx
	r.xy += shrink * dx * dy
	r.yy += shrink * dy * dy
	r.x += w / total * dx
	r.y += w / total * dy
	r.w = total
}

// segment is the cost of a segment and its number of parameters: 2 for a line, 1 for a constant.
func (d *partition) segment(r *running, span float64) (cost float64, params int) {
	if slope := r.xy / r.xx; slope > 0 && slope*span > 1e-12*d.top {
		return r.rss, 2
	}
	return r.yy, 1
}

// search fills the tables. Segments are tried by ascending start; when those that start at point i are tried, every
// best cover of x[:i] is known.
func (d *partition) search() {
	g := len(d.x)
	d.cost, d.params, d.from = make([][]float64, d.opt.Max+1), make([][]int, d.opt.Max+1), make([][]int, d.opt.Max+1)
	for k := range d.cost {
		d.cost[k], d.params[k], d.from[k] = slices.Repeat([]float64{math.Inf(1)}, g+1), make([]int, g+1), make([]int, g+1)
	}
	d.cost[0][0] = 0
	for i := 0; i+d.opt.MinSizes <= g; i++ {
		var r running
		for j := i; j < g; j++ {
			r.add(d.x[j], d.y[j], d.w[j])
			if j-i+1 >= d.opt.MinSizes {
				cost, params := d.segment(&r, d.x[j]-d.x[i])
				d.extend(i, j+1, cost, params)
			}
		}
	}
}

// extend offers the segment x[i:j] as the last one of every cover of x[:j].
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
	var power float64
	for i, y := range d.y {
		power += d.w[i] * y * y
	}
	g := len(d.x)
	n := float64(g)
	rss := max(d.cost[k][g], 1e-24*power, math.SmallestNonzeroFloat64)
	return n*math.Log(rss/n) + float64(d.params[k][g]+3*(k-1))*math.Log(n)
}

// refit fits the line, or the constant, of x[i:j] by QR.
func (d *partition) refit(i, j int) (Segment, error) {
	var r running
	for k := i; k < j; k++ {
		r.add(d.x[k], d.y[k], d.w[k])
	}
	seg := Segment{Lo: d.x[i], Hi: d.x[j-1], Distinct: j - i}
	_, params := d.segment(&r, seg.Hi-seg.Lo)
	seg.Flat = params == 1
	l, err := segmentLine(d.x[i:j], d.y[i:j], d.w[i:j], seg.Flat)
	seg.Intercept, seg.Slope = l.C0, l.C1
	return seg, err
}

// Predict evaluates the fit at x; beyond the data the outermost lines extend.
func (s *Segments) Predict(x float64) float64 {
	i, _ := slices.BinarySearch(s.Breaks, x)
	return s.Segments[i].Intercept + s.Segments[i].Slope*x
}

// CheckBreaks returns ErrBreaks unless breaks ascend, lie within the ascending distinct x, and leave enough of them for
// a line in every segment. An x on a break belongs to the segment below it.
func CheckBreaks(x, breaks []float64) error {
	_, err := boundsAt(x, breaks, minSizes)
	return err
}

// boundsAt lists the half-open ranges of the ascending distinct x that breaks leave.
func boundsAt(x, breaks []float64, least int) ([][2]int, error) {
	if len(x) == 0 {
		return nil, fmt.Errorf("no sizes to break: %w", ErrBreaks)
	}
	var out [][2]int
	from, below := 0, math.Inf(-1)
	for _, b := range append(slices.Clone(breaks), math.Inf(1)) {
		switch {
		case !(b > below):
			return nil, fmt.Errorf("a break at %s after one at %s, breaks ascend: %w", plain(b), plain(below), ErrBreaks)
		case !math.IsInf(b, 1) && (b < x[0] || b >= x[len(x)-1]):
			return nil, fmt.Errorf("a break at %s is outside the sizes measured, %s to %s: %w",
				plain(b), plain(x[0]), plain(x[len(x)-1]), ErrBreaks)
		}
		to := from + sort.Search(len(x)-from, func(i int) bool { return x[from+i] > b })
		if to-from < least {
			return nil, fmt.Errorf("%s %s, where a line needs %d: %w", counted(to-from), between(below, b), least, ErrBreaks)
		}
		out = append(out, [2]int{from, to})
		from, below = to, b
	}
	return out, nil
}

func counted(n int) string {
	if n == 1 {
		return "1 size was measured"
	}
	return strconv.Itoa(n) + " sizes were measured"
}

// between says where the x from lo to hi are.
func between(lo, hi float64) string {
	switch {
	case math.IsInf(lo, -1):
		return "up to the break at " + plain(hi)
	case math.IsInf(hi, 1):
		return "above the break at " + plain(lo)
	}
	return "between the breaks at " + plain(lo) + " and " + plain(hi)
}

// plain writes a number without an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
