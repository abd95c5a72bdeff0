package models

import (
	"slices"
	"strings"
	"testing"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/internal/dataset"
	"calib/params"
)

// Exact data of the paper's cluster give its four published values back (section 4).
func TestNetworkPublished(t *testing.T) {
	w := sparc()
	f := fitWith(t, hyperbolic.Network, w.Dataset(), 300)
	near(t, "a", value(t, f, "a"), 859.52e-6, 1e-5)
	near(t, "a_c", value(t, f, "a_c"), 345.60e-6, 1e-5)
	near(t, "b", value(t, f, "b"), 1.42e-6, 1e-5)
	near(t, "b_c", value(t, f, "b_c"), 0.92e-6, 1e-5)
	if f.Network == nil || *f.Network != (params.Network{Packets: params.Shared, Streams: params.Shared}) ||
		len(warnings(f.Findings)) > 0 {
		t.Errorf("network %v, findings %v", f.Network, f.Findings)
	}
	if slow := fit.Prepare(w.Dataset(), fit.Settings{}).Slow(); len(slow.Findings) > 0 {
		t.Errorf("slow hosts: %v", slow.Findings)
	}
	if got := f.Domain["pairs"]; got != [2]float64{1, 4} {
		t.Errorf("domain %v", f.Domain)
	}
}

func TestNetworkRecovers(t *testing.T) {
	quiet := func(w truth, seed uint64) truth {
		w.Seed, w.Between, w.Within, w.Offset, w.Rounds = seed, 0.002, 0.02, 200e-6, 8
		return w
	}
	slowMedium := sparc()
	slowMedium.Host = params.Block{A: 500e-6, B: 0.5e-6}
	for _, w := range []truth{quiet(sparc(), 1), quiet(sparc(), 2), quiet(sparc(), 3), quiet(slowMedium, 4)} {
		f := fitWith(t, hyperbolic.Network, w.Dataset(), 300)
		near(t, "a", value(t, f, "a"), w.Host.A, 0.01)
		near(t, "a_c", value(t, f, "a_c"), w.Medium.A, 0.02)
		near(t, "b_c", value(t, f, "b_c"), w.Medium.B, 0.01)
		if w.Host.B > w.Medium.B {
			near(t, "b", value(t, f, "b"), w.Host.B, 0.01)
		}
	}
}

// b below b_c: the data hold no b, and say so: never a number that is not there.
func TestNetworkBottleneckMedium(t *testing.T) {
	w := sparc()
	w.Host.B, w.Between, w.Within = 0.7e-6, 0.003, 0.01
	p := fitWith(t, hyperbolic.Network, w.Dataset(), 300).Parameters["b"]
	if p.Value != nil || p.Status != params.StatusUnidentifiable ||
		!strings.HasPrefix(p.Why, "b ≤ b_c: the medium is the bottleneck at n=1") {
		t.Fatalf("%+v", p)
	}
	if p.Bound[0] != 0 || p.Bound[1] < 0.915e-6 || p.Bound[1] > 0.95e-6 {
		t.Errorf("bound %v, want about [0, 0.92e-6]", *p.Bound)
	}
}

func TestNetworkSwitch(t *testing.T) {
	w := sparc()
	w.Switched, w.Between, w.Within = true, 0.002, 0.01
	w.Host, w.Medium = params.Block{A: 400e-6, B: 0.60e-6}, params.Block{A: 200e-6, B: 0.35e-6}
	f := fitWith(t, hyperbolic.Network, w.Dataset(), 300)
	near(t, "a", value(t, f, "a"), 500e-6, 0.02) // 2a + port
	ac := f.Parameters["a_c"]
	if !(ac.CI95[0] <= 0 && ac.CI95[1] >= 0) && *ac.Value*3 > 0.02*1e-3 {
		t.Errorf("a_c = %g in %v", *ac.Value, *ac.CI95)
	}
	near(t, "b", value(t, f, "b"), 0.60e-6, 0.01)
	bc := f.Parameters["b_c"]
	if bc.Status != params.StatusUnidentifiable || bc.Value != nil {
		t.Fatalf("b_c: %+v", bc)
	}
	near(t, "bound of b_c", bc.Bound[1], 0.60e-6/4, 0.03)
	if f.Network == nil || *f.Network != (params.Network{Packets: params.Switch, Streams: params.Switch}) {
		t.Errorf("findings %v", f.Findings)
	}
}

