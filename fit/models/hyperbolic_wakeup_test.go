package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/params"
)

func TestWakeup(t *testing.T) {
	made := func(phases map[string]float64) *dataset.Dataset { return wakeups(8, phases) }
	whole := made(map[string]float64{names.PhaseBlocking: 12e3, names.PhasePolling: 7e3, names.PhaseIdle: 40e3,
		names.PhaseIdleAwake: 14e3})
	f, err := hyperbolic.Wakeup.Fit(fit.Prepare(whole, fit.Settings{}))
	if err != nil {
		t.Fatal(err)
	}
	checkFit(t, hyperbolic.Wakeup, f)
	for name, want := range map[string]float64{"wakeup": 5e-6, "after_idle": 28e-6, "after_idle_awake": 2e-6} {
		p := f.Parameters[name]
		if p.Value == nil || math.Abs(*p.Value-want) > 0.3e-6 || p.CI95 == nil || p.CI95[0] > want || p.CI95[1] < want {
			t.Errorf("%s: %+v, want %g s", name, p, want)
		}
	}
	for _, code := range []params.Code{"wake-up", "cold-messages"} {
		if !slices.ContainsFunc(f.Findings, func(x params.Finding) bool { return x.Code == code }) {
			t.Errorf("no finding %s", code)
		}
	}
	f, err = hyperbolic.Wakeup.Fit(fit.Prepare(made(map[string]float64{names.PhaseBlocking: 12e3, names.PhasePolling: 14e3,
		names.PhaseIdle: 10e3, names.PhaseIdleAwake: 9e3}), fit.Settings{}))
	if err != nil || len(f.Findings) != 1 { // that the table is the result
		t.Errorf("nothing costs more, and findings are %v, %v", f.Findings, err)
	}
	f, err = hyperbolic.Wakeup.Fit(fit.Prepare(made(map[string]float64{names.PhaseBlocking: 12e3, names.PhaseIdle: 40e3}),
		fit.Settings{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"wakeup", "after_idle_awake"} {
		if p := f.Parameters[name]; p.Status != params.StatusUnidentifiable || p.Why == "" {
			t.Errorf("%s without its measurements: %+v", name, p)
		}
	}
}

// hyperbolic.Tails hold messages whose segments were sent again, and know that rounds differ: 4,000 timings of which
// one round of eight has all that are slow are too few for p99.
func TestTailsOfLosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := &dataset.Dataset{Header: dataset.Header{Hosts: []dataset.Host{{Name: "a"}, {Name: "b"}}}}
	for round := range 8 {
		for _, x := range []int64{1, 100, 1000} {
			s := halfTrips(rng, names.Pingpong, "", x, round, 500, 10e3)
			for i := range 10 {
				switch {
				case x == 1: // 2% of all wait for a timeout of 200 ms
					s.NS[50*i] += 2e8
					s.Flags = append(s.Flags, dataset.FlagRetrans)
				case x == 100 && round == 3:
					for k := range 50 {
						s.NS[50*i+k] += 1e5
					}
				}
			}
			d.Samples = append(d.Samples, s)
		}
	}
	f, err := hyperbolic.Tails.Fit(fit.Prepare(d, fit.Settings{}))
	if err != nil {
		t.Fatal(err)
	}
	if p := f.Parameters["p99"]; p.Value == nil || *p.Value < 0.1 {
		t.Errorf("p99 with 2%% of timeouts: %+v", p)
	}
	var have []float64
	for _, q := range f.Named("T_p99(x)").Points {
		have = append(have, q.X)
	}
	if !slices.Equal(have, []float64{1, 1000}) {
		t.Errorf("sizes with p99: %v, want 1 and 1000", have)
	}
}

// Timings that are means of many messages have no tail, however many there are. Means of one are messages.
func TestTailsOfMeans(t *testing.T) {
	for averaged, want := range map[float64]string{0: params.StatusUnidentifiable, 1: params.StatusOK,
		1000: params.StatusUnidentifiable} {
		rng := rand.New(rand.NewPCG(1, 2))
		d := &dataset.Dataset{Header: dataset.Header{Hosts: []dataset.Host{{Name: "a"}, {Name: "b"}}}}
		for round := range 8 {
			for _, x := range []int64{1, 100, 1000} {
				s := halfTrips(rng, names.Pingpong, "", x, round, 500, 10e3)
				s.Aux = map[string]float64{names.AuxAveraged: averaged}
				d.Samples = append(d.Samples, s)
			}
		}
		f, err := hyperbolic.Tails.Fit(fit.Prepare(d, fit.Settings{}))
		if err != nil {
			t.Fatal(err)
		}
		checkFit(t, hyperbolic.Tails, f)
		p := f.Parameters["p99"]
		if p.Status != want || (want == params.StatusOK) != (len(f.Series) == 2) {
			t.Errorf("means of %g: p99 %+v, %d series", averaged, p, len(f.Series))
		}
		if want != params.StatusOK && !strings.Contains(p.Why, "mean of many messages") {
			t.Errorf("means of %g: %q", averaged, p.Why)
		}
	}
}

// A size with enough timings has both tails, one with fewer only the nearer, and the smallest says why it has none.
func TestTails(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	made := func(n int) *params.Fit {
		d := &dataset.Dataset{Header: dataset.Header{Hosts: []dataset.Host{{Name: "a"}, {Name: "b"}}}}
		for round := range 8 {
			for _, x := range []int64{1, 100, 1000, 10_000} {
				d.Samples = append(d.Samples, halfTrips(rng, names.Pingpong, "", x, round, n, 10e3+float64(x)))
			}
		}
		f, err := hyperbolic.Tails.Fit(fit.Prepare(d, fit.Settings{}))
		if err != nil {
			t.Fatal(err)
		}
		checkFit(t, hyperbolic.Tails, f)
		return f
	}
	for _, c := range []struct{ n, p99, p999 int }{{500, 4, 4}, {100, 4, 0}, {20, 0, 0}} {
		f := made(c.n)
		if a, b := len(f.Named("T_p99(x)").Points), len(f.Named("T_p999(x)").Points); a != c.p99 || b != c.p999 {
			t.Errorf("8 rounds of %d: %d sizes with p99, %d with p999", c.n, a, b)
		}
		_, fn := f.Functions["T_p999"]
		if p := f.Parameters["p999"]; (p.Status == params.StatusOK) != (c.p999 > 0) || p.Value == nil && p.Why == "" ||
			fn != (c.p999 > 0) {
			t.Errorf("8 rounds of %d: p999 %+v, function %t", c.n, p, fn)
		}
	}
	// 1% of a normal distribution lies 2.326 deviations above its mean.
	want := 10.001e-6 * (1 + 2.326*0.02)
	if p := made(500).Parameters["p99"]; math.Abs(*p.Value/want-1) > 0.003 || p.CI95[0] > want || p.CI95[1] < want {
		t.Errorf("p99 %g %v, want %g", *p.Value, *p.CI95, want)
	}
}

// Where agents share CPUs the kernel stamps arrivals, which leaves out the wake-up: a holds half of it all the same,
// and a_c nothing.
func TestNetworkOnSharedCPUs(t *testing.T) {
	w := sparc()
	d := w.Dataset()
	d.Samples = append(d.Samples,
		wakeups(8, map[string]float64{names.PhaseBlocking: 62e3, names.PhasePolling: 22e3}).Samples...)
	for _, cpus := range []int{2, 100} {
		for i := range d.Header.Hosts {
			d.Header.Hosts[i].Boot, d.Header.Hosts[i].CPU = "one", strconv.Itoa(i%cpus)
		}
		f, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
		if err != nil {
			t.Fatal(err)
		}
		want := w.Host.A
		if cpus == 2 {
			want += 20e-6
		}
		near(t, "a", value(t, f, "a"), want, 0.002)
		near(t, "a_c", value(t, f, "a_c"), w.Medium.A, 0.005)
		if q := f.Parameters["a"]; (cpus == 2) != slices.ContainsFunc(q.Budget,
			func(t params.Term) bool { return t.Name == "wake-up" }) {
			t.Errorf("%d CPUs: terms %v", cpus, q.Budget)
		}
	}
}
