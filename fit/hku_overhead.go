package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/internal/dataset"
	"calib/internal/stats"
)

// HKUOverhead is what a message costs the hosts themselves, as cost functions of its size m [B] up to one packet:
//
//   - O_s: time inside send with room in the buffer; U_r: time inside receive of what is already there. Both are the
//     median less the cost of one timed empty section, measured in the same batch;
//   - O_r: time that a message's arrival takes from what the host computes, summed over its CPUs: the slope, through the
//     idle host, of the time a fixed computation loses on the number of messages that arrive meanwhile. Where the time
//     lost cannot be told from noise, or the sender's own work is in it because both share a machine, the parameter O_r
//     says so, with a bound.
//
// A line is fitted by weighted least squares to the sizes within one packet; how far it is off above is a note.
// Source: Tam, Wang 2000, section 3.2 and table 1.
type HKUOverhead struct{}

// Name implements Model.
func (HKUOverhead) Name() string { return "hku-overhead" }

// Needs implements Model.
func (HKUOverhead) Needs() []string { return []string{"overhead"} }

const sourceHKU = "Tam, Wang 2000 section 3.2, table 1"

// Phases of overhead.
const (
	phaseSend    = "send"
	phaseRecv    = "recv"
	phaseIdle    = "compute-idle"
	phaseCompute = "compute"
)

// Fit implements Model. It returns ErrNeeds where neither sends nor receives were timed at two sizes.
func (m HKUOverhead) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	o, err := fitOverhead(d, s)
	if err != nil {
		return nil, err
	}
	return o.fit, nil
}

// overhead is the fitted costs; one that is not known is nil.
type overhead struct {
	fit        *Fit
	os, ur, or *costFit
}

// overheadData is what overhead measured.
type overheadData struct {
	fit     *Fit
	curves  curves
	rates   []int64 // of messages during a computation, ascending
	packet  float64
	clock   float64 // s
	matched bool    // a computation was timed both ways
	sharing bool    // both hosts of every pair are one machine
}

func fitOverhead(d *dataset.Dataset, s Settings) (*overhead, error) {
	const model = "hku-overhead"
	o := loadOverhead(d)
	if len(o.curves.table.points) == 0 {
		return nil, needs(model, "no time of a send or a receive without loss")
	}
	r, err := o.curves.table.resample(s.replicates(), s.seed(d, model))
	if err != nil {
		return nil, err
	}
	o.fit.sayRounds(r.rounds)
	out := &overhead{fit: o.fit}
	var costs []*costFit
	for _, part := range []struct {
		phase, name, label string
		to                 **costFit
	}{
		{phaseSend, "O_s", "time of a host to hand a message to the network", &out.os},
		{phaseRecv, "U_r", "time of a host to take over a message that has arrived", &out.ur},
	} {
		data := o.curves.costData(r, part.phase, o.packet)
		if len(data.sizes) < 2 {
			continue
		}
		c, err := o.fit.fitCost(part.name, part.label, data, false)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", model, err)
		}
		o.above(part.name, o.curves.costData(r, part.phase, math.Inf(1)), c)
		*part.to = c
		costs = append(costs, c)
	}
	if len(costs) == 0 {
		return nil, needs(model, fmt.Sprintf("sends and receives timed at fewer than two sizes within a packet of %g bytes",
			o.packet))
	}
	if out.or, err = o.fitReception(r); err != nil {
		return nil, fmt.Errorf("model %s: %w", model, err)
	}
	if out.or != nil {
		costs = append(costs, out.or)
	}
	o.fit.note("the clock costs %.3g s a section (median over batches), which is taken off O_s and U_r", o.clock)
	o.fit.finishCosts(costs)
	return out, nil
}

// loadOverhead gathers all phases, without slow hosts where there are others.
func loadOverhead(d *dataset.Dataset) *overheadData {
	f := newFit("hku-overhead", "overhead", sourceHKU)
	o := &overheadData{fit: f}
	slow := findSlow(d)
	var used [][]batch
	var clock []float64
	for _, phase := range []string{phaseSend, phaseRecv} {
		lines := f.withoutSlow(f.usable(lineBatches(d, "overhead", phase)), slow)
		slow.said = nil
		for i := range lines {
			b := &lines[i]
			v := seconds(b.lines[0].NS)
			cost := b.lines[0].Aux["clock_ns"] * 1e-9
			clock = append(clock, cost)
			for k := range v {
				v[k] -= cost
			}
			o.curves.add(phase, float64(b.point["bytes"]), b, b.timings(), v...)
		}
		used = append(used, lines)
	}
	o.clock = stats.Median(clock)
	used = append(used, o.addComputations(d, slow)...)
	f.account(d, used...)
	var known bool
	if o.packet, known = packetBytes(used...); !known {
		f.note("the kernel did not report the segment size: a packet is taken to hold %g bytes", o.packet)
	}
	f.shared(d, used...)
	return o
}

// above notes how far a line is off above one packet.
func (o *overheadData) above(name string, all *costData, c *costFit) {
	k := slices.IndexFunc(all.sizes, func(m float64) bool { return m > o.packet })
	if k < 0 {
		return
	}
	all.sizes, all.values = all.sizes[k:], all.values[k:]
	off, m := furthest(all, c.At)
	if off == 0 {
		return
	}
	o.fit.note("%s is fitted up to one packet of %g bytes; above, the line is off by up to %.0f%%, at %g bytes",
		name, o.packet, 100*off, m)
}

// shared warns where both hosts of a pair run on one machine.
func (f *Fit) shared(d *dataset.Dataset, used ...[]batch) {
	var pairs []string
	for _, set := range used {
		for i := range set {
			if r := set[i].lines[0].Ranks; sharesMachine(d, r) {
				pairs = append(pairs, hostName(d, min(r[0], r[1]))+"–"+hostName(d, max(r[0], r[1])))
			}
		}
	}
	if slices.Sort(pairs); len(pairs) > 0 {
		f.warn("hosts that share a machine (%s): a network between them that is not a wire may do the receiver's work inside the "+
			"sender's call, and so in O_s", strings.Join(slices.Compact(pairs), ", "))
	}
}
