package models

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/internal/dataset"
	"calib/params"
)

func fitOf(t *testing.T, m fit.Model, d *dataset.Dataset) *params.Fit {
	t.Helper()
	return fitWith(t, m, d, 200)
}

// Both estimators on exact hyperbolae, and the limits on exact packets: the truth of one is not the form of the other.
func TestHyperbolaExact(t *testing.T) {
	w := sparc()
	w.Hosts = 2
	a, b := 2*859.52e-6+345.6e-6, 1.42e-6
	packets := fitOf(t, hyperbolic.Hyperbola, w.Dataset())
	near(t, "a' of packets", value(t, packets, "a_prime_limits"), a, 1e-4)
	near(t, "b' of packets", value(t, packets, "b_prime_limits"), b, 1e-4)
	near(t, "r_inf of packets", value(t, packets, "r_inf"), 1/b, 1e-4) // a line through all sizes is off by more
	w.Exact = true
	f := fitOf(t, hyperbolic.Hyperbola, w.Dataset())
	near(t, "a', limits", value(t, f, "a_prime_limits"), a, 0.01)
	near(t, "b', limits", value(t, f, "b_prime_limits"), b, 0.01)
}

// A line of small sizes cannot show that T does not fall below them, as where frames have a least size: two sizes have
// no misfit, and more have one that says too little.
func TestFixedTimeAboveFloor(t *testing.T) {
	for _, c := range []struct {
		floor, perByte float64
		sizes          []float64
	}{
		{103e-6, 60e-9, []float64{1, 400}}, {103e-6, 60e-9, []float64{10, 400}}, {103e-6, 60e-9, []float64{100, 400}},
		{108e-6, 360e-9, []float64{1, 2, 3, 5, 7, 10, 14, 20, 29, 44}},
		{108e-6, 360e-9, []float64{1, 2, 3, 5, 7, 10, 14, 20, 29, 40, 48, 51}},
	} {
		f := fitOf(t, hyperbolic.Hyperbola, pairOf(append(c.sizes, 16001, 64001, 256001), func(x float64) float64 {
			return max(c.floor, 100e-6+c.perByte*x)
		}))
		a := f.Parameters["a_prime_limits"]
		if a.CI95[0] > c.floor || a.CI95[1] < c.floor || a.CI95[1] > 1.2*c.floor {
			t.Errorf("small sizes of %v: a' is %g, %v, and the truth is %g", c.sizes, *a.Value, *a.CI95, c.floor)
		}
		if len(c.sizes) > 2 { // which show the floor
			near(t, "a' above a floor", *a.Value, c.floor, 0.001)
		}
	}
}

// The slope of two sizes whose last packets differ is off by more than noise, and its interval holds what it is off by.
func TestSlopeOfPartialPackets(t *testing.T) {
	const packet, fixed, perByte = 1448, 400e-6, 0.6e-6 // of the slowest server
	f := fitOf(t, hyperbolic.Hyperbola, pairOf([]float64{1, 701, 1401, 16001, 64001}, func(x float64) float64 {
		return 1e-3 + math.Ceil(x/packet)*fixed + (perByte-fixed/packet)*x
	}))
	b := f.Parameters["b_prime_limits"]
	if *b.Value > 0.999*perByte || b.CI95[0] > perByte || b.CI95[1] < perByte || b.CI95[1] > 1.01*perByte {
		t.Errorf("b' is %g, %v, and %g is the truth", *b.Value, *b.CI95, perByte)
	}
	if r := f.Parameters["r_inf"]; r.CI95[0] > 1/perByte || r.CI95[1] < 1/perByte {
		t.Errorf("r_inf is %g, %v, and %g is the truth", *r.Value, *r.CI95, 1/perByte)
	}
}

