package compare

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"calib/internal/lists"
	"calib/internal/stats"
	"calib/params"
)

const minTested = 3 // the fewest runs on a side whose spread is used

const minNights = 3 // the fewest nights whose spread is used

// judge tests every quantity: the hosts, then the links that no host explains, then the network with the medians of
// those links. Hosts, links and network share alpha equally. Quantities that are neither better nor worse when they
// change, or that a gate only shows, are tested apart at the whole alpha, so that the others lose no power to them.
func (t *table) judge(o Options) (out []Change) {
	hosts := o.wanted(t.hostSeries())
	share := o
	share.Alpha, share.nights = o.Alpha/t.levels(hosts), o.nights/t.levels(hosts)
	t.family(hosts, share)
	bad := map[[2]string]bool{}
	for _, s := range hosts {
		bad[[2]string{s.Host, s.Name}] = s.State == Regression || s.State == Improvement || s.large
	}
	links, shared := t.linkSeries(func(host, metric string) bool { return bad[[2]string{host, metric}] })
	links = o.wanted(links)
	t.family(links, share)

	network := o.wanted(slices.Concat(t.params, shared))
	better := lists.Where(network, func(s *series) bool { return s.judged })
	neither := slices.DeleteFunc(network, func(s *series) bool { return s.judged })
	t.family(better, share)
	t.family(neither, o)
	for _, s := range slices.Concat(better, neither, hosts, links) {
		if s.Scope != ScopeLink || s.State != OK {
			s.interval(t.old, o)
		}
		out = append(out, s.Change)
	}
	return out
}

// levels is how many families of quantities share alpha: the network, the links, the hosts.
func (t *table) levels(hosts []*series) float64 {
	return 1 + float64(min(len(t.links), 1)+min(len(hosts), 1))
}

func (o Options) wanted(s []*series) []*series {
	return slices.DeleteFunc(s, func(s *series) bool { return o.only != nil && !o.only[s.id()] })
}

// family decides on quantities that are tested together, by permutations of the runs.
func (t *table) family(all []*series, o Options) {
	for i, p := range stats.MaxT(lists.Map(all, (*series).deviations), t.old, 0) {
		t.decide(all[i], p, len(all), o)
	}
}

// deviations are the values of the runs as logarithms of their ratio to the median, and 0 for a run without a value.
// Those of a quantity that is not positive in every run are differences from the median, in units of its size.
func (s *series) deviations() []float64 {
	all := known(s.tested)
	m, least := stats.Median(all), slices.Min(all)
	size := max(math.Abs(least), math.Abs(slices.Max(all)))
	out := make([]float64, len(s.tested))
	for j, v := range s.tested {
		switch {
		case math.IsNaN(v) || size == 0:
		case least > 0:
			out[j] = math.Log(v / m)
		default:
			out[j] = (v - m) / size
		}
	}
	return out
}

// decide fills in the change of one quantity, given its adjusted p value and how many quantities were tested with it.
func (t *table) decide(s *series, p float64, tests int, o Options) {
	was, is := known(s.raw[:t.old]), known(s.raw[t.old:])
	s.Old, s.New, s.OldRuns, s.NewRuns, s.AdjustedP = stats.Median(was), stats.Median(is), len(was), len(is), &p
	if r := s.New / s.Old; slices.Min(was) > 0 && slices.Min(is) > 0 && r > 0 && !math.IsInf(r, 0) {
		s.Ratio = &r
	}
	s.Threshold, s.By = math.Abs(s.Old)*o.Relative, "relative"
	if a := max(o.Absolute[s.Unit], matters[s.Name]); a > s.Threshold {
		s.Threshold, s.By = a, "absolute"
	}
	user := s.Threshold
	within, between := t.floor(s, tests, o)
	centre := func(was, is []float64) float64 { return stats.Median(is) - stats.Median(was) }
	if o.gate { // the test allows for the noise between runs
		within, centre = 0, stats.Shift
		if near := nearZero * spread(was); near > math.Abs(s.Old) { // near zero, no share says what matters
			within = near
		}
	}
	given, have := o.Noise.of(s.Change)
	if f := max(within, between, given); f > s.Threshold {
		s.Threshold, s.By = f, "noise"
	}
	// A change is large where both what was tested and the values themselves exceed the threshold, in the same
	// direction.
	d, raw := centre(known(s.tested[:t.old]), known(s.tested[t.old:])), centre(was, is)
	large := math.Abs(d) > s.Threshold && math.Abs(raw) > s.Threshold && d*raw > 0
	worse := raw
	if s.Better == params.BetterHigher {
		worse = -raw
	}
	s.large = large && worse > 0 && s.judged
	able := s.able(o)
	s.State = OK
	switch {
	case large && p <= o.Alpha && able:
		s.State = map[bool]string{true: Regression, false: Improvement}[worse > 0]
		if !s.judged {
			s.State = Changed
		}
	case !s.judged:
	case o.gate && !able:
		s.State = Inconclusive
	case o.gate: // runs that are enough to find a change have found none
	case able && s.large:
		s.State = Inconclusive
	case !able:
		reach := max(within, given)
		enough := have || min(s.OldRuns, s.NewRuns) >= minTested
		if !enough || worse+reach >= user {
			s.State = Inconclusive
		}
	}
}

// matters is the least change that counts of a quantity whose old value may be 0.
var matters = map[string]float64{params.LossMetric: 0.001}

// able reports whether the runs are enough for a test to reach significance, else sets how many more are needed.
func (s *series) able(o Options) bool {
	if stats.SmallestP(s.OldRuns, s.NewRuns) <= o.Alpha {
		return true
	}
	m, n := stats.NeededEach(s.OldRuns, s.NewRuns, o.Alpha)
	if s.OldRuns == s.NewRuns {
		m = max(m, n)
		n = m
	}
	s.needs = More{Old: m - s.OldRuns, New: n - s.NewRuns}
	return false
}

// nearZero is how many times its own half width the median of the old runs must be, or the quantity is near zero: its
// change is then given as a difference, and not as a ratio.
const nearZero = 2

// interval sets the intervals of the difference and the ratio, by a bootstrap over the runs of each side.
func (s *series) interval(old int, o Options) {
	was, is := known(s.raw[:old]), known(s.raw[old:])
	if len(was) < 2 || len(is) < 2 {
		return
	}
	h := fnv.New64a()
	h.Write([]byte(s.id()))
	rng := rand.New(rand.NewPCG(0, h.Sum64()))
	a, b := make([]float64, len(was)), make([]float64, len(is))
	before, by, times := make([]float64, o.replicates), make([]float64, o.replicates), make([]float64, o.replicates)
	draw := func(to, from []float64) float64 {
		for i := range to {
			to[i] = from[rng.IntN(len(from))]
		}
		slices.Sort(to)
		return stats.SortedQuantile(to, 0.5)
	}
	for i := range by {
		now := draw(b, is)
		before[i] = draw(a, was)
		by[i], times[i] = now-before[i], now/before[i]
	}
	s.DifferenceCI = middle(by)
	if of := middle(before); s.Ratio != nil && of != nil && (of[1]-of[0])/2*nearZero < s.Old {
		s.RatioCI = middle(times)
	} else {
		s.Ratio = nil
	}
}

// middle is the interval that holds 95% of the values, which it sorts; nil where it is not finite.
func middle(x []float64) *[2]float64 {
	slices.Sort(x)
	lo, hi := stats.SortedQuantile(x, 0.025), stats.SortedQuantile(x, 0.975)
	if math.IsInf(hi-lo, 0) || math.IsNaN(hi-lo) {
		return nil
	}
	return &[2]float64{lo, hi}
}
