package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"calib/fit/hyperbolic"
	"calib/internal/dataset"
)

// Robust fits, on a dataset of the shape of a public set of Gigabit Ethernet round trips on which plain least squares
// fails: some 6,600 timings of 66 sizes, three ranges of the size with a line each, noise with a tail to the right, and
// four retransmission time-outs of 24 to 202 ms.

// gigabit is one range of sizes: T(x) = c0 [s] + c1 [s/B]·x up to hi [B].
type gigabit struct{ hi, c0, c1 float64 }

var gigabits = []gigabit{{1448, 28e-6, 24e-9}, {65536, 48e-6, 10.2e-9}, {1 << 20, 190e-6, 8.9e-9}}

// robustBar is by how much a slope may move.
const robustBar = 0.03

// robustLayout is how 100 timings of each size fall into rounds: calib's, one timing a round, and the one round of an
// import.
type robustLayout struct{ rounds, reps int }

var robustLayouts = []robustLayout{{10, 10}, {100, 1}, {1, 100}}

// outlier is a timing [s] put in place of a measured one.
type outlier struct {
	size, round int
	seconds     float64
}

// robustSizes are 66 sizes from 1 B to 1 MiB, 22 of each range.
func robustSizes() []float64 {
	var out []float64
	lo := 1.0
	for _, g := range gigabits {
		for i := range 22 {
			out = append(out, math.Round(lo*math.Pow(g.hi/lo, float64(i)/21)+float64(22-i)/22))
		}
		lo = g.hi + 1
	}
	for i := 1; i < len(out); i++ {
		out[i] = math.Max(out[i], out[i-1]+1) // the smallest would repeat themselves
	}
	return out
}

// robustData is the dataset with some of its timings replaced, those batches flagged as calib flags its own if flag is
// set.
func robustData(l robustLayout, outliers []outlier, flag bool) *dataset.Dataset {
	d := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Seed: 1,
		Hosts: []dataset.Host{{Name: "u"}, {Name: "v"}}}}
	rng := rand.New(rand.NewPCG(2009, 66))
	for round := range l.rounds {
		drift := 1 + 0.004*rng.NormFloat64()
		for i, x := range robustSizes() {
			s := dataset.Sample{Exp: "pingpong", Point: dataset.Point{"bytes": int64(x)}, Ranks: []int{0, 1}, Round: round,
				Slot: round, Part: i, TCP: &dataset.TCP{MSS: 1448}}
			for range l.reps {
				v := drift*ethernet(x)*(1+0.02*rng.NormFloat64()) + 2e-6*rng.ExpFloat64()
				s.NS = append(s.NS, int64(v*1e9))
			}
			for k, o := range outliers {
				if o.size == i && o.round%l.rounds == round {
					s.NS[(2+k)%l.reps] = int64(o.seconds * 1e9)
					if flag {
						s.Flags, s.TCP.Retrans = []string{dataset.FlagRetrans}, 1
					}
				}
			}
			d.Samples = append(d.Samples, s)
		}
	}
	return d
}

func ethernet(x float64) float64 {
	for _, g := range gigabits {
		if x <= g.hi {
			return g.c0 + g.c1*x
		}
	}
	g := gigabits[len(gigabits)-1]
	return g.c0 + g.c1*x
}

// plainSlopes are those of ordinary least squares on the raw timings of each true range.
func plainSlopes(d *dataset.Dataset) []float64 {
	var out []float64
	lo := 0.0
	for _, g := range gigabits {
		var n, sx, sy, sxx, sxy float64
		for _, s := range d.Samples {
			x := float64(s.Point["bytes"])
			if x <= lo || x > g.hi {
				continue
			}
			for _, ns := range s.NS {
				y := float64(ns) * 1e-9
				n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
			}
		}
		out = append(out, (n*sxy-sx*sy)/(n*sxx-sx*sx))
		lo = g.hi
	}
	return out
}

