package overlap

import (
	"fmt"
	"math"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/params"
)

func named(name string, bytes int64) string { return name + "_" + fit.SizeName(bytes) }

// ofSecond are the parameters that a second thread without a CPU to itself changes.
var ofSecond = []string{"f", "hiding_overhead", "Omega", "penalty", "gain_max", "gamma_peak", "work_peak"}

// sizedFit is the model of one message size, as estimated or of one replicate.
type sizedFit struct {
	Fixed
	below, above int     // granularities that told f, and ω
	transfer     float64 // s
	stepsPerS    float64 // 0 where the samples do not say how many steps the host made
}

// hiding records the parameters of one message size, and returns the gains measured and by the model. It returns false
// where too little was measured.
func (d *data) hiding(bytes int64) (gains params.Series, ok bool) {
	sweep := d.sweep(bytes)
	ratios, times := d.points(ratio, bytes, sweep), d.points(timeRatio, bytes, sweep)
	at, known := d.table.Index[key{penalty, bytes, 0}]
	if !known {
		d.Note("sweep-incomplete", "the transfer of %s by the second thread alone was not measured: "+
			"there is no gain by eq. 4", fit.SizeWords(bytes))
		return gains, false
	}
	transfer := d.table.Index[key{direct, bytes, 0}]
	step, counted := d.table.Index[key{stepTime, bytes, 0}]
	of := func(v []float64) (sizedFit, error) {
		x, below, above, err := estimate(resample.Pick(v, ratios), resample.Pick(v, times), v[at])
		out := sizedFit{x, below, above, v[transfer], 0}
		if counted {
			out.stepsPerS = 1 / v[step]
		}
		return out, err
	}
	x, err := of(d.est.Values)
	if err != nil {
		d.Note("sweep-incomplete", "%s: %v", fit.SizeWords(bytes), err)
		return gains, false
	}
	drawn := resample.Map(d.est.Replicates, of)
	d.record(bytes, x, drawn, d.est.Point(at))
	series := func(name string, quantity params.Quantity, kind kind, model func(gamma float64) float64) (s params.Series) {
		var gammas []float64
		var points []int
		for i, g := range sweep {
			if k, ok := d.table.Index[key{kind, bytes, g}]; ok {
				gammas, points = append(gammas, d.est.Values[ratios[i]]), append(points, k)
			}
		}
		if len(points) > 0 {
			s = d.AddSeries(params.Series{Name: name + ", " + fit.SizeWords(bytes), Quantity: quantity,
				Factors: map[string]float64{"bytes": float64(bytes)}, XName: "granularity", Unit: "1"},
				gammas, d.est.Select(points), model)
		}
		return s
	}
	gains = series("G(γ)", params.HidingGain, gain, x.Gain)
	series("G of sending first", params.SendFirstGain, sendFirst, nil)
	series("I.1 over its parts", params.InTurnTime, sum, func(float64) float64 { return 1 })
	d.WidenDomain(names.FactorGranularity, lists.Map(gains.Points, func(r params.Residual) float64 { return r.X })...)
	return gains, true
}

