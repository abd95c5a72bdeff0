package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"calib/internal/lists"
	"calib/internal/stats"
	"calib/params"
)

// fewestHosts is the fewest hosts with which a slow host differs from a slow link: of three hosts, each link is half
// the links of a host.
const fewestHosts = 4

const linksPrefix = "links." // begins the names of quantities that are medians over all links

// series is one quantity in all runs, the old before the new. NaN is a run without a value.
type series struct {
	Change
	raw    []float64
	tested []float64 // raw, or for a host or a link raw without what it shares with others: what is compared

	median float64   // of a link: of all runs
	ratio  []float64 // of a link: of raw to median
}

type table struct {
	old      int   // runs on the old side
	night    []int // of each run, counted on each side
	nights   int   // of the old runs
	together bool  // all runs of both sides are of one night
	params   []*series
	links    []*series
	names    []string // of the metrics of links
	hosts    []string // of the links, sorted
	notes    []string
	skipped  []Skipped
	lost     []Lost // of the quantities that decide
}

type reading struct {
	value float64 // NaN where the run has none
	sound bool    // it is of status ok
	sizes string  // Metric.Sizes
}

// kept decides which values of a side count: those of the message sizes that most have; of them those of status ok
// where at least half have it, and otherwise all. It returns these sizes and that status, and drops the others. Where
// all is set, it drops those of other sizes only. So a number is compared with its like: what is provisional on both
// sides has the same fault on both.
func kept(side []reading, all bool) (sizes, status string) {
	n, ok, by := 0, 0, map[string]int{}
	for _, r := range side {
		if !math.IsNaN(r.value) {
			by[r.sizes]++
		}
	}
	for s, n := range lists.ByKey(by) {
		if n > by[sizes] {
			sizes = s
		}
	}
	for i, r := range side {
		switch {
		case r.sizes != sizes:
			side[i].value = math.NaN()
		case !math.IsNaN(r.value):
			n++
			if r.sound {
				ok++
			}
		}
	}
	if 2*ok < n {
		return sizes, params.StatusProvisional
	}
	for i, r := range side {
		if !r.sound && !all {
			side[i].value = math.NaN()
		}
	}
	return sizes, params.StatusOK
}

// newTable makes the table of two sides. Of a gate, all values of what decides count, if most are ok.
func newTable(old, new []Run, gate bool) *table {
	runs := slices.Concat(old, new)
	t := &table{old: len(old)}
	was, nights := nightsOf(old)
	is, _ := nightsOf(new)
	t.night, t.nights = slices.Concat(was, is), nights
	_, all := nightsOf(runs)
	t.together = all == 1
	type key struct{ from, to, name, unit string }
	read := map[key][]reading{}
	metric := map[key]params.Metric{}
	for i, r := range runs {
		for _, q := range r.Metrics {
			if math.IsNaN(q.Value) || math.IsInf(q.Value, 0) {
				continue
			}
			k := key{q.From, q.To, q.Name, q.Unit}
			if read[k] == nil {
				read[k], metric[k] = slices.Repeat([]reading{{value: math.NaN()}}, len(runs)), q
			}
			read[k][i] = reading{q.Value, q.Status == "" || q.Status == params.StatusOK, q.Sizes}
		}
	}
	keys := slices.SortedFunc(maps.Keys(read), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.name, b.name),
			cmp.Compare(a.unit, b.unit))
	})
	// Which links a short run measures at its largest size is chance, so a gate wants the value of a link in nine of ten
	// runs, as it does of what decides.
	share, least := 5, "half"
	if gate {
		share, least = 9, "nine of ten"
	}
	var onlyOld, onlyNew, rare []string
	for _, k := range keys {
		name, of := k.name, metric[k].Link()
		if of != "" {
			name += " of " + of
		}
		sound := lists.Count(read[k][:t.old], func(r reading) bool { return r.sound })
		decides := judges(k.name) && nineOfTen(sound, t.old) // a gate, by this
		wasSizes, was := kept(read[k][:t.old], gate && decides)
		isSizes, is := kept(read[k][t.old:], gate && decides)
		values := lists.Map(read[k], func(r reading) float64 { return r.value })
		had, has := known(values[:t.old]), known(values[t.old:])
		if gate && decides && of == "" && 2*len(has) < len(new) {
			t.lost = append(t.lost, Lost{Name: k.name, OldOK: len(had), OldRuns: t.old, NewOK: len(has), NewRuns: len(new),
				Status: missing})
		}
		switch {
		case len(has) == 0:
			onlyOld = append(onlyOld, name)
		case len(had) == 0:
			onlyNew = append(onlyNew, name)
		case wasSizes != isSizes:
			t.skipped = append(t.skipped, Skipped{Name: name, Old: wasSizes, New: isSizes, Why: otherSizes})
		case was != is:
			t.skipped = append(t.skipped, Skipped{Name: name, Old: was, New: is})
			if gate && decides && of == "" {
				ok := lists.Count(read[k][t.old:], func(r reading) bool { return r.sound })
				t.lost = append(t.lost, Lost{Name: k.name, OldOK: sound, OldRuns: t.old, NewOK: ok, NewRuns: len(new), Status: is})
			}
		case of == "":
			s := seriesOf(metric[k], ScopeNetwork, values, values)
			s.judged = s.judged && (decides || !gate)
			t.params = append(t.params, s)
		case 10*len(had) < share*t.old || 10*len(has) < share*len(new):
			rare = append(rare, name)
		default:
			t.addLink(metric[k], values)
		}
	}
	var skipped []string
	for _, s := range t.skipped {
		skipped = append(skipped, fmt.Sprintf("%s (%s, now %s)", s.Name, s.Old, s.New))
		if gate && s.Why == otherSizes && judges(s.Name) {
			t.lost = append(t.lost, Lost{Name: s.Name, OldOK: t.old, OldRuns: t.old, NewRuns: len(new), Status: otherSizes})
		}
	}
	t.note(skipped, "of another status or of other message sizes, and not compared")
	t.note(onlyOld, "in the old runs only")
	t.note(onlyNew, "in the new runs only")
	t.note(rare, "in less than "+least+" of the runs of a side, and not compared")
	slices.Sort(t.hosts)
	t.hosts = slices.Compact(t.hosts)
	return t
}

