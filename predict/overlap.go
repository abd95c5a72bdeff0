package predict

import (
	"math"

	"calib/fit/overlap"
	"calib/fit/resample"
	"calib/params"
)

// Overlapping is a program whose processors compute and exchange messages in turn, or at once.
type Overlapping struct {
	Hosts    int     `json:"hosts"`
	Messages int     `json:"messages"` // that a processor transfers one after the other between two computations
	Bytes    int     `json:"bytes"`    // of each
	Work     float64 `json:"work"`     // computation of a processor between two exchanges [s]
}

// Interval is a number with its 95% interval, which is nil where the parameters have none.
type Interval struct {
	Value float64     `json:"value"`
	CI95  *[2]float64 `json:"ci95,omitempty"`
}

// OverlapPrediction is what the model of latency hiding says of a program. Times are in seconds.
type OverlapPrediction struct {
	Overlapping
	Communication Interval `json:"communication"` // between two computations
	Granularity   Interval `json:"granularity"`   // computation over communication
	Gain          Interval `json:"gain"`          // of a second thread that communicates (eq. 4)
	InTurn        Interval `json:"speedup_in_turn"`
	Speedup       Interval `json:"speedup"` // with the second thread (eq. 6)
	// BestWork is the computation between two exchanges at which the gain is largest, BestGain that gain; nil where
	// there is none: then a second thread does not pay.
	BestWork *Interval `json:"best_work,omitempty"`
	BestGain *Interval `json:"best_gain,omitempty"`
}

// Overlap predicts programs by the model of latency hiding, told the parameters of a run. An interval holds what the
// parameters' own intervals leave open, and for gains and speed-ups how far the model is from the gains that the run
// measured.
type Overlap struct {
	*overlap.Fitted
	drawn []*overlap.Fitted
}

// NewOverlap returns the model of p. It returns overlap.ErrParameters where p lacks it.
func NewOverlap(p *params.Params) (*Overlap, error) {
	p = overlap.Estimated(p)
	m, err := overlap.Read(p)
	if err != nil {
		return nil, err
	}
	return &Overlap{m, resample.Map(draws(p)(drawsOfFormulas), overlap.Read)}, nil
}

// Notes say what the predictions rest on for messages of some sizes.
func (o *Overlap) Notes(bytes []int) []string {
	var out []string
	if o.Shared != "" {
		out = append(out, "measured where "+o.Shared)
	}
	for _, m := range bytes {
		if _, size := o.Near(float64(m)); size != float64(m) {
			out = append(out, "messages of "+overlap.SizeWords(float64(m))+": fraction, overhead and penalty are those of "+
				overlap.SizeWords(size)+", the nearest size that was measured")
		}
	}
	return out
}

// Predict returns what the model says of a program. It returns overlap.ErrParameters for a size of which the run knows
// nothing.
func (o *Overlap) Predict(q Overlapping) (OverlapPrediction, error) {
	of := func(m *overlap.Fitted) (overlap.Outcome, error) {
		return m.Predict(float64(q.Hosts), float64(q.Messages), float64(q.Bytes), q.Work)
	}
	mid, err := of(o.Fitted)
	if err != nil {
		return OverlapPrediction{}, err
	}
	drawn := resample.Map(o.drawn, of)
	with := func(misfit float64, part func(overlap.Outcome) float64) Interval {
		values := make([]float64, len(drawn))
		for i, d := range drawn {
			values[i] = part(d)
			if values[i] == 0 {
				values[i] = math.NaN() // a draw without a peak
			}
		}
		return Interval{part(mid), interval(values, part(mid), misfit)}
	}
	p := OverlapPrediction{
		Overlapping:   q,
		Communication: with(0, func(x overlap.Outcome) float64 { return x.Communication }),
		Granularity:   with(0, func(x overlap.Outcome) float64 { return x.Granularity }),
		Gain:          with(o.Misfit, func(x overlap.Outcome) float64 { return x.Gain }),
		InTurn:        with(0, func(x overlap.Outcome) float64 { return x.InTurn }),
		Speedup:       with(o.Misfit, func(x overlap.Outcome) float64 { return x.Speedup }),
	}
	if mid.BestWork > 0 {
		work := with(0, func(x overlap.Outcome) float64 { return x.BestWork })
		gain := with(o.Misfit, func(x overlap.Outcome) float64 { return x.BestGain })
		p.BestWork, p.BestGain = &work, &gain
	}
	return p, nil
}
