// Package tuning holds the tables of settings that a program chooses: the fragment in which a message is sent, the
// socket buffer, and Nagle's algorithm. Nothing is fitted through them; what they recommend has the uncertainty of the
// choice.
package tuning

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/plot"
	"calib/internal/stats"
	"calib/params"
)

func addLine[K comparable](t *resample.Table[K], k K, b *fit.Batch) {
	t.AddTeam(t.Duration(k), b.Team(), b.Dir, b.Round, b.Timings(), fit.Seconds(b.Lines[0].NS)...)
}

// choiceShare is the share of replicates from which a setting belongs to the interval of a choice.
const choiceShare = 0.025

// choose picks a setting [B] from the estimates and records it with its interval: the settings that at least 2.5% of
// the replicates pick, from the smallest to the largest, and the choice itself. pick returns an index into settings,
// which ascend, from the values of points.
func choose(r *fit.Result, name, label string, est *resample.Estimates, settings []float64, points []int,
	pick func(times []float64) int) (best float64) {
	best = settings[pick(resample.Pick(est.Values, points))]
	lo, hi := best, best
	if est.Rounds > 1 {
		count := make([]int, len(settings))
		for _, row := range est.Replicates {
			count[pick(resample.Pick(row, points))]++
		}
		for i, n := range count {
			if float64(n) >= choiceShare*float64(len(est.Replicates)) {
				lo, hi = min(lo, settings[i]), max(hi, settings[i])
			}
		}
	}
	r.Found(name, "B", label, best, [2]float64{lo, hi})
	useful(r, name, params.Useful*best, fmt.Sprintf("± %.0f%%: rounds differ in the setting that they choose",
		100*params.Useful))
	if lo == hi {
		r.Explain(name, "no interval: this setting is the best in all rounds, or there was one round")
	}
	return best
}

// goodShare is the half-width of the interval of a gain up to which it is of use: 5 percentage points.
const goodShare = 0.05

// useful makes a number provisional whose interval is wider than ± half, and says why: wider than what.
func useful(r *fit.Result, name string, half float64, what string) {
	q := r.Parameters[name]
	if q.CI95 != nil && q.CI95[1]-q.CI95[0] > 2*half {
		q.Status, q.Why = params.StatusProvisional, "the interval is wider than "+what
		r.Parameters[name] = q
	}
}

func markChoice(f *params.Fit, name, label string) []plot.Mark {
	m := fit.Mark(f, name, label)
	for i := range m {
		m[i].Label = label + " " + fit.SizeWords(int64(m[i].X))
	}
	return m
}

// Timer is the instrument: timer_cost [s], one reading of the clock, which every timing includes once, as the median
// over blocks of calls in a row; and timer_resolution [s], the smallest step the clock was seen to take, as the median
// over hosts and rounds. Clock offsets between hosts that were found on the way are summed up in a note.
var Timer = fit.Model{Name: "timer", Needs: []string{names.Clock}, Fit: fitTimer}

// fitTimer returns fit.ErrNeeds without blocks of calls.
func fitTimer(p *fit.Prepared) (*params.Fit, error) {
	r := p.New("timer", names.Clock, "median over blocks of calls")
	var t resample.Table[string]
	blocks := r.Usable(p.LineBatches(names.Clock, names.PhaseCost))
	for _, b := range blocks {
		calls := b.Lines[0].Aux[names.AuxCalls]
		if !(calls >= 1) {
			continue
		}
		v := fit.Seconds(b.Lines[0].NS)
		for k := range v {
			v[k] /= calls
		}
		t.AddTeam(t.OneWay(names.PhaseCost), b.Team(), 0, b.Round, b.Timings(), v...)
	}
	if t.Len() == 0 {
		return nil, fit.Needs("no blocks of clock readings")
	}
	steps := r.Usable(p.LineBatches(names.Clock, names.PhaseStep))
	for _, b := range steps {
		t.AddTeam(t.OneWay(names.PhaseStep), b.Team(), 0, b.Round, b.Timings(), float64(slices.Min(b.Lines[0].NS))*1e-9)
	}
	r.Account(blocks, steps)
	est := fit.Draw(r, &t)
	r.Found("timer_cost", "s", "one reading of the clock", est.Values[0], est.Point(0))
	if len(steps) > 0 {
		r.Found("timer_resolution", "s", "smallest step of the clock", est.Values[1], est.Point(1))
	}
	s := r.AddSeries(params.Series{Name: "timer", Quantity: params.TimerCost, XName: "calls"}, []float64{1}, est, nil)
	r.Judge(math.NaN(), math.NaN(), s)
	noteOffsets(r, p)
	return r.Fit, nil
}

// noteOffsets sums up how certain the clock offsets between hosts are.
func noteOffsets(r *fit.Result, p *fit.Prepared) {
	var bounds []float64
	for _, o := range p.Samples(names.Clock, names.PhaseOffset) {
		if b := o.Aux[names.AuxBound]; b > 0 && fit.Finite(b) {
			bounds = append(bounds, b*1e-9)
		}
	}
	if len(bounds) > 0 {
		median, worst := stats.Median(bounds), stats.Quantile(bounds, 1)
		r.Add(params.Notef("clock-offsets", "clock offsets between hosts are known to ± %.3g s (median; ± %.3g s at "+
			"worst)", median, worst).With("median", median).With("worst", worst))
	}
}