func nineOfTen(n, of int) bool { return 10*n >= 9*of }

func (t *table) note(names []string, what string) {
	if len(names) > 0 {
		t.notes = append(t.notes, fmt.Sprintf("%s: %s", what, namesOf(names)))
	}
}

// seriesOf is a series of a metric, of which nothing is decided yet.
func seriesOf(m params.Metric, scope string, raw, tested []float64) *series {
	return &series{raw: raw, tested: tested, Change: Change{Scope: scope, Name: m.Name, From: m.From, To: m.To,
		Unit: m.Unit, Label: m.Label, Better: m.Better, judged: m.Better != params.BetterNeither}}
}

// over is a series of what some links share, without their own hosts.
func over(links []*series, scope, label string, raw, tested []float64) *series {
	s := &series{raw: raw, tested: tested, Change: links[0].Change}
	s.Scope, s.From, s.To, s.Label = scope, "", "", s.Label+label
	return s
}

func (t *table) addLink(m params.Metric, values []float64) {
	l := seriesOf(m, ScopeLink, values, nil)
	l.median, l.ratio = stats.Median(known(values)), make([]float64, len(values))
	if slices.Min(known(values)) <= 0 {
		t.notes = append(t.notes, fmt.Sprintf("%s of %s is not positive in every run, and not compared", m.Name, m.Link()))
		return
	}
	for i, v := range values {
		l.ratio[i] = v / l.median
	}
	t.links = append(t.links, l)
	if !slices.Contains(t.names, m.Name) {
		t.names = append(t.names, m.Name)
	}
	t.hosts = append(t.hosts, m.From, m.To)
}

func known(x []float64) []float64 {
	return lists.Where(x, func(v float64) bool { return !math.IsNaN(v) })
}

func (t *table) of(name string, take func(*series) bool) []*series {
	return lists.Where(t.links, func(l *series) bool { return l.Name == name && take(l) })
}

// typical is the median over links in each run, as a ratio to the median of each link.
func typical(links []*series, runs int) []float64 {
	return lists.Map(lists.Upto(runs), func(i int) float64 {
		return stats.Median(known(lists.Map(links, func(l *series) float64 { return l.ratio[i] })))
	})
}

// scaled returns ratio in a unit, divided by what others share of it; shared may be nil.
func scaled(ratio, shared []float64, unit float64) []float64 {
	out := make([]float64, len(ratio))
	for i := range out {
		out[i] = ratio[i] * unit
		if shared != nil {
			out[i] = ratio[i] / shared[i] * unit
		}
	}
	return out
}

// hostSeries are the medians over each host's links, tested without what all links share.
func (t *table) hostSeries() (out []*series) {
	if len(t.hosts) < fewestHosts {
		return nil
	}
	for _, name := range t.names {
		shared := typical(t.of(name, func(*series) bool { return true }), len(t.night))
		for _, h := range t.hosts {
			own := t.of(name, func(l *series) bool { return l.From == h || l.To == h })
			if len(own) < fewestHosts-1 {
				continue
			}
			ratio, unit := typical(own, len(t.night)), medianOf(own)
			s := over(own, ScopeHost, ", median of the host's links", scaled(ratio, nil, unit), scaled(ratio, shared, unit))
			s.Host = h
			out = append(out, s)
		}
	}
	return out
}

// linkSeries are the links of hosts that do not explain them, tested without the medians that these links share.
func (t *table) linkSeries(explained func(host, metric string) bool) (links, medians []*series) {
	for _, name := range t.names {
		rest := t.of(name, func(l *series) bool { return !explained(l.From, name) && !explained(l.To, name) })
		if len(rest) == 0 {
			continue
		}
		var shared []float64
		if len(t.hosts) >= fewestHosts && len(rest) > 2 {
			shared = typical(rest, len(t.night))
			all := scaled(shared, nil, medianOf(rest))
			s := over(rest, ScopeNetwork, ", median of all links", all, all)
			s.Name = linksPrefix + name
			medians = append(medians, s)
		}
		for _, l := range rest {
			l.tested = scaled(l.ratio, shared, l.median)
		}
		links = append(links, rest...)
	}
	return links, medians
}

func medianOf(links []*series) float64 {
	return stats.Median(lists.Map(links, func(l *series) float64 { return l.median }))
}
