package lsq

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"calib/internal/lists"
)

var ErrBreaks = errors.New("breaks do not suit the data")

// SegmentOptions are the settings of FitSegments. The zero value means: breaks that are found, segments of at least
// three x each.
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

// Segment is a line over the data with Lo ≤ x ≤ Hi.
type Segment struct {
	Line
	Lo, Hi   float64 // smallest and largest x in the segment
	Distinct int     // values of x
	Flat     bool    // a constant: the slope is zero and was not fitted
}

// Segments is a piecewise-linear fit, its segments in ascending x.
type Segments struct {
	Segments []Segment
	// Breaks are the x at which one segment hands over to the next: those that were given, or where their lines cross
	// if that lies between the data of both, otherwise half way between.
	Breaks []float64
	Cond   float64 // the largest condition number of its lines
	Joined bool    // lines from point to point
	// LeftOut is the mean relative error at points left out, +Inf where none could be: that of FitCurve.
	LeftOut float64
	// Again fits other points in the same way: that of FitCurve.
	Again way
}

// Coef are the intercept and slope of each segment.
func (s *Segments) Coef() []float64 {
	return lists.Flat(s.Segments, func(g Segment) []float64 { return []float64{g.C0, g.C1} })
}

// FitSegments fits y by straight lines over consecutive ranges of the ascending distinct x, to relative residuals. For
// each number of segments k the breakpoints are those that minimise Σ residual² over all partitions, found exactly by
// dynamic programming in O(n²·k) time and O(n·k) memory; k is chosen by
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
// Outliers move breakpoints: fit medians. It is an error if there are fewer x than MinSizes, and ErrBreaks if breaks do
// not ascend within the x, with MinSizes of them in every segment.
func FitSegments(x, y []float64, opt SegmentOptions) (*Segments, error) {
	w, err := OrRelative(y, nil)
	if err != nil {
		return nil, fmt.Errorf("segmented fit: %w", err)
	}
	d := newPartition(x, y, w, opt)
	if len(x) < d.opt.MinSizes {
		return nil, fmt.Errorf("segmented fit: %d x, and %d are needed", len(x), d.opt.MinSizes)
	}
	var bounds [][2]int
	if len(opt.Breaks) == 0 {
		bounds = d.best()
	} else if bounds, err = d.boundsAt(opt.Breaks); err != nil {
		return nil, fmt.Errorf("segmented fit: %w", err)
	}
	out := &Segments{Breaks: slices.Clone(opt.Breaks)}
	for _, b := range bounds {
		seg, err := d.refit(b[0], b[1])
		if err != nil {
			return nil, fmt.Errorf("segmented fit: x in [%g, %g]: %w", x[b[0]], x[b[1]-1], err)
		}
		out.Cond = max(out.Cond, seg.Cond)
		if n := len(out.Segments); n > 0 && len(opt.Breaks) == 0 {
			last := out.Segments[n-1]
			at := (seg.C0 - last.C0) / (last.C1 - seg.C1)
			if !(at >= last.Hi && at <= seg.Lo) {
				at = last.Hi + (seg.Lo-last.Hi)/2
			}
			out.Breaks = append(out.Breaks, at)
		}
		out.Segments = append(out.Segments, seg)
	}
	return out, nil
}

// partition is the dynamic programme behind FitSegments.
type partition struct {
	opt     SegmentOptions
	x, y, w []float64
	top     float64 // largest |y|

	covers [][]cover // by number of segments k and number of leading points j: that of x[:j] of the least cost
}

// cover is a partition of leading points: its cost, its parameters, and where its last segment begins.
type cover struct {
	cost         float64
	params, from int
}