func (d *data) record(bytes int64, x sizedFit, drawn []sizedFit, penaltyCI [2]float64) {
	words := ", messages of " + fit.SizeWords(bytes)
	found := func(name, unit, label string, of func(sizedFit) float64) {
		v := of(x)
		d.Found(named(name, bytes), unit, label+words, v, resample.IntervalOf(d.est, v, drawn, of))
	}
	found("exchange", "s", "transfer both ways at once", func(s sizedFit) float64 { return s.transfer })
	d.Found(named("penalty", bytes), "1", "transfer by a second thread over that by the first"+words, x.Penalty, penaltyCI)
	const fraction = "fraction of the computation that hides communication"
	if x.below == 0 {
		d.Unknown(named("f", bytes), "1", fraction+words, 0, 1,
			"communication takes longer than the computation at no granularity that was measured")
	} else {
		ci := resample.IntervalOf(d.est, x.F, drawn, func(s sizedFit) float64 { return s.F })
		d.Found(named("f", bytes), "1", fraction+words, x.F,
			[2]float64{math.Max(0, ci[0]), math.Min(1, ci[1])}) // by definition
	}
	const handing = "time that handing a transfer over costs the computing thread"
	if x.above == 0 {
		d.Unknown(named("hiding_overhead", bytes), "s", handing+words, 0, x.Penalty*x.transfer,
			"the computation takes longer than communication at no granularity that was measured")
	} else {
		left := func(s sizedFit) float64 { return s.Overhead * s.transfer }
		ci := resample.DifferenceOf(d.est, left(x), drawn, left)
		d.Found(named("hiding_overhead", bytes), "s", handing+words, left(x), ci)
	}
	_, _, peak := x.Peak()
	told := x.below > 0 && x.above > 0
	why := "the largest gain is outside the computations that were measured"
	if told {
		why = fmt.Sprintf("a second thread gains nothing: handing over costs %.2f of the transfer, which takes the "+
			"second thread %.2f times as long", x.Overhead, x.Penalty)
	}
	peak = peak && told
	for _, q := range []struct {
		name, unit, label string
		of                func(s sizedFit, gamma, gain float64) float64
	}{
		{"Omega", "1", "overhead of hiding over the computation, where the gain is largest",
			func(s sizedFit, gamma, _ float64) float64 { return s.Overhead / gamma }},
		{"gain_max", "1", "largest gain of computing while a second thread communicates",
			func(_ sizedFit, _, gain float64) float64 { return gain }},
		{"gamma_peak", "1", "computation over transfer at the largest gain",
			func(_ sizedFit, gamma, _ float64) float64 { return gamma }},
		{"work_peak", "steps", "steps of computation for a message at the largest gain",
			func(s sizedFit, gamma, _ float64) float64 { return gamma * s.transfer * s.stepsPerS }},
	} {
		if q.unit == "steps" && x.stepsPerS == 0 {
			continue
		}
		if !peak {
			d.Unknown(named(q.name, bytes), q.unit, q.label+words, 0, math.Inf(1), why)
			continue
		}
		found(q.name, q.unit, q.label, func(s sizedFit) float64 {
			gamma, gain, ok := s.Peak()
			if !ok {
				return math.NaN()
			}
			return q.of(s, gamma, gain)
		})
	}
	if told && !peak {
		d.Add(params.Warnf("no-overlap", "messages of %s: %s", fit.SizeWords(bytes), why).With("bytes", float64(bytes)))
	}
}

// threadsOfPair compute and transfer.
const threadsOfPair = 4

// crowded says where the second thread has no CPU to itself, and makes provisional what that changes.
func (d *data) crowded(p *fit.Prepared) {
	shared := false
	for _, s := range p.Samples(names.Overlap, names.PhaseSecond) {
		shared = shared || p.OneMachine(s.Ranks)
	}
	need := threadsOfPair
	if !shared {
		need /= 2
	}
	if d.cpus == 0 || int(d.cpus) >= need {
		return
	}
	where := "the host has one CPU"
	if shared {
		where = fmt.Sprintf("agents share a machine of %d CPUs", int(d.cpus))
	}
	why := where + ": the second thread has no CPU to itself, and what it does is taken from the computation; " +
		"hosts with a CPU for each of the two threads gain more"
	d.Add(params.Warnf(params.SharedCPUs, "%s", why).With("cpus", d.cpus))
	for _, bytes := range d.sizes(timeRatio) {
		for _, name := range ofSecond {
			name = named(name, bytes)
			if q, ok := d.Parameters[name]; ok && q.Status == params.StatusOK {
				q.Status, q.Why = params.StatusProvisional, why
				d.Parameters[name] = q
			}
		}
	}
}
