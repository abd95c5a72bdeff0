package cluster

import (
	"fmt"
	"math"

	"calib/fit"
	"calib/internal/dataset/names"
	"calib/internal/plot"
	"calib/params"
)

// Overhead is what a message costs the hosts themselves, as cost functions of its size m [B] up to one packet:
//
//   - O_s: time inside send with room in the buffer; U_r: time inside receive of what is already there. Both are the
//     median less the cost of one timed empty section, measured in the same batch;
//   - O_r: time that an arriving message takes from what the host computes, summed over its CPUs. A fixed computation
//     takes longer while messages arrive: O_r is the slope of that loss on their number, a line through the origin.
//     Where the loss cannot be told from noise, or holds the sender's own work because both share a machine, the
//     parameter O_r says so, with a bound.
//
// A line is fitted by weighted least squares to the sizes within one packet; how far it is off above is a note. Source:
// Tam, Wang 2000, section 3.2 and table 1.
var Overhead = fit.Model{Name: "cluster-overhead", Needs: []string{names.Overhead}, Draw: overheadPlots,
	Fit: func(p *fit.Prepared) (*params.Fit, error) {
		o, err := fit.Shared(p, fitOverhead)
		return o.fit, err
	}}

// overhead is the fitted costs; one that is not known is nil.
type overhead struct {
	fit        *params.Fit
	os, ur, or *costFit
}

// callCost names a cost that experiment overhead measured: a phase, and the rate of arriving messages [1/s] of a
// computation.
type callCost struct {
	what string
	rate int64
}

// What a computation with messages gives, beside names.PhaseSend and names.PhaseRecv.
const (
	lostTime = "time lost"
	arrived  = "messages"
)

type overheadData struct {
	*fit.Result
	curves  curves[callCost]
	rates   []int64 // of messages during a computation, ascending
	packet  float64
	sharing bool // both hosts of every pair are one machine
}

func fitOverhead(p *fit.Prepared) (out overhead, err error) {
	o := &overheadData{Result: p.New("cluster-overhead", names.Overhead, source)}
	o.load()
	est, err := fit.Resample(o.Result, &o.curves.table, "no time of a send or a receive without loss")
	if err != nil {
		return out, err
	}
	var costs []*costFit
	for _, part := range []struct {
		phase, symbol, label string
		to                   **costFit
	}{
		{names.PhaseSend, "O_s", "time of a host to hand a message to the network", &out.os},
		{names.PhaseRecv, "U_r", "time of a host to take over a message that has arrived", &out.ur},
	} {
		data := o.curves.of(est, callCost{what: part.phase}, 0, o.packet)
		if len(data.sizes) < 2 {
			continue
		}
		c, err := fitCost(o.Result, part.symbol, part.label, data, false, p.ClockReading(1)...)
		if err != nil {
			return out, err
		}
		large := o.curves.of(est, callCost{what: part.phase}, o.packet, math.Inf(1))
		if off, m := large.furthest(c.Of); off > 0 {
			o.Add(params.Notef("above-one-packet", "%s is fitted up to one packet of %g B; above, the line is off by up to "+
				"%.0f%%, at %g bytes", part.symbol, o.packet, 100*off, m).Of(part.symbol))
		}
		*part.to = c
		costs = append(costs, c)
	}
	if len(costs) == 0 {
		return out, fit.Needs(fmt.Sprintf("sends and receives timed at fewer than two sizes within a packet of %g B",
			o.packet))
	}
	if out.or, err = o.fitReception(est); err != nil {
		return out, err
	}
	if out.or != nil {
		costs = append(costs, out.or)
	}
	together(o.Result, nil, nil, costs...)
	out.fit = finishCosts(o.Result, costs...)
	return out, nil
}

// load gathers all phases, without slow hosts where there are others.
func (o *overheadData) load() {
	used := o.EachLine(names.Overhead, []string{names.PhaseSend, names.PhaseRecv}, func(phase string, b *fit.Batch) {
		l := b.Lines[0]
		o.curves.add(callCost{what: phase}, float64(b.Point[names.FactorBytes]), b, b.Timings(), fit.WithoutClock(l, 1)...)
	})
	used = append(used, o.addComputations()...)
	o.Account(used)
	o.packet = o.Packet(used)
}

func overheadPlots(f *params.Fit) []plot.Plot {
	series := f.Of(params.CostOfSize)
	return []plot.Plot{{
		ID: "host-costs", Section: fit.SectionCluster, Title: "What a packet costs the hosts", X: fit.SizeAxis(false),
		Says: fit.Sentences("O_s is the time to hand a packet over, U_r to take over one that has arrived, O_r what its "+
			"arrival takes from other work", fit.FunctionWords(f, "O_s", "U_r", "O_r")),
		Y: fit.TimeAxis("time of a host", false), Series: fit.SeriesNames(series), Curves: fit.CostCurves(f, false, series),
	}}
}
