package cluster

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/plot"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

// Gather is the smallest interval between packets that one host receives, as a function of their payload m [B]: g_r(m),
// with the forms of g_s. The packets of p' senders reach one root at intervals of max(g_s/p', g_r). With many senders
// that is g_r: at each size the interval of the largest p', averaged with those of other p' within 1.5% of it. A size
// does not show g_r if its interval at the largest p' is still 1/p' of g_s, or falls as 1/p' against that of fewer
// senders. Where no two sizes show it, the parameter g_r says so, with a bound.
//
// Gathers of M bytes from each sender are summed up in notes: all senders at once, and the best window of senders, with
// the segments that had to be sent again. Source: Tam, Wang 2000, sections 3.2 and 5.
var Gather = fit.Model{Name: "cluster-gather", Needs: []string{names.Gather}, Draw: gatherPlots,
	Fit: func(p *fit.Prepared) (*params.Fit, error) {
		g, err := fit.Shared(p, fitGather)
		return g.fit, err
	}}

const (
	labelGr = "interval between packets that one host receives"
	// plateau is how close to the interval of the largest p' another must be to be taken as the same.
	plateau = 0.015
	// falls is how close to 1/p' an interval must fall for the root not to be the limit.
	falls = 0.03
	// fewer is the largest share of the most senders that the fall is judged against.
	fewer = 0.8
)

type gather struct {
	fit *params.Fit
	gr  *costFit
}

// senders names the streams of p' senders, without loss or with.
type senders struct {
	n     int64
	lossy bool
}

// arrivals are the intervals at the root by number of senders and size, those of streams without loss and with.
type arrivals struct {
	*fit.Result
	curves      curves[senders]
	numbers     []int64 // of senders, ascending
	clean, lost []*fit.Batch
	est         *resample.Estimates
	top         float64        // largest interval of the most senders [s], the upper end of its 95% interval
	sizesBy     map[string]int // sizes by the numbers of senders that g_r is from
	lossy, free int            // sizes taken with losses, and those at which the senders are the limit
}

func fitGather(p *fit.Prepared) (out gather, err error) {
	a := &arrivals{Result: p.New("cluster-gather", names.Gather, source), sizesBy: map[string]int{}}
	a.load()
	if len(a.numbers) == 0 {
		return out, fit.Needs("no stream of messages to one root")
	}
	a.est = fit.Draw(a.Result, &a.curves.table)
	data := a.saturated()
	a.account()
	a.CheckRounds(a.est.Rounds)
	a.Domain["senders"] = [2]float64{float64(a.numbers[0]), float64(a.numbers[len(a.numbers)-1])}
	noteGathers(a.Result, p)
	if len(data.sizes) < 2 {
		a.Unknown("g_r", "s", labelGr, 0, a.top, fmt.Sprintf("up to %s cannot fill the receiver at two sizes: "+
			"g_r is at most the interval there; measure with more hosts", units.Plural(a.numbers[len(a.numbers)-1], "sender")))
		a.Judge(math.NaN(), math.NaN())
		return gather{fit: a.Fit}, nil
	}
	c, err := fitCost(a.Result, "g_r", labelGr, data, true)
	if err != nil {
		return out, err
	}
	checkForm(a.Result, data, c)
	return gather{fit: finishCosts(a.Result, c), gr: c}, nil
}

// load gathers the intervals. Streams with losses are kept apart: the root's link is busy in them too, and they are
// used at sizes where no other stream shows g_r.
func (a *arrivals) load() {
	// Streams of all senders have the slow ones, too, and are all that there are. A slow root is another port.
	slow := a.Prepared.Slow()
	lines := a.Prefer(a.EvenLossy(a.Prepared.LineBatches(names.Gather, names.PhaseArrivals)), fit.WhySlowHost,
		func(b *fit.Batch) bool { return slow.Hosts[b.First()] })
	lines = a.WithoutSlow(lines)
	packet, _ := fit.PacketBytes(lines)
	a.Sift(lines, func(b *fit.Batch) string {
		l := b.Lines[0]
		n, m, v := b.Point[names.FactorSenders], float64(b.Point[names.FactorBytes]), arrivalInterval(l)
		switch {
		case m > packet:
			return fit.WhyLarge
		case mergedSegments(l):
			return whyMerged
		case v == nil || n < 1:
			return whyNoWindow
		}
		lossy := l.Has(dataset.FlagRetrans)
		a.curves.add(senders{n, lossy}, m, b, b.Timings(), v...)
		if lossy {
			a.lost = append(a.lost, b)
		} else {
			a.clean = append(a.clean, b)
		}
		return ""
	})
	a.numbers = resample.Distinct(&a.curves.table, func(k sizeOf[senders]) (int64, bool) { return k.cost.n, true })
}

