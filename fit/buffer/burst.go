package buffer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lsq"
	"calib/params"
)

const (
	whyReceiver = "receiver dropped"
	whySender   = "not all sent"
)

// burstGroup is the bursts of one size from one number of senders, ascending in the number of datagrams.
type burstGroup struct {
	bytes, senders int64
	packets        []float64
	received, gap  []int // points
	knee           *knee // nil where the port did not overflow often enough
	est            estimate
}

func (g *burstGroup) series() string {
	return fmt.Sprintf("arrival ratio, m=%d, p'=%d", g.bytes, g.senders)
}

// usable are the batches of a phase that may be used, also with retransmissions: a full port causes them.
func (p *floodData) usable(phase string) []*fit.Batch {
	return p.fit.Unflagged(p.fit.Prepared.LineBatches(names.Flood, phase), fit.Untimed)
}

func (p *floodData) loadBursts() []*fit.Batch {
	var used []*fit.Batch
	for _, b := range p.usable(names.PhaseFlood) {
		l := b.Lines[0]
		m, k, n := l.Point[names.FactorBytes], l.Point[names.FactorPackets], l.Point[names.FactorSenders]
		if k < 1 || n < 1 || len(l.NS) == 0 {
			continue
		}
		if sent, ok := l.Aux[names.AuxSent]; ok && int64(sent) != k {
			p.fit.LeaveOut(b, whySender)
			continue
		}
		if l.Aux[names.AuxDropped] > 0 {
			p.fit.LeaveOut(b, whyReceiver)
			continue
		}
		p.table.Add(p.table.Duration(floodKey{floodReceived, m, n, k}), 0, b.Round, b.Timings(), l.Aux[names.AuxReceived])
		p.table.Add(p.table.Duration(floodKey{floodGap, m, n, k}), 0, b.Round, b.Timings(), fit.Seconds(l.NS)...)
		p.fit.WidenDomain("bytes", float64(m))
		p.fit.WidenDomain("senders", float64(n))
		p.fit.WidenDomain("packets", float64(k))
		used = append(used, b)
	}
	keys := slices.SortedFunc(maps.Keys(p.table.Index), func(a, b floodKey) int {
		return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.senders, b.senders), cmp.Compare(a.packet, b.packet))
	})
	for _, same := range fit.Runs(keys, func(a, b floodKey) bool { return a.bytes == b.bytes && a.senders == b.senders }) {
		g := &burstGroup{bytes: same[0].bytes, senders: same[0].senders}
		for _, k := range same {
			if k.what == floodGap {
				g.gap = append(g.gap, p.table.Index[k])
				continue
			}
			g.packets, g.received = append(g.packets, float64(k.packet)), append(g.received, p.table.Index[k])
		}
		p.bursts = append(p.bursts, g)
	}
	if n := len(p.fit.Prepared.Samples(names.Flood, names.PhaseSkipped)); n > 0 {
		p.fit.Note("bursts-skipped", "%d bursts were left out by the experiment: "+
			"they would have exceeded its limits of bytes or time", n)
	}
	return used
}

// knee is a fit of received(k) = min(k, c + rho·x(k)), c = B − ½, x = lasting(k, p', rho).
type knee struct {
	senders, c, rho float64
	condition       float64 // of the line
}

func (q *knee) At(k float64) float64 {
	return math.Min(k, q.c+q.rho*lasting(k, q.senders, q.rho))
}

// lasting is how long k datagrams from p' senders keep the port full, counted in datagrams that arrive meanwhile. The
// senders send in step: p' datagrams arrive at a time, and r the last of J times. If p' divides k, all but the first p'
// arrive while the port is full. If r is less than rho·p', which leave between two arrivals, the port is no longer full
// at the end:
//
//	x = min(p'·(J − 1), p'·(J − 2) + r/rho),  J = ⌈k/p'⌉,  r = k − p'·(J − 1).
func lasting(k, senders, rho float64) float64 {
	times := math.Ceil(k / senders)
	if times < 2 {
		return 0
	}
	rest := k - senders*(times-1)
	if rest < rho*senders {
		return senders*(times-2) + rest/rho
	}
	return senders * (times - 1)
}

