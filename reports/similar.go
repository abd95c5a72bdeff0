package reports

import (
	"cmp"
	"math"
	"slices"

	"calib/internal/params"
	"calib/internal/stats"
)

// ManyHosts is the number of hosts above which a report describes their distribution, and a heat map shows blocks of them.
const ManyHosts = 64

const (
	// apart is the share by which two neighbours in a sorted list differ that are of different levels. A slow host is
	// slow by as much.
	apart = 0.05
	// minGroup is the number of hosts that make a group: fewer are odd.
	minGroup = 3
	// minPairs is the number of pairs without which a host has no figure of its own: its partners' would be in it.
	minPairs = 3
)

// alikeHost is what one host shows in its pairs.
type alikeHost struct {
	Name    string
	Pairs   int
	Latency float64 // s, of a message between it and a typical host; NaN where its pairs are too few
	Rate    float64 // B/s, the best of its pairs; NaN where its pairs are too few
	// LatencyRatio and RateRatio are an odd host's figures divided by those of the largest group; NaN where there is
	// none.
	LatencyRatio, RateRatio float64
}

// hostGroup is hosts that are alike in both figures.
type hostGroup struct {
	Hosts         []string // in rank order
	Latency, Rate float64  // medians of the hosts' figures
}

// Alike is what is known of the hosts of a run.
type Alike struct {
	All     []alikeHost // in rank order
	Groups  []hostGroup // the largest first
	Odd     []alikeHost // in no group, the oddest first
	Unknown []string    // with too few pairs
	Near    [][]string  // groups of hosts with shorter ways within than between, the largest first; none where that is not seen
}

// AlikeOf describes the hosts of p.
func AlikeOf(p *params.Params) *Alike {
	t := pairTableOf(p)
	parts, rates := t.parts(), t.best()
	typical := stats.Median(slices.DeleteFunc(slices.Clone(parts), math.IsNaN))
	latencies := make([]float64, len(parts))
	out := &Alike{}
	for i, name := range t.names {
		latencies[i] = parts[i] + typical
		h := alikeHost{Name: name, Pairs: len(t.near[i]), Latency: latencies[i], Rate: rates[i], LatencyRatio: math.NaN(), RateRatio: math.NaN()}
		out.All = append(out.All, h)
		if math.IsNaN(h.Latency) && math.IsNaN(h.Rate) {
			out.Unknown = append(out.Unknown, name)
		}
	}
	out.group(levels(latencies), levels(rates))
	out.Near = t.neighbourhoods(parts)
	return out
}

// Latencies returns the hosts' latencies that are known, ascending.
func (h *Alike) Latencies() []float64 {
	return known(h.All, func(q alikeHost) float64 { return q.Latency })
}

// Rates returns the hosts' rates that are known, ascending.
func (h *Alike) Rates() []float64 { return known(h.All, func(q alikeHost) float64 { return q.Rate }) }

func known(all []alikeHost, of func(alikeHost) float64) []float64 {
	var out []float64
	for _, h := range all {
		if v := of(h); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// Levels of a value that is far from all others, and of one that is not known.
const (
	odd     = -1
	unknown = -2
)

// levels puts values into levels: sorted, two neighbours more than apart from each other are of different levels. A
// level has minGroup values or more. What is left is odd where it is farther from the nearest level than three of
// that level's scaled MADs; else it belongs to it.
func levels(values []float64) []int {
	out := slices.Repeat([]int{unknown}, len(values))
	var order []int
	for i, v := range values {
		if v > 0 {
			out[i] = odd
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	type level struct{ middle, spread float64 }
	var found []level
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] <= (1+apart)*values[order[to-1]] {
			to++
		}
		if to-from >= minGroup {
			var own []float64
			for _, i := range order[from:to] {
				out[i] = len(found)
				own = append(own, values[i])
			}
			found = append(found, level{stats.Median(own), stats.MAD(own)})
		}
		from = to
	}
	for _, i := range order {
		if out[i] != odd {
			continue
		}
		for k, l := range found {
			if math.Abs(values[i]-l.middle) <= 3*l.spread {
				out[i] = k
			}
		}
	}
	return out
}

// group makes groups of the hosts with equal levels of both figures.
func (h *Alike) group(latency, rate []int) {
	by := map[[2]int][]int{}
	var keys [][2]int
	for i := range h.All {
		k := [2]int{latency[i], rate[i]}
		if k == [2]int{unknown, unknown} {
			continue
		}
		if by[k] == nil {
			keys = append(keys, k)
		}
		by[k] = append(by[k], i)
	}
	slices.SortStableFunc(keys, func(a, b [2]int) int { return cmp.Compare(len(by[b]), len(by[a])) })
	var left []int
	for _, k := range keys {
		if k[0] == odd || k[1] == odd || len(by[k]) < minGroup {
			left = append(left, by[k]...)
			continue
		}
		var g hostGroup
		var latencies, rates []float64
		for _, i := range by[k] {
			g.Hosts = append(g.Hosts, h.All[i].Name)
			latencies, rates = append(latencies, h.All[i].Latency), append(rates, h.All[i].Rate)
		}
		g.Latency, g.Rate = stats.Median(latencies), stats.Median(rates)
		h.Groups = append(h.Groups, g)
	}
	slices.Sort(left)
	for _, i := range left {
		q := &h.All[i]
		if len(h.Groups) > 0 {
			q.LatencyRatio, q.RateRatio = q.Latency/h.Groups[0].Latency, q.Rate/h.Groups[0].Rate
		}
		h.Odd = append(h.Odd, *q)
	}
	slices.SortStableFunc(h.Odd, func(a, b alikeHost) int { return cmp.Compare(b.oddness(), a.oddness()) })
}

// oddness is how many times a host's figures are those of the largest group, or the other way round.
func (h alikeHost) oddness() float64 {
	most := 0.0
	for _, r := range []float64{h.LatencyRatio, h.RateRatio} {
		if d := math.Abs(math.Log(r)); d > most {
			most = d
		}
	}
	return most
}
