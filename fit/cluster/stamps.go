package cluster

import (
	"fmt"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/params"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/stats"
	"calib/internal/units"
)

// Stamps splits the time of a message of m bytes [B], up to one packet, by the stamps of experiment stamps:
//
//	stamps_O_s     from the call of send until the kernel hands the message to the device's queue (SCHED)
//	stamps_queue   in the queue (SCHED to SND)
//	stamps_L       the way, from the sender's driver to the receiver's kernel (SND to the receive stamp): mean of both
//	               directions, in which the clocks' offset cancels
//	stamps_wakeup  from there until the receiving call has returned, less stamps_U_r: taking the packet in and waking the receiver
//	stamps_U_r     the receiving call of a message that is there
//
// each a line in m, and all of them together the one-way time. Where the ranks could poll, stamps_O_r is what receivers
// that poll take from the stamp to the return, less stamps_U_r: it is in stamps_wakeup. stamps_nic is the time between
// network interfaces that stamp. identity_stamps is the sum of the parts over half the round trip of the same messages,
// less one; stamps_cost [s] is what half a round trip takes more with stamps than without.
//
// The parts are set beside O_s, L and U_r as the other models fit them. Source: Tam, Wang 2000, section 3.2; the stamps
// are those of Linux (Documentation/networking/timestamping.rst).
type Stamps struct{}

// Name implements fit.Model.
func (Stamps) Name() string { return "stamps" }

// Needs implements fit.Model.
func (Stamps) Needs() []string { return []string{names.Stamps} }

const (
	stampSource = source + "; SO_TIMESTAMPING of Linux"
	// sumOff is by how much the parts may miss half the round trip before that is a warning.
	sumOff = 0.03
)

// stampData is the model in the making.
type stampData struct {
	*fit.Result
	prepared *fit.Prepared
	curves   curves[string] // by phase
	est      *resample.Estimates
	sizes    []float64 // at which every part is known
	parts    map[string]*costFit
	packet   float64
}

// clockShare is how many readings of the clock a time of a phase holds.
var clockShare = map[string]float64{
	names.PhasePlain: 0.5, names.PhaseHalf: 1, names.PhaseSend: 0.5, names.PhaseWake: 0.5, names.PhaseWakePolling: 0.5, names.PhaseRecv: 1,
	names.PhaseCall: 1, names.PhaseQueue: 0, names.PhaseWay: 0, names.PhaseNIC: 0,
}

// stampPhases are all of them, in the order of a message's way.
var stampPhases = []string{names.PhasePlain, names.PhaseHalf, names.PhaseSend, names.PhaseQueue, names.PhaseWay, names.PhaseWake, names.PhaseWakePolling,
	names.PhaseRecv, names.PhaseCall, names.PhaseNIC}

// stampPart is a part of a message as a sum of phases with signs.
type stampPart struct {
	symbol, label string
	add, less     string // phases
}

var stampParts = []stampPart{
	{"stamps_O_s", "time of a host to hand a message to the device's queue, by stamps", names.PhaseSend, ""},
	{"stamps_queue", "time of a message in the device's queue, by stamps", names.PhaseQueue, ""},
	{"stamps_L", "time of a message from driver to the receiver's kernel, by stamps", names.PhaseWay, ""},
	{"stamps_wakeup", "time from the receiver's kernel to a receiver that slept, by stamps", names.PhaseWake, names.PhaseRecv},
	{"stamps_U_r", "time of a host to take over a message that has arrived, with stamps", names.PhaseRecv, ""},
}

// otherParts are not of the sum.
var otherParts = []stampPart{
	{"stamps_O_r", "time from the receiver's kernel to a receiver that polls, by stamps", names.PhaseWakePolling, names.PhaseRecv},
	{"stamps_nic", "time of a message between network interfaces, by their stamps", names.PhaseNIC, ""},
}

// Fit implements fit.Model. It returns fit.ErrNeeds where the parts are not known at two sizes.
func (m Stamps) Fit(p *fit.Prepared) (*params.Fit, error) {
	h := &stampData{Result: p.New(m.Name(), names.Stamps, stampSource), prepared: p, parts: map[string]*costFit{}}
	if err := h.load(); err != nil {
		return nil, err
	}
	var costs []*costFit
	for _, part := range slices.Concat(stampParts, otherParts) {
		d := h.data(part)
		if len(d.sizes) < 2 {
			continue
		}
		c, err := fitCost(h.Result, part.symbol, part.label, d, false, h.terms(part)...)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", m.Name(), err)
		}
		h.parts[part.symbol] = c
		costs = append(costs, c)
	}
	h.sum()
	h.cost()
	h.list()
	h.beside()
	return finishCosts(h.Result, costs...), nil
}