// parts is into how many a stream of arrivals is cut to see pauses. Each holds two kept intervals at least.
const parts = 8

// arrivalInterval is intervals without pauses. A root that was stopped for a moment adds its pause to the mean over the
// window, and one such stream in three rounds moves g_r by the share of the pause. So the mean is scaled by the median
// of the means of equal parts of the stream over the mean of all. A stream without pauses has a scale near 1, however
// its arrivals come in bursts.
func arrivalInterval(l *dataset.Sample) []float64 {
	v := intervals(l)
	if len(v) != 1 || len(l.NS) < 2*parts {
		return v
	}
	means := lists.Map(lists.Upto(parts), func(i int) float64 {
		return stats.Mean(fit.Seconds(l.NS[i*len(l.NS)/parts : (i+1)*len(l.NS)/parts]))
	})
	if scale := stats.Median(means) / stats.Mean(fit.Seconds(l.NS)); fit.Finite(scale) {
		v[0] *= scale
	}
	return v
}

// account states what was used, once it is known whether streams with losses are.
func (a *arrivals) account() {
	used := [][]*fit.Batch{a.clean}
	if a.lossy > 0 || len(a.clean) == 0 {
		used = append(used, a.lost)
	} else {
		a.Sift(a.lost, func(*fit.Batch) string { return dataset.FlagRetrans })
	}
	if a.lossy > 0 {
		a.Warn("lossy-streams", "at %d sizes no stream without loss shows g_r: there it is from streams with losses, and "+
			"may be too large", a.lossy)
	}
	a.Account(used...)
	warnOfMerged(a.Result)
	for numbers, sizes := range lists.ByKey(a.sizesBy) {
		a.Note("g-r-senders", "g_r is the interval of %s senders at %d sizes", numbers, sizes)
	}
	if a.free > 0 && len(a.sizesBy) > 0 {
		a.Note("sender-limited", "at %d sizes the senders were the limit: these sizes are not used for g_r", a.free)
	}
}

// saturated returns the sizes at which the root is the limit, with their intervals: of streams without loss where those
// show it, otherwise of all.
func (a *arrivals) saturated() *costData {
	var sizes []float64
	var groups [][]int // points of each size
	for _, m := range a.curves.sizes() {
		group, numbers := a.group(m, false)
		if group == nil {
			if group, numbers = a.group(m, true); group != nil {
				a.lossy++
			}
		}
		if group == nil {
			a.free++
			continue
		}
		a.sizesBy[numbers]++
		groups = append(groups, group)
		sizes = append(sizes, m)
	}
	return &costData{sizes, a.est.Made(groups, func(v []float64, i int) float64 {
		return lists.Sum(groups[i], func(at int) float64 { return v[at] / float64(len(groups[i])) })
	})}
}

