package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Forms of the functions of the cluster model. Together with SegmentsForm they are all that calib writes: Eval knows them
// by name and parses nothing. Sizes m are in bytes, p counts the hosts that communicate at once.
const (
	LineForm     = "c0 + c1*m"
	FloorForm    = "max(floor, c0 + c1*m)"
	BilinearForm = "l0 + l1*p + tau*m"
	TransferForm = "l0 + l1*p + tau*m*max(1, p*m/(N*g_s(m)))"
)

// ErrEval reports a function that cannot be evaluated: an unknown form, or an argument, coefficient or other function
// that is missing.
var ErrEval = errors.New("function cannot be evaluated")

// Cost is a cost by message size, max(Floor, C0 + C1·m). Floor 0 is no floor. The zero Cost costs nothing.
// Source: Tam, Wang 2000, table 1.
type Cost struct {
	Floor, C0 float64 // s
	C1        float64 // s/B
}

// At returns the cost [s] of m bytes.
func (c Cost) At(m float64) float64 {
	v := c.C0 + c.C1*m
	if c.Floor > 0 {
		return math.Max(c.Floor, v)
	}
	return v
}

// Transfer is the time of a packet in the network,
//
//	L(m, p) = L0 + L1·p + Tau·m·max(1, p·m/(N·g_s(m))).
//
// N is the aggregate rate of the network [B/s]; N = 0 is no limit, so that L is bilinear. Source: as Cost.
type Transfer struct {
	L0, L1 float64 // s, s per host
	Tau    float64 // s/B
	N      float64 // B/s
	Gs     Cost
}

// At returns L [s] of m bytes while p hosts communicate.
func (t Transfer) At(m, p float64) float64 { return t.L0 + t.L1*p + t.Tau*m*t.share(m, p) }

// share is by how much the aggregate limit stretches the time per byte.
func (t Transfer) share(m, p float64) float64 {
	if t.N <= 0 || math.IsInf(t.N, 1) {
		return 1
	}
	return math.Max(1, p*m/(t.N*t.Gs.At(m)))
}

// Cluster is the cluster model in numbers: what predictions are made from. Costs are of one packet of m ≤ MTU bytes.
type Cluster struct {
	Os, Gs, Gr, Or, Ur Cost
	L                  Transfer
	BL                 float64 // packets that the bottleneck's buffer holds; +Inf where nothing is known of it
	MTU                float64 // payload of one packet [B]
}

// oneWay is the time of one packet of m bytes from program to program while p hosts communicate.
func (c Cluster) oneWay(m, p float64) float64 {
	return c.Os.At(m) + c.L.At(m, p) + c.Or.At(m) + c.Ur.At(m)
}

// ClusterOf reads the cluster model off params. Where the file leaves something open it takes
//
//   - O_r as zero, where no time was lost to arriving messages that could be told from noise (unidentifiable);
//   - g_r as g_s, where several senders at one receiver were not measured or did not saturate it: the paper's own
//     simplification (section 3.2);
//   - B_L as what the buffer held at least, where it never overflowed, and as endless where it was not measured.
//
// It returns ErrNeeds, naming what is missing, without O_s, U_r, g_s or L, and ErrEval for a function of another form.
func ClusterOf(p *Params) (Cluster, error) {
	c := Cluster{BL: math.Inf(1), MTU: defaultPacket}
	var missing []string
	for _, part := range []struct {
		name string
		cost *Cost
	}{{"O_s", &c.Os}, {"U_r", &c.Ur}, {"g_s", &c.Gs}, {"g_r", &c.Gr}, {"O_r", &c.Or}} {
		fn, ok := p.Functions[part.name]
		switch _, explained := p.Parameters[part.name]; {
		case ok:
			v, err := fn.cost()
			if err != nil {
				return Cluster{}, fmt.Errorf("function %s: %w", part.name, err)
			}
			*part.cost = v
		case part.name == "g_r":
			c.Gr = c.Gs
		case part.name == "O_r" && explained:
		default:
			missing = append(missing, part.name)
		}
	}
	l, ok := p.Functions["L"]
	if !ok {
		missing = append(missing, "L")
	}
	if len(missing) > 0 {
		return Cluster{}, fmt.Errorf("cluster model: no function %s; measure overhead, gap and load: %w",
			strings.Join(missing, ", "), ErrNeeds)
	}
	var err error
	if c.L, err = l.transfer(c.Gs); err != nil {
		return Cluster{}, fmt.Errorf("function L: %w", err)
	}
	if b, ok := p.Parameters["B_L"]; ok {
		switch {
		case b.Value != nil:
			c.BL = *b.Value
		case b.Bound != nil:
			c.BL = b.Bound[0]
		}
	}
	if v := p.Parameters[packetParameter].Value; v != nil {
		c.MTU = *v
	}
	return c, nil
}

