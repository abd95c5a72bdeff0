package fittest

import (
	"math/rand/v2"

	"calib/fit/form"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

// StampTruth is what the parts of a message take on two hosts [s], by its size.
type StampTruth struct {
	Send, Queue, Way, Take, Wake, Receive form.Cost
	After                                 form.Cost // of the sending call, after it has handed the message over
	Cost                                  float64   // of stamps, at the sender
	Offset                                float64   // s, by which one direction seems longer and the other shorter
	Polls, NIC                            bool
	Sizes                                 []int64
	Rounds, Reps                          int
	Noise                                 float64 // relative, of each part of each message
	Seed                                  uint64
}

// Stamps are parts that are all different.
func Stamps() StampTruth {
	us := func(c0, c1 float64) form.Cost { return form.Cost{C0: c0 * 1e-6, C1: c1 * 1e-6} }
	return StampTruth{
		Send: us(3, 0.001), Queue: us(0.5, 0), Way: us(20, 0.02), Take: us(1.5, 0.0005), Wake: us(6, 0), Receive: us(2, 0.0008), After: us(2.5, 0),
		Cost: 0.7e-6, Offset: 50e-6, Polls: true, Sizes: []int64{1, 181, 701, 1401}, Rounds: 6, Reps: 40, Seed: 5,
	}
}

// stampClock is one reading of the clock [ns].
const stampClock = 30

// Dataset writes the samples of experiment stamps.
func (w *StampTruth) Dataset() *dataset.Dataset {
	d := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Run: "synthetic", Seed: w.Seed,
		Hosts: []dataset.Host{{Name: "a", Boot: "1"}, {Name: "b", Boot: "2"}}}}
	rng := rand.New(rand.NewPCG(w.Seed, 4))
	for round := range w.Rounds {
		for _, m := range w.Sizes {
			d.Samples = append(d.Samples, w.batch(rng, round, m)...)
		}
	}
	return d
}

// batch writes the lines of one size. Directions alternate as ranks do.
func (w *StampTruth) batch(rng *rand.Rand, round int, m int64) (out []dataset.Sample) {
	x := float64(m)
	line := func(phase string, dir int, ns []int64) {
		out = append(out, dataset.Sample{Exp: names.Stamps, Phase: phase, Point: dataset.Point{names.FactorBytes: m}, Ranks: []int{dir, 1 - dir},
			Round: round, Slot: round, TCP: &dataset.TCP{MSS: 1448}, NS: ns, Aux: map[string]float64{names.AuxDirection: float64(dir), names.AuxClock: stampClock,
				names.AuxStampBound: 20}})
	}
	values := func(s float64) []int64 {
		v := make([]int64, w.Reps)
		for i := range v {
			v[i] = int64(1e9 * s * (1 + w.Noise*rng.NormFloat64()))
		}
		return v
	}
	half := make([]int64, w.Reps)
	for dir := range 2 {
		sign := float64(1 - 2*dir)
		parts := map[string][]int64{
			names.PhaseSend: values(w.Send.Of(x) + w.Cost + stampClock/2*1e-9), names.PhaseQueue: values(w.Queue.Of(x)), names.PhaseWay: values(w.Way.Of(x)),
			names.PhaseWake: values(w.Take.Of(x) + w.Wake.Of(x) + w.Receive.Of(x) + stampClock/2*1e-9),
		}
		for _, phase := range []string{names.PhaseSend, names.PhaseQueue, names.PhaseWay, names.PhaseWake} {
			for i, ns := range parts[phase] {
				half[i] += ns
				if phase == names.PhaseWay {
					parts[phase][i] += int64(sign * w.Offset * 1e9)
				}
			}
			line(phase, dir, parts[phase])
		}
		line(names.PhaseCall, dir, values(w.Send.Of(x)+w.Cost+w.After.Of(x)+stampClock*1e-9))
		line(names.PhaseRecv, dir, values(w.Receive.Of(x)+stampClock*1e-9))
		if w.Polls {
			line(names.PhaseWakePolling, dir, values(w.Take.Of(x)+w.Receive.Of(x)+stampClock/2*1e-9))
		}
	}
	for i := range half {
		half[i] /= 2
	}
	line(names.PhaseHalf, 0, half)
	whole := w.Send.Of(x) + w.Queue.Of(x) + w.Way.Of(x) + w.Take.Of(x) + w.Wake.Of(x) + w.Receive.Of(x)
	line(names.PhasePlain, 0, values(whole+stampClock/2*1e-9))
	if w.NIC {
		line(names.PhaseNIC, 0, values(w.Way.Of(x)/2))
	}
	return out
}
