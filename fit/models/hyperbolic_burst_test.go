package models

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/params"
)

// skewed replaces the bursts of exact data by those of senders that start up to skew [s] late, served first come first
// served, and records the starts.
func skewed(w truth, skew float64) *dataset.Dataset {
	d := w.Dataset()
	rng := rand.New(rand.NewPCG(w.Seed, 2))
	var starts []dataset.Sample
	for _, b := range fit.Prepare(d, fit.Settings{}).Batches(names.Paired, names.PhaseBurst) {
		x, n := float64(b.Point["bytes"]), len(b.Lines)
		begin := make([]dataset.Sample, n)
		for i, l := range b.Lines {
			begin[i] = *l
			begin[i].Phase, begin[i].NS = names.PhaseBurstStart, slices.Clone(l.NS)
		}
		for k := range b.Lines[0].NS {
			order := make([]int, n)
			at := make([]float64, n)
			for i := range at {
				order[i], at[i] = i, skew*rng.Float64()
			}
			slices.SortFunc(order, func(i, j int) int { return int(math.Copysign(1, at[i]-at[j])) })
			free := 0.0
			for _, i := range order {
				arrive := at[i] + w.Message(0, 1, 1, x)/2 - w.packet(w.Medium, min(x, w.MSS))/2
				free = max(free, arrive) + w.packet(w.Medium, min(x, w.MSS))
				done := free + arrive - at[i]
				b.Lines[i].NS[k] = int64(math.Round((done - at[i]) * 1e9))
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
		f, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "a", value(t, f, "a"), w.Host.A, 0.002)
		near(t, "a_c", value(t, f, "a_c"), w.Medium.A, 0.005)
		if f.Used+f.LeftOut != timingsOf(d, "paired")-startTimings(d) {
			t.Errorf("used %d, left out %d", f.Used, f.LeftOut)
		}
	}
}

// A first delivery that is late makes the first gap, and a_c, small; its term says so.
func TestNetworkLateFirstDelivery(t *testing.T) {
	const late = 12e-6
	w := sparc()
	d := skewed(w, 20e-6)
	for _, b := range fit.Prepare(d, fit.Settings{}).Batches(names.Paired, names.PhaseBurst) {
		for k := range b.Lines[0].NS {
			slices.MinFunc(b.Lines, func(x, y *dataset.Sample) int { return int(x.NS[k] - y.NS[k]) }).NS[k] += late * 1e9
		}
	}
	f, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil {
		t.Fatal(err)
	}
	p := f.Parameters["a_c"]
	i := slices.IndexFunc(p.Budget, func(t params.Term) bool { return t.Name == "first delivery" })
	if i < 0 || *p.Value > w.Medium.A-late/4 || p.CI95[1] < w.Medium.A {
		t.Fatalf("a_c %+v, want less than %g, and that in the interval", p, w.Medium.A)
	}
	near(t, "first delivery", p.Budget[i].U, late/math.Sqrt(3)/3, 0.05)
	if f, err = hyperbolic.Network.Fit(fit.Prepare(skewed(w, 20e-6), fit.Settings{Replicates: 50})); err != nil {
		t.Fatal(err)
	}
	for _, term := range f.Parameters["a_c"].Budget {
		if term.Name == "first delivery" && term.U > 1e-9 {
			t.Errorf("gaps are even: %+v", term)
		}
	}
}

func startTimings(d *dataset.Dataset) int {
	n := 0
	for _, s := range d.Select("paired", names.PhaseBurstStart) {
		n += len(s.NS)
	}
	return n
}

// On a switch the gaps are those of the starts, and must not pass for contention.
func TestNetworkSwitchSkewedStarts(t *testing.T) {
	w := sparc()
	w.Switched, w.Between, w.Within = true, 0.002, 0.01
	w.Host, w.Medium = params.Block{A: 400e-6, B: 0.60e-6}, params.Block{A: 200e-6, B: 0.35e-6}
	d := w.Dataset()
	rng := rand.New(rand.NewPCG(3, 3))
	for _, s := range d.Select("paired", names.PhaseBurst) {
		start := *s
		start.Phase, start.NS = names.PhaseBurstStart, make([]int64, len(s.NS))
		for k := range start.NS {
			start.NS[k] = rng.Int64N(100_000)
		}
		d.Samples = append(d.Samples, start)
	}
	f, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "a", value(t, f, "a"), 500e-6, 0.02)
	if f.Network == nil || *f.Network != (params.Network{Packets: params.Switch, Streams: params.Switch}) {
		t.Errorf("a_c = %g, findings %v", value(t, f, "a_c"), f.Findings)
	}
	term := func(name, of string) float64 {
		for _, q := range f.Parameters[name].Budget {
			if q.Name == of {
				return q.U
			}
		}
		return 0
	}
	skew, order := term("a_c", "start skew"), term("a_c", "order of messages")
	// lower quartile of the range of four uniform starts
	near(t, "term of the starts", skew, 0.46*100e-6/math.Sqrt(3)/3, 0.15)
	near(t, "the same of a", term("a", "start skew"), skew/2, 1e-9)
	ci := *f.Parameters["a_c"].CI95
	if half := (ci[1] - ci[0]) / 2; half < 1.96*math.Hypot(skew, order) {
		t.Errorf("a_c is certain to ± %g, with terms of %g and %g", half, skew, order)
	}
}

