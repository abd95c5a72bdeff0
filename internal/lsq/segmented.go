package lsq

import (
	"fmt"
	"slices"
)

// SegmentOptions are the settings of Segmented. The zero value means: breaks that are found, segments of at least three
// distinct x each, lines only, least squares.
type SegmentOptions struct {
	Max         int  // largest number of segments tried; 0 means one for every 30 distinct x, but 3 at least and 6 at most
	MinDistinct int  // fewest distinct x in a segment, at least 2; 0 means 3
	AllowFlat   bool // where a line would fall, a constant may stand for the segment
	// Breaks are the x that end a segment each, ascending; an x on a break belongs to the segment below it. Empty means
	// that they are found.
	Breaks []float64
}

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
	given    []float64 // breaks that were not found but given
}

// Segmented fits y by straight lines over consecutive ranges of x. For each number of segments k the breakpoints are
// those that minimise Σ w·residual² over all partitions, found exactly by dynamic programming in O(n²·k) time and
// O(n·k) memory for n distinct x; k is chosen by
//
//	BIC = N·ln(RSS/N) + q·ln N,  q = 2 per line, 1 per constant, 3 per breakpoint,
//
// the penalty of a breakpoint being that of Hall, Osborn and Sakkas (2013), Inference on structural breaks using
// information criteria, Manchester School 81(S3), 54-81. Equal x are never split, and neighbouring segments need not
// meet. Breaks that are given are taken as they are.
//
// BIC is asymptotic: where there are few x for each segment it takes too many. Max 0 therefore tries one segment for
// every 30 x, but always up to three, and never more than six, the five breaks up to which Bai and Perron (2003),
// Computation and analysis of multiple structural change models, J. Applied Econometrics 18, 1-22, search.
//
// A segment whose least-squares slope is negative is not admissible, and neither is a partition that holds one; no
// slope is clamped. With AllowFlat such a segment may be a constant instead, which is marked Flat. A rise over the
// whole segment below 10⁻¹² of the largest |y| is rounding, and is marked Flat too.
//
// w is nil or proportional to 1/variance; RelativeWeights(y) makes residuals relative. Outliers move breakpoints: fit
// medians, one for each x.
//
// Errors: ErrShape, ErrNotFinite, ErrWeight, ErrShort (fewer than MinDistinct distinct x), ErrInadmissible (no
// partition without a falling segment), ErrBreaks (CheckBreaks).
func Segmented(x, y, w []float64, opt SegmentOptions) (*Segments, error) {
	d, err := newPartition(x, y, w, opt)
	if err != nil {
		return nil, fmt.Errorf("segmented fit: %w", err)
	}
	bounds, err := d.choose()
	if err != nil {
		return nil, fmt.Errorf("segmented fit: %w", err)
	}
	out := &Segments{given: slices.Clone(opt.Breaks)}
	for _, b := range bounds {
		seg, err := d.refit(b[0], b[1])
		if err != nil {
			return nil, fmt.Errorf("segmented fit: x in [%g, %g]: %w", d.groups[b[0]].x, d.groups[b[1]-1].x, err)
		}
		out.Segments = append(out.Segments, *seg)
	}
	return out, nil
}

// Breaks returns the x at which one segment hands over to the next: those that were given, or where their lines cross
// if that lies between the data of both, otherwise half way between.
func (s *Segments) Breaks() []float64 {
	if len(s.given) > 0 {
		return slices.Clone(s.given)
	}
	var out []float64
	for i := 1; i < len(s.Segments); i++ {
		a, b := s.Segments[i-1], s.Segments[i]
		at := (b.Intercept - a.Intercept) / (a.Slope - b.Slope)
		if !(at >= a.Hi && at <= b.Lo) {
			at = a.Hi + (b.Lo-a.Hi)/2
		}
		out = append(out, at)
	}
	return out
}

// Predict evaluates the fit at x; beyond the data the outermost lines extend.
func (s *Segments) Predict(x float64) float64 {
	i, _ := slices.BinarySearch(s.Breaks(), x)
	return s.Segments[i].Intercept + s.Segments[i].Slope*x
}