// less is the first point without the second, where there are two.
func less(v []float64, at []int) float64 {
	if len(at) == 2 {
		return v[at[0]] - v[at[1]]
	}
	return v[at[0]]
}

// terms are the uncertainties of a part that rounds do not show.
func (h *stampData) terms(q stampPart) []params.Term {
	out := h.prepared.ClockReading(1)
	var bounds []float64
	for _, s := range h.prepared.Samples(names.Stamps, q.add) {
		bounds = append(bounds, s.Aux[names.AuxStampBound]*1e-9)
	}
	if b := fit.Typical(bounds); b > 0 && q.add != names.PhaseQueue && q.add != names.PhaseRecv && q.add != names.PhaseNIC {
		out = append(out, fit.Uniform(params.TermStampClock, b, "the wall clock, which stamps are on, against the monotonic clock"))
	}
	return out
}

// mean returns the mean over sizes of a function of values.
func (h *stampData) mean(of func(v []float64, m float64) float64) func([]float64) float64 {
	return func(v []float64) float64 {
		sum := 0.0
		for _, m := range h.sizes {
			sum += of(v, m)
		}
		return sum / float64(len(h.sizes))
	}
}

// value is a phase at m bytes among values.
func (h *stampData) value(v []float64, phase string, m float64) float64 {
	i, ok := h.curves.point(phase, m)
	if !ok {
		return math.NaN()
	}
	return v[i]
}

// total is the sum of the parts at m bytes.
func (h *stampData) total(v []float64, m float64) float64 {
	sum := 0.0
	for _, q := range stampParts {
		at, _ := h.at(q, m)
		sum += less(v, at)
	}
	return sum
}

// sum holds the sum of the parts against half the round trip of the same messages.
func (h *stampData) sum() {
	off := func(v []float64, m float64) float64 { return h.total(v, m)/h.value(v, names.PhaseHalf, m) - 1 }
	mean := h.mean(off)
	v := mean(h.est.Values)
	h.Found("identity_stamps", "1", "the parts of a message by stamps over half its round trip, less one, mean over sizes", v,
		resample.IntervalOf(h.est, v, h.est.Replicates, mean))
	s := params.Series{Name: "half(m)", Quantity: params.StampedTime, XName: "bytes"}
	var errs []float64
	worst, where := 0.0, 0.0
	for _, m := range h.sizes {
		i, _ := h.curves.point(names.PhaseHalf, m)
		s.Add(m, h.est.Values[i], h.est.Point(i), h.total(h.est.Values, m), h.est.N[i])
		e := math.Abs(off(h.est.Values, m))
		errs = append(errs, e)
		if e > worst {
			worst, where = e, m
		}
	}
	h.Series = append(h.Series, s)
	found := params.Notef(params.StampSum, "the parts of a message by stamps miss half of its round trip by %.1f%% on average over %d sizes, and by %.1f%% at "+
		"most, at %g B", 100*stats.Mean(errs), len(errs), 100*worst, where).With("mean", stats.Mean(errs)).With("worst", worst).Of("identity_stamps")
	plain := h.mean(func(v []float64, m float64) float64 { return h.total(v, m)/h.value(v, names.PhasePlain, m) - 1 })(h.est.Values)
	if fit.Finite(plain) {
		found.Message += fmt.Sprintf("; of other messages, without stamps, they are %+.1f%% off, because stamps cost time", 100*plain)
		found = found.With("plain", plain)
	}
	if worst > sumOff {
		found.Level = params.Warning
	}
	h.Add(found)
}

// cost is what taking stamps takes itself.
func (h *stampData) cost() {
	mean := h.mean(func(v []float64, m float64) float64 {
		return h.value(v, names.PhaseHalf, m) - h.value(v, names.PhasePlain, m)
	})
	v := mean(h.est.Values)
	plain := h.mean(func(v []float64, m float64) float64 { return h.value(v, names.PhasePlain, m) })(h.est.Values)
	if !fit.Finite(v) {
		h.Unknown("stamps_cost", "s", labelStampCost, math.Inf(-1), math.Inf(1),
			"messages without stamps were not measured at every size without loss")
		return
	}
	h.Found("stamps_cost", "s", labelStampCost, v, resample.IntervalOf(h.est, v, h.est.Replicates, mean))
	h.Add(params.Notef(params.StampCost, "with stamps half a round trip takes %s more than without (%+.1f%%, mean over sizes): the parts "+
		"hold that", units.Format(v, "s"), 100*v/plain).With("cost", v).With("share", v/plain).Of("stamps_cost"))
}

const labelStampCost = "what half a round trip takes more with stamps than without, mean over sizes"
