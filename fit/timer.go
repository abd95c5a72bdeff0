package fit

import (
	"slices"

	"calib/internal/dataset"
	"calib/internal/stats"
)

// Timer is the instrument: timer_cost [s], one reading of the clock, which every timing includes once, as the median over
// blocks of calls in a row; and timer_resolution [s], the smallest step the clock was seen to take, as the median over
// hosts and rounds. Clock offsets between hosts that were found on the way are summed up in a note.
type Timer struct{}

// Name implements Model.
func (Timer) Name() string { return "timer" }

// Needs implements Model.
func (Timer) Needs() []string { return []string{"clock"} }

// Fit implements Model. It returns ErrNeeds without blocks of calls.
func (m Timer) Fit(d *dataset.Dataset, s Settings) (*Fit, error) {
	f := newFit(m.Name(), "clock", "median over blocks of calls")
	blocks := f.usable(lineBatches(d, "clock", "cost"))
	t := &table{}
	for i := range blocks {
		b := &blocks[i]
		calls := b.lines[0].Aux["calls"]
		if !(calls >= 1) {
			continue
		}
		v := seconds(b.lines[0].NS)
		for k := range v {
			v[k] /= calls
		}
		t.add(t.at(0), 0, b.round, b.timings(), v...)
	}
	if len(t.points) == 0 {
		return nil, needs(m.Name(), "no blocks of clock readings")
	}
	steps := f.addSteps(t, d)
	f.account(d, blocks, steps)
	r, err := t.resample(s.replicates(), s.seed(d, m.Name()))
	if err != nil {
		return nil, err
	}
	v := r.values[0]
	ci := r.interval(v, r.replicates, 0)
	f.found("timer_cost", "s", "one reading of the clock", v, ci)
	if len(steps) > 0 {
		f.found("timer_resolution", "s", "smallest step of the clock", r.values[1], r.interval(r.values[1], r.replicates, 1))
	}
	f.Residuals = []Residual{{
		Series: "timer", X: 1, XName: "calls", Measured: v, Lo: ci[0], Hi: ci[1], Fitted: v, N: r.n[0],
	}}
	f.judge(1, 1, "timer")
	f.noteOffsets(d)
	return f, nil
}

// phaseOffset is the phase of the clock offsets that every experiment with one-way times leaves.
const phaseOffset = "offset"

// addSteps adds the smallest step of each line as point 1.
func (f *Fit) addSteps(t *table, d *dataset.Dataset) []batch {
	steps := f.usable(lineBatches(d, "clock", "step"))
	for i := range steps {
		b := &steps[i]
		t.add(t.at(1), 0, b.round, b.timings(), float64(slices.Min(b.lines[0].NS))*1e-9)
	}
	return steps
}

// noteOffsets sums up how well clocks were held against each other.
func (f *Fit) noteOffsets(d *dataset.Dataset) {
	var bounds []float64
	for _, o := range d.Select("clock", phaseOffset) {
		if b, ok := o.Aux["bound_ns"]; ok && finite(b) {
			bounds = append(bounds, b*1e-9)
		}
	}
	if len(bounds) > 0 {
		f.note("clock offsets between hosts are certain to ± %.3g s (median; ± %.3g s at worst)",
			stats.Median(bounds), stats.Quantile(bounds, 1))
	}
}
