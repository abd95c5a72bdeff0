// Package loggp holds the LogGP model, from trains of messages with one reply, and LoGPC: LogGP with what contention
// adds, for all-to-all remaps. LogGP is checked against the hyperbola by eq. 18 of Stoica, Sultan, Keyes 1994.
//
// Source: Moritz, Frank 2001, LoGPC: modeling network contention in message-passing programs, IEEE Trans. Parallel
// Distrib. Syst. 12(4); Agarwal 1991, Limits on interconnection network performance, IEEE Trans. Parallel Distrib.
// Syst. 2(4); Frank, Agarwal, Vernon 1997, LoPC: modeling contention in parallel algorithms, PPoPP.
package loggp

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/lsq"
	"calib/params"
)

// LogGP estimates the parameters of the model of that name from PRTT(n, d, s) [s], the time of n messages of s bytes
// with a wait of d between them until one reply of s bytes is back:
//
//	gap(s) = (PRTT(n,0,s) − PRTT(1,0,s))/(n − 1),  g = gap(1) [s],  G = the slope of gap at the long messages [s/B]
//	o_s(s) = (PRTT(n,d,s) − waits − PRTT(1,0,s))/(n − 1),  d ≥ PRTT(1,0,s): the sender waits before sends 2 to n
//	o_r(s) = (PRTT'(n,d,s) − waits − PRTT(1,0,s))/(n − 1),  where the receiver waits before receives 2 to n
//	L = PRTT(1,0,1)/2 − o_s − o_r,  so that 2L + 2o_s + 2o_r is the round trip
//
// with o_s and o_r at 1 byte, or at the smallest size there is, by a line over the sizes; functions "o_s" and "o_r" are
// those lines. Waits are subtracted as measured, not as asked for; so is the reading of the clock that a wait needs.
// Function "gap" is a line where one is within 5% of every size, and straight lines over ranges of the size otherwise.
//
// Source: Alexandrov, Ionescu, Schauser, Scheiman 1997, LogGP, J. Parallel Distrib. Comput. 44(1), 71-79; Hoefler,
// Lichei, Rehm 2007, Low-overhead LogGP parameter assessment for modern interconnection networks, IPDPS (PRTT).
var LogGP = fit.Model{Name: "loggp", Needs: []string{names.PRTT}, Fit: fitLogGP, Draw: logGPPlots}

// prttKey is a point: n messages of a size.
type prttKey struct {
	phase           string
	bytes, messages int64
}

type prttData struct {
	fit       *fit.Result
	table     resample.Table[prttKey]
	times     *resample.Estimates
	packet    float64
	gaps      []slope // ascending in size
	over      map[string][]slope
	shortLong [][]float64 // g and G by replicate
}

// slope is the points of (PRTT(n) − PRTT(1))/(n − 1) at one size.
type slope struct {
	bytes     float64
	one, many int
	n         float64
}

// slopes are those of some sizes, resampled.
func (p *prttData) slopes(qs []slope) *resample.Estimates {
	points := lists.Map(qs, func(q slope) []int { return []int{q.one, q.many} })
	return p.times.Made(points, func(v []float64, i int) float64 {
		return (v[qs[i].many] - v[qs[i].one]) / (qs[i].n - 1)
	})
}

func sizesOf(qs []slope) []float64 { return lists.Map(qs, func(q slope) float64 { return q.bytes }) }

// fitLogGP returns fit.ErrNeeds without two sizes of one message and of several.
func fitLogGP(prepared *fit.Prepared) (*params.Fit, error) {
	p := &prttData{over: map[string][]slope{},
		fit: prepared.New("loggp", names.PRTT, "Alexandrov et al. 1997; Hoefler, Lichei, Rehm 2007")}
	phases := []string{names.PhasePRTT, names.PhaseSpaced, names.PhaseDelayed}
	used := p.fit.EachLine(names.PRTT, phases, p.add)
	p.arrange()
	if len(p.gaps) < 2 {
		return nil, fit.Needs("fewer than two sizes with one message and with several, without loss")
	}
	p.fit.Account(used)
	p.packet = p.fit.Packet(used)
	p.times = fit.Draw(p.fit, &p.table)
	p.fit.CheckRounds(p.times.Rounds)
	gap, err := p.fitGap()
	if err != nil {
		return nil, fmt.Errorf("model loggp, gap: %w", err)
	}
	send, err := p.fitBusyTime("o_s", "time the sender is busy with a message", names.PhaseSpaced)
	receive, other := p.fitBusyTime("o_r", "time the receiver is busy with a message", names.PhaseDelayed)
	if err = cmp.Or(err, other); err != nil {
		return nil, err
	}
	latency := p.latency(send, receive)
	p.identity(gap, send, receive, latency)
	p.hyperbola(gap)
	points := p.fit.Named(seriesGap)
	p.fit.Judge(fit.R2(2, points), gap.Cond, points)
	values := p.slopes(p.gaps).Values
	p.fit.LeaveOneOut(lsq.LeaveOneOut(sizesOf(p.gaps), values, func(x, y []float64) (*lsq.Segments, error) {
		return gapOf(x, y, p.packet)
	}))
	return p.fit.Fit, nil
}

