package overlap

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"calib/fit"
	"calib/internal/dataset/names"
	"calib/params"
)

// ErrParameters reports a params.json without the parameters of the model.
var ErrParameters = errors.New("no parameters of latency hiding")

// Fitted is the model as a run found it.
type Fitted struct {
	// Sizes are those at which the granularity was swept [B], ascending; At and Exchange are the implementation at
	// each, and the time of a transfer both ways at once [s].
	Sizes    []float64
	At       []Fixed
	Exchange []float64
	// Transfer is that time by size; nil where one size was measured only.
	Transfer *params.Cost
	// Misfit is the root of the mean squared relative error of the gains by the model.
	Misfit float64
	// Shared says that the second thread had no CPU to itself, "" that it had.
	Shared string
}

// Read returns the model of a params.json. Parameters that were withheld count as estimated. It returns ErrParameters
// where there is no fraction, overhead, penalty and time of transfer of any message size.
func Read(p *params.Params) (*Fitted, error) {
	i := slices.IndexFunc(p.Fits, func(f *params.Fit) bool { return f.Model == names.Overlap })
	if i < 0 {
		return nil, fmt.Errorf("%w%s", ErrParameters, p.Hint("t_both"))
	}
	f, out := p.Fits[i], &Fitted{}
	squares, n := 0.0, 0.0
	for _, s := range f.Of(params.HidingGain) {
		bytes := s.Factors["bytes"]
		x, exchange, ok := fixedOf(p, int64(bytes))
		if !ok {
			continue
		}
		out.Sizes, out.At, out.Exchange = append(out.Sizes, bytes), append(out.At, x), append(out.Exchange, exchange)
		for _, r := range s.Points {
			e := r.Relative()
			squares, n = squares+e*e, n+1
		}
	}
	if len(out.Sizes) == 0 {
		return nil, ErrParameters
	}
	out.Misfit = math.Sqrt(squares / max(1, n))
	if fn, ok := p.Functions["t_both"]; ok {
		c, err := fn.Cost()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrParameters, err)
		}
		out.Transfer = &c
	}
	for _, g := range f.Findings {
		if g.Code == params.SharedCPUs {
			out.Shared = g.Message
		}
	}
	return out, nil
}

// fixedOf is the implementation at one message size, and the time of the transfer [s]. Where the data did not tell f,
// all of the computation counts; where they did not tell the overhead, there is none: each was seen at no granularity.
func fixedOf(p *params.Params, bytes int64) (x Fixed, exchange float64, ok bool) {
	raw := func(name string) (float64, bool) { return p.Parameters[named(name, bytes)].Raw() }
	penalty, some := raw("penalty")
	exchange, ok = raw("exchange")
	if !some || !ok || !(exchange > 0) {
		return x, 0, false
	}
	x = Fixed{F: 1, Penalty: penalty}
	if f, ok := raw("f"); ok {
		x.F = math.Min(1, math.Max(0, f))
	}
	if v, ok := raw("hiding_overhead"); ok {
		x.Overhead = math.Max(0, v) / exchange
	}
	return x, exchange, true
}

// Typed adds to p an implementation at one message size that nobody measured, and the time of an exchange [s]; the
// overhead of x is in seconds.
func Typed(p *params.Params, bytes int64, exchange float64, x Fixed) {
	set := func(name, unit string, v float64) {
		p.Parameters[named(name, bytes)] = params.Parameter{
			Value: &v, Unit: unit, Model: names.Overlap, Status: params.StatusOK}
	}
	set("exchange", "s", exchange)
	set("f", "1", x.F)
	set("hiding_overhead", "s", x.Overhead)
	set("penalty", "1", x.Penalty)
	gains := params.Series{Quantity: params.HidingGain, Factors: map[string]float64{"bytes": float64(bytes)}}
	p.Fits = append(p.Fits, &params.Fit{Model: names.Overlap, Series: []params.Series{gains}})
}

// Estimated returns p with the parameters of the model that were withheld put back as they were estimated: a number
// that cannot be told from zero has an interval that counts.
func Estimated(p *params.Params) *params.Params {
	out := *p
	out.Parameters = maps.Clone(p.Parameters)
	for name, q := range out.Parameters {
		if v, ok := q.Raw(); ok && q.Model == names.Overlap {
			q.Value = &v
			out.Parameters[name] = q
		}
	}
	return &out
}

// Near is the implementation at the swept size nearest to some bytes, by ratio, and that size.
func (f *Fitted) Near(bytes float64) (x Fixed, size float64) {
	best := 0
	for i, s := range f.Sizes {
		if far(s, bytes) < far(f.Sizes[best], bytes) {
			best = i
		}
	}
	return f.At[best], f.Sizes[best]
}

// TransferOf is the time of a transfer of some bytes [s]: as measured where the granularity was swept, by the function
// elsewhere. It returns ErrParameters where one size was measured only, and this is another.
func (f *Fitted) TransferOf(bytes float64) (float64, error) {
	if i := slices.Index(f.Sizes, bytes); i >= 0 {
		return f.Exchange[i], nil
	}
	if f.Transfer == nil {
		return 0, fmt.Errorf("%w: the run measured messages of %s only", ErrParameters, SizeWords(f.Sizes[0]))
	}
	return f.Transfer.Of(bytes), nil
}

func far(a, b float64) float64 { return math.Abs(math.Log(a / b)) }

// Outcome is what a program that computes and communicates gets of the model.
type Outcome struct {
	Communication float64 // t_com, q times a transfer both ways [s]
	Granularity   float64 // t_calc/t_com
	Gain          float64 // of a second thread
	InTurn        float64 // S(p)
	Speedup       float64 // S_lh(p)
	// BestWork is the computation of a processor between two exchanges at which the gain is largest [s], BestGain that
	// gain. Both are 0 where there is no such computation.
	BestWork, BestGain float64
}

// Predict is the outcome of a program whose p processors each compute for so long [s] between two exchanges, and then
// transfer q messages of m bytes one after the other. It fails as TransferOf does.
func (f *Fitted) Predict(p, q, m, work float64) (Outcome, error) {
	transfer, err := f.TransferOf(m)
	if err != nil {
		return Outcome{}, err
	}
	x, size := f.Near(m)
	if near, err := f.TransferOf(size); err == nil { // ω is a time, whatever the size
		x.Overhead *= near / transfer
	}
	o := Outcome{Communication: q * transfer}
	o.Granularity = work / o.Communication
	o.Gain, o.InTurn, o.Speedup = x.Gain(o.Granularity), Speedup(p, 1/o.Granularity), x.Speedup(p, o.Granularity)
	if gamma, gain, ok := x.Peak(); ok {
		o.BestWork, o.BestGain = gamma*o.Communication, gain
	}
	return o, nil
}

func SizeWords(bytes float64) string { return fit.SizeWords(int64(bytes)) }
