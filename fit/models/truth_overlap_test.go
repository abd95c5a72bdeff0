package models

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

// overlapTruth is a pair of hosts that compute while messages are under way, with an overhead that is the same for
// every message.
type overlapTruth struct {
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

// overlappingPair is a pair on an Ethernet of 1994.
func overlappingPair() overlapTruth {
	return overlapTruth{Startup: 1e-3, PerByte: 0.9e-6, Step: 2e-9, F: 0.9, Overhead: 200e-6, Penalty: 1.1, Rounds: 6,
		Reps: 5, CPUs: 2,
		Sizes: []int64{1, 1000, 4000, 65536}, Swept: []int64{4000, 65536},
		Granularities: []int64{10, 40, 100, 200, 1000, 10_000}}
}

// Transfer is the time of a message both ways at once [s].
func (w overlapTruth) Transfer(bytes int64) float64 { return w.Startup + w.PerByte*float64(bytes) }

// OneWay is the time of one message [s]: both at once are 50% faster.
func (w overlapTruth) OneWay(bytes int64) float64 { return 0.75 * w.Transfer(bytes) }

// Hidden is the time of a step that computes for so long [s] beside a transfer of so long.
func (w overlapTruth) Hidden(compute, transfer float64) float64 {
	return (1-w.F)*compute + math.Max(w.F*compute+w.Overhead, w.Penalty*transfer)
}

func (w overlapTruth) Dataset() *dataset.Dataset {
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
			d.Samples = append(d.Samples, dataset.Sample{Exp: names.Pingpong, Point: dataset.Point{names.FactorBytes: m},
				Ranks: []int{0, 1}, Round: round, Slot: slot, NS: []int64{int64(math.Round(w.OneWay(m) * 1e9))}})
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

// remapTruth is the times of remaps, from which tests write the samples of experiment remap.
type remapTruth struct {
	Hosts, Rounds int
	Noise         float64 // relative standard deviation of a line
	Seed          uint64
	// Way and Gap are the time of a message alone and its time at an interface [s], Network and Resource what
	// contention adds to a message and to an injection of a synchronous remap on all hosts [s]; each for one byte. A
	// message of m bytes takes 1 + m/1000 times as long.
	Way, Gap, Network, Resource float64
}

func remaps() remapTruth {
	return remapTruth{Hosts: 8, Rounds: 4, Seed: 2001, Way: 170e-6, Gap: 70e-6, Network: 12e-6, Resource: 25e-6}
}

func (w remapTruth) Dataset() *dataset.Dataset {
	d := datasetOf("remaps", w.Seed, w.Hosts)
	w.Add(d)
	return d
}

func (w remapTruth) Add(d *dataset.Dataset) {
	rng := rand.New(rand.NewPCG(w.Seed, 5))
	slot := 0
	for round := range w.Rounds {
		for _, sync := range []int64{0, 1} {
			for _, bytes := range []int64{1, 5000} {
				add := func(hosts, injecting int, destinations, span int64, t float64) {
					slot++
					for rank := range injecting {
						v := t * (1 + float64(bytes)/1000) * (1 + w.Noise*rng.NormFloat64())
						s := dataset.Sample{Exp: "remap", Phase: "remap", Round: round, Slot: slot, Ranks: []int{rank},
							TCP: &dataset.TCP{MSS: 1448},
							Point: dataset.Point{"sync": sync, "bytes": bytes, "hosts": int64(hosts), "injecting": int64(injecting),
								"destinations": destinations, "span": span},
							Aux: map[string]float64{"messages": 9, "averaged": 1}, NS: []int64{int64(math.Round(v * 1e9))}}
						if sync == 0 {
							s.Aux["ahead"] = 8
						}
						d.Samples = append(d.Samples, s)
					}
				}
				alone, network, resource := 2*w.Way, 2*w.Network, w.Resource
				if sync == 0 {
					alone, network, resource = w.Gap, w.Network/4, w.Resource/4
				}
				add(w.Hosts, 1, names.DestinationsDrawn, 0, alone)
				add(w.Hosts, w.Hosts, names.DestinationsNext, 0, alone+network)
				add(w.Hosts, w.Hosts, names.DestinationsRound, 0, alone+network)
				add(w.Hosts, w.Hosts, names.DestinationsDrawn, 1, alone+network+resource/2)
				add(w.Hosts, w.Hosts, names.DestinationsDrawn, 0, alone+network+resource)
				add(w.Hosts/2, w.Hosts/2, names.DestinationsDrawn, 0, alone+network/2+resource)
			}
		}
	}
}

// halfTrips is a batch of n half round trips of two hosts, normal about a time [ns] with a deviation of 2%, of a clock
// that costs 40 ns.
func halfTrips(rng *rand.Rand, exp, phase string, bytes int64, round, n int, ns float64) dataset.Sample {
	const clock = 40
	s := dataset.Sample{Exp: exp, Phase: phase, Point: dataset.Point{names.FactorBytes: bytes}, Ranks: []int{0, 1},
		Round: round, Slot: round,
		Aux: map[string]float64{names.AuxClock: clock}}
	for range n {
		s.NS = append(s.NS, int64(ns*(1+0.02*rng.NormFloat64()))+clock/2)
	}
	return s
}

// wakeups is what experiment wakeup gives on two hosts with these half round trips [ns] by phase.
func wakeups(rounds int, phases map[string]float64) *dataset.Dataset {
	rng := rand.New(rand.NewPCG(1, 2))
	d := &dataset.Dataset{Header: dataset.Header{Hosts: []dataset.Host{{Name: "a"}, {Name: "b"}}}}
	for round := range rounds {
		for _, phase := range slices.Sorted(maps.Keys(phases)) {
			d.Samples = append(d.Samples, halfTrips(rng, names.Wakeup, phase, 1, round, 100, phases[phase]))
		}
	}
	return d
}
