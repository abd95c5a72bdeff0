package loggp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"calib/internal/dataset"
	"calib/internal/params"
)

// ErrInputs reports a run without the parameters that the model takes from others.
var ErrInputs = errors.New("no parameters for LoGPC")

// Inputs is what the model takes of the other models of a run.
type Inputs struct {
	// Gap is LogGP's gap(m) = g + (m−1)·G [s].
	Gap func(m float64) float64
	// Ways are the times of messages that meet no other, ascending in size: o_s + L + (m−1)·G + o_r.
	Ways []Way
	// Busy is o_s + o_r of LogGP [s]; one that cannot be told from zero, or is withheld, is zero.
	Busy float64
	// Packet is the payload of a packet [B]; 0 where the run does not say.
	Packet float64
	// Medium is what all hosts share, a_c [s] and b_c [s/B]; nil on a switch, or where it is not known that they share
	// anything.
	Medium *params.Block
}

// Way is the time of a message from its send until it is received [s].
type Way struct{ Bytes, Seconds float64 }

// InputsOf reads the inputs off a run: of LogGP the gap, o_s and o_r; o_s + L + (m−1)·G + o_r as the half round trips that
// the run measured, by pingpong or else by LogGP's own experiment, because LogGP misses messages of about a packet,
// whose bytes pass several stages one after the other (moved so that the smallest is L + o_s + o_r, where LogGP has all
// three); and, where the network behaves like a shared medium, a_c and b_c of the hyperbolic model, of which one that
// has a bound only is zero. It returns ErrInputs with what is missing, withheld or impossible.
func InputsOf(p *params.Params) (Inputs, error) {
	var in Inputs
	gap, err := gapBySize(p)
	if err != nil {
		return in, fmt.Errorf("%w: %w%s", ErrInputs, err, p.Hint("gap"))
	}
	if in.Medium, err = medium(p); err != nil {
		return in, fmt.Errorf("%w: %w", ErrInputs, err)
	}
	in.Gap, in.Packet = gap, packet(p)
	sum := 0.0
	var wrong []string
	for _, name := range []string{"L", "o_s", "o_r"} {
		q := parameter(p, "loggp", name)
		if q.Value == nil && q.Zero() == "" {
			wrong = append(wrong, name+" is missing or withheld")
			continue
		}
		if q.Value == nil {
			continue
		}
		sum += *q.Value
		if name != "L" {
			in.Busy += max(0, *q.Value)
		}
	}
	for _, r := range alone(p) {
		in.Ways = append(in.Ways, Way{r.X, r.Measured})
	}
	slices.SortFunc(in.Ways, func(a, b Way) int { return cmp.Compare(a.Bytes, b.Bytes) })
	if len(in.Ways) > 0 {
		if by := sum - in.Ways[0].Seconds; len(wrong) == 0 && sum > 0 {
			for i := range in.Ways {
				in.Ways[i].Seconds += by
			}
		}
		return in, nil
	}
	if len(wrong) > 0 || !(sum > 0) {
		return in, fmt.Errorf("%w: no half round trip, and L + o_s + o_r is %g s (%s)%s", ErrInputs, sum, strings.Join(wrong, ", "), p.Hint("L"))
	}
	in.Ways = []Way{{1, sum}}
	return in, nil
}

// alone are the half round trips of a run: of pingpong, else of LogGP.
func alone(p *params.Params) []params.Residual {
	if out := p.Times(); len(out) > 1 {
		return out
	}
	var out []params.Residual
	for _, f := range p.Fits {
		for _, s := range f.Of(params.HalfRoundTrip) {
			out = append(out, s.Points...)
		}
	}
	return out
}

// gapBySize is LogGP's gap by the size.
func gapBySize(p *params.Params) (func(m float64) float64, error) {
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
			return nil, fmt.Errorf("gap of %g B is %g s", m, v)
		}
	}
	return func(m float64) float64 { return shape.At(m, 2) }, nil
}

// medium is what hosts share, where the network behaves like a medium for packets or for streams, or looks more like
// one. A part of it that streams did not fill, or that has a bound only, is zero. It is an error if a_c is withheld for
// another reason.
func medium(p *params.Params) (*params.Block, error) {
	if kind, _, _ := p.PacketKind(); p.Network == nil || kind != params.Shared && p.Network.Streams != params.Shared {
		return nil, nil
	}
	var b params.Block
	if q := parameter(p, "hyperbolic-network", "a_c"); q.Value != nil {
		b.A = math.Max(0, *q.Value)
	} else if q.Status != "" && q.Status != params.StatusBound {
		return nil, fmt.Errorf("the hosts share a medium, and a_c is withheld (%s: %s)", q.Status, q.Why)
	}
	if q := parameter(p, "hyperbolic-network", "b_c"); q.Value != nil {
		b.B = math.Max(0, *q.Value)
	}
	if b.A+b.B == 0 {
		return nil, nil
	}
	return &b, nil
}

// packet is the payload of a packet [B]: that of the hosts' interfaces, 0 where they do not say the same.
func packet(p *params.Params) float64 {
	v, err := strconv.ParseFloat(p.Environment.Common[dataset.FactSegment], 64)
	if err != nil || v < 1 {
		return 0
	}
	return v
}

// parameter is a parameter of a model: under its plain name or, where another model has that, as model.name. Zero is
// none.
func parameter(p *params.Params, model, name string) params.Parameter {
	if q, ok := p.Parameters[model+"."+name]; ok {
		return q
	}
	if q := p.Parameters[name]; q.Model == model {
		return q
	}
	return params.Parameter{}
}

// way is the time of a message of m bytes that meets no other [s]: straight between the sizes that were measured, and
// by the gap from the largest on.
func (in Inputs) way(m float64) float64 {
	before := in.Ways[0]
	for _, w := range in.Ways {
		if m <= w.Bytes {
			if w.Bytes == before.Bytes {
				return w.Seconds
			}
			return before.Seconds + (w.Seconds-before.Seconds)*(m-before.Bytes)/(w.Bytes-before.Bytes)
		}
		before = w
	}
	return before.Seconds + in.Gap(m) - in.Gap(before.Bytes)
}

// Machine is the run's hosts and network. network replaces what the run says the hosts share, such as a Cube, whose
// channels are taken to be as fast as the hosts' interfaces; nil keeps it.
func (in Inputs) Machine(network Network) Machine {
	k := Machine{Network: network, Service: in.Gap, Gap: in.Gap, Packet: in.Packet, Busy: in.Busy, OneWay: in.way}
	if network == nil && in.Medium != nil {
		k.Network, k.Service = Medium{}, in.Medium.T
	}
	return k
}
