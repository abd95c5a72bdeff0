package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"calib/internal/stats"
	"calib/params"
)

// cluster makes runs of a network with so many hosts, each of a night of its own. change may make a metric of a run
// worse by a factor: of a link where from is not empty.
func cluster(seed uint64, hosts, runs int, noise float64, change func(name, from, to string) float64) []Run {
	rng := rand.New(rand.NewPCG(seed, 0x636c))
	var out []Run
	for i := range runs {
		r := Run{ID: fmt.Sprintf("%d-%02d", seed, i+1), At: time.Date(2026, 3, 1+i, 2, 0, 0, 0, time.UTC), Plan: "standard",
			Versions: []string{"v1.0.0"}, Models: []string{"hockney"}, Environment: map[string]map[string]string{}}
		add := func(m params.Metric) {
			f := math.Exp(noise * rng.NormFloat64())
			if change != nil {
				f *= change(m.Name, m.From, m.To)
			}
			if m.Better == params.BetterHigher {
				f = 1 / f
			}
			m.Value *= f
			r.Metrics = append(r.Metrics, m)
		}
		add(params.Metric{Name: "a", Unit: "s", Label: "fixed time of a message", Value: 2e-5, Better: params.BetterLower})
		add(params.Metric{Name: "b", Unit: "s/B", Label: "time per byte", Value: 8e-10, Better: params.BetterLower})
		add(params.Metric{Name: "f_best", Unit: "B", Label: "best fragment", Value: 8192})
		for a := range hosts {
			r.Environment[host(a)] = map[string]string{"kernel": "6.1", "calib.version": "v1.0.0"}
			for b := a + 1; b < hosts; b++ {
				far := 1 + 0.3*float64((a+b)%3)
				add(params.Metric{Name: "latency", From: host(a), To: host(b), Unit: "s", Label: "half round trip",
					Value: 2e-5 * far, Better: params.BetterLower})
				add(params.Metric{Name: "rate", From: host(a), To: host(b), Unit: "B/s", Label: "rate", Value: 1e9 / far,
					Better: params.BetterHigher})
			}
		}
		out = append(out, r)
	}
	return out
}

func host(i int) string { return fmt.Sprintf("n%02d", i) }

// of makes the links of a host worse.
func of(h string, by float64) func(name, from, to string) float64 {
	return func(_, from, to string) float64 {
		if from == h || to == h {
			return by
		}
		return 1
	}
}

func texts(v *Verdict) []string {
	var out []string
	for _, f := range v.Findings {
		out = append(out, f.Kind+" "+f.Text)
	}
	return out
}

