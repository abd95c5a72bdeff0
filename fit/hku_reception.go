package fit

import (
	"fmt"
	"math"
	"slices"

	"calib/internal/dataset"
	"calib/internal/stats"
)

const (
	labelOr = "time of a host to take in a message while it computes"
	// whyNoMessages is the reason to leave a computation out during which nothing arrived.
	whyNoMessages = "no messages arrived"
	// coalesced is the change of the cost per message between the lowest and the highest rate that is worth a note.
	coalesced = 0.2
)

// computation identifies a computation with and without messages.
type computation struct {
	batchID
	ranks string
}

// addComputations adds, for each rate and size, the time each computation lost to messages [s] and how many there were. It
// returns the batches used.
func (o *overheadData) addComputations(d *dataset.Dataset, slow slowHosts) [][]batch {
	f := o.fit
	idle := f.withoutSlow(f.usable(lineBatches(d, "overhead", phaseIdle)), slow)
	loaded := f.withoutSlow(f.usable(lineBatches(d, "overhead", phaseCompute)), slow)
	key := func(b *batch) computation {
		return computation{batchID{b.lines[0].Slot, b.round, 0, b.dir, b.point.Key()}, fmt.Sprint(b.lines[0].Ranks)}
	}
	alone := map[computation]*batch{}
	for i := range idle {
		alone[key(&idle[i])] = &idle[i]
	}
	loaded, o.sharing = f.onHostsOfTheirOwn(d, loaded)
	var used []batch
	for i := range loaded {
		b := &loaded[i]
		own, n := alone[key(b)], b.lines[0].Aux["messages"]
		switch {
		case own == nil:
			f.leaveOut(b, whyIncomplete)
			continue
		case !(n > 0) || !finite(n):
			f.leaveOut(b, whyNoMessages)
			continue
		}
		base := stats.Median(seconds(own.lines[0].NS))
		lost := seconds(b.lines[0].NS)
		for k := range lost {
			lost[k] -= base
		}
		rate := b.point["rate"]
		if !slices.Contains(o.rates, rate) {
			o.rates = append(o.rates, rate)
		}
		m := float64(b.point["bytes"])
		o.curves.add(lostAt(rate), m, b, b.timings()+own.timings(), lost...)
		o.curves.add(messagesAt(rate), m, b, b.timings(), n)
		o.matched = true
		used = append(used, *own, *b)
	}
	slices.Sort(o.rates)
	return [][]batch{used}
}

// whyShared is the reason to leave out a computation that the sender's own work slowed.
const whyShared = "sender on the same machine"

// onHostsOfTheirOwn leaves out the batches of pairs that share a machine, where there are others; sharing says there are none.
func (f *Fit) onHostsOfTheirOwn(d *dataset.Dataset, in []batch) (out []batch, sharing bool) {
	var apart []batch
	for i := range in {
		if !sharesMachine(d, in[i].lines[0].Ranks) {
			apart = append(apart, in[i])
		}
	}
	if len(apart) == 0 {
		return in, len(in) > 0
	}
	for i := range in {
		if sharesMachine(d, in[i].lines[0].Ranks) {
			f.leaveOut(&in[i], whyShared)
		}
	}
	return apart, false
}

// sharesMachine reports whether two hosts are known to be one machine.
func sharesMachine(d *dataset.Dataset, hosts []int) bool {
	boot := func(h int) string {
		if h < 0 || h >= len(d.Header.Hosts) {
			return ""
		}
		return d.Header.Hosts[h].Boot
	}
	return len(hosts) == 2 && boot(hosts[0]) != "" && boot(hosts[0]) == boot(hosts[1])
}

func lostAt(rate int64) string     { return fmt.Sprintf("lost at %d/s", rate) }
func messagesAt(rate int64) string { return fmt.Sprintf("messages at %d/s", rate) }

