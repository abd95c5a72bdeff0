package models

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/internal/dataset"
	"calib/internal/lsq"
	"calib/params"
)

// Five ranges of the size, with the limits of a published calibration of Gigabit Ethernet under MPI
// (Ezibenroc/platform-calibration, graphene) and lines like those of its round trips. At the last limit nothing changes
// but the slope.
var (
	rangeLimits = []float64{1420, 32768, 65536, 270000}
	rangeLines  = []struct{ c0, c1 float64 }{{34e-6, 19.6e-9}, {68e-6, 10.2e-9}, {79e-6, 8.8e-9}, {316e-6, 8.8e-9}}
)

// rangeSizes are 490 sizes from 1 B to 1 MiB, as a tool draws them from a logarithmic scale.
func rangeSizes() []int64 {
	rng := rand.New(rand.NewPCG(490, 1))
	var out []int64
	for len(out) < 490 {
		x := int64(math.Exp(rng.Float64() * math.Log(1<<20)))
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	slices.Sort(out)
	return out
}

// rangeTime is T(x) whose slope is smaller by change above the last limit.
func rangeTime(x, change float64) float64 {
	for i, g := range rangeLines {
		if x <= rangeLimits[i] {
			return g.c0 + g.c1*x
		}
	}
	g, limit := rangeLines[len(rangeLines)-1], rangeLimits[len(rangeLimits)-1]
	return g.c0 + g.c1*limit + (1-change)*g.c1*(x-limit)
}

// rangeData are 3 rounds of 10 timings at each size with relative noise.
func rangeData(change, noise float64, seed uint64) *dataset.Dataset {
	d := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Seed: 1,
		Hosts: []dataset.Host{{Name: "u"}, {Name: "v"}}}}
	rng := rand.New(rand.NewPCG(seed, 270000))
	for round := range 3 {
		for i, x := range rangeSizes() {
			s := dataset.Sample{Exp: "pingpong", Point: dataset.Point{"bytes": x}, Ranks: []int{0, 1}, Round: round, Slot: round,
				Part: i,
				TCP:  &dataset.TCP{MSS: 1448}}
			for range 10 {
				s.NS = append(s.NS, int64(1e9*rangeTime(float64(x), change)*(1+noise*rng.NormFloat64())))
			}
			d.Samples = append(d.Samples, s)
		}
	}
	return d
}

// rangesOf returns c1 and the break below it, of each segment of T.
func rangesOf(f *params.Fit) (slopes, from []float64) {
	fn := f.Functions["T"]
	for i := 1; ; i++ {
		c1, ok := fn.Coeff[fmt.Sprintf("c1_%d", i)]
		if !ok {
			return slopes, from
		}
		slopes, from = append(slopes, c1), append(from, fn.Coeff[fmt.Sprintf("from_%d", i)])
	}
}

// A change of the slope by 2% is found where the data hold it, and none where there is none.
func TestSegmentedFindsRanges(t *testing.T) {
	for seed := range uint64(3) {
		slopes, from := rangesOf(fitOf(t, hyperbolic.Segmented, rangeData(0.02, 0.003, seed)))
		if len(slopes) != 5 {
			t.Errorf("seed %d: breaks %.0f, want five ranges", seed, from)
			continue
		}
		for i, limit := range rangeLimits {
			apart := 0.05
			if i == len(rangeLimits)-1 {
				apart = 0.3 // both lines meet there
			}
			near(t, "break", from[i+1], limit, apart)
		}
		near(t, "slope above the last break", slopes[4], 0.98*8.8e-9, 0.005)
		if slopes, from = rangesOf(fitOf(t, hyperbolic.Segmented, rangeData(0, 0.003, seed))); len(slopes) != 4 {
			t.Errorf("seed %d, without the change: breaks %.0f, want four ranges", seed, from)
		}
	}
}

// Where noise hides the change, breaks that are given part T all the same, and the hyperbola takes b' above the last.
func TestSegmentedGivenRanges(t *testing.T) {
	d := rangeData(0.02, 0.05, 1)
	found, err := hyperbolic.Segmented.Fit(fit.Prepare(d, fit.Settings{Replicates: 100}))
	if err != nil {
		t.Fatal(err)
	}
	if slopes, from := rangesOf(found); len(slopes) >= 5 {
		t.Fatalf("breaks %.0f: the noise is too small for this test", from)
	}
	settings := fit.Settings{Replicates: 200, Breaks: rangeLimits}
	given, err := hyperbolic.Segmented.Fit(fit.Prepare(d, settings))
	if err != nil {
		t.Fatal(err)
	}
	slopes, from := rangesOf(given)
	if !slices.Equal(from[1:], rangeLimits) {
		t.Errorf("breaks %.0f, want those given", from)
	}
	near(t, "slope above the last break", slopes[4], 0.98*8.8e-9, 0.03)
	fn := given.Functions["T"]
	if ci := fn.CI95["c1_5"]; ci[0] > 0.98*8.8e-9 || ci[1] < 0.98*8.8e-9 {
		t.Errorf("its interval is %v", ci)
	}
	if !slices.ContainsFunc(given.Findings, func(f params.Finding) bool {
		return f.Code == "segments" && strings.Contains(f.Message, "5 segments by breaks given, 1,420; 32,768; 65,536; "+
			"270,000 B")
	}) {
		t.Errorf("findings %v", given.Findings)
	}
	h, err := hyperbolic.Hyperbola.Fit(fit.Prepare(d, settings))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "b'", value(t, h, "b_prime_limits"), slopes[4], 1e-9)
}

func TestSegmentedBadBreaks(t *testing.T) {
	d := pairOf(manySizes, func(x float64) float64 { return 1e-4 + 1e-8*x })
	for _, breaks := range [][]float64{{5000, 1000}, {0}, {1e7}, {1000, 2000}} {
		if _, err := hyperbolic.Segmented.Fit(fit.Prepare(d, fit.Settings{Breaks: breaks})); !errors.Is(err, lsq.ErrBreaks) {
			t.Errorf("%.0f: %v, want ErrBreaks", breaks, err)
		}
	}
}

// BenchmarkWide fits models of one message to 490 sizes, with the bootstrap as calib fit has it.
func BenchmarkWide(b *testing.B) {
	d := rangeData(0.02, 0.003, 1)
	for _, models := range [][]fit.Model{{hyperbolic.Segmented}, {hyperbolic.Hyperbola},
		{hyperbolic.Hockney, hyperbolic.Hyperbola, hyperbolic.Segmented, hyperbolic.Tails}} {
		b.Run(fmt.Sprintf("%d_%s", len(models), models[0].Name), func(b *testing.B) {
			for b.Loop() {
				if _, errs := fit.Run(models, d, fit.Settings{}); len(errs) > 0 {
					b.Fatal(errs)
				}
			}
		})
	}
}
