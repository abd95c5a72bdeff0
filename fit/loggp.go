package fit

import (
	"fmt"
	"math"
	"slices"

	"calib/internal/dataset"
)

// LogGP estimates the parameters of the model of that name from PRTT(n, d, s) [s], the time of n messages of s bytes with
// a wait of d between them until one reply of s bytes is back:
//
//	gap(s) = (PRTT(n,0,s) − PRTT(1,0,s))/(n − 1),  g = gap(1) [s],  G = the slope of gap at the long messages [s/B]
//	o_s(s) = (PRTT(n,d,s) − waits − PRTT(1,0,s))/(n − 1),  d ≥ PRTT(1,0,s): the sender waits before each but the first send
//	o_r(s) = (PRTT'(n,d,s) − waits − PRTT(1,0,s))/(n − 1),  where the receiver waits before each but the first receive
//	L = PRTT(1,0,1)/2 − o_s − o_r,  so that 2L + 2o_s + 2o_r is the round trip
//
// with o_s and o_r at 1 byte, or at the smallest size there is, by a line over the sizes; functions "o_s" and "o_r" are
// those lines. Waits are taken out as they were, not as they
// were asked for, and so is the reading of the clock that a wait needs. Function "gap" is a line where one is within
// 5% of every size, and of SegmentsForm otherwise. Source: Alexandrov, Ionescu, Schauser, Scheiman 1997, LogGP, J.
// Parallel Distrib. Comput. 44(1), 71-79; Hoefler, Lichei, Rehm 2007, Low-overhead LogGP parameter assessment for modern
// interconnection networks, IPDPS (PRTT).
type LogGP struct{}

// Name implements Model.
func (LogGP) Name() string { return "loggp" }

// Needs implements Model.
func (LogGP) Needs() []string { return []string{"prtt"} }

// Phases of prtt.
const (
	phasePRTT    = "prtt"
	phaseSpaced  = "spaced"
	phaseDelayed = "delayed"
	phaseReceive = "receive"
)

// prttKey is a point: n messages of a size; messages is 0 for timed calls.
type prttKey struct {
	phase           string
	bytes, messages int64
}

// prttData is what prtt measured.
type prttData struct {
	fit    *Fit
	grid   grid[prttKey]
	times  *sampled
	packet float64
	one    map[float64]int // size → point of PRTT(1,0,s)
	gaps   []slope         // ascending in size
	over   map[string][]slope
}

// slope is the points of (PRTT(n) − PRTT(1))/(n − 1) at one size.
type slope struct {
	bytes     float64
	one, many int
	n         float64
}

func (q slope) at(values []float64) float64 { return (values[q.many] - values[q.one]) / (q.n - 1) }

func slopesAt(qs []slope, values []float64) []float64 {
	out := make([]float64, len(qs))
	for i, q := range qs {
		out[i] = q.at(values)
	}
	return out
}

func sizesOf(qs []slope) []float64 {
	out := make([]float64, len(qs))
	for i, q := range qs {
		out[i] = q.bytes
	}
	return out
}

// Fit implements Model. It returns ErrNeeds without two sizes of one message and of several.
func (m LogGP) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	p, err := loadPRTT(d, s, m.Name())
	if err != nil {
		return nil, err
	}
	gap, err := p.fitGap()
	if err != nil {
		return nil, fmt.Errorf("model %s, gap: %w", m.Name(), err)
	}
	send, err := p.fitBusyTime("o_s", "time the sender is busy with a message", phaseSpaced)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name(), err)
	}
	receive, err := p.fitBusyTime("o_r", "time the receiver is busy with a message", phaseDelayed)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name(), err)
	}
	latency := p.latency(send, receive)
	p.direct(d, send, phaseSend)
	p.direct(d, receive, phaseReceive)
	p.identity(gap, send, receive, latency)
	p.pingpong(d)
	p.hyperbola(gap)
	p.fit.judge(r2(p.fit.Residuals, seriesGap), gap.condition, seriesGap)
	refit := func(x, y []float64) (func(float64) float64, error) {
		g, err := gapOf(x, y)
		if err != nil {
			return nil, err
		}
		return g.at, nil
	}
	if e, ok := leaveOneOut(sizesOf(p.gaps), slopesAt(p.gaps, p.times.values), refit); ok {
		p.fit.Quality.LeaveOneOut = &e
	}
	return p.fit, nil
}

// loadPRTT gathers the points.
func loadPRTT(d *dataset.Dataset, s Settings, model string) (*prttData, error) {
	p := &prttData{one: map[float64]int{}, over: map[string][]slope{},
		fit: newFit(model, "prtt", "Alexandrov et al. 1997; Hoefler, Lichei, Rehm 2007")}
	slow := findSlow(d)
	p.fit.Warnings = append(p.fit.Warnings, slow.said...)
	var used [][]batch
	for _, phase := range []string{phasePRTT, phaseSpaced, phaseDelayed} {
		lines := p.fit.linesOf(d, "prtt", phase, slow)
		used = append(used, lines)
		for i := range lines {
			k := prttKey{phase, lines[i].point["bytes"], lines[i].point["messages"]}
			if k.bytes >= 1 && k.messages >= 1 {
				p.addExchanges(k, &lines[i])
			}
		}
	}
	for _, phase := range []string{phaseSend, phaseReceive} {
		lines := p.fit.linesOf(d, "prtt", phase, slow)
		used = append(used, lines)
		for i := range lines {
			p.addCalls(phase, &lines[i])
		}
	}
	p.arrange()
	if len(p.gaps) < 2 {
		return nil, needs(model, "fewer than two sizes with one message and with several, without loss")
	}
	p.fit.account(d, used...)
	p.packet, _ = packetBytes(used...)
	var err error
	if p.times, err = p.grid.resample(s.replicates(), s.seed(d, model)); err != nil {
		return nil, err
	}
	p.fit.sayRounds(p.times.rounds)
	return p, nil
}

