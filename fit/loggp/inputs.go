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
	"calib/internal/lists"
	"calib/params"
)

// ErrInputs reports a run without the parameters that the model takes from others.
var ErrInputs = errors.New("no parameters for LoGPC")

// MachineOf reads the hosts and the network off a run. Of LogGP it takes the gap, o_s and o_r; as o_s + L + (m−1)·G +
// o_r the half round trips that the run measured, by pingpong or else by LogGP's own experiment, because LogGP misses
// messages of about a packet, whose bytes pass several stages one after the other (moved so that the smallest is L +
// o_s + o_r, where LogGP has all three); and, where the network behaves like a shared medium, a_c and b_c of the
// hyperbolic model, of which one that has a bound only is zero. It returns ErrInputs with what is missing, withheld or
// impossible, or for a cube that cannot be.
func MachineOf(p *params.Params, t Cube) (Machine, error) {
	gap, err := gapBySize(p)
	if err != nil {
		return Machine{}, fmt.Errorf("%w: %w%s", ErrInputs, err, p.Hint("gap"))
	}
	k := Machine{Service: gap, Gap: gap, Packet: packet(p)}
	shared, err := medium(p)
	if err != nil {
		return Machine{}, fmt.Errorf("%w: %w", ErrInputs, err)
	}
	if shared != nil {
		k.Network, k.Service = Medium{}, shared.T
	}
	sum := 0.0
	var wrong []string
	for _, name := range []string{"L", "o_s", "o_r"} {
		switch q, _ := p.Parameter("loggp", name); {
		case q.Value != nil:
			sum += *q.Value
			if name != "L" {
				k.Busy += max(0, *q.Value) // one that cannot be told from zero, or is withheld, is zero
			}
		case q.Zero() == "":
			wrong = append(wrong, name+" is missing or withheld")
		}
	}
	ways := alone(p)
	slices.SortFunc(ways, func(a, b params.Residual) int { return cmp.Compare(a.X, b.X) })
	complete := len(wrong) == 0 && sum > 0
	switch {
	case len(ways) == 0 && !complete:
		return Machine{}, fmt.Errorf("%w: no half round trip, and L + o_s + o_r is %g s (%s)%s", ErrInputs, sum,
			strings.Join(wrong, ", "), p.Hint("L"))
	case len(ways) == 0:
		ways = []params.Residual{{X: 1, Measured: sum}}
	case complete:
		by := sum - ways[0].Measured
		for i := range ways {
			ways[i].Measured += by
		}
	}
	k.OneWay = func(m float64) float64 { return along(ways, gap, m) }
	return k.On(t)
}

// alone are the half round trips of a run: of pingpong, else of LogGP.
func alone(p *params.Params) []params.Residual {
	if out := p.Times(); len(out) > 1 {
		return out
	}
	trips := lists.Flat(p.Fits, func(f *params.Fit) []params.Series { return f.Of(params.HalfRoundTrip) })
	return lists.Flat(trips, func(s params.Series) []params.Residual { return s.Points })
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
	if q, _ := p.Parameter("hyperbolic-network", "a_c"); q.Value != nil {
		b.A = math.Max(0, *q.Value)
	} else if q.Status != "" && q.Status != params.StatusBound {
		return nil, fmt.Errorf("the hosts share a medium, and a_c is withheld (%s: %s)", q.Status, q.Why)
	}
	if q, _ := p.Parameter("hyperbolic-network", "b_c"); q.Value != nil {
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

// along is the time of a message of m bytes that meets no other [s]: straight between the sizes that were measured, and
// by the gap from the largest on.
func along(ways []params.Residual, gap func(m float64) float64, m float64) float64 {
	before := ways[0]
	for _, w := range ways {
		if m <= w.X {
			if w.X == before.X {
				return w.Measured
			}
			return before.Measured + (w.Measured-before.Measured)*(m-before.X)/(w.X-before.X)
		}
		before = w
	}
	return before.Measured + gap(m) - gap(before.X)
}