// Eval evaluates f at named arguments: "m" and "p", or "x" of SegmentsForm [B]. others holds the functions that the form
// names, g_s of TransferForm. Arguments outside the domain are evaluated all the same. Errors are of class ErrEval.
func (f Function) Eval(args map[string]float64, others map[string]Function) (float64, error) {
	arg := "m"
	if f.Form == SegmentsForm {
		arg = "x"
	}
	m, ok := args[arg]
	if !ok {
		return 0, fmt.Errorf("%w: form %q needs argument %s", ErrEval, f.Form, arg)
	}
	switch f.Form {
	case LineForm, FloorForm:
		c, err := f.cost()
		return c.At(m), err
	case SegmentsForm:
		return f.segment(m)
	case BilinearForm, TransferForm:
	default:
		return 0, fmt.Errorf("%w: unknown form %q", ErrEval, f.Form)
	}
	p, ok := args["p"]
	if !ok {
		return 0, fmt.Errorf("%w: form %q needs argument p", ErrEval, f.Form)
	}
	var gs Cost
	if f.Form == TransferForm {
		g, ok := others["g_s"]
		if !ok {
			return 0, fmt.Errorf("%w: form %q needs function g_s", ErrEval, f.Form)
		}
		var err error
		if gs, err = g.cost(); err != nil {
			return 0, fmt.Errorf("g_s: %w", err)
		}
	}
	t, err := f.transfer(gs)
	return t.At(m, p), err
}

// cost reads a function of form LineForm or FloorForm.
func (f Function) cost() (Cost, error) {
	names := []string{"c0", "c1"}
	switch f.Form {
	case LineForm:
	case FloorForm:
		names = append(names, "floor")
	default:
		return Cost{}, fmt.Errorf("%w: form %q is not a cost by size", ErrEval, f.Form)
	}
	if err := f.has(names...); err != nil {
		return Cost{}, err
	}
	return Cost{Floor: f.Coeff["floor"], C0: f.Coeff["c0"], C1: f.Coeff["c1"]}, nil
}

// transfer reads a function of form BilinearForm or TransferForm.
func (f Function) transfer(gs Cost) (Transfer, error) {
	names := []string{"l0", "l1", "tau"}
	switch f.Form {
	case BilinearForm:
	case TransferForm:
		names = append(names, "N")
	default:
		return Transfer{}, fmt.Errorf("%w: form %q is not a transfer time", ErrEval, f.Form)
	}
	if err := f.has(names...); err != nil {
		return Transfer{}, err
	}
	t := Transfer{L0: f.Coeff["l0"], L1: f.Coeff["l1"], Tau: f.Coeff["tau"]}
	if f.Form == TransferForm {
		t.N, t.Gs = f.Coeff["N"], gs
	}
	return t, nil
}

// segment evaluates SegmentsForm.
func (f Function) segment(x float64) (float64, error) {
	for i := 1; ; i++ {
		names := []string{fmt.Sprintf("from_%d", i), fmt.Sprintf("c0_%d", i), fmt.Sprintf("c1_%d", i)}
		if err := f.has(names...); err != nil {
			return 0, err
		}
		next, more := f.Coeff[fmt.Sprintf("from_%d", i+1)]
		if !more || x <= next {
			return f.Coeff[names[1]] + f.Coeff[names[2]]*x, nil
		}
	}
}

func (f Function) has(names ...string) error {
	for _, name := range slices.Sorted(slices.Values(names)) {
		if _, ok := f.Coeff[name]; !ok {
			return fmt.Errorf("%w: form %q without coefficient %s", ErrEval, f.Form, name)
		}
	}
	return nil
}

// packetParameter is the parameter that holds the payload of one packet [B]; defaultPacket is Ethernet's with time stamps.
const (
	packetParameter = "packet"
	defaultPacket   = 1448.0
)