// addExchanges adds the times of n messages and a reply. Where there were waits, every message but one had a reading of the
// clock (aux "clock_ns") beside it that is none of its costs.
func (p *prttData) addExchanges(k prttKey, b *batch) {
	v := seconds(b.lines[0].NS)
	if k.phase != phasePRTT {
		for i := range v {
			v[i] -= float64(k.messages-1) * b.lines[0].Aux["clock_ns"] * 1e-9
		}
	}
	p.grid.add(p.grid.point(k), b.dir, b.round, b.timings(), v...)
}

// addCalls adds timed calls less the cost of reading the clock (aux "clock_ns").
func (p *prttData) addCalls(phase string, b *batch) {
	v := seconds(b.lines[0].NS)
	for i := range v {
		v[i] -= b.lines[0].Aux["clock_ns"] * 1e-9
	}
	k := prttKey{phase: phase, bytes: b.point["bytes"]}
	p.grid.add(p.grid.point(k), b.dir, b.round, b.timings(), v...)
}

// arrange sorts the points into differences by size. Of several n the largest is taken: it divides the noise by most.
func (p *prttData) arrange() {
	best := map[prttKey]int64{} // without messages → n
	for k := range p.grid.index {
		base := prttKey{phase: k.phase, bytes: k.bytes}
		switch {
		case k.phase == phasePRTT && k.messages == 1:
			p.one[float64(k.bytes)] = p.grid.index[k]
		case k.messages > 1:
			best[base] = max(best[base], k.messages)
		}
	}
	for base, n := range best {
		one, ok := p.one[float64(base.bytes)]
		if !ok {
			continue
		}
		q := slope{float64(base.bytes), one, p.grid.index[prttKey{base.phase, base.bytes, n}], float64(n)}
		if base.phase == phasePRTT {
			p.gaps = append(p.gaps, q)
		} else {
			p.over[base.phase] = append(p.over[base.phase], q)
		}
		p.fit.widenDomain("bytes", q.bytes)
		p.fit.widenDomain("messages", 1)
		p.fit.widenDomain("messages", q.n)
	}
	bySize := func(a, b slope) int { return int(math.Copysign(1, a.bytes-b.bytes)) }
	slices.SortFunc(p.gaps, bySize)
	for _, qs := range p.over {
		slices.SortFunc(qs, bySize)
	}
}

// busyTime is o(s) as a line; nil where it was not measured.
type busyTime struct {
	name string
	line
	reps [][]float64 // c0, c1 by replicate; NaN where the fit failed
}

// fitBusyTime fits o_s or o_r and records it as parameter and function.
func (p *prttData) fitBusyTime(name, label, phase string) (*busyTime, error) {
	qs := p.over[phase]
	if len(qs) == 0 {
		p.fit.unknown(name, "s", label, 0, p.smallestRoundTrip()/2, "phase "+phase+" of prtt was not measured, or not without loss")
		return nil, nil
	}
	sizes, values := sizesOf(qs), slopesAt(qs, p.times.values)
	each := p.times.apply(func(v []float64) ([]float64, error) { return slopesAt(qs, v), nil })
	w := levelWeights(values, each)
	fit := func(y []float64) (line, error) {
		if len(y) == 1 {
			return line{c0: y[0]}, nil
		}
		l, _, err := fitLine(sizes, y, w)
		return l, err
	}
	o := &busyTime{name: name}
	var err error
	if o.line, err = fit(values); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, y := range each {
		l, err := fit(y)
		if err != nil {
			l = line{math.NaN(), math.NaN()}
		}
		o.reps = append(o.reps, []float64{l.c0, l.c1, l.at(1)})
	}
	v := o.at(1)
	ci := p.times.interval(v, o.reps, 2)
	p.fit.found(name, "s", label+" of 1 byte", v, ci)
	if ci[0] <= 0 {
		p.fit.warn("%s cannot be told from zero", name)
	}
	p.function(name, label, o.line, o.reps, sizes)
	for i, s := range sizes {
		ci := p.times.interval(values[i], each, i)
		p.fit.Residuals = append(p.fit.Residuals, Residual{Series: name + "(s)", X: s, XName: "bytes", Measured: values[i],
			Lo: ci[0], Hi: ci[1], Fitted: o.at(s), N: p.times.n[qs[i].many] + p.times.n[qs[i].one]})
	}
	return o, nil
}

// levelWeights returns weights of values of one level that may be near zero: 1/(variance + median variance), which trusts
// no value much more than the others because it happened to vary little; equal ones for exact data.
func levelWeights(values []float64, reps [][]float64) []float64 {
	variance := make([]float64, len(values))
	for i, v := range values {
		for _, r := range reps {
			variance[i] += (r[i] - v) * (r[i] - v) / float64(len(reps))
		}
	}
	sorted := slices.Sorted(slices.Values(variance))
	typical := sorted[len(sorted)/2]
	if typical == 0 {
		return filled(len(values), 1)
	}
	w := make([]float64, len(values))
	for i := range w {
		w[i] = typical / (variance[i] + typical)
	}
	return w
}