// buffer is B [packets].
func (q *knee) buffer() float64 { return q.c + 0.5 }

// firstLoss is the index of the first burst of which packets were lost: more than rounding and a stray loss of 1%.
func firstLoss(k, received []float64) int {
	for i := range k {
		if k[i]-received[i] > math.Max(0.5, 0.01*k[i]) {
			return i
		}
	}
	return len(k)
}

var errFlat = errors.New("fewer than two bursts overflowed the port")

// bluntKnee is the D/A above which a knee says little.
const bluntKnee = 0.7

// settled is how often a line is fitted again with the rho it gave. That is enough: rho changes x by less than p'.
const settled = 3

// fitKnee fits B and D/A to the arrival ratios received/k by least squares. The knee lies beside the first burst that
// lost packets. The line is tried from the burst before that one, from it, and from the one after it; the fit of the
// smallest sum of squares over all bursts is taken.
func fitKnee(k, received []float64, senders float64) (*knee, error) {
	var best *knee
	sse := math.Inf(1)
	first := firstLoss(k, received)
	for from := max(0, first-1); from <= min(first+1, len(k)-2); from++ {
		q, err := fitOverflow(k[from:], received[from:], senders)
		if err != nil || q.rho >= 1 || first >= len(k)-1 {
			continue
		}
		sum := 0.0
		for i := range k {
			e := (received[i] - q.At(k[i])) / k[i]
			sum += e * e
		}
		if sum < sse {
			best, sse = q, sum
		}
	}
	if best == nil {
		return nil, errFlat
	}
	return best, nil
}

// fitOverflow fits the line of bursts that overflowed the port to their arrival ratios.
func fitOverflow(k, received []float64, senders float64) (*knee, error) {
	q := &knee{senders: senders}
	x, w := make([]float64, len(k)), make([]float64, len(k))
	for range settled {
		for i, v := range k {
			x[i], w[i] = lasting(v, senders, q.rho), 1/(v*v)
		}
		l, err := lsq.FitLine(x, received, w)
		if err != nil {
			return nil, err
		}
		q.c, q.rho, q.condition = l.C0, l.C1, l.Cond
	}
	return q, nil
}

func (p *floodData) fitBursts() {
	if len(p.bursts) == 0 {
		p.fit.Unknown("B_L", "packets", labelBL, 0, math.Inf(1),
			"no burst of datagrams was measured, or none that can be used")
		return
	}
	for _, g := range p.bursts {
		q, err := fitKnee(g.packets, resample.Pick(p.times.Values, g.received), float64(g.senders))
		if err == nil {
			g.knee = q
			g.est = estimate{value: q.buffer(), half: wholePacket, terms: g.misfit(q, p.times),
				reps: make([]float64, len(p.times.Replicates))}
			resample.Each(len(g.est.reps), func(i int) {
				g.est.reps[i] = math.NaN()
				if q, err := fitKnee(g.packets, resample.Pick(p.times.Replicates[i], g.received), float64(g.senders)); err == nil {
					g.est.reps[i] = q.buffer()
				}
			})
			p.full = append(p.full, g)
		}
		p.ratios(g)
	}
	sizes := p.heldSizes()
	if len(sizes) == 0 {
		sizes = p.kneeSizes()
	}
	if len(sizes) == 0 {
		p.neverFull()
		return
	}
	p.checkRates()
	p.count(sizes)
}