// fitReception fits O_r. It returns nil where the time lost cannot be told from noise, and then records the parameter O_r
// with its bound.
func (o *overheadData) fitReception(s *sampled) (*costFit, error) {
	f := o.fit
	if !o.matched {
		f.unknown("O_r", "s", labelOr, 0, math.Inf(1), "no computation was timed with and without messages arriving")
		return nil, nil
	}
	data := o.perMessage(s)
	if len(data.sizes) == 0 {
		f.unknown("O_r", "s", labelOr, 0, math.Inf(1), "every message was larger than a packet")
		return nil, nil
	}
	var mean [][]float64
	for _, r := range data.replicates {
		mean = append(mean, []float64{stats.Mean(r)})
	}
	all := s.interval(stats.Mean(data.values), mean, 0)
	top, hidden := 0.0, 0
	for i := range data.sizes {
		ci := data.interval(i)
		top = math.Max(top, ci[1])
		if ci[0] <= 0 {
			hidden++
		}
	}
	switch {
	case o.sharing:
		f.unknown("O_r", "s", labelOr, 0, math.Max(0, top), "sender and receiver share a machine in every pair, so that the "+
			"sender's own work slows the computation, too")
		return nil, nil
	case all[1] <= 0:
		f.unknown("O_r", "s", labelOr, 0, top, "messages that arrive take no time from a computation here")
		return nil, nil
	case all[0] <= 0:
		f.unknown("O_r", "s", labelOr, 0, top, fmt.Sprintf("the time lost per message is between %.3g and %.3g s on average "+
			"over the sizes, so that it cannot be told from noise; more rounds or messages at a higher rate would tell", all[0], all[1]))
		return nil, nil
	case len(data.sizes) < 2:
		f.unknown("O_r", "s", labelOr, math.Max(0, data.interval(0)[0]), top,
			fmt.Sprintf("measured at %g bytes only, and a line needs two sizes", data.sizes[0]))
		return nil, nil
	case hidden > 0:
		f.warn("O_r cannot be told from zero at %d of %d sizes by themselves", hidden, len(data.sizes))
	}
	o.sayRates(s)
	return f.fitCost("O_r", labelOr, data, false)
}

// perMessage returns the time lost per message by size: of all rates the least-squares slope of time on messages, through
// the idle host.
func (o *overheadData) perMessage(s *sampled) *costData {
	out := &costData{from: s}
	lost, messages := map[float64][]int{}, map[float64][]int{}
	for _, rate := range o.rates {
		q, n := o.curves.of[lostAt(rate)], o.curves.of[messagesAt(rate)]
		for _, m := range q.sizes {
			if m > o.packet {
				continue
			}
			if len(lost[m]) == 0 {
				out.sizes = append(out.sizes, m)
			}
			lost[m], messages[m] = append(lost[m], q.points[m]), append(messages[m], n.points[m])
		}
	}
	slices.Sort(out.sizes)
	slopes := func(v []float64) []float64 {
		y := make([]float64, len(out.sizes))
		for i, m := range out.sizes {
			var num, den float64
			for k, at := range messages[m] {
				num += v[at] * v[lost[m][k]]
				den += v[at] * v[at]
			}
			y[i] = num / den
		}
		return y
	}
	out.values = slopes(s.values)
	for _, r := range s.replicates {
		out.replicates = append(out.replicates, slopes(r))
	}
	for _, m := range out.sizes {
		n := 0
		for _, at := range lost[m] {
			n += s.n[at]
		}
		out.n = append(out.n, n)
	}
	return out
}

// sayRates notes where the cost of a message depends on the rate, as it does where a network card gathers messages before
// it interrupts.
func (o *overheadData) sayRates(s *sampled) {
	first, last := o.rates[0], o.rates[len(o.rates)-1]
	low, high := o.curves.of[lostAt(first)], o.curves.of[lostAt(last)]
	var ratio []float64
	for _, m := range low.sizes {
		at, ok := high.points[m]
		if !ok || first == last {
			continue
		}
		per := func(point, messages int) float64 { return s.values[point] / s.values[messages] }
		slow := per(low.points[m], o.curves.of[messagesAt(first)].points[m])
		fast := per(at, o.curves.of[messagesAt(last)].points[m])
		if slow > 0 && fast > 0 {
			ratio = append(ratio, fast/slow)
		}
	}
	if len(ratio) == 0 {
		return
	}
	if r := stats.Median(ratio); math.Abs(r-1) > coalesced {
		o.fit.note("a message that arrives costs %.2f times as much at %d/s as at %d/s", r, last, first)
	}
}