// What is one cause is one finding.
func TestOneCauseOneFinding(t *testing.T) {
	link := func(_, from, to string) float64 {
		if from == "n01" && to == "n03" {
			return 1.5
		}
		return 1
	}
	card := func(name, from, to string) float64 { // also seen in a fit over all pairs
		if name == "a" {
			return 1.4
		}
		return of("n05", 2.1)(name, from, to)
	}
	all := func(_, from, to string) float64 { return map[bool]float64{true: 1, false: 1.3}[from == ""] }
	latency := func(name, _, _ string) float64 { return map[bool]float64{true: 1.3, false: 1}[name == "latency"] }
	param := func(name, _, _ string) float64 { return map[bool]float64{true: 1.3, false: 1}[name == "b"] }
	best := func(name, _, _ string) float64 { return map[bool]float64{true: 1.5, false: 1}[name == "f_best"] }
	faster := func(name, from, to string) float64 { return 1 / of("n02", 1.5)(name, from, to) }
	two := func(name, from, to string) float64 { return of("n05", 2.1)(name, from, to) * link(name, from, to) }
	for name, c := range map[string]struct {
		hosts   int
		change  func(string, string, string) float64
		outcome string
		want    []string // how the findings begin
	}{
		"nothing": {8, nil, OK, nil},
		"a card": {8, card, Regression, []string{"regression host n05: 7 of its 7 links: latency slower by 2.1×, rate " +
			"slower by 2.1×; " +
			"1 parameter of the network changed with it"}},
		"a card of four":    {4, of("n02", 2.1), Regression, []string{"regression host n02: 3 of its 3 links: "}},
		"a link":            {8, link, Regression, []string{"regression link n01→n03: "}},
		"a link of four":    {4, link, Regression, []string{"regression link n01→n03: "}},
		"the only link":     {2, all, Regression, []string{"regression link n00→n01: "}},
		"two of three":      {3, of("n02", 1.5), Regression, []string{"regression network: 2 of its 3 links: "}},
		"a card and a link": {8, two, Regression, []string{"regression host n05: ", "regression link n01→n03: "}},
		"the switch":        {8, all, Regression, []string{"regression network: 28 of its 28 links: latency slower by "}},
		"only latency": {8, latency, Regression,
			[]string{"regression network: 28 of its 28 links: latency slower by "}},
		"only a parameter":   {8, param, Regression, []string{"regression network: b slower by "}},
		"neither nor":        {8, best, OK, []string{"changed network: f_best more by 1.5×"}},
		"a host is repaired": {8, faster, OK, []string{"improvement host n02: 7 of its 7 links: "}},
	} {
		v := Compare(cluster(1, c.hosts, 12, 0.01, nil), cluster(2, c.hosts, 8, 0.01, c.change), Options{})
		got := texts(v)
		ok := v.Outcome == c.outcome && len(got) == len(c.want)
		for i := range c.want {
			ok = ok && strings.HasPrefix(got[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %s\n%s\nwant %s\n%s", name, v.Outcome, strings.Join(got, "\n"), c.outcome, strings.Join(c.want, "\n"))
		}
	}
}

// With too few runs for a test, what looks slower in the network is said beside what is not known.
func TestLooksSlower(t *testing.T) {
	param := func(name, _, _ string) float64 { return map[bool]float64{true: 2, false: 1}[name == "a"] }
	v := Compare(cluster(1, 4, 1, 0.01, nil), cluster(2, 4, 1, 0.01, param), Options{})
	got := texts(v)
	if len(got) != 2 || !strings.HasPrefix(got[0], "inconclusive network: a looks slower by ") ||
		!strings.HasPrefix(got[1], "inconclusive network: too few runs") {
		t.Errorf("%q", got)
	}
}

// 64 hosts, 4,032 metrics of links: what a bad card or cable is, is seen with few runs.
func TestLargeMatrix(t *testing.T) {
	old := cluster(1, 64, 10, 0.02, nil)
	v := Compare(old, cluster(2, 64, 5, 0.02, of("n07", 2.1)), Options{})
	if len(v.Findings) != 1 || !strings.HasPrefix(v.Findings[0].Text, "host n07: 63 of its 63 links: ") {
		t.Errorf("%q", texts(v))
	}
	v = Compare(old, cluster(3, 64, 5, 0.02, func(_, from, to string) float64 {
		return map[bool]float64{true: 1.5, false: 1}[from == "n07" && to == "n40"]
	}), Options{})
	if len(v.Findings) != 1 || !strings.HasPrefix(v.Findings[0].Text, "link n07→n40: ") {
		t.Errorf("%q", texts(v))
	}
	if v = Compare(old, cluster(4, 64, 5, 0.02, nil), Options{}); v.Outcome != OK || len(v.Findings) != 0 {
		t.Errorf("%s: %q", v.Outcome, texts(v))
	}
	if v.Tested != (Tested{Network: 5, Hosts: 128, Links: 4032}) {
		t.Errorf("tested %+v", v.Tested)
	}
}

func TestTooFewRuns(t *testing.T) {
	one := cluster(1, 4, 1, 0.01, nil)
	v := Compare(one, cluster(2, 4, 1, 0.01, nil), Options{})
	if v.Outcome != Inconclusive || v.More == nil || v.More.Old != v.More.New || v.More.Old < 4 {
		t.Errorf("%s, more %+v: %q", v.Outcome, v.More, v.Why)
	}
	if c := v.Network[0]; c.Ratio == nil || c.State != Inconclusive {
		t.Errorf("one run a side does not show its magnitudes: %+v", c)
	}
	v = Compare(one, cluster(2, 4, 1, 0.01, of("n02", 3)), Options{})
	if v.Outcome != Inconclusive || !strings.HasPrefix(v.Findings[0].Text, "host n02: latency looks slower by 3") {
		t.Errorf("%s: %q", v.Outcome, texts(v))
	}
	// With what is needed, the same can be told.
	m, n := v.More.Old+1, v.More.New+1
	if v = Compare(cluster(3, 4, m, 0.01, nil), cluster(4, 4, n, 0.01, of("n02", 3)),
		Options{}); v.Outcome != Regression || v.More != nil {
		t.Errorf("%d against %d runs: %s, more %+v", m, n, v.Outcome, v.More)
	}
	// Five small runs a side cannot reject, and yet exclude a regression where noise is far below the threshold.
	if v = Compare(cluster(5, 4, 3, 0.0005, nil), cluster(6, 4, 3, 0.0005, nil), Options{}); v.Outcome != OK {
		t.Errorf("quiet: %s %q", v.Outcome, texts(v))
	}
	// So does one run a side, where A/A runs have shown the noise.
	floor := Noise(cluster(7, 4, 10, 0.0005, nil))
	if v = Compare(cluster(5, 4, 1, 0.0005, nil), cluster(6, 4, 1, 0.0005, nil), Options{Noise: floor}); v.Outcome != OK {
		t.Errorf("quiet by A/A: %s %q", v.Outcome, texts(v))
	}
	if v = Compare(nil, one, Options{}); v.Outcome != Inconclusive || v.More.Old != 1 {
		t.Errorf("nothing old: %s %+v", v.Outcome, v.More)
	}
}

// Values that have no ratio, are missing or not numbers are survived, and never reach JSON.
func TestOddValues(t *testing.T) {
	odd := func(seed uint64, values ...float64) []Run {
		runs := cluster(seed, 4, len(values), 0.01, nil)
		for i := range runs {
			for j := range runs[i].Metrics {
				if m := &runs[i].Metrics[j]; m.Name == "a" || m.Name == "f_best" || m.From == "n00" {
					m.Value = values[i]
				}
			}
		}
		return runs
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range [][2][]Run{
		{odd(1, 0, 0, 0, 0, 0, 0, 0), odd(2, 0, 0, 0, 0, 0, 0, 0)},
		{odd(1, 0, 0, 0, 0, 0, 0, 0), odd(2, 1, 1, 1, 1, 1, 1, 1)},
		{odd(1, -1, -2, 1, 0, 1, 2, 3), odd(2, 5, 6, 7, 8, 9, 10, 11)},
		{odd(1, nan, inf, 1, 1, 1, 1, 1), odd(2, nan, nan, nan, nan, nan, nan, nan)},
		{odd(1, nan, inf, 1, 1, 1, 1, 1), odd(2, nan, nan, nan, nan, nan, 1, -inf)},
		{odd(1, 1e-308, 1e-308, 1e-308), odd(2, 1e308, 1e308, 1e308)},
		{odd(1, 5e-324), odd(2, 1.7e308)},
		{odd(1, 1e308, 1.5e308, 1e308, 1e308), odd(2, -1e308, -1.7e308, -1e308, -1e308)},
	} {
		v := Compare(c[0], c[1], Options{})
		if _, err := json.Marshal(v); err != nil {
			t.Errorf("%v", err)
		}
		if _, err := json.Marshal(Noise(c[0])); err != nil {
			t.Errorf("noise: %v", err)
		}
	}
}

// The reason why the run is the sample: at equal spread within and between runs, without a change.
func TestRawSamplesRaiseFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const trials, samples = 1000, 20
	run := func() []float64 {
		level, out := rng.NormFloat64(), make([]float64, samples)
		for i := range out {
			out[i] = level + rng.NormFloat64()
		}
		return out
	}
	raw, medians := 0, 0
	for range trials {
		if stats.MaxT([][]float64{append(run(), run()...)}, samples, 1)[0] <= 0.05 {
			raw++
		}
		both := make([]float64, 20)
		for i := range both {
			both[i] = stats.Median(run())
		}
		if stats.MaxT([][]float64{both}, 10, 1)[0] <= 0.05 {
			medians++
		}
	}
	t.Logf("false alarms at 5%%: %.1f%% on 20 timings of one run against 20 of another, %.1f%% on ten run medians "+
		"against ten",
		100*share(raw, trials), 100*share(medians, trials))
	if f := share(raw, trials); f < 0.58 || f > 0.70 {
		t.Errorf("raw timings: %.3f", f)
	}
	if f := share(medians, trials); f > 0.07 {
		t.Errorf("run medians: %.3f", f)
	}
}

func TestDeterministic(t *testing.T) {
	text := func() string {
		b, err := json.Marshal(Compare(cluster(1, 8, 9, 0.03, nil), cluster(2, 8, 6, 0.03, of("n03", 1.3)), Options{}))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if a, b := text(), text(); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}
