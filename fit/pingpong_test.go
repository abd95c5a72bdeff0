package fit

import (
	"errors"
	"math"
	"testing"

	"calib/internal/dataset"
)

func fitOf(t *testing.T, m Model, d *dataset.Dataset) *Fit {
	t.Helper()
	f, err := m.Fit(d, Settings{Replicates: 200})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Both estimators on exact hyperbolae, and the limits on exact packets: the truth of one is not the form of the other.
func TestHyperbolaExact(t *testing.T) {
	w := sparc()
	w.hosts = 2
	a, b := 2*859.52e-6+345.6e-6, 1.42e-6
	packets := fitOf(t, Hyperbola{}, w.dataset())
	near(t, "a' of packets", value(t, packets, "a_prime_limits"), a, 1e-4)
	near(t, "b' of packets", value(t, packets, "b_prime_limits"), b, 1e-4)
	w.exact = true
	f := fitOf(t, Hyperbola{}, w.dataset())
	near(t, "a', limits", value(t, f, "a_prime_limits"), a, 0.01)
	near(t, "b', limits", value(t, f, "b_prime_limits"), b, 0.01)
	near(t, "a', joint", value(t, f, "a_prime_joint"), a, 1e-5)
	near(t, "b', joint", value(t, f, "b_prime_joint"), b, 1e-5)
}

func TestHyperbolaNoise(t *testing.T) {
	for seed := range uint64(3) {
		w := sparc()
		w.exact, w.seed, w.between, w.within, w.rounds = true, seed+1, 0.003, 0.02, 8
		f := fitOf(t, Hyperbola{}, w.dataset())
		for _, name := range []string{"a_prime_limits", "a_prime_joint"} {
			near(t, name, value(t, f, name), 2064.64e-6, 0.01)
		}
		for _, name := range []string{"b_prime_limits", "b_prime_joint"} {
			near(t, name, value(t, f, name), 1.42e-6, 0.01)
		}
		if f.Quality.LeaveOneOut == nil || *f.Quality.LeaveOneOut > 0.05 || f.Quality.MaxError > 0.05 {
			t.Errorf("quality %+v", f.Quality)
		}
	}
}

// series is a dataset of one pair with T(x) given.
func series(sizes []float64, at func(x float64) float64) *dataset.Dataset {
	d := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Hosts: []dataset.Host{{Name: "u"}, {Name: "v"}}}}
	for round := range 3 {
		for _, x := range sizes {
			ns := int64(math.Round(at(x) * 1e9))
			d.Samples = append(d.Samples, dataset.Sample{Exp: "pingpong", Point: dataset.Point{"bytes": int64(x)},
				Ranks: []int{0, 1}, Round: round, TCP: &dataset.TCP{MSS: 1448}, NS: []int64{ns, ns + 1, ns - 1}})
		}
	}
	return d
}

var manySizes = []float64{1, 4, 16, 64, 200, 500, 1000, 2000, 5000, 12000, 30000, 70000, 200000, 500000, 1000000, 4000000}

