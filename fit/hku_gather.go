package fit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"calib/internal/dataset"
)

// HKUGather is the smallest interval between packets that one host receives, as a function of their payload m [B]:
// g_r(m), with the forms of g_s. p' senders that stream to one root arrive at intervals of max(g_s/p', g_r), so that g_r
// is what many senders tend to: at each size the interval of the largest p', averaged with those of other p' within 1.5%
// of it. A size whose interval still falls as 1/p' at the largest p', against that of fewer senders or g_s itself, does not
// show g_r; where no two sizes do, the parameter g_r says so, with a bound.
//
// Gathers of M bytes from each sender are summed up in notes: all senders at once, and the best window of senders, with
// the segments that had to be sent again. Source: Tam, Wang 2000, sections 3.2 and 5.
type HKUGather struct{}

// Name implements Model.
func (HKUGather) Name() string { return "hku-gather" }

// Needs implements Model.
func (HKUGather) Needs() []string { return []string{"gather"} }

const (
	phaseArrivals = "arrivals"
	phaseGather   = "gather"

	labelGr = "interval between packets that one host receives"
	// plateau is how close to the interval of the largest p' another must be to be taken as the same.
	plateau = 0.015
	// falls is how close to 1/p' an interval must fall for the root not to be the limit.
	falls = 0.03
	// fewer is the largest share of the most senders that the fall is judged against.
	fewer = 0.8
)

// Fit implements Model. It returns ErrNeeds where no streams to one root were measured.
func (m HKUGather) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	f, _, err := fitGather(d, s)
	return f, err
}

// arrivals are the intervals at the root by number of senders and size, those of streams without loss and with.
type arrivals struct {
	fit         *Fit
	curves      curves
	senders     []int64 // ascending
	clean, lost []batch
	from        *sampled
	top         float64         // largest interval of the most senders [s], the upper end of its 95% interval
	gs          func() *costFit // nil where g_s is not known
	said        map[string]int  // sizes by the numbers of senders that g_r is from
	lossy, free int             // sizes taken with losses, and those at which the senders are the limit
}

// fitGather also returns g_r, nil where it is not known.
func fitGather(d *dataset.Dataset, s Settings) (*Fit, *costFit, error) {
	const model = "hku-gather"
	a := loadArrivals(d, model)
	if len(a.senders) == 0 {
		return nil, nil, needs(model, "no stream of messages to one root")
	}
	a.gs = sync.OnceValue(func() *costFit {
		_, gs, _ := fitGap(d, s) // without it there is nothing to compare with
		return gs
	})
	var err error
	if a.from, err = a.curves.table.resample(s.replicates(), s.seed(d, model)); err != nil {
		return nil, nil, err
	}
	f := a.fit
	data := a.saturated()
	a.account(d)
	f.sayRounds(a.from.rounds)
	f.Domain["senders"] = [2]float64{float64(a.senders[0]), float64(a.senders[len(a.senders)-1])}
	f.noteGathers(d)
	if len(data.sizes) < 2 {
		f.unknown("g_r", "s", labelGr, 0, a.top, fmt.Sprintf("with up to %d senders the root is not seen to be the limit at two "+
			"sizes: g_r is at most the interval there; more senders would show it", a.senders[len(a.senders)-1]))
		f.judge(math.NaN(), math.NaN())
		return f, nil, nil
	}
	c, err := f.fitCost("g_r", labelGr, data, true)
	if err != nil {
		return nil, nil, fmt.Errorf("model %s: %w", model, err)
	}
	f.sayLine("g_r", data, c)
	return f.finishCosts([]*costFit{c}), c, nil
}

// account closes the books, once it is known whether streams with losses are used.
func (a *arrivals) account(d *dataset.Dataset) {
	f := a.fit
	used := [][]batch{a.clean}
	if a.lossy > 0 || len(a.clean) == 0 {
		used = append(used, a.lost)
	} else {
		for i := range a.lost {
			f.leaveOut(&a.lost[i], dataset.FlagRetrans)
		}
	}
	if a.lossy > 0 {
		f.warn("at %d sizes streams without loss do not show g_r: it is from streams with losses there, and may be too large",
			a.lossy)
	}
	f.account(d, used...)
	f.sayMerged()
	for _, k := range slices.Sorted(maps.Keys(a.said)) {
		f.note("g_r is the interval of %s senders at %d sizes", k, a.said[k])
	}
	if a.free > 0 && len(a.said) > 0 {
		f.note("at %d sizes the senders were the limit: they are not used for g_r", a.free)
	}
}

// streams names the curve of the streams of p' senders.
func streams(p int64, lossy bool) string { return fmt.Sprintf("%d senders, losses %t", p, lossy) }

// loadArrivals gathers the intervals. The root's link is busy also where the buffer before it loses packets: streams with
// losses are kept apart, for sizes at which others do not show g_r.
func loadArrivals(d *dataset.Dataset, model string) *arrivals {
	a := &arrivals{fit: newFit(model, "gather", sourceHKU), said: map[string]int{}}
	all := lineBatches(d, "gather", phaseArrivals)
	lossy := map[*dataset.Sample]bool{}
	for i := range all {
		if l := all[i].lines[0]; l.Has(dataset.FlagRetrans) {
			l = withoutFlag(l, dataset.FlagRetrans)
			lossy[l] = true
			all[i].lines = []*dataset.Sample{l}
		}
	}
	lines := a.fit.withoutSlow(a.fit.usable(all), findSlow(d))
	packet, _ := packetBytes(lines)
	for i := range lines {
		b, l := &lines[i], lines[i].lines[0]
		p, m, v := b.point["senders"], float64(b.point["bytes"]), intervals(l)
		switch {
		case m > packet:
			a.fit.leaveOut(b, whyLarge)
			continue
		case mergedSegments(l):
			a.fit.leaveOut(b, whyMerged)
			continue
		case v == nil || p < 1:
			a.fit.leaveOut(b, whyNoWindow)
			continue
		}
		a.curves.add(streams(p, lossy[l]), m, b, b.timings(), v...)
		if !slices.Contains(a.senders, p) {
			a.senders = append(a.senders, p)
		}
		if lossy[l] {
			a.lost = append(a.lost, *b)
		} else {
			a.clean = append(a.clean, *b)
		}
	}
	slices.Sort(a.senders)
	return a
}

// withoutFlag returns a copy of a line without one flag.
func withoutFlag(l *dataset.Sample, flag string) *dataset.Sample {
	c := *l
	c.Flags = slices.DeleteFunc(slices.Clone(l.Flags), func(s string) bool { return s == flag })
	return &c
}