// A growth that noise hides is no proof of none: the bound of b_c is that of the most pairs, and b is that of one.
func TestNoGrowthIsNoProof(t *testing.T) {
	w := sparc()
	w.Between, w.Within = 0.08, 0.01
	w.Host.B, w.Medium.B = 1.4e-6, 0.39e-6 // 4 pairs take 11% longer than one
	for seed := range uint64(20) {
		w.Seed = seed
		f := fitWith(t, hyperbolic.Network, w.Dataset(), 300)
		bc := f.Parameters["b_c"]
		points := f.Named("b'(n)").Points
		last := points[len(points)-1]
		if bc.Value == nil && bc.Bound != nil && bc.Bound[1] < 0.99*last.Hi/last.X {
			t.Errorf("seed %d: b_c is at most %g, but b'(%g) may be %g", seed, bc.Bound[1], last.X, last.Hi)
		}
		if b := f.Parameters["b"]; bc.Value == nil && *b.Value != points[0].Measured {
			t.Errorf("seed %d: b is %g, but b'(1) is %g", seed, *b.Value, points[0].Measured)
		}
	}
}

func TestNetworkOnePair(t *testing.T) {
	for _, hosts := range []int{2, 3} {
		w := sparc()
		w.Hosts = hosts
		f := fitWith(t, hyperbolic.Network, w.Dataset(), 300)
		near(t, "a_prime", value(t, f, "a_prime"), 2*859.52e-6+345.6e-6, 1e-5)
		near(t, "b_prime", value(t, f, "b_prime"), 1.42e-6, 1e-5)
		for name, top := range map[string]float64{"a": 859.52e-6 + 172.8e-6, "a_c": 2064.64e-6, "b": 1.42e-6,
			"b_c": 1.42e-6} {
			p := f.Parameters[name]
			if p.Status != params.StatusUnidentifiable || p.Value != nil || p.Why == "" {
				t.Fatalf("%s: %+v", name, p)
			}
			near(t, "bound of "+name, p.Bound[1], top, 1e-3)
		}
	}
}

// Two numbers of pairs: b is b'(1), b_c is b'(2)/2.
func TestNetworkTwo(t *testing.T) {
	w := sparc()
	w.Hosts = 4
	f := fitWith(t, hyperbolic.Network, w.Dataset(), 300)
	near(t, "a", value(t, f, "a"), 859.52e-6, 1e-5)
	near(t, "b", value(t, f, "b"), 1.42e-6, 1e-5)
	near(t, "b_c", value(t, f, "b_c"), 0.92e-6, 1e-5)
	if !warns(f.Findings, "two-numbers-of-pairs", "two numbers of pairs only") {
		t.Errorf("findings %v", f.Findings)
	}
}

func TestNetworkSlowHost(t *testing.T) {
	for slow := range 8 {
		w := sparc()
		w.Slow, w.Between, w.Within = map[int]float64{slow: 2}, 0.002, 0.01
		f := fitWith(t, hyperbolic.Network, w.Dataset(), 300)
		p := fit.Prepare(w.Dataset(), fit.Settings{})
		name := p.HostName(slow)
		if s := p.Slow(); !warns(s.Findings, params.SlowHost, "host "+name+" is slow") ||
			!slices.Equal(s.Findings[0].Hosts, []string{name}) {
			t.Fatalf("host %d: findings %v", slow, s.Findings)
		}
		if slow >= 4 { // n = 1 and 2 are without it
			near(t, "a", value(t, f, "a"), 859.52e-6, 0.02)
			near(t, "a_c", value(t, f, "a_c"), 345.6e-6, 0.03)
			near(t, "b_c", value(t, f, "b_c"), 0.92e-6, 0.02)
		}
		if f.LeftOutWhy[fit.WhySlowHost] == 0 && slow > 1 {
			t.Errorf("host %d: left out %v", slow, f.LeftOutWhy)
		}
	}
}

func TestNetworkLeavesOut(t *testing.T) {
	w := sparc()
	d := w.Dataset()
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
	f, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil {
		t.Fatal(err)
	}
	if f.LeftOutWhy[dataset.FlagRetrans] != count || f.LeftOutWhy["other direction missing"] != count ||
		f.LeftOutWhy["unsteady or limited stream"] == 0 {
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

// Without streams nothing is known of the time per byte.
func TestNetworkWithoutStreams(t *testing.T) {
	w := sparc()
	d := w.Dataset()
	kept := d.Samples[:0]
	for _, s := range d.Samples {
		if s.Phase != "stream" {
			kept = append(kept, s)
		}
	}
	d.Samples = kept
	f, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "a", value(t, f, "a"), 859.52e-6, 1e-3)
	for _, name := range []string{"b", "b_c"} {
		if p := f.Parameters[name]; p.Status != params.StatusUnidentifiable || p.Why != "no streams were measured" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
