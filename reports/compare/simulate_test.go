package compare

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"calib/internal/stats"
	"calib/params"
)

var nightly = flag.Int("nightly", 0, "series of nights to simulate for each kind of noise; 0 is a few")

// The network of the simulation: what a run of it measures, and how much that varies without a change.
const (
	runNoise    = 0.02 // standard deviation between runs of one night
	nightsInAll = 60
	nightsKnown = 20 // of the baseline
	runsANight  = 3
	drop        = 0.07
	changeAt    = 40
)

var simulated = []params.Metric{
	{Name: "a", Unit: "s", Value: 2e-5, Better: params.BetterLower},
	{Name: "b", Unit: "s/B", Value: 8e-10, Better: params.BetterLower},
	{Name: "o_s", Unit: "s", Value: 3e-6, Better: params.BetterLower},
	{Name: "G", Unit: "s/B", Value: 8.2e-10, Better: params.BetterLower},
	{Name: "r_inf", Unit: "B/s", Value: 1.2e9, Better: params.BetterHigher},
	{Name: "a_c", Unit: "s", Value: 3e-7, Better: params.BetterLower},
	{Name: "latency", From: "n1", To: "n2", Unit: "s", Value: 2.2e-5, Better: params.BetterLower},
	{Name: "rate", From: "n1", To: "n2", Unit: "B/s", Value: 1.1e9, Better: params.BetterHigher},
}

// noise is what the values of a series do without a change.
type noise struct {
	name   string
	nights float64 // standard deviation of what all runs of a night share
	memory float64 // of the night in the night before
	spikes float64 // share of values
	rough  bool    // a 7% drop is not much in it: only false alarms are held to a bound
}

var noises = []noise{
	{name: "independent", nights: 0.01},
	{name: "5% spikes", nights: 0.01, spikes: 0.05},
	{name: "AR(0.5)", nights: 0.01, memory: 0.5},
	{name: "nights 2%", nights: 0.02, rough: true},
	{name: "nights 2%, AR(0.5), 5% spikes", nights: 0.02, memory: 0.5, spikes: 0.05, rough: true},
}

// world makes runs, night by night; each metric varies on its own. From night changed on, all is worse by so much, or
// the first metric alone.
type world struct {
	noise
	rng     *rand.Rand
	night   int
	runs    int
	shared  []float64
	changed int
	worse   float64
	alone   bool
}

func newWorld(n noise, seed uint64, changed int, worse float64, alone bool) *world {
	w := &world{noise: n, rng: rand.New(rand.NewPCG(seed, 0x6e)), night: -1, changed: changed, worse: worse, alone: alone,
		shared: make([]float64, len(simulated))}
	for i := range w.shared {
		w.shared[i] = w.rng.NormFloat64()
	}
	return w
}

func (w *world) nextNight() {
	w.night++
	for i := range w.shared {
		w.shared[i] = w.memory*w.shared[i] + math.Sqrt(1-w.memory*w.memory)*w.rng.NormFloat64()
	}
}

func (w *world) measure(n int) []Run {
	var out []Run
	for range n {
		w.runs++
		r := Run{ID: fmt.Sprint("r", w.runs), Plan: "standard", Status: map[string]string{},
			At:          time.Date(2026, 1, 1, 1, w.runs%300, 0, 0, time.UTC).AddDate(0, 0, w.night),
			Environment: map[string]map[string]string{"n1": {}, "n2": {}}}
		for i, m := range simulated {
			worse := math.Exp(w.nights*w.shared[i] + runNoise*w.rng.NormFloat64())
			if w.rng.Float64() < w.spikes {
				worse *= 1.2 + 0.8*w.rng.Float64()
			}
			if w.night >= w.changed && (i == 0 || !w.alone) {
				worse /= 1 - w.worse
			}
			if m.Better == params.BetterHigher {
				worse = 1 / worse
			}
			if m.Value *= worse; m.Name == "a_c" { // near zero: what it varies by is more than what it is
				m.Value += 1e-6 * w.rng.NormFloat64()
			}
			r.Metrics = append(r.Metrics, m)
			if m.Link() == "" {
				r.Status[m.Name] = params.StatusOK
			}
		}
		out = append(out, r)
	}
	return out
}

// tally is what became of the nights of many series.
type tally struct {
	nights, alarms, undecided, again int
	series, points                   int // series of one metric, those with a change point
	changes, gated, alone, pointed   int // changes of all and of one metric, and what found each within a week
}

// follow goes through the nights of one series: every night after those of the baseline is gated, and the medians of
// the nights are searched for changes at the end and, where there is one, a week after it.
func (y *tally) follow(t *testing.T, w *world) {
	var baseline []Run
	medians := make([][]float64, len(simulated))
	found, real := false, w.worse > 0
	last := nightsInAll
	if real {
		last = changeAt + 7
	}
	for night := range last {
		w.nextNight()
		var tonight []Run
		if night < nightsKnown {
			tonight = w.measure(runsANight)
			baseline = append(baseline, tonight...)
		} else {
			v, err := gateOf(baseline, func(n int, again bool) ([]Run, error) {
				runs := w.measure(n)
				if !again {
					tonight = runs
				}
				return runs, nil
			}, runsANight, Options{replicates: 1})
			if err != nil {
				t.Fatal(err)
			}
			found = y.gate(v, real, night) || found
		}
		for i := range medians {
			var values []float64
			for _, r := range tonight {
				values = append(values, r.Metrics[i].Value)
			}
			medians[i] = append(medians[i], stats.Median(values))
		}
	}
	switch {
	case found && w.alone:
		y.alone++
	case found:
		y.gated++
	}
	if w.alone || !real {
		y.search(medians, real)
	}
}