// robustSlopes are those that the models give: by segment, then hyperbolic.Hockney's and both of the hyperbola.
func robustSlopes(t *testing.T, d *dataset.Dataset) (names []string, values []float64) {
	t.Helper()
	fn := fitOf(t, hyperbolic.Segmented, d).Functions["T"]
	for i := 1; ; i++ {
		v, ok := fn.Coeff["c1_"+strconv.Itoa(i)]
		if !ok {
			break
		}
		names, values = append(names, fmt.Sprintf("segment %d", i)), append(values, v)
	}
	h, y := fitOf(t, hyperbolic.Hockney, d), fitOf(t, hyperbolic.Hyperbola, d)
	names = append(names, "hockney beta", "b' limits", "hockney alpha", "a' limits")
	return names, append(values, value(t, h, "beta"), value(t, y, "b_prime_limits"),
		value(t, h, "alpha"), value(t, y, "a_prime_limits"))
}

// robustCases place the four time-outs.
var robustCases = []struct {
	name     string
	together int // timings of one round and size that are hit
	outliers []outlier
}{
	{"small and large sizes", 1, []outlier{{1, 2, 0.202}, {3, 7, 0.024}, {24, 4, 0.201}, {63, 5, 0.048}}},
	{"start of each range", 1, []outlier{{0, 0, 0.201}, {22, 3, 0.202}, {44, 9, 0.202}, {45, 6, 0.024}}},
	{"one round", 1, []outlier{{0, 4, 0.202}, {2, 4, 0.201}, {23, 4, 0.024}, {46, 4, 0.202}}},
	{"one size, four rounds", 1, []outlier{{2, 1, 0.202}, {2, 3, 0.201}, {2, 6, 0.048}, {2, 8, 0.024}}},
	{"one size, one round", 4, []outlier{{1, 5, 0.202}, {1, 5, 0.201}, {1, 5, 0.048}, {1, 5, 0.024}}},
}

func TestRobustFits(t *testing.T) {
	for _, l := range robustLayouts {
		t.Run(fmt.Sprintf("%d rounds of %d", l.rounds, l.reps), func(t *testing.T) { checkRobust(t, l) })
	}
}

func checkRobust(t *testing.T, l robustLayout) {
	clean := robustData(l, nil, false)
	names, want := robustSlopes(t, clean)
	if len(want) != len(gigabits)+4 {
		t.Fatalf("%v: the clean fit does not have %d segments", names, len(gigabits))
	}
	for i := range gigabits {
		near(t, names[i]+" of clean data", want[i], gigabits[i].c1, robustBar)
	}
	t.Log("| four outliers of 24 to 202 ms among 6,600 | labelled | least squares on raw timings, ns/B | segmented, " +
		"ns/B | worst slope off | worst parameter off |")
	t.Logf("| none | – | %s | %s | | |", nanosPerByte(plainSlopes(clean)), nanosPerByte(want[:len(gigabits)]))
	for _, c := range robustCases {
		if c.together > l.reps {
			continue
		}
		for _, flag := range []bool{false, true} {
			if flag && l.rounds == 1 {
				continue // the only round of a size would be left out
			}
			d := robustData(l, c.outliers, flag)
			_, got := robustSlopes(t, d)
			if len(got) != len(want) {
				t.Errorf("%s: %d segments, want %d", c.name, len(got)-6, len(want)-6)
				continue
			}
			slope, worst := 0.0, 0.0
			for i := range got {
				off := math.Abs(got[i]/want[i] - 1)
				if worst = math.Max(worst, off); i < len(gigabits) {
					slope = math.Max(slope, off)
				}
				if off > robustBar {
					t.Errorf("%s, labelled %v: %s is %.4g, %.1f%% from the clean fit's %.4g", c.name, flag, names[i], got[i], 100*off,
						want[i])
				}
			}
			raw := plainSlopes(d)
			if slices.Min(raw) > 0 {
				t.Errorf("%s: least squares on raw timings gives %v, want a negative slope", c.name, raw)
			}
			t.Logf("| %s | %v | %s | %s | %.2f%% | %.2f%% |", c.name, flag, nanosPerByte(raw), nanosPerByte(got[:len(gigabits)]),
				100*slope, 100*worst)
		}
	}
}

func nanosPerByte(v []float64) string {
	text := ""
	for i, x := range v {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%.3g", 1e9*x)
	}
	return text
}