// Four sizes or more say how long the room in a last packet takes: as long as nothing, as bytes, or something between.
func TestSlopeOfFourSizes(t *testing.T) {
	const packet, perByte = 1448, 1.4e-6
	for _, share := range []float64{0, 0.4, 1} {
		sizes := []float64{1, 137, 1382, 3059, 12557, 30909, 63382}
		f := fitOf(t, hyperbolic.Hyperbola, pairOf(sizes, func(x float64) float64 {
			if x <= packet {
				return 2e-3 + 2*perByte*x
			}
			return 2e-3 + perByte*(packet+x+share*(math.Ceil(x/packet)*packet-x))
		}))
		b := f.Parameters["b_prime_limits"]
		near(t, fmt.Sprintf("b' with %g of the room", share), *b.Value, perByte, 1e-4)
		if width := b.CI95[1] - b.CI95[0]; width > 0.002*perByte || len(b.Budget) > 2 {
			t.Errorf("b' with %g of the room: %v, %+v", share, *b.CI95, b.Budget)
		}
	}
}

// Where T scatters over three small sizes by more than it grows, a' is their mean, whose interval is of use: a line of
// them would be uncertain by a factor of two. Where T grows, a' is the intercept.
func TestFixedTimeOfThreeSizes(t *testing.T) {
	sizes := []float64{1, 15, 137, 3059, 12557, 63382}
	for _, c := range []struct {
		small  [3]float64
		a, off float64 // off is half the interval
		from   string
	}{
		{[3]float64{20e-6, 20.9e-6, 19.8e-6}, 20.2e-6, 1.6e-6, "mean"},
		{[3]float64{20e-6, 20.1e-6, 21.1e-6}, 19.99e-6, 0.11e-6, "intercept"},
	} {
		f := fitOf(t, hyperbolic.Hyperbola, pairOf(sizes, func(x float64) float64 {
			if i := slices.Index(sizes, x); i < len(c.small) {
				return c.small[i]
			}
			return 25e-6 + 0.3e-9*x
		}))
		a := f.Parameters["a_prime_limits"]
		near(t, "a'", *a.Value, c.a, 0.005)
		if half := (a.CI95[1] - a.CI95[0]) / 2; half > 1.2*c.off || half < 0.4*c.off {
			t.Errorf("a' of %v is %g, %v", c.small, *a.Value, *a.CI95)
		}
		if !notes(f.Findings, "limits-used", "a' is the "+c.from+" over sizes of 1 to 137 B") {
			t.Errorf("a' of %v: %v", c.small, f.Findings)
		}
	}
}

func TestHyperbolaNoise(t *testing.T) {
	for seed := range uint64(3) {
		w := sparc()
		w.Exact, w.Seed, w.Between, w.Within, w.Rounds = true, seed+1, 0.003, 0.02, 8
		f := fitOf(t, hyperbolic.Hyperbola, w.Dataset())
		near(t, "a'", value(t, f, "a_prime_limits"), 2064.64e-6, 0.01)
		near(t, "b'", value(t, f, "b_prime_limits"), 1.42e-6, 0.01)
		if f.Quality.LeaveOneOut == nil || *f.Quality.LeaveOneOut > 0.05 || f.Quality.MaxError > 0.05 {
			t.Errorf("quality %+v", f.Quality)
		}
	}
}

var manySizes = []float64{1, 4, 16, 64, 200, 500, 1000, 2000, 5000, 12000, 30000, 70000, 200000, 500000, 1000000,
	4000000}

func TestHockney(t *testing.T) {
	line := func(x float64) float64 { return 120e-6 + 8.5e-9*x }
	f := fitOf(t, hyperbolic.Hockney, pairOf(manySizes, line))
	near(t, "alpha", value(t, f, "alpha"), 120e-6, 1e-4)
	near(t, "beta", value(t, f, "beta"), 8.5e-9, 1e-4)
	if *f.Quality.R2 < 1-1e-6 || f.Quality.MaxError > 1e-4 {
		t.Errorf("quality %+v", f.Quality)
	}
	off := fitOf(t, hyperbolic.Hockney, pairOf(manySizes, func(x float64) float64 {
		if x == 2000 {
			return 3 * line(x) // one size of another protocol
		}
		return line(x)
	}))
	near(t, "alpha with one size off the line", value(t, off, "alpha"), 120e-6, 0.02)
	near(t, "beta with one size off the line", value(t, off, "beta"), 8.5e-9, 0.02)
}

