package overlap

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/form"
	"calib/fit/params"
)

// ErrParameters reports a params.json without the parameters of the model.
var ErrParameters = errors.New("no parameters of latency hiding (experiment overlap, plan full)")

// Fitted is the model as a run found it.
type Fitted struct {
	// Sizes are those at which the granularity was swept [B], ascending, and At the implementation at each.
	Sizes []float64
	At    []Fixed
	// Transfer is the time of a message both ways at once [s].
	Transfer form.Cost
	// Misfit is the root of the mean squared relative error of the gains by the model.
	Misfit float64
	// Shared says that the second thread had no CPU to itself, "" that it had.
	Shared string
}

// Read returns the model of a params.json. Parameters that were withheld count as estimated. It returns ErrParameters where
// there is no fraction, overhead, penalty and time of transfer of any message size.
func Read(p *params.Params) (*Fitted, error) {
	i := slices.IndexFunc(p.Fits, func(f *params.Fit) bool { return f.Model == (Model{}).Name() })
	if i < 0 {
		return nil, ErrParameters
	}
	f, out := p.Fits[i], &Fitted{}
	times := f.Of(params.ExchangeTime)
	squares, n := 0.0, 0.0
	for _, s := range f.Of(params.HidingGain) {
		bytes := s.Factors["bytes"]
		x, err := fixedOf(p, int64(bytes), timeAt(times, bytes))
		if err != nil {
			continue
		}
		out.Sizes, out.At = append(out.Sizes, bytes), append(out.At, x)
		for _, r := range s.Points {
			e := r.Relative()
			squares, n = squares+e*e, n+1
		}
	}
	if len(out.Sizes) == 0 {
		return nil, ErrParameters
	}
	out.Misfit = math.Sqrt(squares / n)
	if fn, ok := p.Functions["t_tr"]; ok {
		c, err := fn.Cost()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrParameters, err)
		}
		out.Transfer = c
	} else {
		out.Transfer = form.Cost{C0: timeAt(times, out.Sizes[0])}
	}
	for _, g := range f.Findings {
		if g.Code == params.SharedCPUs {
			out.Shared = g.Message
		}
	}
	return out, nil
}

// timeAt is the transfer of messages of that size as measured [s], NaN where it was not.
func timeAt(times []params.Series, bytes float64) float64 {
	for _, s := range times {
		for _, r := range s.Points {
			if r.X == bytes {
				return r.Measured
			}
		}
	}
	return math.NaN()
}

// fixedOf is the implementation at one message size, of which the transfer takes so long. Where the data did not tell f, all
// of the computation counts; where they did not tell the overhead, there is none: each was seen at no granularity.
func fixedOf(p *params.Params, bytes int64, transfer float64) (Fixed, error) {
	n := namesAt(bytes)
	x := Fixed{F: 1}
	penalty, ok := p.Parameters[n.penalty].Raw()
	if !ok || !(transfer > 0) {
		return x, ErrParameters
	}
	x.Penalty = penalty
	if f, ok := p.Parameters[n.f].Raw(); ok {
		x.F = math.Min(1, math.Max(0, f))
	}
	if v, ok := p.Parameters[n.overhead].Raw(); ok {
		x.Overhead = math.Max(0, v) / transfer
	}
	return x, nil
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

func far(a, b float64) float64 { return math.Abs(math.Log(a / b)) }

// Outcome is what a program that computes and communicates gets of the model.
type Outcome struct {
	Communication float64 // t_com = q·t_tr [s]
	Granularity   float64 // t_calc/t_com
	Gain          float64 // of a second thread
	InTurn        float64 // S(p)
	Speedup       float64 // S_lh(p)
	// BestWork is the computation of a processor between two exchanges at which the gain is largest [s], BestGain that gain.
	// Both are 0 where there is no such computation.
	BestWork, BestGain float64
}

// Predict is the outcome of a program whose p processors each compute for so long [s] between two exchanges, and then
// transfer q messages of m bytes one after the other.
func (f *Fitted) Predict(p, q, m, work float64) Outcome {
	x, _ := f.Near(m)
	o := Outcome{Communication: q * f.Transfer.Of(m)}
	o.Granularity = work / o.Communication
	r := 1 / o.Granularity
	o.Gain, o.InTurn, o.Speedup = x.At(o.Granularity).Gain(r), Speedup(p, r), x.At(o.Granularity).Speedup(p, r)
	if gamma, gain, ok := x.Peak(); ok {
		o.BestWork, o.BestGain = gamma*o.Communication, gain
	}
	return o
}

// SizeWords is a size of the model in words.
func SizeWords(bytes float64) string { return fit.SizeWords(int64(bytes)) }
