package fit

import (
	"fmt"
	"strconv"

	"calib/internal/dataset"
	"calib/internal/lsq"
)

// Segmented describes T(x) of pingpong by straight lines over ranges of the size, as a protocol that changes with the
// size makes them. Breaks are the best of all partitions, their number is chosen by BIC, and no slope is negative.
//
// Its function "T" has the form "segments: c0_i + c1_i*x, from_i < x <= from_i+1": for segment i = 1, 2, …, the last of
// them without end, coefficients c0_i [s], c1_i [s/B] and from_i [B], the size above which it holds (0 for the first). A
// size exactly on a break belongs to the lower segment. Domain holds the sizes seen: "bytes", and "bytes_i" by segment. Beside
// it stands the parameter send_buffer, up to which a sender does not wait for T (addSendBuffer).
type Segmented struct{}

// SegmentsForm is the form of the function that Segmented writes.
const SegmentsForm = "segments: c0_i + c1_i*x, from_i < x <= from_i+1"

// Name implements Model.
func (Segmented) Name() string { return "segmented" }

// Needs implements Model.
func (Segmented) Needs() []string { return []string{"pingpong"} }

// Fit implements Model. It returns ErrNeeds for fewer than three sizes.
func (m Segmented) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	p, err := loadPingpong(d, s, m.Name(), "piecewise linear, BIC (Hall, Osborn, Sakkas 2013)", 3)
	if err != nil {
		return nil, err
	}
	seg, err := segments(p.sizes, p.times.values)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name(), err)
	}
	fn := Function{
		Form: SegmentsForm, Coeff: map[string]float64{}, CI95: map[string][2]float64{}, Unit: "s",
		Domain: map[string][2]float64{"bytes": p.fit.Domain["bytes"]},
		Model:  m.Name(), Source: p.fit.Source, Label: "time of a message by its size, idle network",
	}
	reps := p.times.apply(func(y []float64) ([]float64, error) { return withinBreaks(p.sizes, y, seg) })
	from := 0.0
	for i, g := range seg.Segments {
		name := "_" + strconv.Itoa(i+1)
		if i > 0 {
			from = seg.Breaks()[i-1]
		}
		fn.Coeff["from"+name] = from
		fn.Coeff["c0"+name], fn.CI95["c0"+name] = g.Intercept, p.times.interval(g.Intercept, reps, 2*i)
		fn.Coeff["c1"+name], fn.CI95["c1"+name] = g.Slope, p.times.interval(g.Slope, reps, 2*i+1)
		fn.Domain["bytes"+name] = [2]float64{g.Lo, g.Hi}
		if g.Flat {
			p.fit.note("T does not grow between %g and %g bytes", g.Lo, g.Hi)
		}
	}
	p.fit.Functions = map[string]Function{"T": fn}
	p.fit.addSendBuffer(d)
	p.fit.note("%d segments by BIC; intervals are those of the lines between fixed breaks", len(seg.Segments))
	p.residuals(seg.Predict)
	return p.finish(conditionOf(p, seg), func(x, y []float64) (func(float64) float64, error) {
		r, err := segments(x, y)
		if err != nil {
			return nil, err
		}
		return r.Predict, nil
	}), nil
}

func segments(x, y []float64) (*lsq.Segments, error) {
	w, err := lsq.RelativeWeights(y)
	if err != nil {
		return nil, err
	}
	return lsq.Segmented(x, y, w, lsq.SegmentOptions{AllowFlat: true})
}

// withinBreaks refits the lines between the breaks of seg: intercept and slope of each, in order.
func withinBreaks(x, y []float64, seg *lsq.Segments) ([]float64, error) {
	var out []float64
	k := 0
	for _, g := range seg.Segments {
		n := k + g.Distinct
		l, err := segmentLine(x[k:n], y[k:n], g.Flat)
		if err != nil {
			return nil, err
		}
		out = append(out, l.c0, l.c1)
		k = n
	}
	return out, nil
}

func segmentLine(x, y []float64, flat bool) (line, error) {
	if !flat {
		l, _, err := fitLine(x, y, nil)
		return l, err
	}
	rows := make([][]float64, len(y))
	for i := range rows {
		rows[i] = []float64{1}
	}
	sol, err := lsq.Relative(rows, y)
	if err != nil {
		return line{}, err
	}
	return line{sol.Coef[0], 0}, nil
}

// conditionOf is the largest condition number among the segments.
func conditionOf(p *pingpong, seg *lsq.Segments) float64 {
	worst, k := 0.0, 0
	for _, g := range seg.Segments {
		n := k + g.Distinct
		if _, sol, err := fitLine(p.sizes[k:n], p.times.values[k:n], nil); err == nil && !g.Flat {
			worst = max(worst, sol.Cond)
		}
		k = n
	}
	return worst
}