// Fragment is the table T(M, f) [s], half the round trip of M bytes sent and received as fragments of f bytes, and what
// it recommends: best_fragment_<M> [B], the fragment of the smallest T, and fragment_gain_<M> = 1 − T(M, best)/T(M, M),
// what it gains over the message in one piece. <M> is a size such as 64KiB.
//
// The interval of the best fragment holds the fragments that at least 2.5% of the bootstrap replicates choose; that of
// the gain is the gain of the fragment chosen. Source: Strumpen 1994, section 3.1 (fragment size).
var Fragment = fit.Model{Name: "fragment", Needs: []string{names.Fragment}, Fit: fitFragment, Draw: fragmentPlots}

type fragmentKey struct{ bytes, fragment int64 }

// fitFragment returns fit.ErrNeeds without a usable timing.
func fitFragment(p *fit.Prepared) (*params.Fit, error) {
	r := p.New("fragment", names.Fragment, "Strumpen 1994, section 3.1")
	lines := r.Lines(names.Fragment, "")
	var t resample.Table[fragmentKey]
	for _, b := range lines {
		q := b.Point
		if k := (fragmentKey{q[names.FactorBytes], q[names.FactorFragment]}); k.bytes > 0 && k.fragment > 0 {
			addLine(&t, k, b)
		}
	}
	r.Account(lines)
	est, err := fit.Resample(r, &t, "no message sent in fragments without loss")
	if err != nil {
		return nil, err
	}
	keys := slices.SortedFunc(maps.Keys(t.Index), func(a, b fragmentKey) int {
		return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.fragment, b.fragment))
	})
	for _, same := range fit.Runs(keys, func(a, b fragmentKey) bool { return a.bytes == b.bytes }) {
		fragments(r, est, t.Index, same)
	}
	r.JudgeTable()
	return r.Fit, nil
}

// fragments records the table of one M, its best fragment and its gain. keys ascend in the fragment.
func fragments(r *fit.Result, est *resample.Estimates, index map[fragmentKey]int, keys []fragmentKey) {
	size := keys[0].bytes
	sizes := lists.Map(keys, func(k fragmentKey) float64 { return float64(k.fragment) })
	points := lists.Map(keys, func(k fragmentKey) int { return index[k] })
	r.WidenDomain("fragment", sizes...)
	r.WidenDomain("bytes", float64(size))
	r.AddSeries(params.Series{Name: "T(" + fit.SizeWords(size) + ", f)", Quantity: params.FragmentedTime,
		Factors: map[string]float64{"bytes": float64(size)}, XName: "bytes"}, sizes, est.Select(points), nil)
	best := choose(r, bestFragment(size), "fragment in which a message of "+fit.SizeWords(size)+" is fastest", est, sizes,
		points, func(times []float64) int { return slices.Index(times, slices.Min(times)) })
	name, label := fragmentGain(size), "gain of that fragment over a message of "+fit.SizeWords(size)+" in one piece"
	whole, ok := index[fragmentKey{size, size}]
	if !ok {
		r.Unknown(name, "1", label, 0, 1, "the message in one piece was not measured, or not without loss")
		return
	}
	at := points[slices.Index(sizes, best)]
	v, ci := est.Of(func(v []float64) float64 { return 1 - v[at]/v[whole] })
	r.Found(name, "1", label, v, ci)
	useful(r, name, goodShare, fmt.Sprintf("± %.0f percentage points", 100*goodShare))
	if best == float64(size) {
		r.Note("one-piece-fastest", "a message of %s is fastest in one piece", fit.SizeWords(size))
	}
}

func bestFragment(bytes int64) string { return "best_fragment_" + fit.SizeName(bytes) }
func fragmentGain(bytes int64) string { return "fragment_gain_" + fit.SizeName(bytes) }

func fragmentPlots(f *params.Fit) []plot.Plot {
	var out []plot.Plot
	for _, s := range f.Of(params.FragmentedTime) {
		bytes := int64(s.Factors["bytes"])
		words, best := fit.SizeWords(bytes), bestFragment(bytes)
		says := "A message of " + words + " is fastest in fragments of " + fit.ValueWords(f, best)
		if v, _, _, ok := f.Parameters[fragmentGain(bytes)].Ends(); ok {
			says += ", " + fit.Share(v) + " faster than in one piece"
		}
		if v, _, _, ok := f.Parameters[best].Ends(); ok && v == float64(bytes) {
			says = "A message of " + words + " is fastest in one piece"
		}
		out = append(out, plot.Plot{
			ID: "fragment-" + fit.SizeID(bytes), Section: fit.SectionTuning, Says: fit.Sentences(says),
			Title: "A message of " + words + " sent in fragments", X: plot.Axis{Name: "fragment", Unit: "B", Log: true},
			Y: fit.TimeAxis("half round trip", true), Series: []string{s.Name}, Line: "T(f)",
			Marks: markChoice(f, best, "best fragment"), Raw: &plot.Raw{Experiment: names.Fragment,
				Factor: names.FactorFragment, Fixed: map[string]int64{names.FactorBytes: bytes}},
		})
	}
	return out
}
