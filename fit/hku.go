package fit

import (
	"fmt"
	"math"

	"calib/internal/dataset"
)

// HKU is the transfer time of a packet of m bytes while p hosts communicate in pairs,
//
//	L(m, p) = T(m, p) − O_s(m) − O_r(m) − U_r(m),
//
// T half a round trip of load, the costs those of HKUOverhead. Its function has the form
//
//	l0 + l1·p + tau·m·max(1, p·m/(N·g_s(m))),
//
// N [B/s] the aggregate rate of the network and g_s that of HKUGap, where the data show that limit: it must be better than
// l0 + l1·p + tau·m by BIC clearly, stretch T by a material share, and do so in the 95% interval. Otherwise the function
// is the latter, and the parameter N has a bound. Least squares are relative to T, in which the noise is, and exact.
// Intervals carry those of the costs.
//
// Where pingpong was measured, identity_hku is the mean of 2(O_s + L + O_r + U_r) over the round trip, less one, which
// nothing was fitted to; where gather was, its times are held against eq. 8. Source: Tam, Wang 2000, section 3.2, table 1,
// eq. 8.
type HKU struct{}

// Name implements Model.
func (HKU) Name() string { return "hku" }

// Needs implements Model.
func (HKU) Needs() []string { return []string{"overhead", "load"} }

const (
	labelL = "time of a packet in the network while p hosts communicate"
	labelN = "aggregate rate of the network"
)

// hku is the model in the making.
type hku struct {
	fit        *Fit
	at         []loadPoint
	points     []int // of at, in the table
	times      *sampled
	os, ur, or *costFit
	gs, gr     *costFit
	packet     float64
	// y are the values of L by point, weights theirs, replicates those of y.
	y, weights []float64
	replicates [][]float64
	transfer   transferFit
	form       string
	l          []Transfer // by replicate
}

// Fit implements Model. It returns ErrNeeds without the costs of hku-overhead or load at two sizes.
func (m HKU) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	o, err := fitOverhead(d, s)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name(), err)
	}
	if o.os == nil || o.ur == nil {
		return nil, needs(m.Name(), "O_s or U_r was measured at fewer than two sizes")
	}
	h := &hku{fit: newFit(m.Name(), "load", sourceHKU+", eq. 8"), os: o.os, ur: o.ur, or: o.or}
	if err := h.load(d, s); err != nil {
		return nil, err
	}
	_, h.gs, _ = fitGap(d, s) // without it there is no limit to look for
	if h.or == nil {
		h.fit.note("O_r is not known: it is taken as zero, and what it is, is in L")
	}
	h.subtract()
	if err := h.fitL(); err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name(), err)
	}
	h.record()
	h.identity(d, s)
	h.gathers(d, s)
	return h.fit, nil
}

// load gathers the half round trips of complete batches by size and hosts.
func (h *hku) load(d *dataset.Dataset, s Settings) error {
	f := h.fit
	var whole []batch
	all := batches(d, "load", "load")
	for i := range all {
		if complete(&all[i], false) {
			whole = append(whole, all[i])
		} else {
			f.leaveOut(&all[i], whyIncomplete)
		}
	}
	whole = f.withoutSlow(f.usable(whole), findSlow(d))
	var known bool
	if h.packet, known = packetBytes(whole); known {
		f.found(packetParameter, "B", "payload of one packet", h.packet, [2]float64{h.packet, h.packet})
	} else {
		f.note("the kernel did not report the segment size: a packet is taken to hold %g bytes", h.packet)
	}
	c := &curves{}
	var used []batch
	for i := range whole {
		b := &whole[i]
		m := float64(b.point["bytes"])
		if m > h.packet {
			f.leaveOut(b, whyLarge)
			continue
		}
		for _, l := range b.lines {
			c.add(fmt.Sprint(b.point["pairs"]), m, b, len(l.NS), seconds(l.NS)...)
		}
		used = append(used, *b)
	}
	f.account(d, used)
	pairs := map[int64]bool{}
	for i := range used {
		if n := used[i].point["pairs"]; !pairs[n] {
			pairs[n] = true
			q := c.of[fmt.Sprint(n)]
			for _, m := range q.sizes {
				h.at, h.points = append(h.at, loadPoint{m, float64(2 * n)}), append(h.points, q.points[m])
			}
		}
	}
	h.sort()
	lo, hi := h.span(func(q loadPoint) float64 { return q.m })
	if !(lo < hi) {
		return needs(h.fit.Model, "load measured at fewer than two sizes within a packet without loss")
	}
	f.Domain["bytes"] = [2]float64{lo, hi}
	lo, hi = h.span(func(q loadPoint) float64 { return q.p })
	f.Domain["hosts"] = [2]float64{lo, hi}
	var err error
	if h.times, err = c.table.resample(s.replicates(), s.seed(d, f.Model)); err != nil {
		return err
	}
	f.sayRounds(h.times.rounds)
	return nil
}

// span returns the ends of the range of a factor.
func (h *hku) span(of func(loadPoint) float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, q := range h.at {
		lo, hi = math.Min(lo, of(q)), math.Max(hi, of(q))
	}
	return lo, hi
}

// subtract takes the hosts' costs off the half round trips, in the data and in each replicate.
func (h *hku) subtract() {
	n := len(h.at)
	t := make([]float64, n)
	h.y = make([]float64, n)
	for i, q := range h.at {
		t[i] = h.times.values[h.points[i]]
		h.y[i] = t[i] - h.os.at(q.m) - h.ur.at(q.m) - h.or.at(q.m)
	}
	var reps [][]float64
	for k, r := range h.times.replicates {
		os, ur, or := h.os.replicate(k), h.ur.replicate(k), h.or.replicate(k)
		own, y := make([]float64, n), make([]float64, n)
		for i, q := range h.at {
			own[i] = r[h.points[i]]
			y[i] = own[i] - os.At(q.m) - ur.At(q.m) - or.At(q.m)
		}
		reps, h.replicates = append(reps, own), append(h.replicates, y)
	}
	h.weights = weights(t, reps)
	for i, v := range h.y {
		if v <= 0 {
			h.fit.warn("L(%g, %g) is not positive: O_s, U_r and O_r are more than the half round trip, so that a host's own work "+
				"is counted twice", h.at[i].m, h.at[i].p)
			return
		}
	}
}
