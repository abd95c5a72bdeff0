package buffer

import (
	"fmt"
	"math"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/params"
)

const (
	// accepted and rejected are how many standard uncertainties two sizes may be off what a hypothesis says of them,
	// and must be off for it to be given up. A hypothesis that is less than sameBuffer off, relative, is not given up
	// at all: what the uncertainties leave out may be as large.
	accepted   = 2
	rejected   = 3
	sameBuffer = 0.05
	// maxHeader is the most a buffer may count for a datagram beside its payload [B]: IPv6, UDP, VLAN tags, preamble
	// and gap.
	maxHeader = 120
	// headerDoubt is by how much the bytes that a buffer counts may differ from those of a frame: a VLAN tag, a
	// checksum, a preamble.
	headerDoubt = 12
)

// frameHeaders are the bytes of a frame beside the payload of a datagram, as the kernel's queues count them: Ethernet
// (14), IPv4 (20) or IPv6 (40), UDP (8).
var frameHeaders = []float64{42, 62}

// sizeEstimate is the buffer in packets of one size.
type sizeEstimate struct {
	bytes float64
	estimate
}

// count decides what the buffer counts and records B_L and B_L_bytes. Two hypotheses are tested with the smallest and
// the largest size that filled the port: that it held as many packets of both, and as many bytes with headers of 0 to
// maxHeader. What the buffer counts is known where one of them agrees with the data and the other does not.
func (p *floodData) count(sizes []sizeEstimate) {
	small, large := sizes[0], sizes[len(sizes)-1]
	of := fmt.Sprintf("packets of %g B", large.bytes)
	if len(sizes) == 1 {
		p.record(large.estimate, of+"; whether the buffer counts packets or bytes is not known")
		p.unknownBytes(large, "datagrams of one size only filled the port: whether it counts packets or bytes cannot be told")
		return
	}
	ratio := func(h float64) float64 { return (large.bytes + h) / (small.bytes + h) }
	packets, bytes := p.off(small, large, 1, 1), p.off(small, large, ratio(maxHeader), ratio(0))
	switch {
	case packets.accepted() && bytes.rejected():
		e := p.merge(lists.Map(sizes, func(s sizeEstimate) estimate { return s.estimate }))
		p.record(e, fmt.Sprintf("packets, of whatever size: the port held %.4g of %g B and %.4g of %g; the same bytes are "+
			"%.0f standard uncertainties off", small.value, small.bytes, large.value, large.bytes, bytes.sigmas))
		p.fit.Unknown("B_L_bytes", "B", labelBLBytes, e.value*small.bytes, e.value*(large.bytes+maxHeader),
			params.CountsPackets)
	case bytes.accepted() && packets.rejected():
		p.record(large.estimate, of+"; the buffer counts bytes")
		p.recordBytes(sizes, packets.sigmas)
	case packets.rejected() && bytes.rejected():
		p.record(large.estimate, of)
		p.fit.Unknown("B_L_bytes", "B", labelBLBytes, 0, math.Inf(1), "the buffer counts neither packets nor bytes")
		p.fit.Warn("buffer-ambiguous", "the port holds %.4g packets of %g B and %.4g of %g B: that is "+
			"neither a number of packets nor of bytes; B_L is that of the larger size", small.value, small.bytes,
			large.value, large.bytes)
	default:
		p.record(large.estimate, of)
		why := fmt.Sprintf("whether the buffer counts packets or bytes is not known: it held %.4g packets of %g B, "+
			"or %.4g of %g (%.1f and %.1f standard uncertainties off); measure longer (--budget)",
			small.value, small.bytes, large.value, large.bytes, packets.sigmas, bytes.sigmas)
		p.unknownBytes(large, why)
		p.fit.Warn("buffer-ambiguous", "%s", why)
	}
}

// test is how far two sizes are off a hypothesis.
type test struct{ sigmas, relative, packets float64 }

func (t test) accepted() bool { return t.sigmas <= accepted || t.packets <= 1 } // packets are whole
func (t test) rejected() bool { return t.sigmas > rejected && t.relative > sameBuffer }

// off tests that the port holds from lo to hi times as many packets of the small size as of the large.
func (p *floodData) off(small, large sizeEstimate, lo, hi float64) test {
	k := math.Min(math.Max(small.value/large.value, lo), hi)
	d := math.Abs(small.value - k*large.value)
	return test{d / math.Hypot(p.standard(small.estimate), k*p.standard(large.estimate)), d / (k * large.value), d}
}

// standard is the standard uncertainty of e, its terms among it.
func (p *floodData) standard(e estimate) float64 { return resample.Uncertainty(p.whole(e)) }

