package compare

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"calib/params"
)

var bars = flag.Int("bars", 10, "healthy and changed series to gate for each kind of noise")

// slower is by what a metric grows on a switch whose hosts are 5% slower: the port's part of a message stays what it
// was.
var slower = []struct {
	metric params.Metric
	by     float64
}{
	{params.Metric{Name: "T.1B", Unit: "s", Value: 1e-3, Better: params.BetterLower}, 1.04},
	{params.Metric{Name: "T.64B", Unit: "s", Value: 1.05e-3, Better: params.BetterLower}, 1.04},
	{params.Metric{Name: "T.1KiB", Unit: "s", Value: 1.9e-3, Better: params.BetterLower}, 1.04},
	{params.Metric{Name: "T.16KiB", Unit: "s", Value: 11e-3, Better: params.BetterLower}, 1.05},
	{params.Metric{Name: "T.64KiB", Unit: "s", Value: 41e-3, Better: params.BetterLower}, 1.048},
	{params.Metric{Name: "a", Unit: "s", Value: 5e-4, Better: params.BetterLower}, 1.04},
	{params.Metric{Name: "b", Unit: "s/B", Value: 6e-7, Better: params.BetterLower}, 1.05},
	{params.Metric{Name: "a_c", Unit: "s", Value: 1e-6, Better: params.BetterLower}, 1}, // near zero
	{params.Metric{Name: params.LossMetric, Unit: "1", Better: params.BetterLower}, 1},
	// near zero, and decides nothing
	{params.Metric{Name: "wakeup", Unit: "s", Value: 1e-7, Better: params.BetterLower}, 1},
}

// barWorld measures runs of six hosts that vary by sd between runs, each metric by half as much to half as much again,
// and by nights from night to night, all metrics together.
type barWorld struct {
	rng        *rand.Rand
	sd, nights float64
	own        map[string]float64
	runs       int
	night      int
	shared     float64
}

func (w *barWorld) next(night int) { w.night, w.shared = night, w.nights*w.rng.NormFloat64() }

func (w *barWorld) measure(n int, worse bool) []Run {
	var out []Run
	for range n {
		w.runs++
		r := Run{ID: fmt.Sprint("r", w.runs), Plan: "quick",
			At:          time.Date(2026, 1, 1, 1, 0, w.runs, 0, time.UTC).AddDate(0, 0, w.night),
			Environment: map[string]map[string]string{}, Status: map[string]string{}}
		add := func(m params.Metric, by float64) {
			id := m.Name + m.Link()
			if w.own[id] == 0 {
				w.own[id] = w.sd * (0.5 + w.rng.Float64())
			}
			f := math.Exp(w.shared + w.own[id]*w.rng.NormFloat64())
			if worse {
				f *= by
			}
			if m.Better == params.BetterHigher {
				f = 1 / f
			}
			m.Value *= f
			if m.Name == "a_c" || m.Name == "wakeup" {
				m.Value += 1e-6 * w.rng.NormFloat64()
			}
			r.Metrics = append(r.Metrics, m)
		}
		for _, s := range slower {
			add(s.metric, s.by)
		}
		for a := range 6 {
			r.Environment[host(a)] = map[string]string{}
			for b := a + 1; b < 6; b++ {
				add(params.Metric{Name: "latency.1B", From: host(a), To: host(b), Unit: "s", Value: 1e-3,
					Better: params.BetterLower}, 1.04)
				add(params.Metric{Name: "rate.256KiB", From: host(a), To: host(b), Unit: "B/s", Value: 1.6e6,
					Better: params.BetterHigher}, 1.048)
			}
		}
		out = append(out, r)
	}
	return out
}

// A gate passes healthy series, 95 of 100, and finds hosts that are 5% slower, 90 of 100, with as many runs as it
// chooses itself, whatever the noise between runs is. Where nights differ it passes healthy ones all the same, and
// finds what nights do not hide. With -bars 100 -v it prints a table.
func TestGateBars(t *testing.T) {
	t.Logf("| between runs | between nights | baseline | healthy: exit 0 | 3 | 5 | 5%% slower: exit 3 | 0 | 5 | runs, " +
		"first stage | measured again, healthy |")
	t.Logf("|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	for k, c := range []struct {
		sd, nights   float64
		of, runs     int  // nights of the baseline, and runs of each
		apart, blind bool // the gate is another night; nights hide a change of 5%
	}{
		{0.002, 0, 1, 6, false, false}, {0.005, 0, 1, 6, false, false}, {0.01, 0, 1, 6, false, false},
		{0.02, 0, 1, 6, false, false},
		{0.005, 0.002, 1, 6, true, true}, {0.005, 0.002, 10, 3, true, false}, {0.01, 0.005, 10, 3, true, false},
		{0.02, 0.005, 10, 3, true, false},
		{0.01, 0.01, 20, 3, true, true}, {0.02, 0.02, 20, 3, true, true},
	} {
		var got [2]map[string]int
		again, stage := 0, 0
		for worse := range 2 {
			got[worse] = map[string]int{}
			for i := range *bars {
				w := &barWorld{rng: rand.New(rand.NewPCG(uint64(1000*k+i), uint64(worse))), sd: c.sd, nights: c.nights,
					own: map[string]float64{}}
				var baseline []Run
				for n := range c.of {
					w.next(n)
					baseline = append(baseline, w.measure(c.runs, false)...)
				}
				if c.apart {
					w.next(c.of)
				}
				v, err := gateOf(baseline, func(n int, second bool) ([]Run, error) {
					if stage = n; second && worse == 0 {
						again++
					}
					return w.measure(n, worse == 1), nil
				}, 0, Options{replicates: 1})
				if err != nil {
					t.Fatal(err)
				}
				got[worse][v.Outcome]++
				if worse == 0 && v.Outcome != OK && testing.Verbose() {
					t.Logf("%s %q", v.Outcome, v.Why)
				}
			}
		}
		h, s := got[0], got[1]
		base := fmt.Sprintf("%d × %d runs", c.of, c.runs)
		t.Logf("| %.1f%% | %.1f%% | %s | %d | %d | %d | %d | %d | %d | %d | %d |", 100*c.sd, 100*c.nights, base, h[OK],
			h[Regression], h[Inconclusive],
			s[Regression], s[OK], s[Inconclusive], stage, again)
		if float64(h[OK]) < 0.95*float64(*bars) {
			t.Errorf("%s of sd %.3f: %d of %d healthy series pass", base, c.sd, h[OK], *bars)
		}
		if float64(s[Regression]) < 0.9*float64(*bars) && !c.blind {
			t.Errorf("%s of sd %.3f: %d of %d slower series are found", base, c.sd, s[Regression], *bars)
		}
	}
}
