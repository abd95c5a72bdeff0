package logpc

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"calib/fit/blocks"
	"calib/fit/params"
)

// ErrInputs reports a run without the parameters that the model takes from others.
var ErrInputs = errors.New("no LogGP parameters")

// Inputs is what the model takes of the other models of a run.
type Inputs struct {
	LogGP
	// Gap is LogGP's gap(m) [s].
	Gap func(m float64) float64
	// First is by how much the first packet of a message takes longer than o_s + L + gap(m) − gap(1) + o_r, by its bytes: the stages that
	// it passes one after the other, of which the gap is only the slowest.
	First []Extra
	// Medium is what all hosts share, a_c [s] and b_c [s/B]; nil on a switch, or where it is not known that they share anything.
	Medium *blocks.Block
}

// Extra is a time [s] of a message.
type Extra struct{ Bytes, Seconds float64 }

// Of reads the inputs off a run: L, o_s, o_r and gap of LogGP with the half round trips of its experiment, and, where the network
// behaves like a shared medium, a_c and b_c of the hyperbolic model. One of these that has a bound only is zero. It returns ErrInputs
// with what is missing, withheld or impossible.
func Of(p *params.Params) (Inputs, error) {
	var in Inputs
	var wrong []string
	for name, v := range map[string]*float64{"L": &in.L, "o_s": &in.Os, "o_r": &in.Or, "G": &in.G} {
		q := parameter(p, "loggp", name)
		switch {
		case q.Value != nil && *q.Value > 0 && !math.IsInf(*q.Value, 1):
			*v = *q.Value
		case q.Model == "":
			wrong = append(wrong, name+" is missing")
		default:
			wrong = append(wrong, fmt.Sprintf("%s is withheld or not positive (%s: %s)", name, q.Status, q.Why))
		}
	}
	gap, err := gapOf(p)
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	if len(wrong) > 0 {
		return in, fmt.Errorf("%w: %s; experiment prtt measures them", ErrInputs, strings.Join(sorted(wrong), "; "))
	}
	in.Gap = gap
	for _, f := range p.Fits {
		for _, s := range f.Of(params.HalfRoundTrip) {
			for _, r := range s.Points {
				in.First = append(in.First, Extra{r.X, r.Measured - in.whole(r.X)})
			}
		}
	}
	in.Medium = medium(p)
	return in, nil
}

// gapOf is LogGP's gap by the size.
func gapOf(p *params.Params) (func(m float64) float64, error) {
	fn, ok := p.Functions["gap"]
	if !ok || !fn.Usable() {
		return nil, errors.New("gap is missing or withheld")
	}
	shape, err := fn.Shape(p.Functions)
	if err != nil {
		return nil, fmt.Errorf("gap: %w", err)
	}
	for _, m := range []float64{1, 1 << 20} {
		if v := shape.At(m, 2); !(v > 0) {
			return nil, fmt.Errorf("gap of %g bytes is %g s", m, v)
		}
	}
	return func(m float64) float64 { return shape.At(m, 2) }, nil
}

// medium is what hosts share, where the network behaves like a medium for packets or for streams.
func medium(p *params.Params) *blocks.Block {
	if p.Network == nil || p.Network.Packets != params.Shared && p.Network.Streams != params.Shared {
		return nil
	}
	var b blocks.Block
	for name, v := range map[string]*float64{"a_c": &b.A, "b_c": &b.B} {
		if q := parameter(p, "hyperbolic-network", name); q.Value != nil {
			*v = math.Max(0, *q.Value)
		}
	}
	if b.A+b.B == 0 {
		return nil
	}
	return &b
}

// parameter is a parameter of a model: under its plain name or, where another model has that, as model.name. Zero is none.
func parameter(p *params.Params, model, name string) params.Parameter {
	if q, ok := p.Parameters[model+"."+name]; ok {
		return q
	}
	if q := p.Parameters[name]; q.Model == model {
		return q
	}
	return params.Parameter{}
}

// whole is o_s + L + o_r + gap(m) − gap(1) [s].
func (in Inputs) whole(m float64) float64 { return in.Os + in.L + in.Or + in.Gap(m) - in.Gap(1) }

// extra is by how much the first packet of m bytes takes longer, straight between the sizes that were measured.
func (in Inputs) extra(m float64) float64 {
	var before Extra
	for i, e := range in.First {
		if m <= e.Bytes {
			if i == 0 || e.Bytes == before.Bytes {
				return e.Seconds
			}
			return before.Seconds + (e.Seconds-before.Seconds)*(m-before.Bytes)/(e.Bytes-before.Bytes)
		}
		before = e
	}
	return before.Seconds
}

// Machine is the run's hosts and network. network replaces what the run says the hosts share, such as a Cube, whose channels are taken to
// be as fast as the hosts' interfaces; nil keeps it.
func (in Inputs) Machine(network Network) Machine {
	k := Machine{Network: network, Service: in.Gap, Gap: in.Gap, Busy: in.Os + in.Or,
		OneWay: func(m float64) float64 { return in.whole(m) + in.extra(m) }}
	if network == nil && in.Medium != nil {
		k.Network, k.Service = Medium{}, in.Medium.T
	}
	return k
}