// A protocol that changes between 5,000 and 12,000 bytes.
func TestSegmented(t *testing.T) {
	d := pairOf(manySizes, func(x float64) float64 {
		if x <= 5000 {
			return 50e-6 + 20e-9*x
		}
		return 300e-6 + 9e-9*x
	})
	fn := fitOf(t, hyperbolic.Segmented, d).Functions["T"]
	if fn.Form != params.Pieces || len(fn.Coeff) != 6 {
		t.Fatalf("%+v", fn)
	}
	near(t, "c0_1", fn.Coeff["c0_1"], 50e-6, 1e-3)
	near(t, "c1_1", fn.Coeff["c1_1"], 20e-9, 1e-3)
	near(t, "c0_2", fn.Coeff["c0_2"], 300e-6, 1e-3)
	near(t, "c1_2", fn.Coeff["c1_2"], 9e-9, 1e-3)
	if b := fn.Coeff["from_2"]; b < 5000 || b > 12000 || fn.Coeff["from_1"] != 0 {
		t.Errorf("breaks %v", fn.Coeff)
	}
	if fn.Domain["bytes_1"] != [2]float64{1, 5000} || fn.Domain["bytes_2"] != [2]float64{12000, 4e6} {
		t.Errorf("domain %v", fn.Domain)
	}
}

func TestTooFewSizes(t *testing.T) {
	d := pairOf([]float64{1, 1000}, func(x float64) float64 { return 1e-4 + 1e-8*x })
	for _, m := range []fit.Model{hyperbolic.Hockney, hyperbolic.Hyperbola, hyperbolic.Segmented} {
		if _, err := m.Fit(fit.Prepare(d, fit.Settings{})); !errors.Is(err, fit.ErrNeeds) {
			t.Errorf("%s: %v, want ErrNeeds", m.Name, err)
		}
	}
}

func TestPairMatrix(t *testing.T) {
	w := sparc()
	w.Hosts, w.Slow, w.Between, w.Within = 6, map[int]float64{2: 1.5}, 0.002, 0.01
	d := w.Dataset()
	f := fitOf(t, hyperbolic.Hockney, d)
	if len(f.Pairs) != 15 {
		t.Fatalf("%d pairs, want 15", len(f.Pairs))
	}
	for _, p := range f.Pairs {
		slow := p.From == "h3" || p.To == "h3"
		if slow != (p.Slow != "") {
			t.Errorf("%s to %s: slow %q", p.From, p.To, p.Slow)
		}
		want := 2*859.52e-6 + 345.6e-6
		if slow {
			want += 0.5 * 859.52e-6
		}
		near(t, "latency "+p.From+p.To, *p.Latency, want, 0.02)
		if p.LatencyCI == nil || p.RateCI == nil || p.RateCI[0] > *p.Rate || p.RateCI[1] < *p.Rate {
			t.Errorf("%+v", p)
		}
	}
	slow := fit.Prepare(d, fit.Settings{}).Slow().Findings
	if len(slow) == 0 ||
		!warns(slow[:1], params.SlowHost, "host h3 is slow: a message takes 1.21 times as long as usual, in 11 of 11 looks") {
		t.Errorf("findings %v", slow)
	}
	if f.LeftOutWhy[fit.WhySlowHost] == 0 {
		t.Errorf("left out %v", f.LeftOutWhy)
	}
	near(t, "alpha without the slow host", value(t, f, "beta"), 1.42e-6, 0.02)
}