// lateTogether makes every delivery of a burst as late as the last.
func lateTogether(w truth) *dataset.Dataset {
	d := w.Dataset()
	for _, b := range fit.Prepare(d, fit.Settings{}).Batches(names.Paired, names.PhaseBurst) {
		for k := range b.Lines[0].NS {
			last := slices.MaxFunc(b.Lines, func(x, y *dataset.Sample) int { return cmp.Compare(x.NS[k], y.NS[k]) }).NS[k]
			for _, l := range b.Lines {
				l.NS[k] = last
			}
		}
	}
	return d
}

// Where more pairs make all deliveries later alike, a_c is by how much, although there are no gaps.
func TestGrowthWithoutGaps(t *testing.T) {
	w := sparc()
	w.Between, w.Within = 0.002, 0.001
	d := lateTogether(w)
	f, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "a_c", value(t, f, "a_c"), w.Medium.A, 0.01)
	near(t, "a", value(t, f, "a"), w.Host.A, 0.01)
}

// Repetitions whose senders started too far apart are dropped and counted.
func TestNetworkDropsLateStarts(t *testing.T) {
	w := sparc()
	d := skewed(w, 100e-6)
	lines := map[string][]*dataset.Sample{}
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Phase == names.PhaseBurst || s.Phase == names.PhaseBurstStart {
			lines[s.Phase] = append(lines[s.Phase], s)
		}
	}
	for phase, all := range lines {
		for _, s := range all {
			if s.Ranks[0] > 1 || s.Point["pairs"] < 2 {
				continue
			}
			for k := 0; k < len(s.NS); k += 5 {
				s.NS[k] += map[string]int64{names.PhaseBurst: 0, names.PhaseBurstStart: 4_000_000}[phase]
			}
		}
	}
	f, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "a_c", value(t, f, "a_c"), w.Medium.A, 0.005)
}

// The last of several deliveries is late without contention, and must not pass for it.
func TestNetworkLateness(t *testing.T) {
	w := sparc()
	w.Switched, w.Between, w.Within, w.Rounds, w.Reps = true, 0.002, 0.25, 8, 40
	w.Host, w.Medium = params.Block{A: 400e-6, B: 0.60e-6}, params.Block{A: 200e-6, B: 0.35e-6}
	f := fitWith(t, hyperbolic.Network, w.Dataset(), 200)
	growth := 3 * value(t, f, "a_c") / 1e-3
	if math.Abs(growth) > 0.08 {
		t.Errorf("a' grows by %.1f%% over four pairs of a switch", 100*growth)
	}
	if f.Network.Packets == params.Shared {
		t.Errorf("network %+v", *f.Network)
	}
}

