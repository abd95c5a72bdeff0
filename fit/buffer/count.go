package buffer

import (
	"fmt"
	"math"

	"calib/fit"
	"calib/fit/params"
	"calib/fit/regress"
)

const (
	// sameBuffer is by how much two sizes may differ and still hold the same buffer, whatever their intervals.
	sameBuffer = 0.05
	// maxHeader is the most a buffer may count for a datagram beside its payload [B]: IPv6, UDP, VLAN tags, preamble and gap.
	maxHeader = 120
)

// sizeEstimate is the buffer in packets of one size.
type sizeEstimate struct {
	bytes float64
	estimate
}

// count decides what the buffer counts and records B_L and B_L_bytes.
func (p *floodData) count() {
	sizes := p.bySize()
	small, large := sizes[0], sizes[len(sizes)-1]
	if len(sizes) == 1 {
		p.record(large.estimate, fmt.Sprintf("packets of %g bytes", large.bytes))
		ci := p.interval(large.estimate)
		p.fit.Unknown("B_L_bytes", "B", labelBLBytes, math.Max(0, ci[0])*large.bytes, ci[1]*(large.bytes+maxHeader),
			"bursts of one size only overflowed the port: whether it counts packets or bytes cannot be told")
		return
	}
	all := make([]estimate, len(sizes))
	for i, s := range sizes {
		all[i] = s.estimate
	}
	a, b := p.interval(small.estimate), p.interval(large.estimate)
	noise := math.Hypot((a[1]-a[0])/small.value, (b[1]-b[0])/large.value) / 2
	header := (small.value*small.bytes - large.value*large.bytes) / (large.value - small.value)
	switch {
	case math.Abs(math.Log(small.value/large.value)) <= math.Max(sameBuffer, noise):
		e := p.merge(all)
		p.record(e, "packets, of whatever size")
		p.fit.Unknown("B_L_bytes", "B", labelBLBytes, e.value*small.bytes, e.value*(large.bytes+maxHeader),
			"the buffer counts packets, not bytes")
	case small.value > large.value && header > -0.1*small.bytes && header <= maxHeader:
		p.record(large.estimate, fmt.Sprintf("packets of %g bytes; the buffer counts bytes", large.bytes))
		p.recordBytes(small, large, header)
	default:
		p.record(large.estimate, fmt.Sprintf("packets of %g bytes", large.bytes))
		p.fit.Unknown("B_L_bytes", "B", labelBLBytes, 0, math.Inf(1), "the buffer counts neither packets nor bytes")
		p.fit.Warn(params.BufferAmbiguous, "the port holds %.4g packets of %g bytes and %.4g of %g bytes: that is neither a number of packets nor of "+
			"bytes; B_L is that of the larger size", small.value, small.bytes, large.value, large.bytes)
	}
}

// bySize merges the groups of each size that overflowed the port, ascending.
func (p *floodData) bySize() []sizeEstimate {
	var out []sizeEstimate
	for same := range fit.Runs(p.full, func(a, b *burstGroup) bool { return a.bytes == b.bytes }) {
		var of []estimate
		for _, g := range same {
			of = append(of, g.est)
		}
		out = append(out, sizeEstimate{float64(same[0].bytes), p.merge(of)})
	}
	return out
}

func (p *floodData) record(e estimate, counts string) {
	p.fit.Found("B_L", "packets", labelBL, e.value, p.interval(e))
	p.fit.Note(params.BufferCounts, "B_L counts %s", counts)
}

// recordBytes records the buffer in bytes, C = B(m)·(m + h), with the header h that both sizes agree on.
func (p *floodData) recordBytes(small, large sizeEstimate, header float64) {
	total := func(s, l float64) float64 {
		h := (s*small.bytes - l*large.bytes) / (l - s)
		return l * (large.bytes + h)
	}
	e := estimate{value: total(small.value, large.value), reps: make([]float64, len(small.reps)),
		half: large.half * (large.bytes + header), birge: math.Max(small.birge, large.birge)}
	for i := range e.reps {
		e.reps[i] = total(small.reps[i], large.reps[i])
	}
	p.fit.Found("B_L_bytes", "B", labelBLBytes, e.value, p.interval(e))
	p.fit.Note(params.BufferCounts, "the buffer counts bytes: %.4g packets of %g bytes fill it as %.4g of %g bytes do, with %.0f bytes of headers each",
		small.value, small.bytes, large.value, large.bytes, header)
}

// burstSeries are the series in which the port overflowed, of all bursts where it never did.
func (p *floodData) burstSeries() []params.Series {
	if len(p.full) == 0 {
		return p.fit.Of(params.ArrivalRatio)
	}
	var some []params.Series
	for _, g := range p.full {
		some = append(some, p.fit.Named(g.series()))
	}
	return some
}

// condition is the largest condition number among the lines, NaN where there is none.
func (p *floodData) condition() float64 {
	worst := math.NaN()
	for _, g := range p.full {
		if c := g.knee.line.Cond(); !(c <= worst) {
			worst = c
		}
	}
	return worst
}

// leaveOneOut is the mean error of the arrival ratio of each burst by a fit without it.
func (p *floodData) leaveOneOut() (float64, bool) {
	sum, n := 0.0, 0
	for _, g := range p.full {
		e, ok := regress.LeaveOneOut(g.packets, p.times.Pick(g.received), func(k, y []float64) (func(float64) float64, error) {
			q, err := fitKnee(k, y, float64(g.senders))
			if err != nil {
				return nil, err
			}
			return func(k float64) float64 { return q.at(k, float64(g.senders)) }, nil
		})
		if ok {
			sum, n = sum+e, n+1
		}
	}
	return sum / float64(n), n > 0
}
