package hyperbolic

import (
	"errors"
	"testing"

	"calib/fit"
	"calib/fit/fittest"
	"calib/internal/dataset"
	"calib/internal/params"
)

func fitOf(t *testing.T, m fit.Model, d *dataset.Dataset) *params.Fit {
	t.Helper()
	return fittest.Fit(t, m, d, 200)
}

// Both estimators on exact hyperbolae, and the limits on exact packets: the truth of one is not the form of the other.
func TestHyperbolaExact(t *testing.T) {
	w := fittest.Sparc()
	w.Hosts = 2
	a, b := 2*859.52e-6+345.6e-6, 1.42e-6
	packets := fitOf(t, Hyperbola, w.Dataset())
	fittest.Near(t, "a' of packets", fittest.Value(t, packets, "a_prime_limits"), a, 1e-4)
	fittest.Near(t, "b' of packets", fittest.Value(t, packets, "b_prime_limits"), b, 1e-4)
	w.Exact = true
	f := fitOf(t, Hyperbola, w.Dataset())
	fittest.Near(t, "a', limits", fittest.Value(t, f, "a_prime_limits"), a, 0.01)
	fittest.Near(t, "b', limits", fittest.Value(t, f, "b_prime_limits"), b, 0.01)
	fittest.Near(t, "a', joint", fittest.Value(t, f, "a_prime_joint"), a, 1e-5)
	fittest.Near(t, "b', joint", fittest.Value(t, f, "b_prime_joint"), b, 1e-5)
}

func TestHyperbolaNoise(t *testing.T) {
	for seed := range uint64(3) {
		w := fittest.Sparc()
		w.Exact, w.Seed, w.Between, w.Within, w.Rounds = true, seed+1, 0.003, 0.02, 8
		f := fitOf(t, Hyperbola, w.Dataset())
		for _, name := range []string{"a_prime_limits", "a_prime_joint"} {
			fittest.Near(t, name, fittest.Value(t, f, name), 2064.64e-6, 0.01)
		}
		for _, name := range []string{"b_prime_limits", "b_prime_joint"} {
			fittest.Near(t, name, fittest.Value(t, f, name), 1.42e-6, 0.01)
		}
		if f.Quality.LeaveOneOut == nil || *f.Quality.LeaveOneOut > 0.05 || f.Quality.MaxError > 0.05 {
			t.Errorf("quality %+v", f.Quality)
		}
	}
}

var manySizes = []float64{1, 4, 16, 64, 200, 500, 1000, 2000, 5000, 12000, 30000, 70000, 200000, 500000, 1000000, 4000000}

func TestHockney(t *testing.T) {
	line := func(x float64) float64 { return 120e-6 + 8.5e-9*x }
	f := fitOf(t, Hockney, fittest.PairOf(manySizes, line))
	fittest.Near(t, "alpha", fittest.Value(t, f, "alpha"), 120e-6, 1e-4)
	fittest.Near(t, "beta", fittest.Value(t, f, "beta"), 8.5e-9, 1e-4)
	fittest.Near(t, "r_inf", fittest.Value(t, f, "r_inf"), 1/8.5e-9, 1e-4)
	if *f.Quality.R2 < 1-1e-6 || f.Quality.MaxError > 1e-4 {
		t.Errorf("quality %+v", f.Quality)
	}
	off := fitOf(t, Hockney, fittest.PairOf(manySizes, func(x float64) float64 {
		if x == 2000 {
			return 3 * line(x) // one size of another protocol
		}
		return line(x)
	}))
	fittest.Near(t, "alpha with one size off the line", fittest.Value(t, off, "alpha"), 120e-6, 0.02)
	fittest.Near(t, "beta with one size off the line", fittest.Value(t, off, "beta"), 8.5e-9, 0.02)
}

