package hyperbolic

import (
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

// fixedFit is a'(n) and the line 2a + a_c·n through it.
type fixedFit struct {
	n         []float64
	a         *resample.Estimates // a' at each n
	line      lsq.Line            // C0 = 2a, C1 = a_c; of a single n: C0 = a'
	slopeCI   [2]float64
	lines     [][]float64 // a and a_c by replicate
	condition float64
	late      []float64 // of each n: what was taken off a'(n) for the lateness of the last of n deliveries
	separated bool      // a'(n) is from gaps
	uneven    float64   // by how much the first gap at the most pairs differs from the others [s]
}

// fitFixed reads a'(n) off the one-packet bursts of each n and fits a and a_c.
func (p *paired) fitFixed() (*fixedFit, error) {
	f := &fixedFit{condition: math.NaN()}
	small := map[int][]*burstPoint{}
	for _, n := range p.pairs {
		f.n = append(f.n, float64(n))
		all := p.bursts[n]
		sizes, times, _, late := columns(all, p.times.Values)
		small[n] = all[:SmallSizes(sizes, times, p.packet)]
		f.late = append(f.late, stats.Mean(late[:len(small[n])]))
		if all[0].bytes > p.packet {
			p.fit.Warn("no-one-packet-burst", "n = %d: no burst fits in one packet of %g B", n, p.packet)
		}
	}
	last, err := p.limitsOf(small, false)(p.times.Values)
	if err != nil {
		return nil, err
	}
	f.separated = p.separated(f.n, last, small)
	if f.a, err = p.times.Derive(p.limitsOf(small, f.separated)); err != nil {
		return nil, err
	}
	f.a.N = lists.Map(p.pairs, func(n int) int {
		return lists.Sum(small[n], func(q *burstPoint) int { return p.times.N[q.last] })
	})
	f.uneven = unevenGaps(small[p.pairs[len(p.pairs)-1]])
	if len(f.n) == 1 {
		p.single(f)
	} else if err := p.separate(f); err != nil {
		return nil, err
	}
	p.fit.AddSeries(params.Series{Name: seriesA, Quantity: params.FixedTime, XName: "pairs"}, f.n, f.a, f.line.At)
	return f, nil
}

// separated reports whether the deliveries of a burst come one by one, further apart than clocks, jitter and the starts
// of the senders put them, and enough repetitions are left that show it. Where more pairs make all deliveries later
// alike, the gaps are shorter than what the last is later by, and say nothing of it.
func (p *paired) separated(n, last []float64, small map[int][]*burstPoint) bool {
	if len(n) < 2 || n[0] != 1 || p.cut {
		return false
	}
	for _, points := range small {
		if slices.ContainsFunc(points, func(q *burstPoint) bool { return !q.enough() }) {
			return false
		}
	}
	v, alone, most := p.times.Values, small[p.pairs[0]][0], small[p.pairs[len(n)-1]][0]
	l, _, err := lsq.FitLine(n, last, nil)
	return err == nil && l.C1 > separation*max(p.clocks.offset, p.clocks.jitter, p.starts.interval) &&
		l.C1*(n[len(n)-1]-1) > params.Material*last[0] && v[most.gap] > (v[most.last]-v[alone.last])/2
}

// unevenGaps is by how much the first gap of bursts differs from the others [s], in the median of the repetitions; 0
// where there are no others.
func unevenGaps(points []*burstPoint) float64 {
	some := slices.DeleteFunc(slices.Clone(points), func(q *burstPoint) bool { return len(q.uneven) == 0 })
	if len(some) == 0 {
		return 0
	}
	return math.Abs(stats.Mean(lists.Map(some, func(q *burstPoint) float64 { return stats.Median(q.uneven) })))
}

// limitsOf returns the function from values of points to a'(n): of the last delivery less its lateness, or where they
// are separated of the gap more than a'(1).
func (p *paired) limitsOf(small map[int][]*burstPoint, separated bool) func(values []float64) ([]float64, error) {
	return func(values []float64) ([]float64, error) {
		out := make([]float64, len(p.pairs))
		for i, n := range p.pairs {
			sizes, last, gap, late := columns(small[n], values)
			base, times := 0.0, last
			for k := range last {
				last[k] -= late[k]
			}
			if separated && i > 0 {
				base, times = out[0], gap
			}
			v, err := lsq.Intercept(sizes, times)
			if err != nil {
				return nil, fmt.Errorf("n = %d: %w", n, err)
			}
			out[i] = base + v
		}
		return out, nil
	}
}

func columns(points []*burstPoint, values []float64) (sizes, last, gap, late []float64) {
	for _, q := range points {
		sizes = append(sizes, q.bytes)
		last, gap, late = append(last, values[q.last]), append(gap, values[q.gap]), append(late, values[q.late])
	}
	return sizes, last, gap, late
}

// single records a' and the bounds it puts on a and a_c.
func (p *paired) single(f *fixedFit) {
	v := f.a.Values[0]
	f.line = lsq.Line{C0: v}
	p.fit.Found("a_prime", "s", "fixed time of a message from host to host, 2a + n·a_c", v, f.a.Point(0),
		p.messageTerms(1)...)
	const why = "one number of pairs only: a_prime is known, but not how much of it is a or a_c; measure with more hosts"
	top := math.Max(f.a.PointScatter(0)[1], 0)
	p.fit.Unknown("a", "s", labelA, 0, top/2, why)
	p.fit.Unknown("a_c", "s", labelAC, 0, top/f.n[0], why)
}

// separate fits a' = 2a + n·a_c by least squares weighted with 1/variance.
func (p *paired) separate(f *fixedFit) error {
	w := lsq.Weights(f.a.Values, f.a.Replicates)
	l, sol, err := lsq.FitLine(f.n, f.a.Values, w)
	if err != nil {
		return err
	}
	f.line, f.condition = l, sol.Cond
	lines := resample.Map(f.a.Replicates, func(y []float64) ([]float64, error) {
		q, _, err := lsq.FitLine(f.n, y, w)
		return []float64{q.C0 / 2, q.C1}, err
	})
	a := l.C0 / 2
	terms := p.termsOfSlope(f)
	// Half of what bears on a_c bears on a, since 2a is a'(n) − n·a_c at the smallest n; so does the error of a one-way
	// time where the dataset states one.
	ofHost := slices.Clone(terms)
	for i := range ofHost {
		ofHost[i].U /= 2
	}
	ofA := resample.DifferenceOf(p.times, a, lines, func(l []float64) float64 { return l[0] })
	ofAC := resample.DifferenceOf(p.times, l.C1, lines, func(l []float64) float64 { return l[1] })
	p.fit.Difference("a", "s", labelA, a, ofA, append(ofHost, p.messageTerms(0.5)...)...)
	p.fit.Difference("a_c", "s", labelAC, l.C1, ofAC, terms...)
	f.slopeCI = fit.WidenDifference(l.C1, ofAC, terms)
	p.fit.Together([]string{"a", "a_c"}, lines)
	f.lines = lines
	if len(f.n) == 2 {
		p.fit.Warn("two-numbers-of-pairs", "two numbers of pairs only, and two points always fit a line: use 6 "+
			"hosts or more")
	}
	return nil
}

// termsOfSlope are what makes a_c uncertain beside the scatter between rounds. All but the first delivery bear on last
// deliveries: gaps hold neither the starts nor, where directions are averaged, the offsets.
//
//   - Clock offsets: the last of n one-way times is taken from the largest of n offsets.
//   - Starts: a message that starts late waits less, by at most its delay. So the last delivery is early by at most the
//     spread of the starts; taken as uniform between none and all of it.
//   - First delivery: gaps of a burst should be equal. Where the first is shorter, its delivery may be late, as a host
//     that idled wakes slowly; uniform between none and all of the difference.
//   - Lateness: it is taken off as if the n deliveries were late independently of each other; if they are late
//     together, none of it belongs off. Uniform between.
func (p *paired) termsOfSlope(f *fixedFit) []params.Term {
	last := len(f.n) - 1
	span := f.n[last] - f.n[0]
	var terms []params.Term
	add := func(name string, u float64, why string) {
		if u > 0 {
			terms = append(terms, params.Term{Name: name, Type: params.TypeB, U: u / span, Why: why})
		}
	}
	if !f.separated {
		const over = ", over the range of n"
		add(params.TermClockOffset, math.Sqrt2*p.clocks.offset, "spread of the offsets of two clocks"+over)
		add("start skew", p.starts.spread/math.Sqrt(3), "hosts start at slightly different times: their spread with the "+
			"most pairs, in the closer half of the bursts, uniform"+over)
		add("last of n", f.late[last]/math.Sqrt(3), "correction for the late last delivery, none to all of it, uniform"+over)
	} else {
		add("first delivery", f.uneven/math.Sqrt(3), "the first delivery may be late: its gap to the second against the "+
			"other gaps, with the most pairs, uniform, over the range of n")
	}
	if p.cut {
		add("slow pairs", math.Abs(f.line.C1)*span/f.n[last]/math.Sqrt(3), "slow pairs sent as well: n or n−1 messages met")
	}
	return terms
}

// messageTerms are the type B terms of share times the time of a message from host to host: 1 for a', ½ for a.
func (p *paired) messageTerms(share float64) []params.Term {
	return slices.Concat(p.fit.Prepared.ClockReading(share), fit.ClockOffset(share, p.clocks.bound))
}