// misfit is the term of a knee: how far the bursts that overflowed the port lie off it, at the worst of the first two.
// The model takes the senders to be in step and at an even rate, and the bursts are few.
func (g *burstGroup) misfit(q *knee, times *resample.Estimates) []params.Term {
	received := resample.Pick(times.Values, g.received)
	first, worst := firstLoss(g.packets, received), 0.0
	for i := first; i < min(first+2, len(received)); i++ {
		worst = math.Max(worst, math.Abs(received[i]-q.At(g.packets[i])))
	}
	return []params.Term{fit.Uniform("misfit at the knee", worst,
		"distance of the first bursts that overflowed the port from the fitted knee")}
}

// ratios records the arrival ratios of a group beside the fit; without a knee the ratio is one.
func (p *floodData) ratios(g *burstGroup) {
	s := params.Series{Name: g.series(), Quantity: params.ArrivalRatio, XName: "packets", Unit: "1",
		Factors: map[string]float64{"bytes": float64(g.bytes), "senders": float64(g.senders)}}
	for i, k := range g.packets {
		ci, fitted := p.times.Point(g.received[i]), 1.0
		if g.knee != nil {
			fitted = g.knee.At(k) / k
		}
		s.Add(k, p.times.Values[g.received[i]]/k, [2]float64{ci[0] / k, ci[1] / k}, fitted, p.times.N[g.received[i]])
	}
	p.fit.Series = append(p.fit.Series, s)
}

// checkRates notes D/A as fitted beside D/A from the gaps.
func (p *floodData) checkRates() {
	var parts []string
	for _, g := range p.full {
		text := fmt.Sprintf("m = %d, p' = %d: B %.4g packets, D/A %.3g", g.bytes, g.senders, g.knee.buffer(), g.knee.rho)
		if ratio, ok := p.gapRatio(g); ok {
			text += fmt.Sprintf(" (%.3g from the gaps)", ratio)
		}
		parts = append(parts, text)
	}
	for _, same := range p.held {
		k := heldOf(same[0])
		parts = append(parts, fmt.Sprintf("kept full of m = %d: %.4g packets in %d batches", k.bytes,
			p.times.Values[p.table.Index[k]]+0.5, len(same)))
	}
	p.fit.Note("burst-fits", "bursts: %s", strings.Join(parts, ", "))
}

// gapRatio is D/A from gaps. D is one over the gap at the receiver in the longest burst. A is p' over the gap of one
// sender: that of the longest burst of a single sender, which the port may slow down, or else g_s by experiment gap.
func (p *floodData) gapRatio(g *burstGroup) (float64, bool) {
	alone := 0.0
	for _, single := range p.bursts {
		if single.bytes == g.bytes && single.senders == 1 {
			alone = p.times.Values[single.gap[len(single.gap)-1]]
		}
	}
	if alone == 0 && p.gs != nil {
		alone = p.gs(float64(g.bytes))
	}
	ratio := alone / (float64(g.senders) * p.times.Values[g.gap[len(g.gap)-1]])
	return ratio, alone > 0 && fit.Finite(ratio) && g.senders > 1
}

// neverFull records the bounds of a port that did not overflow, or in one burst of a group only.
func (p *floodData) neverFull() {
	lo, hi := 0.0, math.Inf(1)
	why := "the port never overflowed within the limits of the experiment"
	for _, g := range p.bursts {
		ratio, known := p.gapRatio(g)
		first := firstLoss(g.packets, resample.Pick(p.times.Values, g.received))
		for i, k := range g.packets {
			if i >= first {
				hi = math.Min(hi, math.Ceil(p.times.Values[g.received[i]]))
				why = "one burst only overflowed the port: its line cannot be fitted"
			} else if known {
				lo = math.Max(lo, (k-float64(g.senders))*(1-ratio))
			}
		}
	}
	if lo == 0 && p.gs == nil {
		why += "; a lower limit needs experiment gap"
	} else if lo == 0 {
		why += "; a lower limit needs senders that are together faster than the port"
	}
	p.fit.Bound("B_L", "packets", labelBL, math.Min(lo, hi), hi, why)
	p.fit.Unknown("B_L_bytes", "B", labelBLBytes, 0, math.Inf(1), why)
}
