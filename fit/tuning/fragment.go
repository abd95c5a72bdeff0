package tuning

import (
	"cmp"
	"maps"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/params"
)

// Fragment is the table T(M, f) [s], half the round trip of M bytes sent and received as fragments of f bytes, and what
// it recommends: best_fragment_<M> [B], the fragment of the smallest T, and fragment_gain_<M> = 1 − T(M, best)/T(M, M),
// what it gains over the message in one piece. <M> is a size such as 64KiB.
//
// The interval of the best fragment holds the fragments that at least 2.5% of the bootstrap replicates choose; that of
// the gain is the gain of the fragment chosen. Source: Strumpen 1994, section 3.1 (fragment size).
var Fragment = fit.Model{Name: "fragment", Needs: []string{names.Fragment}, Fit: fitFragment, Plots: fragmentPlots}

type fragmentKey struct{ bytes, fragment int64 }

// fitFragment returns fit.ErrNeeds without a usable timing.
func fitFragment(p *fit.Prepared) (*params.Fit, error) {
	r := p.New("fragment", names.Fragment, "Strumpen 1994, section 3.1")
	lines := r.Lines(names.Fragment, "")
	var t resample.Table[fragmentKey]
	for i := range lines {
		q := lines[i].Point
		if k := (fragmentKey{q[names.FactorBytes], q[names.FactorFragment]}); k.bytes > 0 && k.fragment > 0 {
			addLine(&t, k, &lines[i])
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
	for same := range fit.Runs(keys, func(a, b fragmentKey) bool { return a.bytes == b.bytes }) {
		fragments(r, est, t.Index, same)
	}
	r.JudgeTable()
	return r.Fit, nil
}

// fragments records the table of one M, its best fragment and its gain. keys ascend in the fragment.
func fragments(r *fit.Result, est *resample.Estimates, index map[fragmentKey]int, keys []fragmentKey) {
	size := keys[0].bytes
	var sizes []float64
	var points []int
	s := params.Series{Name: "T(" + fit.SizeWords(size) + ", f)", Quantity: params.FragmentedTime,
		Factors: map[string]float64{"bytes": float64(size)}, XName: "bytes"}
	for _, k := range keys {
		sizes, points = append(sizes, float64(k.fragment)), append(points, index[k])
		fit.Tabulate(&s, float64(k.fragment), est, index[k])
		r.WidenDomain("bytes", float64(size))
		r.WidenDomain("fragment", float64(k.fragment))
	}
	r.Series = append(r.Series, s)
	best := choose(est, sizes, points, func(times []float64) int { return slices.Index(times, slices.Min(times)) })
	recordChoice(r, bestFragment(size), "B", "fragment in which a message of "+fit.SizeWords(size)+" is fastest", best)
	name, label := fragmentGain(size), "gain of that fragment over a message of "+fit.SizeWords(size)+" in one piece"
	whole, ok := index[fragmentKey{size, size}]
	if !ok {
		r.Unknown(name, "1", label, 0, 1, "the message in one piece was not measured, or not without loss")
		return
	}
	at := points[slices.Index(sizes, best.value)]
	gain := func(v []float64) float64 { return 1 - v[at]/v[whole] }
	v := gain(est.Values)
	r.Found(name, "1", label, v, resample.IntervalOf(est, v, est.Replicates, gain))
	if best.value == float64(size) {
		r.Note(params.OneFragment, "a message of %s is fastest in one piece", fit.SizeWords(size))
	}
}

func bestFragment(bytes int64) string { return "best_fragment_" + fit.SizeName(bytes) }
func fragmentGain(bytes int64) string { return "fragment_gain_" + fit.SizeName(bytes) }

func fragmentPlots(f *params.Fit) []params.Plot {
	var out []params.Plot
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
		out = append(out, params.Plot{
			ID: "fragment-" + fit.SizeID(bytes), Section: fit.SectionTuning, Title: "A message of " + words + " sent in fragments",
			Says: fit.Sentences(says), X: params.Axis{Name: "fragment", Unit: "B", Log: true}, Y: fit.TimeAxis("half round trip", true),
			Series: []string{s.Name}, Line: "T(f)", Marks: markChoice(f, best, "best fragment"),
			Raw: &params.Raw{Experiment: names.Fragment, Factor: names.FactorFragment, Fixed: map[string]int64{names.FactorBytes: bytes}},
		})
	}
	return out
}
