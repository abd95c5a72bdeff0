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
	n       []float64
	a       *resample.Estimates // a' at each n
	line    lsq.Line            // C0 = 2a, C1 = a_c; of a single n: C0 = a'
	slopeCI [2]float64
	lines   [][]float64 // a and a_c by replicate
	order   order       // in which the messages of a burst come, which says what a'(n) is made of
	uneven  float64     // by how much the first gap at the most pairs differs from the others [s]
}

// fitFixed reads a'(n) off the one-packet bursts of each n and fits a and a_c.
func (p *paired) fitFixed() (*fixedFit, error) {
	f := &fixedFit{}
	small := map[int][]*burstPoint{}
	for _, n := range p.pairs {
		f.n = append(f.n, float64(n))
		all := p.bursts[n]
		sizes := lists.Map(all, func(q *burstPoint) float64 { return q.bytes })
		times := lists.Map(all, func(q *burstPoint) float64 { return p.times.Values[q.last] })
		small[n] = all[:smallSizes(sizes, times, p.packet)]
		if all[0].bytes > p.packet {
			p.fit.Warn("no-one-packet-burst", "n = %d: no burst fits in one packet of %g B", n, p.packet)
		}
	}
	if q, err := p.fit.Prepared.Pingpong(p.fit.Model, minSmall); err == nil {
		s, first := startOf(q), small[p.pairs[0]]
		if p.level = s.level && first[0].bytes <= s.upto; p.level || len(first) > 1 {
			p.doubt = s.doubt * first[0].bytes
		}
	}
	mean, err := p.limitsOf(small, together)(p.times.Values)
	if err != nil {
		return nil, err
	}
	f.order = p.orderOf(f.n, mean, small)
	if f.a, err = p.times.Derive(p.limitsOf(small, f.order)); err != nil {
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

// order is how the messages of a burst come.
type order int

const (
	hidden    order = iota // more pairs make them later by less than what blurs their times
	together               // all of them later alike
	inTurn                 // one after the other
	separated              // the same, from starts that are closer together than that
)

// orderOf compares the last delivery with the mean of n. In turn, it is later by as much as the mean grows with n; late
// together, by what blurs clocks and times. Deliveries in turn are separated where they are further apart than the
// starts of the senders, and enough repetitions are left that show it.
func (p *paired) orderOf(n, mean []float64, small map[int][]*burstPoint) order {
	l, err := lsq.RelativeLine(n, mean)
	if err != nil {
		return hidden
	}
	most, few := len(n)-1, func(q *burstPoint) bool { return !q.enough() }
	q, turn := small[p.pairs[most]][0], 2*l.C1
	switch {
	case p.times.Values[q.last]-p.times.Values[q.mean] < togetherShare*(mean[most]-mean[0]):
		return together
	case turn <= separation*max(p.clocks.offset, p.clocks.jitter) || turn*(n[most]-n[0]) <= params.Material*mean[0]:
		return hidden
	case n[0] != 1 || p.cutBursts || turn <= separation*p.starts.interval ||
		slices.ContainsFunc(p.pairs, func(n int) bool { return slices.ContainsFunc(small[n], few) }):
		return inTurn
	}
	return separated
}

// unevenGaps is by how much the first gap of bursts differs from the others [s], in the median of the repetitions;
// NaN where there are no others.
func unevenGaps(points []*burstPoint) float64 {
	some := lists.Where(points, func(q *burstPoint) bool { return len(q.uneven) > 0 })
	return math.Abs(stats.Mean(lists.Map(some, func(q *burstPoint) float64 { return stats.Median(q.uneven) })))
}

// limitsOf returns the function from values of points to a'(n), in the limit of small messages: of the last delivery
// where they come in turn, of the gap more than a'(1) where they are separated, else of the mean delivery. Where the
// order is hidden, the last may be later than the mean by as much as the mean grows: half of that is added.
func (p *paired) limitsOf(small map[int][]*burstPoint, o order) func(values []float64) ([]float64, error) {
	return func(values []float64) ([]float64, error) {
		out := make([]float64, len(p.pairs))
		for i, n := range p.pairs {
			base, of := 0.0, func(q *burstPoint) int { return q.mean }
			switch {
			case o == inTurn:
				of = func(q *burstPoint) int { return q.last }
			case o == separated && i > 0:
				base, of = out[0], func(q *burstPoint) int { return q.gap }
			}
			var sizes, times []float64
			for _, q := range small[n] {
				sizes, times = append(sizes, q.bytes), append(times, values[of(q)])
			}
			v := times[0]
			if p.level {
				v -= p.doubt
			} else if len(sizes) > 1 {
				l, err := lsq.RelativeLine(sizes, times)
				if err != nil {
					return nil, fmt.Errorf("n = %d: %w", n, err)
				}
				v = l.C0
			}
			if out[i] = base + v; o == hidden {
				out[i] += (out[i] - out[0]) / 2
			}
		}
		return out, nil
	}
}

// single records a' and the bounds it puts on a and a_c.
func (p *paired) single(f *fixedFit) {
	v := f.a.Values[0]
	f.line = lsq.Line{C0: v, Cond: math.NaN()}
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
	l, err := lsq.FitLine(f.n, f.a.Values, w)
	if err != nil {
		return err
	}
	f.line = l
	lines := resample.Map(f.a.Replicates, func(y []float64) ([]float64, error) {
		q, err := lsq.FitLine(f.n, y, w)
		return []float64{q.C0 / 2, q.C1}, err
	})
	a := l.C0 / 2
	terms := p.termsOfSlope(f)
	// Half of what bears on a_c bears on a, since 2a is a'(n) − n·a_c at the smallest n; so does the error of a one-way
	// time where the dataset states one.
	ofHost := lists.Map(terms, func(t params.Term) params.Term { t.U /= 2; return t })
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

// termsOfSlope are what makes a_c uncertain beside the scatter between rounds.
//
//   - Starts: a message that starts late waits less, by at most its delay. So the last delivery is early by at most the
//     spread of the starts; taken as uniform between none and all of it. Gaps do not hold the starts.
//   - First delivery: gaps of a burst should be equal. Where the first is shorter, its delivery may be late, as a host
//     that idled wakes slowly; uniform between none and all of the difference.
func (p *paired) termsOfSlope(f *fixedFit) []params.Term {
	last := len(f.n) - 1
	span := f.n[last] - f.n[0]
	var terms []params.Term
	add := func(name string, u float64, why string) {
		if u > 0 {
			terms = append(terms, params.Term{Name: name, Type: params.TypeB, U: u / span, Why: why})
		}
	}
	if f.order == hidden || f.order == inTurn {
		add("start skew", p.starts.spread/math.Sqrt(3), "hosts start at slightly different times: their spread with the "+
			"most pairs, in the closer half of the bursts, uniform, over the range of n")
	}
	if f.order == hidden {
		add("order of messages", math.Abs(f.line.C1)*span/3/math.Sqrt(3), "the last delivery may be later than the mean "+
			"by none to all of what the mean grows, of which half is added, uniform")
	} else if f.order == separated {
		add("first delivery", f.uneven/math.Sqrt(3), "the first delivery may be late: its gap to the second against the "+
			"other gaps, with the most pairs, uniform, over the range of n")
	}
	if p.cutBursts {
		add("slow pairs", math.Abs(f.line.C1)*span/f.n[last]/math.Sqrt(3), "slow pairs sent as well: n or n−1 messages met")
	}
	return terms
}

// messageTerms are the terms of share times the time of a message from host to host: 1 for a', ½ for a.
func (p *paired) messageTerms(share float64) []params.Term {
	terms := slices.Concat(p.fit.Prepared.ClockReading(share), fit.ClockOffset(share, p.clocks.bound))
	if p.woken > 0 {
		terms = append(terms, params.Term{Name: "wake-up", Type: params.TypeA, U: share * p.woken,
			Why: "hosts share CPUs: the kernel timed arrivals, and wakeup was added"})
	}
	return append(terms, smallestSize(share*p.doubt)...)
}
