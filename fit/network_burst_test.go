package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"calib/internal/dataset"
)

// skewed replaces the bursts of exact data by those of senders that start up to skew [s] late, served first come first
// served, and records the starts.
func skewed(w truth, skew float64) *dataset.Dataset {
	d := w.dataset()
	rng := rand.New(rand.NewPCG(w.seed, 2))
	var starts []dataset.Sample
	for _, b := range batches(d, "paired", phaseBurst) {
		x, n := float64(b.point["bytes"]), len(b.lines)
		begin := make([]dataset.Sample, n)
		for i, l := range b.lines {
			begin[i] = *l
			begin[i].Phase, begin[i].NS = phaseStart, slices.Clone(l.NS)
		}
		for k := range b.lines[0].NS {
			order := make([]int, n)
			at := make([]float64, n)
			for i := range at {
				order[i], at[i] = i, skew*rng.Float64()
			}
			slices.SortFunc(order, func(i, j int) int { return int(math.Copysign(1, at[i]-at[j])) })
			free := 0.0
			for _, i := range order {
				arrive := at[i] + w.message(0, 1, 1, x)/2 - w.medium.Packets(min(x, w.mss), w.mss)/2
				free = max(free, arrive) + w.medium.Packets(min(x, w.mss), w.mss)
				done := free + arrive - at[i]
				b.lines[i].NS[k] = int64(math.Round((done - at[i]) * 1e9))
				begin[i].NS[k] = int64(math.Round(at[i] * 1e9))
			}
		}
		starts = append(starts, begin...)
	}
	d.Samples = append(d.Samples, starts...)
	return d
}

// Senders that start at different times do not bend a_c, as long as they start before their turn comes.
func TestNetworkSkewedStarts(t *testing.T) {
	for _, skew := range []float64{0, 20e-6, 100e-6, 300e-6} {
		w := sparc()
		d := skewed(w, skew)
		f, err := Network{}.Fit(d, Settings{Replicates: 50})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "a", value(t, f, "a"), w.host.A, 0.002)
		near(t, "a_c", value(t, f, "a_c"), w.medium.A, 0.005)
		if f.Used+f.LeftOut != timingsOf(d, "paired")-startsOf(d) {
			t.Errorf("used %d, left out %d", f.Used, f.LeftOut)
		}
	}
}

func startsOf(d *dataset.Dataset) int {
	n := 0
	for _, s := range d.Select("paired", phaseStart) {
		n += len(s.NS)
	}
	return n
}

// On a switch the gaps are those of the starts, and must not pass for contention.
func TestNetworkSwitchSkewedStarts(t *testing.T) {
	w := sparc()
	w.switched, w.between, w.within = true, 0.002, 0.01
	w.host, w.medium = Block{400e-6, 0.60e-6}, Block{200e-6, 0.35e-6}
	d := w.dataset()
	rng := rand.New(rand.NewPCG(3, 3))
	for _, s := range d.Select("paired", phaseBurst) {
		start := *s
		start.Phase, start.NS = phaseStart, make([]int64, len(s.NS))
		for k := range start.NS {
			start.NS[k] = rng.Int64N(100_000)
		}
		d.Samples = append(d.Samples, start)
	}
	f, err := Network{}.Fit(d, Settings{Replicates: 50})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "a", value(t, f, "a"), 500e-6, 0.02)
	if !says(f.Notes, "behaves like a switch: T does not depend on n") {
		t.Errorf("a_c = %g, notes %q", value(t, f, "a_c"), f.Notes)
	}
}

// The spread of clock offsets widens the intervals where deliveries are not separated, and only there.
func TestNetworkClockUncertainty(t *testing.T) {
	width := func(switched bool, spread float64) float64 {
		w := sparc()
		w.switched = switched
		d := w.dataset()
		for _, s := range d.Select("paired", phaseBurst) {
			s.Aux["offset_spread_ns"] = spread
		}
		f, err := Network{}.Fit(d, Settings{Replicates: 50})
		if err != nil {
			t.Fatal(err)
		}
		ci := f.Parameters["a_c"].CI95
		if ci == nil { // without noise nothing varies
			return 0
		}
		return ci[1] - ci[0]
	}
	if w := width(false, 10e3); w > 1e-9 {
		t.Errorf("separated deliveries: interval of a_c is %g s wide", w)
	}
	near(t, "switch: width", width(true, 10e3), 2*1.95996*math.Sqrt2*10e-6/3, 1e-3)
	near(t, "clocks too coarse to separate: width", width(false, 300e3), 2*1.95996*math.Sqrt2*300e-6/3, 1e-3)
}
