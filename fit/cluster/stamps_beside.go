package cluster

import (
	"errors"
	"fmt"
	"strings"

	"calib/fit"
	"calib/fit/params"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// list says how long the parts of the smallest message are.
func (h *stampData) list() {
	m := h.sizes[0]
	f := params.Notef(params.StampParts, "").With("bytes", m)
	var words []string
	for _, q := range stampParts {
		at, _ := h.at(q, m)
		v := less(h.est.Values, at)
		words = append(words, strings.TrimPrefix(q.symbol, "stamps_")+" "+units.Format(v, "s"))
		f = f.With(q.symbol, v)
	}
	half := h.value(h.est.Values, names.PhaseHalf, m)
	total := h.total(h.est.Values, m)
	f.Message = fmt.Sprintf("of %s that a message of %g B with stamps takes: %s; the sum is %s (%+.1f%%)", units.Format(half, "s"), m,
		strings.Join(words, ", "), units.Format(total, "s"), 100*(total/half-1))
	h.Add(f.With("half", half))
}

// beside sets the parts of the smallest message beside the costs that the other models fit, and says what the
// differences are made of. What the fitted ones hold is:
//
//	O_s  the whole sending call, which goes on while the message is on its way: on the loopback and over a pair of virtual
//	     interfaces it does the work of the receiver's kernel too
//	U_r  the same call as stamps_U_r, without stamps
//	L    T − O_s − O_r − U_r: the wait in the queue, the receiver's kernel and the wake-up too, and less what O_s has of the way
func (h *stampData) beside() {
	o, err := overheadOf(h.prepared)
	if err != nil || o.os == nil || o.ur == nil {
		h.Note(params.StampsAlone, "O_s and U_r were not measured (experiment overhead): the parts stand beside nothing")
		return
	}
	m := h.sizes[0]
	part := func(symbol string) float64 { return h.parts[symbol].Of(m) }
	value := func(phase string) float64 { return h.value(h.est.Values, phase, m) }
	after := value(names.PhaseCall) - value(names.PhaseSend)
	os, ur := o.os.Of(m), o.ur.Of(m)
	h.compare("O_s", m, os, part("stamps_O_s"), fmt.Sprintf("the sending call goes on for %s after it has handed the message over: it passes the queue and "+
		"the driver, where hosts share a machine the receiver's kernel too, and where they share a CPU the receiver may run within it; that "+
		"is not in this part", units.Format(after, "s")))
	h.compare("U_r", m, ur, part("stamps_U_r"), "it is the same call, with the stamp to hand over")
	t, err := transferOf(h.prepared)
	if err != nil {
		if !errors.Is(err, fit.ErrNeeds) {
			h.Note(params.StampsAlone, "L is not known (%v): stamps_L stands beside nothing", err)
		}
		return
	}
	in, out := value(names.PhaseQueue)+value(names.PhaseWake)-value(names.PhaseRecv), os-part("stamps_O_s")
	h.compare("L", m, t.fitted.At(m, 2), part("stamps_L"), fmt.Sprintf("L is what O_s, O_r and U_r leave of a message: it also holds %s of "+
		"queue, the receiver's kernel and wake-up, and lacks %s by which the sending call overlaps the way", units.Format(in, "s"), units.Format(out, "s")))
}

// compare says how far a part is from the fitted cost of the same name, and why.
func (h *stampData) compare(name string, m, fitted, stamped float64, why string) {
	h.Add(params.Notef(params.StampsBeside, "%s of %g B is %s as fitted and %s by stamps, a difference of %s: %s", name, m,
		units.Format(fitted, "s"), units.Format(stamped, "s"), units.Format(fitted-stamped, "s"), why).
		With("bytes", m).With("fitted", fitted).With("stamped", stamped).Of("stamps_" + name))
}
