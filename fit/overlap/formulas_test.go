package overlap

import (
	"math"
	"testing"

	"calib/internal/stats"
)

func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s = %g, want %g within %g%%", what, got, want, 100*rel)
	}
}

// hiding is the gain where all of the computation hides communication, by Ω and r.
func hiding(omega, r float64) float64 {
	return Fixed{F: 1, Overhead: omega / r, Penalty: 1}.Gain(1 / r)
}

// Example 1 of section 2.3.1: γ_s = 5 on three architectures.
func TestExample1(t *testing.T) {
	for _, c := range []struct{ gammaH, omega, want float64 }{{1, 1, 3.0 / 5}, {5, 0.2, 5.0 / 3}, {10, 0, 3.0 / 2}} {
		near(t, "G", hiding(c.omega, c.gammaH/5), c.want, 1e-12)
	}
}

// Example 2: which architecture gains at every 2 ≤ γ_s ≤ 10? The first and the third; the third just so at γ_s = 10,
// where its gain is 1.
func TestExample2(t *testing.T) {
	for i, c := range []struct {
		gammaH, omega float64
		gains         bool
	}{{5, 0, true}, {1, 0.2, false}, {10, 1, true}} {
		least := math.Inf(1)
		for s := 2.0; s < 10; s += 0.01 {
			least = math.Min(least, hiding(c.omega, c.gammaH/s))
		}
		if (least > 1) != c.gains {
			t.Errorf("H_%d: least gain %g, want above 1: %t", i+1, least, c.gains)
		}
	}
}

// Sections 2.1 and 2.3.1: the largest gains and where they are.
func TestLargestGains(t *testing.T) {
	for _, gamma := range []float64{0.1, 0.5, 1, 2, 10} { // eq. 1
		near(t, "G", hiding(0, 1/gamma), (1+1/gamma)/math.Max(1, 1/gamma), 1e-12)
	}
	for _, f := range []float64{0.25, 0.5, 1} { // G_max = 1 + f for γ = 1/f
		gamma, gain, ok := Fixed{F: f, Penalty: 1}.Peak()
		if near(t, "γ", gamma, 1/f, 1e-12); !ok {
			t.Error("no peak")
		}
		near(t, "G_max", gain, 1+f, 1e-12)
	}
	for _, omega := range []float64{0, 0.2, 1} { // at 1 + Ω = γ_h/γ_s
		largest := 2 - omega/(1+omega)
		near(t, "max(G)", hiding(omega, 1+omega), largest, 1e-12)
		for _, r := range []float64{0.99, 1.01} {
			if hiding(omega, r*(1+omega)) >= largest {
				t.Errorf("Ω %g: the gain is larger beside its largest", omega)
			}
		}
	}
	// A gain of 1.5 and more: 0.5 ≤ γ_s ≤ 2 at γ_h = 1, 5 ≤ γ_s ≤ 20 at γ_h = 10.
	for _, h := range []float64{1, 10} {
		for _, s := range []float64{0.5 * h, 2 * h} {
			near(t, "G", hiding(0, h/s), 1.5, 1e-12)
		}
	}
	// With q = p, f = 1 and Ω = 0 the largest gain, 2, is at λ = p².
	const p = 12.0
	near(t, "G at λ = p²", hiding(0, p*p/(p*p)), 2, 1e-12)
}

// Section 4.3: the conjugate gradients of de Sturler and van der Vorst, of which the paper gives results and not the
// constants. Those follow from what it prints: T(p) = a/p + b√p is least at p = 601, so that a/b = 601^1.5/2; f and ω
// are those with which the largest gain and speed-up come out as printed.
func TestConjugateGradients(t *testing.T) {
	const f, omega = 0.345, 4.03 // ω in units of b
	lambda := math.Pow(601, 1.5) / 2
	ratio := func(p float64) float64 { return math.Sqrt(p) * p / lambda } // q = √p
	hiding := func(p float64) Fixed { return Fixed{F: f, Overhead: omega * p / lambda / ratio(p), Penalty: 1} }
	best := func(of func(p float64) float64) (at int, most float64) {
		for p := 1; p <= 1000; p++ {
			if v := of(float64(p)); v > most {
				at, most = p, v
			}
		}
		return at, most
	}
	speedup := func(p float64) float64 { return Speedup(p, ratio(p)) }
	with := func(p float64) float64 { return hiding(p).Speedup(p, 1/ratio(p)) }
	for _, c := range []struct {
		what   string
		of     func(p float64) float64
		p      int
		value  float64
		digits float64
	}{
		{"largest gain", func(p float64) float64 { return hiding(p).Gain(1 / ratio(p)) }, 229, 1.307, 0.0005},
		{"largest speed-up in turn", speedup, 601, 200.2, 0.15},
		{"largest speed-up", with, 453, 230.6, 0.1},
	} {
		p, v := best(c.of)
		if p != c.p || math.Abs(v-c.value) > c.digits {
			t.Errorf("%s: %g at p = %d, published %g at %d", c.what, v, p, c.value, c.p)
		}
	}
	near(t, "S(229)", speedup(229), 155.7, 0.05/155.7)
	near(t, "S_lh(229)", with(229), 203.5, 0.05/203.5)
}

// Table 2: the direct transfer and four pipe messages are the transfer with latency hiding, within a sixth; their ratio
// is the penalty factor of figure 19.
func TestTable2(t *testing.T) {
	var errors []float64
	for model, c := range map[string]struct{ overhead, direct, hidden float64 }{ // ms
		"RS6000/590": {0.2, 0.596, 0.977}, "SPARCstation1+": {1.52, 0.962, 2.489}, "SPARCstation10": {0.44, 0.442, 0.996},
	} {
		x := Fixed{F: 1, Overhead: c.overhead / c.direct, Penalty: (c.direct + c.overhead) / c.direct}
		got := x.Time(0) * c.direct
		errors = append(errors, math.Abs(got/c.hidden-1))
		if errors[len(errors)-1] > 0.19 {
			t.Errorf("%s: %g ms, measured %g", model, got, c.hidden)
		}
	}
	if m := stats.Median(errors); m > 0.12 {
		t.Errorf("median error %g", m)
	}
}

// A fixed overhead is eq. 4 with Ω = ω/γ, and its peak is where the gain is largest.
func TestFixed(t *testing.T) {
	for _, x := range []Fixed{{1, 0, 1}, {0.7, 0.1, 1.2}, {1, 0.3, 1}, {0.4, 0.05, 1.6}} {
		at, most := 0.0, 0.0
		for g := 0.01; g < 100; g *= 1.001 {
			r := 1 / g
			eq4 := (1 + r) / ((1 - x.F) + math.Max(x.F+x.Overhead/g, x.Penalty*r))
			near(t, "gain", x.Gain(g), eq4, 1e-12)
			if v := x.Gain(g); v > most {
				at, most = g, v
			}
		}
		gamma, gain, ok := x.Peak()
		if !ok {
			t.Fatalf("%+v: no peak", x)
		}
		near(t, "peak", gamma, at, 2e-3)
		near(t, "gain at the peak", gain, most, 2e-3)
	}
	for _, x := range []Fixed{{1, 1.2, 1}, {0, 0.1, 1}, {1, 1, 1.3}} {
		if _, _, ok := x.Peak(); ok {
			t.Errorf("%+v has a peak", x)
		}
	}
}
