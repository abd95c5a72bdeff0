package fit

import (
	"cmp"
	"maps"
	"slices"

	"calib/internal/dataset"
)

// Fragment is the table T(M, f) [s], half the round trip of M bytes sent and received as fragments of f bytes, and what
// it recommends: best_fragment_<M> [B], the fragment of the smallest T, and fragment_gain_<M> = 1 − T(M, best)/T(M, M),
// what it gains over the message in one piece. <M> is a size such as 64KiB.
//
// The interval of the best fragment holds the fragments that at least 2.5% of the bootstrap replicates choose; that of
// the gain is the gain of the fragment chosen. Source: Strumpen 1994, section 3.1 (fragment size).
type Fragment struct{}

// Name implements Model.
func (Fragment) Name() string { return "fragment" }

// Needs implements Model.
func (Fragment) Needs() []string { return []string{"fragment"} }

type fragmentKey struct{ bytes, fragment int64 }

// Fit implements Model. It returns ErrNeeds without a usable timing.
func (m Fragment) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	f := newFit(m.Name(), "fragment", "Strumpen 1994, section 3.1")
	slow := findSlow(d)
	f.Warnings = append(f.Warnings, slow.said...)
	lines := f.linesOf(d, "fragment", "", slow)
	g := &grid[fragmentKey]{}
	for i := range lines {
		p := lines[i].point
		if k := (fragmentKey{p["bytes"], p["fragment"]}); k.bytes > 0 && k.fragment > 0 {
			g.addLine(k, &lines[i])
		}
	}
	if len(g.points) == 0 {
		return nil, needs(m.Name(), "no message sent in fragments without loss")
	}
	f.account(d, lines)
	t, err := g.resample(s.replicates(), s.seed(d, m.Name()))
	if err != nil {
		return nil, err
	}
	f.sayRounds(t.rounds)
	keys := slices.SortedFunc(maps.Keys(g.index), func(a, b fragmentKey) int {
		return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.fragment, b.fragment))
	})
	for len(keys) > 0 {
		n := slices.IndexFunc(keys, func(k fragmentKey) bool { return k.bytes != keys[0].bytes })
		if n < 0 {
			n = len(keys)
		}
		f.fragments(t, g, keys[:n])
		keys = keys[n:]
	}
	f.judgeTable()
	return f, nil
}

// fragments records the table of one M, its best fragment and its gain. keys ascend in the fragment.
func (f *Fit) fragments(t *sampled, g *grid[fragmentKey], keys []fragmentKey) {
	size := keys[0].bytes
	var fragments []float64
	var points []int
	for _, k := range keys {
		fragments, points = append(fragments, float64(k.fragment)), append(points, g.index[k])
		f.tabulated(t, "T("+sizeWords(size)+", f)", float64(k.fragment), g.index[k])
		f.widenDomain("bytes", float64(size))
		f.widenDomain("fragment", float64(k.fragment))
	}
	best := t.choose(fragments, points, smallest)
	f.chosen("best_fragment_"+sizeName(size), "B", "fragment in which a message of "+sizeWords(size)+" is fastest", best)
	name, label := "fragment_gain_"+sizeName(size), "gain of that fragment over a message of "+sizeWords(size)+" in one piece"
	whole, ok := g.index[fragmentKey{size, size}]
	if !ok {
		f.unknown(name, "1", label, 0, 1, "the message in one piece was not measured, or not without loss")
		return
	}
	at := points[slices.Index(fragments, best.value)]
	gain := func(v []float64) []float64 { return []float64{1 - v[at]/v[whole]} }
	reps := t.apply(func(v []float64) ([]float64, error) { return gain(v), nil })
	v := gain(t.values)[0]
	f.found(name, "1", label, v, t.interval(v, reps, 0))
	if best.value == float64(size) {
		f.note("a message of %s is fastest in one piece", sizeWords(size))
	}
}

// widenDomain extends the domain of a factor to v.
func (f *Fit) widenDomain(factor string, v float64) {
	d, seen := f.Domain[factor]
	if !seen {
		d = [2]float64{v, v}
	}
	f.Domain[factor] = [2]float64{min(d[0], v), max(d[1], v)}
}