func newPartition(x, y, w []float64, opt SegmentOptions) *partition {
	opt.MinSizes = cmp.Or(opt.MinSizes, minSizes)
	opt.Max = cmp.Or(opt.Max, max(leastMax, min(mostMax, len(x)/eachMax)))
	return &partition{opt: opt, x: x, y: y, w: w, top: floats.Norm(y, math.Inf(1))}
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
		out[k-1] = [2]int{d.covers[k][j].from, j}
		j = out[k-1][0]
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

func (r *running) line() Line {
	slope := r.xy / r.xx
	return Line{C0: r.y - slope*r.x, C1: slope}
}

// rises reports whether a line rises over span by more than rounding.
func (d *partition) rises(slope, span float64) bool { return slope > 0 && slope*span > 1e-12*d.top }

// search fills covers. Segments are tried by ascending start; when those that start at point i are tried, every best
// cover of x[:i] is known. A segment has 2 parameters, or 1 where it is a constant.
func (d *partition) search() {
	g := len(d.x)
	for range d.opt.Max + 1 {
		d.covers = append(d.covers, slices.Repeat([]cover{{cost: math.Inf(1)}}, g+1))
	}
	d.covers[0][0].cost = 0
	for i := 0; i+d.opt.MinSizes <= g; i++ {
		var r running
		for j := i; j < g; j++ {
			r.add(d.x[j], d.y[j], d.w[j])
			if j-i+1 < d.opt.MinSizes {
				continue
			}
			own := cover{r.yy, 1, i}
			if d.rises(r.line().C1, d.x[j]-d.x[i]) {
				own = cover{r.rss, 2, i}
			}
			for k := 1; k <= d.opt.Max; k++ {
				before, best := d.covers[k-1][i], &d.covers[k][j+1]
				if c := before.cost + own.cost; c < best.cost {
					*best = cover{c, before.params + own.params, i}
				}
			}
		}
	}
}

// bic is the criterion of the best cover by k segments; +Inf if there is none. RSS is held above the rounding of the
// data, so that exact data do not buy segments with rounding errors.
func (d *partition) bic(k int) float64 {
	n, whole := float64(len(d.x)), d.covers[k][len(d.x)]
	power := SumOfSquares(d.x, d.y, d.w, func(float64) float64 { return 0 })
	rss := max(whole.cost, 1e-24*power, math.SmallestNonzeroFloat64)
	return n*math.Log(rss/n) + float64(whole.params+3*(k-1))*math.Log(n)
}

// refit fits the line, or the constant, of x[i:j] by QR.
func (d *partition) refit(i, j int) (seg Segment, err error) {
	seg = Segment{Lo: d.x[i], Hi: d.x[j-1], Distinct: j - i}
	if seg.Line, err = FitLine(d.x[i:j], d.y[i:j], d.w[i:j]); err != nil {
		return seg, err
	}
	if seg.Flat = !d.rises(seg.C1, seg.Hi-seg.Lo); seg.Flat {
		seg.Line = Line{C0: WeightedMean(d.y[i:j], d.w[i:j])}
	}
	return seg, nil
}

// At evaluates the fit at x; beyond the data the outermost lines extend.
func (s *Segments) At(x float64) float64 {
	i, _ := slices.BinarySearch(s.Breaks, x)
	return s.Segments[i].At(x)
}

// boundsAt lists the half-open ranges of x that breaks leave.
func (d *partition) boundsAt(breaks []float64) ([][2]int, error) {
	var out [][2]int
	from, below := 0, math.Inf(-1)
	for _, b := range append(slices.Clone(breaks), math.Inf(1)) {
		to := from + sort.Search(len(d.x)-from, func(i int) bool { return d.x[from+i] > b })
		if to-from < d.opt.MinSizes {
			return nil, fmt.Errorf("%d of the sizes measured, %.15g to %.15g, are above %.15g and up to %.15g, where a line "+
				"needs %d: %w", to-from, d.x[0], d.x[len(d.x)-1], below, b, d.opt.MinSizes, ErrBreaks)
		}
		out = append(out, [2]int{from, to})
		from, below = to, b
	}
	return out, nil
}