// add adds the times of n messages and a reply, which are without the waits and the readings of the clock beside them.
func (p *prttData) add(phase string, b *fit.Batch) {
	k := prttKey{phase, b.Point[names.FactorBytes], b.Point[names.FactorMessages]}
	if k.bytes < 1 || k.messages < 1 {
		return
	}
	p.table.AddTeam(p.table.Duration(k), b.Team(), b.Dir, b.Round, b.Timings(), fit.Seconds(b.Lines[0].NS)...)
}

// arrange sorts the points into differences by size. Of several n the largest is taken: it divides the noise by most.
func (p *prttData) arrange() {
	best := map[prttKey]int64{} // without messages → n
	for k := range p.table.Index {
		if k.messages > 1 {
			base := prttKey{phase: k.phase, bytes: k.bytes}
			best[base] = max(best[base], k.messages)
		}
	}
	for base, n := range best {
		one, ok := p.table.Index[prttKey{names.PhasePRTT, base.bytes, 1}]
		if !ok {
			continue
		}
		q := slope{float64(base.bytes), one, p.table.Index[prttKey{base.phase, base.bytes, n}], float64(n)}
		if base.phase == names.PhasePRTT {
			p.gaps = append(p.gaps, q)
		} else {
			p.over[base.phase] = append(p.over[base.phase], q)
		}
		p.fit.WidenDomain("bytes", q.bytes)
		p.fit.WidenDomain("messages", 1, q.n)
	}
	bySize := func(a, b slope) int { return cmp.Compare(a.bytes, b.bytes) }
	slices.SortFunc(p.gaps, bySize)
	for _, qs := range p.over {
		slices.SortFunc(qs, bySize)
	}
}

// busyTime is o(s) as a line; nil where it was not measured.
type busyTime struct {
	name string
	lsq.Line
	reps   [][]float64   // c0, c1 by replicate; NaN where the fit failed
	misfit []params.Term // of o(1)
}

// fitBusyTime fits o_s or o_r and records it as parameter and function.
func (p *prttData) fitBusyTime(name, label, phase string) (*busyTime, error) {
	qs := p.over[phase]
	if len(qs) == 0 {
		p.fit.Unknown(name, "s", label, 0, p.times.Values[p.gaps[0].one]/2,
			"phase "+phase+" of prtt was not measured, or not without loss")
		return nil, nil
	}
	sizes, each := sizesOf(qs), p.slopes(qs)
	w := levelWeights(each.Values, each.Replicates)
	fitLine := func(y []float64) (lsq.Line, error) {
		if len(y) == 1 {
			return lsq.Line{C0: y[0]}, nil
		}
		return lsq.FitLine(sizes, y, w)
	}
	o := &busyTime{name: name}
	var err error
	if o.Line, err = fitLine(each.Values); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	o.reps = resample.Map(each.Replicates, func(y []float64) ([]float64, error) {
		l, err := fitLine(y)
		if err != nil {
			l = lsq.Line{C0: math.NaN(), C1: math.NaN()}
		}
		return []float64{l.C0, l.C1}, nil
	})
	var ci [2]float64
	ci, o.misfit = p.lineFunction(name, label, o.Line, o.reps, sizes, each.Values, fitLine)
	p.fit.Difference(name, "s", label+" of 1 byte", o.At(1), ci, o.misfit...)
	if ci[0] <= 0 {
		p.fit.Add(params.Warnf("not-positive", "%s is zero within its 95%% interval", name).Of(name))
	}
	p.fit.AddSeries(params.Series{Name: name + "(s)", Quantity: params.Overhead, Symbol: name, XName: "bytes"}, sizes,
		each, o.At)
	return o, nil
}

// levelWeights returns weights of values that are alike and may be near zero: 1/(variance + median variance). No value
// counts much more than the others because it happened to vary little. Weights of exact data are equal.
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
		return slices.Repeat([]float64{1}, len(values))
	}
	return lists.Map(variance, func(v float64) float64 { return typical / (v + typical) })
}
