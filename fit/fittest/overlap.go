package fittest

import (
	"math"
	"math/rand/v2"

	"calib/internal/dataset"
)

// OverlapTruth is a pair of hosts that compute while messages are under way, with an overhead that is the same for
// every message.
type OverlapTruth struct {
	Startup, PerByte float64 // of a transfer [s], [s/B]
	Step             float64 // of the computation [s]
	F                float64 // fraction of the computation that hides communication
	Overhead         float64 // that handing over costs the computing thread [s]
	Penalty          float64 // of a transfer by the second thread
	Between, Within  float64 // relative noise of rounds, of values
	Rounds, Reps     int
	CPUs             float64
	Shared           bool // one machine
	Sizes            []int64
	Swept            []int64 // sizes at which the granularity is swept
	Granularities    []int64 // %
}

// Overlap is a pair on an Ethernet of 1994.
func Overlap() OverlapTruth {
	return OverlapTruth{Startup: 1e-3, PerByte: 0.9e-6, Step: 2e-9, F: 0.9, Overhead: 200e-6, Penalty: 1.1, Rounds: 6, Reps: 5, CPUs: 2,
		Sizes: []int64{1, 1000, 4000, 65536}, Swept: []int64{4000, 65536}, Granularities: []int64{10, 40, 100, 200, 1000, 10_000}}
}

// Transfer is the time of a message both ways at once [s].
func (w OverlapTruth) Transfer(bytes int64) float64 { return w.Startup + w.PerByte*float64(bytes) }

// Hidden is the time of a step that computes for so long [s] beside a transfer of so long.
func (w OverlapTruth) Hidden(compute, transfer float64) float64 {
	return (1-w.F)*compute + math.Max(w.F*compute+w.Overhead, w.Penalty*transfer)
}

// Dataset is what experiment overlap gives.
func (w OverlapTruth) Dataset() *dataset.Dataset {
	rng := rand.New(rand.NewPCG(3, 4))
	d := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Hosts: []dataset.Host{{Name: "a"}, {Name: "b"}}}}
	if w.Shared {
		d.Header.Hosts[0].Boot, d.Header.Hosts[1].Boot = "m", "m"
	}
	slot := 0
	for round := range w.Rounds {
		factor := 1 + w.Between*rng.NormFloat64()
		add := func(bytes, granularity int64, phase string, seconds, work float64) {
			s := dataset.Sample{Exp: "overlap", Phase: phase, Point: dataset.Point{"bytes": bytes, "granularity": granularity},
				Ranks: []int{0, 1}, Round: round, Slot: slot, Aux: map[string]float64{"work": work, "averaged": 2, "cpus": w.CPUs}}
			for range w.Reps {
				s.NS = append(s.NS, int64(math.Round(seconds*1e9*factor*(1+w.Within*rng.NormFloat64()))))
			}
			d.Samples = append(d.Samples, s)
		}
		for _, m := range w.Sizes {
			t := w.Transfer(m)
			add(m, 0, "transfer", t, 0)
			add(m, 0, "transfer-second", w.Penalty*t, 0)
			slot++
		}
		for _, m := range w.Swept {
			for _, g := range w.Granularities {
				t := w.Transfer(m)
				work := math.Round(t * float64(g) / 100 / w.Step)
				c := work * w.Step
				add(m, g, "in-turn", c+t, work)
				add(m, g, "send-first", math.Max(c, t), work)
				add(m, g, "second-thread", w.Hidden(c, t), work)
				add(m, g, "compute", c, work)
				add(m, g, "transfer", t, work)
				slot++
			}
		}
	}
	return d
}
