package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"calib/fit/params"
	"calib/internal/stats"
)

// fewestHosts is from how many hosts on a host's links can be told from a link: with three, each link is half of a host.
const fewestHosts = 4

// series is one quantity in all runs, the old before the new. tested is what the test and the size of a change are taken of:
// the values themselves, or what is left of them without what they share with others. NaN is a run without a value.
type series struct {
	Change
	raw, tested []float64
}

// link is one metric of one link.
type link struct {
	metric params.Metric
	values []float64 // NaN where a run has none
	ratio  []float64 // to the median of all runs
	middle float64
}

// table is what the runs of both sides hold, quantity by quantity.
type table struct {
	old    int // runs on the old side
	night  []int
	nights [2]int
	// together: all runs, of both sides, are of one night
	together bool
	params   []*series
	links    []*link
	hosts    []string // of the links, sorted
	notes    []string
}

func newTable(old, new []Run) *table {
	runs := slices.Concat(old, new)
	t := &table{old: len(old)}
	was, n := nightsOf(old)
	is, m := nightsOf(new)
	t.night, t.nights = slices.Concat(was, is), [2]int{n, m}
	_, all := nightsOf(runs)
	t.together = all == 1
	type key struct{ name, from, to, unit string }
	values := map[key][]float64{}
	metric := map[key]params.Metric{}
	var keys []key
	for i, r := range runs {
		for _, q := range r.Metrics {
			if math.IsNaN(q.Value) || math.IsInf(q.Value, 0) {
				continue
			}
			k := key{q.Name, q.From, q.To, q.Unit}
			if values[k] == nil {
				keys = append(keys, k)
				values[k] = slices.Repeat([]float64{math.NaN()}, len(runs))
				metric[k] = q
			}
			values[k][i] = q.Value
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.name, b.name), cmp.Compare(a.unit, b.unit))
	})
	var gone, come, patchy []string
	for _, k := range keys {
		had, has := known(values[k][:t.old]), known(values[k][t.old:])
		name := k.name
		if l := metric[k].Link(); l != "" {
			name += " of " + l
		}
		switch {
		case len(has) == 0:
			gone = append(gone, name)
		case len(had) == 0:
			come = append(come, name)
		case k.from == "" && k.to == "":
			t.params = append(t.params, parameter(metric[k], values[k]))
		case 2*len(had) < t.old || 2*len(has) < len(new):
			patchy = append(patchy, name)
		default:
			t.addLink(metric[k], values[k])
		}
	}
	t.say(gone, "in the old runs only")
	t.say(come, "in the new runs only")
	t.say(patchy, "in less than half of the runs of a side, and not compared")
	slices.Sort(t.hosts)
	t.hosts = slices.Compact(t.hosts)
	return t
}

func (t *table) say(names []string, what string) {
	if len(names) > 0 {
		t.notes = append(t.notes, fmt.Sprintf("%s: %s", what, namesOf(names)))
	}
}

func parameter(m params.Metric, values []float64) *series {
	return &series{raw: values, tested: values,
		Change: Change{Scope: ScopeNetwork, Name: m.Name, Unit: m.Unit, Label: m.Label, Better: m.Better}}
}

func (t *table) addLink(m params.Metric, values []float64) {
	l := &link{metric: m, values: values, middle: stats.Median(known(values)), ratio: make([]float64, len(values))}
	if slices.Min(known(values)) <= 0 {
		t.notes = append(t.notes, fmt.Sprintf("%s of %s is not positive in every run, and not compared", m.Name, m.Link()))
		return
	}
	for i, v := range values {
		l.ratio[i] = v / l.middle
	}
	t.links = append(t.links, l)
	t.hosts = append(t.hosts, m.From, m.To)
}

// known leaves out the runs without a value.
func known(x []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(x), math.IsNaN)
}

// names lists the metrics of links.
func (t *table) names() []string {
	var out []string
	for _, l := range t.links {
		if !slices.Contains(out, l.metric.Name) {
			out = append(out, l.metric.Name)
		}
	}
	return out
}

// of selects links of a metric.
func (t *table) of(name string, take func(*link) bool) []*link {
	var out []*link
	for _, l := range t.links {
		if l.metric.Name == name && take(l) {
			out = append(out, l)
		}
	}
	return out
}

// typical is the median over links in each run: as a ratio to what is normal for each link.
func typical(links []*link, runs int) []float64 {
	out := make([]float64, runs)
	var of []float64
	for i := range out {
		of = of[:0]
		for _, l := range links {
			if !math.IsNaN(l.ratio[i]) {
				of = append(of, l.ratio[i])
			}
		}
		out[i] = stats.Median(of)
	}
	return out
}

// without divides a ratio by what others share of it.
func without(ratio, shared []float64, unit float64) []float64 {
	out := make([]float64, len(ratio))
	for i := range out {
		out[i] = ratio[i] / shared[i] * unit
	}
	return out
}

func scaled(ratio []float64, unit float64) []float64 {
	out := make([]float64, len(ratio))
	for i := range out {
		out[i] = ratio[i] * unit
	}
	return out
}

func middles(links []*link) float64 {
	var m []float64
	for _, l := range links {
		m = append(m, l.middle)
	}
	return stats.Median(m)
}

// hostSeries is what is typical of a host's links, as far as it is not typical of all.
func (t *table) hostSeries() []*series {
	if len(t.hosts) < fewestHosts {
		return nil
	}
	var out []*series
	for _, name := range t.names() {
		shared := typical(t.of(name, func(*link) bool { return true }), len(t.night))
		for _, h := range t.hosts {
			mine := t.of(name, func(l *link) bool { return l.metric.From == h || l.metric.To == h })
			if len(mine) < fewestHosts-1 {
				continue
			}
			m, ratio, unit := mine[0].metric, typical(mine, len(t.night)), middles(mine)
			out = append(out, &series{raw: scaled(ratio, unit), tested: without(ratio, shared, unit),
				Change: Change{Scope: ScopeHost, Host: h, Name: name, Unit: m.Unit, Label: m.Label + ", median of the host's links", Better: m.Better}})
		}
	}
	return out
}

// linkSeries are the links of other hosts than those of which a metric is explained, and what is typical of them.
func (t *table) linkSeries(explained func(host, metric string) bool) (links, shared []*series) {
	for _, name := range t.names() {
		rest := t.of(name, func(l *link) bool {
			return !explained(l.metric.From, name) && !explained(l.metric.To, name)
		})
		if len(rest) == 0 {
			continue
		}
		m := rest[0].metric
		all := slices.Repeat([]float64{1}, len(t.night))
		if len(t.hosts) >= fewestHosts && len(rest) > 2 {
			all = typical(rest, len(t.night))
			shared = append(shared, &series{raw: scaled(all, middles(rest)), tested: scaled(all, middles(rest)), Change: Change{
				Scope: ScopeNetwork, Name: "links." + name, Unit: m.Unit, Label: m.Label + ", median of all links", Better: m.Better}})
		}
		for _, l := range rest {
			m := l.metric
			links = append(links, &series{raw: l.values, tested: without(l.ratio, all, l.middle), Change: Change{
				Scope: ScopeLink, From: m.From, To: m.To, Name: m.Name, Unit: m.Unit, Label: m.Label, Better: m.Better}})
		}
	}
	return links, shared
}
