package models

import (
	"math/rand/v2"
	"testing"

	"calib/fit"
	"calib/internal/dataset"
)

// A run that was cut short or spoilt leaves any subset of its lines, with any flags. Every model then fits what is
// there by the rules of the conformance suite, or says why not.
func TestPartialData(t *testing.T) {
	byName := map[string]fit.Model{}
	for _, m := range All {
		byName[m.Name] = m
	}
	fitted := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 9))
		w := sparc()
		w.Seed, w.Hosts, w.Rounds, w.Reps, w.Between, w.Within = seed, 2+rng.IntN(5), 1+rng.IntN(4), 1+rng.IntN(4), 0.05, 0.2
		w.Offset = 5e-3 // larger than T: single directions may be negative
		d := w.Dataset()
		c := tableOne(40)
		c.Seed, c.Hosts, c.Rounds, c.Reps, c.Noise, c.Slack = seed, w.Hosts, w.Rounds, w.Reps, 0.2, 1e-3
		d.Samples = append(d.Samples, c.Dataset().Samples...)
		tear(d, rng)
		p, errs := fit.Run(All, d, fit.Settings{Replicates: 20})
		for _, f := range p.Fits {
			checkFit(t, byName[f.Model], f)
			fitted++
		}
		for _, err := range errs {
			t.Logf("seed %d: %v", seed, err)
		}
	}
	if fitted < 240 {
		t.Errorf("%d fits only: the test has lost its data", fitted)
	}
}

// tear leaves a random share of the lines, with random flags and some of them cut short.
func tear(d *dataset.Dataset, rng *rand.Rand) {
	flags := []string{dataset.FlagRetrans, dataset.FlagPreempt, dataset.FlagUnsteady, dataset.FlagTimeout}
	keep, spoil := rng.Float64(), 0.3*rng.Float64()
	kept := d.Samples[:0]
	for _, s := range d.Samples {
		if rng.Float64() < keep {
			if rng.Float64() < spoil {
				s.Flags = []string{flags[rng.IntN(len(flags))]}
			}
			if rng.Float64() < 0.05 {
				s.NS = s.NS[:rng.IntN(len(s.NS))]
			}
			kept = append(kept, s)
		}
	}
	d.Samples = kept
}