func TestHockney(t *testing.T) {
	line := func(x float64) float64 { return 120e-6 + 8.5e-9*x }
	f := fitOf(t, Hockney{}, series(manySizes, line))
	near(t, "alpha", value(t, f, "alpha"), 120e-6, 1e-4)
	near(t, "beta", value(t, f, "beta"), 8.5e-9, 1e-4)
	near(t, "r_inf", value(t, f, "r_inf"), 1/8.5e-9, 1e-4)
	if *f.Quality.R2 < 1-1e-6 || f.Quality.MaxError > 1e-4 {
		t.Errorf("quality %+v", f.Quality)
	}
	off := fitOf(t, Hockney{}, series(manySizes, func(x float64) float64 {
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
	d := series(manySizes, func(x float64) float64 {
		if x <= 5000 {
			return 50e-6 + 20e-9*x
		}
		return 300e-6 + 9e-9*x
	})
	fn := fitOf(t, Segmented{}, d).Functions["T"]
	if fn.Form != SegmentsForm || len(fn.Coeff) != 6 {
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
	d := series([]float64{1, 1000}, func(x float64) float64 { return 1e-4 + 1e-8*x })
	for _, m := range []Model{Hockney{}, Hyperbola{}, Segmented{}} {
		if _, err := m.Fit(d, Settings{}); !errors.Is(err, ErrNeeds) {
			t.Errorf("%s: %v, want ErrNeeds", m.Name(), err)
		}
	}
	fits, errs := All(d, Settings{})
	if len(fits) != 0 || len(errs) != 3 {
		t.Errorf("%d fits, errors %v: a dataset with pingpong of two sizes should say so", len(fits), errs)
	}
}

func TestPairMatrix(t *testing.T) {
	w := sparc()
	w.hosts, w.slow, w.between, w.within = 6, map[int]float64{2: 1.5}, 0.002, 0.01
	d := w.dataset()
	f := fitOf(t, Hockney{}, d)
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
	if len(f.Warnings) == 0 || !says(f.Warnings[:1], "host h3 is slow: its half round trip at 1 B is 1.21 times the median pair's") {
		t.Errorf("warnings %q", f.Warnings)
	}
	if f.LeftOutWhy[whySlowHost] == 0 {
		t.Errorf("left out %v", f.LeftOutWhy)
	}
	near(t, "alpha without the slow host", value(t, f, "beta"), 1.42e-6, 0.02)
}

// No host is called slow in ordinary noise.
func TestNoSlowHost(t *testing.T) {
	for seed := range uint64(20) {
		w := sparc()
		w.hosts, w.seed, w.between, w.within, w.reps = 6, seed+1, 0.03, 0.1, 9
		w.sizes = []float64{1, 1000, 100000}
		if slow := findSlow(w.dataset()); len(slow.said) > 0 {
			t.Errorf("seed %d: %q", seed+1, slow.said)
		}
	}
}

func TestDisturbed(t *testing.T) {
	for _, tc := range []struct {
		flagged, want int // rounds of six
	}{{1, 1}, {3, 0}} {
		w := sparc()
		w.hosts, w.rounds = 2, 6
		d := w.dataset()
		for i := range d.Samples {
			if s := &d.Samples[i]; s.Exp == "pingpong" && s.Round < tc.flagged {
				s.Flags = []string{dataset.FlagPreempt}
			}
		}
		f := fitOf(t, Hockney{}, d)
		if got := f.LeftOutWhy[dataset.FlagPreempt]; got != tc.want*15*w.reps {
			t.Errorf("%d rounds of 6 preempted: %d timings left out", tc.flagged, got)
		}
		if says(f.Notes, "preempted") != (tc.want == 0) || says(f.Warnings, "left out") != (tc.want > 0) {
			t.Errorf("%d rounds of 6 preempted: notes %q, warnings %q", tc.flagged, f.Notes, f.Warnings)
		}
	}
}

func TestSmallAndLargeSizes(t *testing.T) {
	flat := func(n int, v float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = v
		}
		return out
	}
	if got := smallSizes([]float64{1, 500, 1000, 3000}, flat(4, 1), 1448); got != 3 {
		t.Errorf("flat: %d small sizes, want those within a packet", got)
	}
	if got := smallSizes([]float64{1, 500, 1000, 3000}, []float64{1, 1.5, 2, 3}, 1448); got != 2 {
		t.Errorf("steep: %d small sizes, want two", got)
	}
	if got := smallSizes([]float64{1, 5000, 10000}, flat(3, 1), 1448); got != 1 {
		t.Errorf("one within a packet: %d small sizes", got)
	}
	sizes := []float64{1, 10, 100, 1000, 10000, 100000, 1000000}
	if got := largeSizes(sizes, flat(7, 1)); got != 4 {
		t.Errorf("flat T: large from %d, want the last three", got)
	}
}