// kneeSizes merges the bursts of each size that overflowed the port, ascending. Where there are any, only those with
// D/A below bluntKnee: where the senders are hardly faster than the port, their pauses move the knee.
func (p *floodData) kneeSizes() []sizeEstimate {
	full := lists.Where(p.full, func(g *burstGroup) bool { return g.knee.rho <= bluntKnee })
	if len(full) == 0 {
		full = p.full
	}
	var out []sizeEstimate
	for _, same := range fit.Runs(full, func(a, b *burstGroup) bool { return a.bytes == b.bytes }) {
		of := lists.Map(same, func(g *burstGroup) estimate { return g.est })
		out = append(out, sizeEstimate{float64(same[0].bytes), p.merge(of)})
	}
	return out
}

func (p *floodData) record(e estimate, counts string) {
	p.fit.Found("B_L", "packets", labelBL, e.value, p.recorded(e, p.times.Rounds), e.terms...)
	p.fit.Note("buffer-counts", "B_L counts %s", counts)
}

// unknownBytes records what the packets of one size amount to.
func (p *floodData) unknownBytes(s sizeEstimate, why string) {
	ci := p.whole(s.estimate)
	p.fit.Unknown("B_L_bytes", "B", labelBLBytes, math.Max(0, ci[0])*s.bytes, ci[1]*(s.bytes+maxHeader), why)
}

// header is what the buffer counts for a datagram of either size beside its payload so that both fill it with the same
// bytes, with its standard uncertainty. Where the bytes of a frame are within that, it is these.
func (p *floodData) header(small, large sizeEstimate) (h, u float64) {
	apart := small.value - large.value
	h = (large.value*large.bytes - small.value*small.bytes) / apart
	u = (large.bytes - small.bytes) / (apart * apart) *
		math.Hypot(large.value*p.standard(small.estimate), small.value*p.standard(large.estimate))
	for _, frame := range frameHeaders {
		if math.Abs(frame-h) <= accepted*u {
			return frame, math.Min(u, headerDoubt/math.Sqrt(3))
		}
	}
	return h, u
}

// recordBytes records the buffer in bytes, C = B(m)·(m + h), by the size that gives it most exactly.
func (p *floodData) recordBytes(sizes []sizeEstimate, packetsOff float64) {
	small, large := sizes[0], sizes[len(sizes)-1]
	h, u := p.header(small, large)
	var best estimate
	for _, s := range sizes {
		frame := s.bytes + h
		e := estimate{value: s.value * frame, half: s.half * frame, birge: s.birge,
			reps: lists.Map(s.reps, func(v float64) float64 { return v * frame })}
		for _, t := range s.terms {
			t.U *= frame
			e.terms = append(e.terms, t)
		}
		e.terms = append(e.terms, params.Term{Name: "headers", Type: params.TypeB, U: u * s.value,
			Why: fmt.Sprintf("%.0f bytes a datagram beside its payload, ± %.2g", h, u)})
		if best.reps == nil || p.standard(e) < p.standard(best) {
			best = e
		}
	}
	p.fit.Found("B_L_bytes", "B", labelBLBytes, best.value, p.recorded(best, p.times.Rounds), best.terms...)
	p.fit.Note("buffer-counts", "the buffer counts bytes: %.4g packets of %g B fill it as %.4g of %g B do, with %.0f "+
		"bytes of headers each; the same number of packets is %.0f standard uncertainties off",
		small.value, small.bytes, large.value, large.bytes, h, packetsOff)
}

// burstSeries are the series in which the port overflowed, of all bursts where it never did.
func (p *floodData) burstSeries() []params.Series {
	if len(p.full) == 0 {
		return p.fit.Of(params.ArrivalRatio)
	}
	return lists.Map(p.full, func(g *burstGroup) params.Series { return p.fit.Named(g.series()) })
}

// condition is the largest condition number among the lines, NaN where there is none.
func (p *floodData) condition() float64 {
	worst := math.NaN()
	for _, g := range p.full {
		if c := g.knee.condition; !(c <= worst) {
			worst = c
		}
	}
	return worst
}

// leaveOneOut is the mean error of the arrival ratio of each burst by a fit without it.
func (p *floodData) leaveOneOut() (float64, bool) {
	sum, n := 0.0, 0
	for _, g := range p.full {
		received := resample.Pick(p.times.Values, g.received)
		e, ok := lsq.LeaveOneOut(g.packets, received, func(k, y []float64) (*knee, error) {
			return fitKnee(k, y, float64(g.senders))
		})
		if ok {
			sum, n = sum+e, n+1
		}
	}
	return sum / float64(n), n > 0
}