// A protocol that changes between 5,000 and 12,000 bytes.
func TestSegmented(t *testing.T) {
	d := fittest.PairOf(manySizes, func(x float64) float64 {
		if x <= 5000 {
			return 50e-6 + 20e-9*x
		}
		return 300e-6 + 9e-9*x
	})
	fn := fitOf(t, Segmented, d).Functions["T"]
	if fn.Form != params.Pieces || len(fn.Coeff) != 6 {
		t.Fatalf("%+v", fn)
	}
	fittest.Near(t, "c0_1", fn.Coeff["c0_1"], 50e-6, 1e-3)
	fittest.Near(t, "c1_1", fn.Coeff["c1_1"], 20e-9, 1e-3)
	fittest.Near(t, "c0_2", fn.Coeff["c0_2"], 300e-6, 1e-3)
	fittest.Near(t, "c1_2", fn.Coeff["c1_2"], 9e-9, 1e-3)
	if b := fn.Coeff["from_2"]; b < 5000 || b > 12000 || fn.Coeff["from_1"] != 0 {
		t.Errorf("breaks %v", fn.Coeff)
	}
	if fn.Domain["bytes_1"] != [2]float64{1, 5000} || fn.Domain["bytes_2"] != [2]float64{12000, 4e6} {
		t.Errorf("domain %v", fn.Domain)
	}
}

func TestTooFewSizes(t *testing.T) {
	d := fittest.PairOf([]float64{1, 1000}, func(x float64) float64 { return 1e-4 + 1e-8*x })
	for _, m := range []fit.Model{Hockney, Hyperbola, Segmented} {
		if _, err := m.Fit(fit.Prepare(d, fit.Settings{})); !errors.Is(err, fit.ErrNeeds) {
			t.Errorf("%s: %v, want ErrNeeds", m.Name, err)
		}
	}
}

func TestPairMatrix(t *testing.T) {
	w := fittest.Sparc()
	w.Hosts, w.Slow, w.Between, w.Within = 6, map[int]float64{2: 1.5}, 0.002, 0.01
	d := w.Dataset()
	f := fitOf(t, Hockney, d)
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
		fittest.Near(t, "latency "+p.From+p.To, *p.Latency, want, 0.02)
		if p.LatencyCI == nil || p.RateCI == nil || p.RateCI[0] > *p.Rate || p.RateCI[1] < *p.Rate {
			t.Errorf("%+v", p)
		}
	}
	slow := fit.Prepare(d, fit.Settings{}).Slow().Findings
	if len(slow) == 0 ||
		!fittest.Warns(slow[:1], params.SlowHost, "host h3 is slow: its half round trip at 1 B is 1.21 times the median pair's") {
		t.Errorf("findings %v", slow)
	}
	if f.LeftOutWhy[fit.WhySlowHost] == 0 {
		t.Errorf("left out %v", f.LeftOutWhy)
	}
	fittest.Near(t, "alpha without the slow host", fittest.Value(t, f, "beta"), 1.42e-6, 0.02)
}

func TestSmallAndLargeSizes(t *testing.T) {
	flat := func(n int, v float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = v
		}
		return out
	}
	if got := SmallSizes([]float64{1, 500, 1000, 3000}, flat(4, 1), 1448); got != 3 {
		t.Errorf("flat: %d small sizes, want those within a packet", got)
	}
	if got := SmallSizes([]float64{1, 500, 1000, 3000}, []float64{1, 1.5, 2, 3}, 1448); got != 2 {
		t.Errorf("steep: %d small sizes, want two", got)
	}
	if got := SmallSizes([]float64{1, 5000, 10000}, flat(3, 1), 1448); got != 1 {
		t.Errorf("one within a packet: %d small sizes", got)
	}
	sizes := []float64{1, 10, 100, 1000, 10000, 100000, 1000000}
	if got := largeSizes(sizes, flat(7, 1), nil, 0); got != 4 {
		t.Errorf("flat T: large from %d, want the last three", got)
	}
	few, times := []float64{1, 701, 1401, 16001, 64001}, []float64{2.11, 3.77, 5.42, 26.99, 95.03}
	if got := largeSizes(few, times, nil, 1448); got != 3 {
		t.Errorf("few sizes: large from %d, want those above a packet", got)
	}
}