// A clock offset is wrong by as much in both directions of a slot, and cancels in the mean delivery: it does not move
// a_c, and widens its interval by no more than what it hides of the order of messages. The last of n deliveries would
// be late by the largest of n offsets.
func TestNetworkClockUncertainty(t *testing.T) {
	network := func(switched bool, spread float64) params.Parameter {
		w := sparc()
		w.Switched, w.Between = switched, 1e-7 // an interval needs some noise
		d := w.Dataset()
		rng := rand.New(rand.NewPCG(7, 7))
		for _, b := range fit.Prepare(d, fit.Settings{}).Batches(names.Paired, names.PhaseBurst) {
			if b.Dir != 0 {
				continue
			}
			for _, l := range b.Lines {
				off := int64(spread * rng.NormFloat64())
				for _, s := range d.Select("paired", names.PhaseBurst) {
					same := s.Round == l.Round && s.Point.Key() == l.Point.Key() && slices.Contains(s.Ranks, l.Ranks[0])
					for k := range s.NS {
						if same && s.Ranks[0] == l.Ranks[0] {
							s.NS[k] += off
						} else if same {
							s.NS[k] -= off
						}
					}
				}
			}
		}
		for _, s := range d.Select("paired", names.PhaseBurst) {
			s.Aux["offset_spread_ns"] = spread
		}
		f, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
		if err != nil {
			t.Fatal(err)
		}
		return f.Parameters["a_c"]
	}
	width := func(p params.Parameter) float64 { return p.CI95[1] - p.CI95[0] }
	if w := width(network(false, 0)); w > 1e-8 {
		t.Errorf("separated deliveries: interval of a_c is %g s wide", w)
	}
	if p := network(true, 10e3); math.Abs(*p.Value) > 1e-8 || width(p) > 1e-7 {
		t.Errorf("switch: a_c is %g in %v", *p.Value, *p.CI95)
	}
	p, truth := network(false, 300e3), sparc().Medium.A
	if p.CI95[0] > truth || p.CI95[1] < truth {
		t.Errorf("clocks too coarse to tell the order: a_c in %v, want %g in it", *p.CI95, truth)
	}
	near(t, "clocks too coarse to tell the order: width", width(p), 2*1.95996**p.Value/3/math.Sqrt(3), 0.01)
}

// A repetition is chosen by its starts alone: where gaps scatter and starts are as far apart as is allowed of the
// median gap, the longer gaps are not preferred.
func TestRepetitionsAreNotChosenByTheirGaps(t *testing.T) {
	w := sparc()
	w.Between, w.Within = 0.002, 0
	d := w.Dataset()
	rng := rand.New(rand.NewPCG(5, 5))
	var starts []dataset.Sample
	for _, b := range fit.Prepare(d, fit.Settings{}).Batches(names.Paired, names.PhaseBurst) {
		gap := float64(len(b.Lines)-1) * w.Medium.A * 1e9
		begin := make([]dataset.Sample, len(b.Lines))
		for i, l := range b.Lines {
			begin[i] = *l
			begin[i].Phase, begin[i].NS = names.PhaseBurstStart, make([]int64, len(l.NS))
		}
		for k := range b.Lines[0].NS {
			last := 0
			for i, l := range b.Lines {
				if l.NS[k] > b.Lines[last].NS[k] {
					last = i
				}
			}
			if gap > 0 {
				apart := int64(0.3 * gap)
				begin[last].NS[k] = apart
				b.Lines[last].NS[k] += int64(1.8*(rng.Float64()-0.5)*gap) - apart
			}
		}
		starts = append(starts, begin...)
	}
	d.Samples = append(d.Samples, starts...)
	f, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "a_c", value(t, f, "a_c"), w.Medium.A, 0.03)
}

// Where the first half of a batch is later than the rest, and starts drift apart so that the closest are the first,
// that does not look like contention.
func TestGrowthOfFirstRepetitions(t *testing.T) {
	w := sparc()
	w.Between, w.Within = 0.002, 0.001
	d := lateTogether(w)
	for _, s := range d.Select("paired", names.PhaseBurst) {
		start := *s
		start.Phase, start.NS = names.PhaseBurstStart, make([]int64, len(s.NS))
		for k := range s.NS {
			start.NS[k] = int64(k * 10 * s.Ranks[0])
			if k < len(s.NS)/2 {
				s.NS[k] += 60_000
			}
		}
		d.Samples = append(d.Samples, start)
	}
	f, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "a_c", value(t, f, "a_c"), w.Medium.A, 0.01)
}