func (y *tally) gate(v *Verdict, real bool, night int) (found bool) {
	if real && night >= changeAt {
		return v.Outcome == Regression
	}
	if real {
		return false
	}
	y.nights++
	if v.Again != nil {
		y.again++
	}
	switch v.Outcome {
	case Regression:
		y.alarms++
	case Inconclusive:
		y.undecided++
	}
	return false
}

func (y *tally) search(medians [][]float64, real bool) {
	if real { // the metric that changed: with more of them to choose from it would be easy
		for _, c := range stats.EDivisive(medians[0], stats.ChangeOptions{}) {
			if c.Index >= changeAt-3 {
				y.pointed++
				return
			}
		}
		return
	}
	for _, m := range medians {
		y.series++
		if len(stats.EDivisive(m, stats.ChangeOptions{})) > 0 {
			y.points++
		}
	}
}

// byChance is how many of n an event of probability p happens in at most, but once in a thousand times.
func byChance(n int, p float64) int {
	b, k := distuv.Binomial{N: float64(n), P: p}, 0
	for b.CDF(float64(k)) < 0.999 {
		k++
	}
	return k
}

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

// TestNightly holds the gate and the search for change points to their false alarms and their sharpness. With -nightly
// 200 -v it prints the table of 200 series.
func TestNightly(t *testing.T) {
	series := *nightly
	if series == 0 {
		series = 5
	}
	t.Logf("%d series of %d nights, %d metrics; a run varies by %.0f%%, a night by 1%% unless told; baseline %d nights "+
		"of %d runs, gate %d runs",
		series, nightsInAll, len(simulated), 100*runNoise, nightsKnown, runsANight, runsANight)
	t.Log("| noise | nights gated | false alarms | inconclusive | measured again | series with a change point | " +
		"7% drop of all metrics found in 7 nights by gate | of one metric, by gate | of one metric, by change point |")
	t.Log("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	for k, n := range noises {
		var y tally
		for i := range series {
			seed := uint64(1000*k + i + 1)
			y.changes++
			y.follow(t, newWorld(n, seed, math.MaxInt, 0, false))
			y.follow(t, newWorld(n, seed+500_000, changeAt, drop, false))
			y.follow(t, newWorld(n, seed+900_000, changeAt, drop, true))
		}
		t.Logf("| %s | %d | %.2f%% | %.2f%% | %.2f%% | %.2f%% of %d | %.1f%% | %.1f%% | %.1f%% |", n.name, y.nights,
			100*share(y.alarms, y.nights),
			100*share(y.undecided, y.nights), 100*share(y.again, y.nights), 100*share(y.points, y.series), y.series,
			100*share(y.gated, y.changes), 100*share(y.alone, y.changes), 100*share(y.pointed, y.changes))
		if most := byChance(y.nights, 0.01); y.alarms > most {
			t.Errorf("%s: the gate raises a false alarm on %d of %d nights, more than %d", n.name, y.alarms, y.nights, most)
		}
		if most := byChance(y.series, 0.03); y.points > most && !n.rough {
			t.Errorf("%s: %d of %d series without a change have a change point, more than %d", n.name, y.points, y.series, most)
		}
		for what, found := range map[string]int{"the gate": y.gated, "the search for change points": y.pointed} {
			if missed, most := y.changes-found, byChance(y.changes, 0.05); missed > most && !n.rough {
				t.Errorf("%s: %s misses %d of %d drops within 7 nights, more than %d", n.name, what, missed, y.changes, most)
			}
		}
	}
}

// TestNothingPassesByAccident gates nights that measured something else than the baseline. None may pass.
func TestNothingPassesByAccident(t *testing.T) {
	nights := max(*nightly, 5)
	drop := func(r *Run, name string) {
		r.Metrics = slices.DeleteFunc(r.Metrics, func(m params.Metric) bool { return m.Name == name })
	}
	for _, c := range []struct {
		what   string
		change func(r *Run)
		want   string
	}{
		{"a host is missing", func(r *Run) { delete(r.Environment, "n2"); drop(r, "latency"); drop(r, "rate") },
			NotComparable},
		{"a host was added", func(r *Run) { r.Environment["n3"] = map[string]string{} }, NotComparable},
		{"a link is missing", func(r *Run) { drop(r, "latency"); drop(r, "rate") }, Regression},
		{"another plan", func(r *Run) { r.Plan = "quick" }, NotComparable},
		{"a parameter is missing", func(r *Run) { drop(r, "a"); delete(r.Status, "a") }, Inconclusive},
		{"a parameter is withheld", func(r *Run) { drop(r, "b"); r.Status["b"] = params.StatusInconsistent }, Inconclusive},
		{"a_c is withheld", func(r *Run) { drop(r, "a_c"); r.Status["a_c"] = params.StatusUnidentifiable }, Inconclusive},
	} {
		passed := 0
		for k := range nights {
			w := newWorld(noises[k%len(noises)], uint64(k+1), math.MaxInt, 0, false)
			var baseline []Run
			for range nightsKnown {
				w.nextNight()
				baseline = append(baseline, w.measure(runsANight)...)
			}
			w.nextNight()
			v, err := gateOf(baseline, func(n int, _ bool) ([]Run, error) {
				runs := w.measure(n)
				for i := range runs {
					c.change(&runs[i])
				}
				return runs, nil
			}, runsANight, Options{replicates: 1})
			switch {
			case err != nil:
				t.Fatal(err)
			case v.Outcome == OK:
				passed++
			case v.Outcome != c.want && v.Outcome != Regression:
				t.Errorf("%s: %s %q", c.what, v.Outcome, v.Why)
			}
		}
		t.Logf("| %s | %d of %d nights passed |", c.what, passed, nights)
		if passed > 0 {
			t.Errorf("%s: %d of %d nights passed", c.what, passed, nights)
		}
	}
}