// group returns the points of m bytes whose interval is that of the most senders, and those numbers of senders in
// words; nil where the senders are the limit, or nothing is there to tell.
func (a *arrivals) group(m float64, losses bool) (group []int, numbers string) {
	senders, points := a.at(m, losses)
	last := len(points) - 1
	if last < 0 {
		return nil, ""
	}
	value := func(i int) float64 { return a.est.Values[points[i]] }
	a.top = math.Max(a.top, a.est.PointScatter(points[last])[1])
	alone := math.Inf(1) // interval × senders where the senders are the limit
	ref := last          // the largest number of senders that is clearly smaller than the last
	for ref >= 0 && senders[ref] > fewer*senders[last] {
		ref--
	}
	switch gs := gsOf(a.Prepared); {
	case ref >= 0:
		alone = senders[ref] * value(ref)
	case senders[last] > 1 && gs != nil:
		alone = gs.Of(m)
	}
	if senders[last]*value(last) <= (1+falls)*alone {
		return nil, ""
	}
	var same []string
	for i := range points {
		if math.Abs(value(i)/value(last)-1) <= plateau {
			group = append(group, points[i])
			same = append(same, fmt.Sprintf("%g", senders[i]))
		}
	}
	return group, strings.Join(same, ", ")
}

// at returns the numbers of senders that streamed m bytes, ascending, and their points: those without loss, and with
// losses set those with loss where there are no others.
func (a *arrivals) at(m float64, losses bool) (numbers []float64, points []int) {
	for _, n := range a.numbers {
		i, ok := a.curves.point(senders{n: n}, m)
		if !ok && losses {
			i, ok = a.curves.point(senders{n: n, lossy: true}, m)
		}
		if ok {
			numbers, points = append(numbers, float64(n)), append(points, i)
		}
	}
	return numbers, points
}

// gatherKind is a gather of M bytes from each of some senders, window of them at once.
type gatherKind struct{ senders, bytes, window int64 }

func (k gatherKind) compare(b gatherKind) int {
	return cmp.Or(cmp.Compare(k.senders, b.senders), cmp.Compare(k.bytes, b.bytes), cmp.Compare(k.window, b.window))
}

type gatherTotal struct {
	gatherKind
	time float64 // s, median of the batches' medians
	lost float64 // segments sent again per gather
}

// gatherTotals sums up all gathers that came to an end, with loss or without, in order of senders, bytes and window.
func gatherTotals(p *fit.Prepared) []gatherTotal {
	times, again, count := map[gatherKind][]float64{}, map[gatherKind]float64{}, map[gatherKind]float64{}
	for _, l := range p.Samples(names.Gather, names.PhaseGather) {
		if l.Has(dataset.FlagTimeout) || l.Has(dataset.FlagDeadlock) || len(l.NS) == 0 {
			continue
		}
		k := gatherKind{l.Point[names.FactorSenders], l.Point[names.FactorBytes], l.Point[names.FactorWindow]}
		times[k] = append(times[k], stats.Median(fit.Seconds(l.NS)))
		count[k] += float64(len(l.NS))
		if l.TCP != nil {
			again[k] += float64(l.TCP.Retrans)
		}
	}
	var out []gatherTotal
	for k, v := range times {
		out = append(out, gatherTotal{k, stats.Median(v), again[k] / count[k]})
	}
	slices.SortFunc(out, func(a, b gatherTotal) int { return a.compare(b.gatherKind) })
	return out
}

// noteGathers notes, for the most senders and each size, the gather that all began at once beside the one with the best
// window of senders.
func noteGathers(r *fit.Result, p *fit.Prepared) {
	all := gatherTotals(p)
	alike := func(a, b gatherTotal) bool { return a.senders == b.senders && a.bytes == b.bytes }
	for _, same := range fit.Runs(all, alike) {
		last := same[len(same)-1]
		if last.senders != all[len(all)-1].senders || last.window != last.senders {
			continue
		}
		text := fmt.Sprintf("gather, %d senders, %s each: uncoordinated %s (lost segments: %.3g)", last.senders,
			units.Bytes(last.bytes), units.Format(last.time, "s"), last.lost)
		if windows := same[:len(same)-1]; len(windows) > 0 {
			best := slices.MinFunc(windows, func(a, b gatherTotal) int { return cmp.Compare(a.time, b.time) })
			text += fmt.Sprintf(", window %d %s (%.3g)", best.window, units.Format(best.time, "s"), best.lost)
		}
		r.Note("gather-times", "%s", text)
	}
}

func gatherPlots(f *params.Fit) []plot.Plot { return []plot.Plot{gapPlot(f, "g_r")} }
