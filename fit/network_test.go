package fit

import (
	"strings"
	"testing"

	"calib/internal/dataset"
)

func fitNetwork(t *testing.T, w truth) *Fit {
	t.Helper()
	f, err := Network{}.Fit(w.dataset(), Settings{Replicates: 300})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func value(t *testing.T, f *Fit, name string) float64 {
	t.Helper()
	p, ok := f.Parameters[name]
	if !ok || p.Value == nil {
		t.Fatalf("no value of %s: %+v, warnings %q", name, p, f.Warnings)
	}
	return *p.Value
}

// says reports whether one of the lines holds the text.
func says(lines []string, text string) bool { return strings.Contains(strings.Join(lines, "\n"), text) }

// Exact data of the paper's cluster give its four published values back (section 4).
func TestNetworkPublished(t *testing.T) {
	f := fitNetwork(t, sparc())
	near(t, "a", value(t, f, "a"), 859.52e-6, 1e-5)
	near(t, "a_c", value(t, f, "a_c"), 345.60e-6, 1e-5)
	near(t, "b", value(t, f, "b"), 1.42e-6, 1e-5)
	near(t, "b_c", value(t, f, "b_c"), 0.92e-6, 1e-5)
	if !says(f.Notes, "behaves like a shared medium") || len(f.Warnings) > 0 {
		t.Errorf("notes %q, warnings %q", f.Notes, f.Warnings)
	}
	if got := f.Domain["pairs"]; got != [2]float64{1, 4} {
		t.Errorf("domain %v", f.Domain)
	}
}

func TestNetworkRecovers(t *testing.T) {
	quiet := func(w truth, seed uint64) truth {
		w.seed, w.between, w.within, w.offset, w.rounds = seed, 0.002, 0.02, 200e-6, 8
		return w
	}
	slowMedium := sparc()
	slowMedium.host = Block{500e-6, 0.5e-6}
	for _, w := range []truth{quiet(sparc(), 1), quiet(sparc(), 2), quiet(sparc(), 3), quiet(slowMedium, 4)} {
		f := fitNetwork(t, w)
		near(t, "a", value(t, f, "a"), w.host.A, 0.01)
		near(t, "a_c", value(t, f, "a_c"), w.medium.A, 0.02)
		near(t, "b_c", value(t, f, "b_c"), w.medium.B, 0.01)
		if w.host.B > w.medium.B {
			near(t, "b", value(t, f, "b"), w.host.B, 0.01)
		}
	}
}

// b below b_c: the data hold no b, and say so: never a number that is not there.
func TestNetworkBottleneckMedium(t *testing.T) {
	w := sparc()
	w.host.B, w.between, w.within = 0.7e-6, 0.003, 0.01
	p := fitNetwork(t, w).Parameters["b"]
	if p.Value != nil || p.Status != StatusUnidentifiable || !strings.HasPrefix(p.Why, "b ≤ b_c: the medium is the bottleneck at n=1") {
		t.Fatalf("%+v", p)
	}
	if p.Bound[0] != 0 || p.Bound[1] < 0.915e-6 || p.Bound[1] > 0.95e-6 {
		t.Errorf("bound %v, want about [0, 0.92e-6]", *p.Bound)
	}
}

func TestNetworkSwitch(t *testing.T) {
	w := sparc()
	w.switched, w.between, w.within = true, 0.002, 0.01
	w.host, w.medium = Block{400e-6, 0.60e-6}, Block{200e-6, 0.35e-6}
	f := fitNetwork(t, w)
	near(t, "a", value(t, f, "a"), 500e-6, 0.02) // 2a + port
	ac := f.Parameters["a_c"]
	if !(ac.CI95[0] <= 0 && ac.CI95[1] >= 0) && *ac.Value*3 > 0.02*1e-3 {
		t.Errorf("a_c = %g in %v", *ac.Value, *ac.CI95)
	}
	near(t, "b", value(t, f, "b"), 0.60e-6, 0.01)
	bc := f.Parameters["b_c"]
	if bc.Status != StatusUnidentifiable || bc.Value != nil {
		t.Fatalf("b_c: %+v", bc)
	}
	near(t, "bound of b_c", bc.Bound[1], 0.60e-6/4, 0.03)
	if !says(f.Notes, "behaves like a switch: T does not depend on n") {
		t.Errorf("notes %q", f.Notes)
	}
}

func TestNetworkOnePair(t *testing.T) {
	for _, hosts := range []int{2, 3} {
		w := sparc()
		w.hosts = hosts
		f := fitNetwork(t, w)
		near(t, "a_prime", value(t, f, "a_prime"), 2*859.52e-6+345.6e-6, 1e-5)
		near(t, "b_prime", value(t, f, "b_prime"), 1.42e-6, 1e-5)
		for name, top := range map[string]float64{"a": 859.52e-6 + 172.8e-6, "a_c": 2064.64e-6, "b": 1.42e-6, "b_c": 1.42e-6} {
			p := f.Parameters[name]
			if p.Status != StatusUnidentifiable || p.Value != nil || p.Why == "" {
				t.Fatalf("%s: %+v", name, p)
			}
			near(t, "bound of "+name, p.Bound[1], top, 1e-3)
		}
	}
}

// Two numbers of pairs: b is b'(1), b_c is b'(2)/2.
func TestNetworkTwo(t *testing.T) {
	w := sparc()
	w.hosts = 4
	f := fitNetwork(t, w)
	near(t, "a", value(t, f, "a"), 859.52e-6, 1e-5)
	near(t, "b", value(t, f, "b"), 1.42e-6, 1e-5)
	near(t, "b_c", value(t, f, "b_c"), 0.92e-6, 1e-5)
	if !says(f.Warnings, "two numbers of pairs only") {
		t.Errorf("warnings %q", f.Warnings)
	}
}

func TestNetworkSlowHost(t *testing.T) {
	for slow := range 8 {
		w := sparc()
		w.slow, w.between, w.within = map[int]float64{slow: 2}, 0.002, 0.01
		f := fitNetwork(t, w)
		if !says(f.Warnings, "host "+hostName(w.dataset(), slow)+" is slow") {
			t.Fatalf("host %d: warnings %q", slow, f.Warnings)
		}
		if slow >= 4 { // n = 1 and 2 are without it
			near(t, "a", value(t, f, "a"), 859.52e-6, 0.02)
			near(t, "a_c", value(t, f, "a_c"), 345.6e-6, 0.03)
			near(t, "b_c", value(t, f, "b_c"), 0.92e-6, 0.02)
		}
		if f.LeftOutWhy[whySlowHost] == 0 && slow > 1 {
			t.Errorf("host %d: left out %v", slow, f.LeftOutWhy)
		}
	}
	w := sparc()
	w.slow, w.disjoint = map[int]float64{5: 2}, true
	if f := fitNetwork(t, w); !says(f.Warnings, "one of the hosts h5, h6 is slow") {
		t.Errorf("disjoint pairs: %q", f.Warnings)
	}
}

func TestNetworkLeavesOut(t *testing.T) {
	w := sparc()
	d := w.dataset()
	count := 0
	for i := range d.Samples {
		s := &d.Samples[i]
		switch {
		case s.Exp != "paired" || s.Round != 1:
		case s.Phase == "stream":
			s.Flags = []string{dataset.FlagUnsteady}
		case s.Point["bytes"] == 1 && s.Aux["dir"] == 1:
			s.Flags = []string{dataset.FlagRetrans}
			for k := range s.NS {
				s.NS[k] *= 10
			}
			count += len(s.NS)
		}
	}
	f, err := Network{}.Fit(d, Settings{Replicates: 50})
	if err != nil {
		t.Fatal(err)
	}
	if f.LeftOutWhy[dataset.FlagRetrans] != count || f.LeftOutWhy[whyDirection] != count || f.LeftOutWhy[dataset.FlagUnsteady] == 0 {
		t.Errorf("left out %v, want %d retransmitted and as many of the other direction", f.LeftOutWhy, count)
	}
	near(t, "a", value(t, f, "a"), 859.52e-6, 1e-5)
	if f.Used+f.LeftOut != timingsOf(d, "paired") {
		t.Errorf("used %d + left out %d, want %d", f.Used, f.LeftOut, timingsOf(d, "paired"))
	}
}

func timingsOf(d *dataset.Dataset, exp string) int {
	n := 0
	for _, s := range d.Select(exp, "") {
		n += len(s.NS)
	}
	return n
}

// Without streams, the slope of the bursts stands in, with a warning.
func TestNetworkWithoutStreams(t *testing.T) {
	w := sparc()
	d := w.dataset()
	kept := d.Samples[:0]
	for _, s := range d.Samples {
		if s.Phase != "stream" {
			kept = append(kept, s)
		}
	}
	d.Samples = kept
	f, err := Network{}.Fit(d, Settings{Replicates: 50})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "b", value(t, f, "b"), 1.42e-6, 1e-3)
	near(t, "b_c", value(t, f, "b_c"), 0.92e-6, 1e-3)
	if !says(f.Warnings, "no streams") {
		t.Errorf("warnings %q", f.Warnings)
	}
}

func TestBestBreak(t *testing.T) {
	n := []float64{1, 2, 3, 4, 5, 6}
	one := []float64{1, 1, 1, 1, 1, 1}
	for _, tc := range []struct {
		b, bc float64
		flat  int
	}{{1.42, 0.92, 1}, {3.5, 1, 3}, {5.5, 1, 5}} {
		v := make([]float64, len(n))
		for i := range n {
			v[i] = max(tc.b, n[i]*tc.bc)
		}
		got := bestBreak(n, v, one)
		if got.flat != tc.flat || !got.consistent {
			t.Errorf("%+v: %+v", tc, got)
		}
		near(t, "b", got.b, tc.b, 1e-12)
		near(t, "b_c", got.bc, tc.bc, 1e-12)
	}
}
