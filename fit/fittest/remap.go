package fittest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

// RemapTruth is the times of remaps, from which tests write the samples of experiment remap.
type RemapTruth struct {
	Hosts, Rounds int
	Noise         float64 // relative standard deviation of a line
	Seed          uint64
	// Way and Gap are the time of a message alone and its time at an interface [s], Network and Resource what
	// contention adds to a message and to an injection of a synchronous remap on all hosts [s]; each for one byte. A
	// message of m bytes takes 1 + m/1000 times as long.
	Way, Gap, Network, Resource float64
}

// Remaps are remaps of eight hosts.
func Remaps() RemapTruth {
	return RemapTruth{Hosts: 8, Rounds: 4, Seed: 2001, Way: 170e-6, Gap: 70e-6, Network: 12e-6, Resource: 25e-6}
}

// Dataset writes the samples.
func (w RemapTruth) Dataset() *dataset.Dataset {
	d := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Run: "remaps", Seed: w.Seed}}
	for i := range w.Hosts {
		d.Header.Hosts = append(d.Header.Hosts, dataset.Host{Name: fmt.Sprintf("h%d", i+1)})
	}
	w.Add(d)
	return d
}

// Add adds the samples to d.
func (w RemapTruth) Add(d *dataset.Dataset) {
	rng := rand.New(rand.NewPCG(w.Seed, 5))
	slot := 0
	for round := range w.Rounds {
		for _, sync := range []int64{0, 1} {
			for _, bytes := range []int64{1, 5000} {
				add := func(hosts, injecting int, destinations, span int64, t float64) {
					slot++
					for rank := range injecting {
						v := t * (1 + float64(bytes)/1000) * (1 + w.Noise*rng.NormFloat64())
						s := dataset.Sample{Exp: "remap", Phase: "remap", Round: round, Slot: slot, Ranks: []int{rank}, TCP: &dataset.TCP{MSS: 1448},
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
