package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"calib/internal/dataset"
	"calib/internal/stats"
	"calib/internal/units"
)

// measure makes the samples of a slot: one batch for each team and point, of timings by draw.
func measure(slot Slot, draw func(team []int, p Point) []int64) []dataset.Sample {
	var out []dataset.Sample
	for _, p := range slot.Points {
		for _, team := range slot.Teams {
			out = append(out, dataset.Sample{
				Exp: slot.Exp, Point: p, Ranks: team, Round: slot.Round, Slot: slot.ID, NS: draw(team, p),
			})
		}
	}
	return out
}

// noisy draws n timings about 1 ms, with a relative spread within a round and between rounds.
func noisy(rng *rand.Rand, n int, within, between float64) []int64 {
	shift := 1 + between*rng.NormFloat64()
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(1e6 * shift * (1 + within*rng.NormFloat64()))
	}
	return out
}

// run measures until nothing is open and returns every sample.
func run(s *Schedule, t *Stopper, draw func(team []int, p Point) []int64) (all []dataset.Sample, rounds int) {
	for {
		slots := s.Round(rounds, t.Open)
		if len(slots) == 0 {
			return all, rounds
		}
		for _, slot := range slots {
			got := measure(slot, draw)
			t.Add(got)
			all = append(all, got...)
		}
		rounds++
	}
}

func pairExp() []Experiment {
	return []Experiment{fakeExp{name: "pairs", points: sizePoints(1, 64), teams: halves, quiet: "kept"}}
}

func TestStopper(t *testing.T) {
	s := mustSchedule(t, testPlan(), 4, pairExp())
	stop := NewStopper(s)
	rng := rand.New(rand.NewPCG(1, 1))
	all, rounds := run(s, stop, func(team []int, p Point) []int64 {
		if team[0] == 0 && team[1] == 2 && p["bytes"] == 64 {
			return noisy(rng, 20, 0.01, 0.3) // its rounds differ: it will not be within 2%
		}
		return noisy(rng, 20, 0.01, 0)
	})
	if rounds != 20 {
		t.Errorf("%d rounds, want the plan's 20 for the point that stays open", rounds)
	}
	got := map[string]int{}
	for _, x := range stop.Summary() {
		key := fmt.Sprintf("%v %s", x.Ranks, x.Point)
		got[fmt.Sprintf("%s %s %s %d", key, x.Reason, x.Basis, x.Rounds)]++
		if x.Width == nil || (*x.Width <= DefaultTarget) != (x.Reason == dataset.StopTarget) || math.Abs(x.Median/1e6-1) > 0.2 {
			t.Errorf("%s: %+v", key, x)
		}
		if x.N != 20*x.Rounds {
			t.Errorf("%s: %d timings of %d rounds", key, x.N, x.Rounds)
		}
	}
	want := map[string]int{
		"[0 1] bytes=1 target rounds 6": 1, "[0 1] bytes=64 target rounds 6": 1,
		"[2 3] bytes=1 target rounds 6": 1, "[2 3] bytes=64 target rounds 6": 1,
		"[0 2] bytes=1 target rounds 6": 1, "[0 2] bytes=64 budget rounds 20": 1,
		"[1 3] bytes=1 target rounds 6": 1, "[1 3] bytes=64 target rounds 6": 1,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("summary (-want +got):\n%s", d)
	}
	if n := 8*6 + 14; len(all) != n {
		t.Errorf("%d batches, want %d: a closed team is left out", len(all), n)
	}
}

// TestStopperResumes: a stopper that is given what another was given, decides alike.
func TestStopperResumes(t *testing.T) {
	s := mustSchedule(t, testPlan(), 4, pairExp())
	rng := rand.New(rand.NewPCG(2, 2))
	first := NewStopper(s)
	all, rounds := run(s, first, func([]int, Point) []int64 { return noisy(rng, 9, 0.05, 0.02) })
	second := NewStopper(s)
	for r := range rounds {
		before := contents(s.Round(r, second.Open))
		n := 0
		for n < len(all) && all[n].Round == r {
			n++
		}
		if len(before) != n {
			t.Fatalf("round %d: %d batches open, %d were measured", r, len(before), n)
		}
		second.Add(all[:n])
		all = all[n:]
	}
	if d := cmp.Diff(first.Summary(), second.Summary()); d != "" {
		t.Errorf("summaries differ:\n%s", d)
	}
}

// TestStopperBrute holds the running bookkeeping to the definition on all the data.
func TestStopperBrute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "rounds")
		x := &timings{width: math.Inf(1), pools: true}
		var rounds [][]float64
		for r := range n {
			ns := rapid.SliceOfN(rapid.Int64Range(0, 50), 0, 8).Draw(t, "ns")
			b := dataset.Sample{NS: ns}
			if rapid.IntRange(0, 4).Draw(t, "loss") == 0 {
				b.Flags = []string{dataset.FlagRetrans}
			} else if len(ns) > 0 {
				rounds = append(rounds, stats.Floats(ns))
			}
			x.add(&b, r)
			x.close(false)
		}
		values, basis := slices.Concat(rounds...), BasisSamples
		iv, ok := stats.MedianCI(values)
		if len(rounds) >= stats.MinValues {
			values = nil
			for _, r := range rounds {
				values = append(values, stats.Median(r))
			}
			basis = BasisRounds
			iv, ok = stats.MedianCI(values)
		}
		width := math.Inf(1)
		if ok {
			width = stats.RelativeWidth(iv, stats.Median(values))
		}
		if x.rounds() != len(rounds) || x.width != width || len(values) > 0 && (x.median != stats.Median(values) || x.basis() != basis) {
			t.Fatalf("kept %d rounds, %s, median %v, width %v; want %d, %s, %v, %v", x.rounds(), x.basis(), x.median, x.width,
				len(rounds), basis, stats.Median(values), width)
		}
		if len(rounds) >= stats.MinValues && x.raw != nil {
			t.Fatalf("%d raw timings kept after %d rounds", len(x.raw.pooled), len(rounds))
		}
	})
}

// only is a schedule of one point on one team of two, and its slots.
func only(t *testing.T, change func(*Plan)) (*Schedule, func(r int) Slot) {
	p := testPlan()
	change(&p)
	s := mustSchedule(t, p, 2, []Experiment{
		fakeExp{name: "one", points: sizePoints(8), teams: everyone, quiet: "kept"},
	})
	return s, func(r int) Slot { return s.Round(r, nil)[0] }
}

func constant(ns int64, n int) func([]int, Point) []int64 {
	return func([]int, Point) []int64 { return slices.Repeat([]int64{ns}, n) }
}

func TestStopperFewRounds(t *testing.T) {
	s, slot := only(t, func(p *Plan) { p.Rounds = Rounds{Min: 2, Max: 9} })
	stop := NewStopper(s)
	for r := range 2 {
		if !stop.Open(TeamPoint{}) {
			t.Fatalf("closed after %d rounds", r)
		}
		stop.Add(measure(slot(r), constant(100, 4)))
	}
	if stop.Open(TeamPoint{}) {
		t.Error("open after two rounds without any spread")
	}
	if got := stop.Summary()[0]; got.Basis != BasisSamples || got.N != 8 || got.Reason != dataset.StopTarget {
		t.Errorf("got %+v, want the pooled interval, stated", got)
	}
	stop.Add(measure(slot(2), constant(900, 4)))
	if got := stop.Summary()[0]; got.N != 8 || got.Median != 100 {
		t.Errorf("got %+v: the verdict changed after it was made", got)
	}
}

func TestStopperRetransmissions(t *testing.T) {
	s, slot := only(t, func(*Plan) {})
	stop := NewStopper(s)
	for r := range 8 {
		clean := measure(slot(r), constant(100, 5))
		lossy := measure(slot(r), constant(200_000_000, 5))
		lossy[0].Flags = []string{dataset.FlagRetrans}
		if r < 2 {
			clean = nil // only a lossy batch: no timing of this round counts
		}
		stop.Add(append(clean, lossy...))
		if open := stop.Open(TeamPoint{}); open != (r < 7) {
			t.Errorf("after round %d: open %v", r, open)
		}
	}
	if got := stop.Summary()[0]; got.Rounds != 6 || got.N != 30 || got.LeftOut != 40 || got.Median != 100 || *got.Width != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestStopperFree(t *testing.T) {
	s, slot := only(t, func(*Plan) {})
	stop := NewStopper(s)
	rng := rand.New(rand.NewPCG(3, 3))
	for r := range 6 {
		batch := measure(slot(r), constant(100, 5))
		kept, signed := batch[0], batch[0]
		kept.Phase, kept.NS = "kept", noisy(rng, 5, 0.9, 0.9)
		signed.Phase, signed.NS = "offset", []int64{-5, int64(r)}
		stop.Add(append(batch, kept, signed))
	}
	if stop.Open(TeamPoint{}) {
		t.Error("held open by a phase that does not steer, or by a signed one")
	}
	reasons := map[string]string{}
	for _, x := range stop.Summary() {
		reasons[x.Phase] = x.Reason
	}
	if d := cmp.Diff(map[string]string{"": dataset.StopTarget, "kept": dataset.StopFree, "offset": dataset.StopFree}, reasons); d != "" {
		t.Error(d)
	}
}

func TestStopperByProducts(t *testing.T) {
	s, slot := only(t, func(*Plan) {})
	stop := NewStopper(s)
	good := measure(slot(0), constant(1, 1))[0]
	for name, change := range map[string]func(*dataset.Sample){
		"another experiment": func(b *dataset.Sample) { b.Exp = "clock" },
		"another point":      func(b *dataset.Sample) { b.Point = Point{} },
		"no ranks":           func(b *dataset.Sample) { b.Ranks = nil },
		"a stranger":         func(b *dataset.Sample) { b.Ranks = []int{0, 7} },
		"a negative rank":    func(b *dataset.Sample) { b.Ranks = []int{-1} },
		"a negative slot":    func(b *dataset.Sample) { b.Slot = -1 },
		"no such slot":       func(b *dataset.Sample) { b.Slot = 1 << 40 },
	} {
		b := good
		change(&b)
		stop.Add([]dataset.Sample{b})
		if got := stop.Summary(); len(got) != 0 {
			t.Errorf("%s: counted as %+v", name, got)
		}
	}
	if text, err := json.Marshal(stop.Summary()); err != nil || string(text) != "[]" {
		t.Errorf("empty summary: %s, %v", text, err)
	}
}

func TestStopperBudget(t *testing.T) {
	s, slot := only(t, func(p *Plan) { p.Budget = units.Second })
	stop := NewStopper(s)
	stop.Add(measure(slot(0), constant(100, 5)))
	stop.Spent(units.Second - 1)
	if stop.Over() || !stop.Open(TeamPoint{}) || stop.Summary()[0].Reason != dataset.StopOpen {
		t.Error("over before the budget was")
	}
	stop.Spent(units.Second)
	stop.Spent(0)
	if !stop.Over() || stop.Open(TeamPoint{}) || stop.Open(TeamPoint{at: place{team: 1}}) {
		t.Error("open after the budget")
	}
	got := stop.Summary()[0]
	if got.Reason != dataset.StopBudget || got.Width != nil || got.Basis != "" || got.Rounds != 1 {
		t.Errorf("got %+v, want the budget's end without an interval", got)
	}
	free, _ := only(t, func(*Plan) {})
	if stop := NewStopper(free); stop.Over() {
		t.Error("over")
	} else if stop.Spent(1 << 60); stop.Over() {
		t.Error("no budget, and over")
	}
}

// TestStopperEncodes: whatever was measured, the summary is valid JSON.
func TestStopperEncodes(t *testing.T) {
	s, slot := only(t, func(*Plan) {})
	stop := NewStopper(s)
	for r := range 7 {
		stop.Add(measure(slot(r), func([]int, Point) []int64 { return []int64{0, 0, int64(r % 2), 0, 1} }))
	}
	none := measure(slot(7), constant(0, 0))
	none[0].Phase = "none"
	stop.Add(none)
	text, err := json.Marshal(stop.Summary())
	if err != nil {
		t.Fatal(err)
	}
	var back []dataset.Stop
	if err := json.Unmarshal(text, &back); err != nil || len(back) != 2 || back[1].Width != nil || back[1].N != 0 {
		t.Errorf("%s: %v", text, err)
	}
}

func TestStopperOrder(t *testing.T) {
	s := mustSchedule(t, testPlan(), 4, fakes()[:1])
	stop := NewStopper(s)
	for _, slot := range s.Round(0, nil) {
		stop.Add(measure(slot, constant(5, 1)))
	}
	var got []string
	for _, x := range stop.Summary() {
		got = append(got, fmt.Sprintf("%s %v", strings.TrimPrefix(x.Point, "bytes="), x.Ranks))
	}
	want := []string{
		"1 [0 1]", "1 [0 2]", "1 [1 3]", "1 [2 3]", "64 [0 1]", "64 [0 2]", "64 [1 3]", "64 [2 3]",
		"1024 [0 1]", "1024 [0 2]", "1024 [1 3]", "1024 [2 3]",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// BenchmarkRound is one round of all pairs of 256 hosts at 12 sizes, fed and asked.
func BenchmarkRound(b *testing.B) {
	p := testPlan()
	p.Rounds.Max = maxRounds
	s := mustSchedule(b, p, 256, []Experiment{fakeExp{
		name: "x", points: sizePoints(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
		teams: func(l Limits, _ Point) []Step { return Colouring(l.Hosts) },
	}})
	stop := NewStopper(s)
	b.ReportAllocs()
	for r := 0; b.Loop(); r++ {
		for _, slot := range s.Round(r%maxRounds, stop.Open) {
			stop.Add(measure(slot, func([]int, Point) []int64 { return []int64{10, 12, 11, 200, 13} }))
		}
	}
}

// slowest derives one line of a slot: the larger of every two timings of its ranks.
type slowest struct{ fakeExp }

func (slowest) Steers(phase string) bool { return phase == "slowest" }

func (slowest) Derive(slot []dataset.Sample) []dataset.Sample {
	d := slot[0]
	d.Phase, d.Ranks, d.NS = "slowest", []int{0, 1}, slices.Clone(d.NS)
	for _, x := range slot[1:] {
		for k := range d.NS {
			d.NS[k] = max(d.NS[k], x.NS[k])
		}
	}
	return []dataset.Sample{d}
}

func TestStopperDerived(t *testing.T) {
	s := mustSchedule(t, testPlan(), 2, []Experiment{slowest{fakeExp{name: "one", points: sizePoints(8), teams: everyone}}})
	stop := NewStopper(s)
	for r := range 6 {
		a := measure(s.Round(r, nil)[0], constant(int64(100+900*(r%2)), 3))[0]
		b := a
		b.Phase, b.Ranks, a.Ranks = "raw", []int{1}, []int{0}
		b.NS = []int64{int64(1000 - 900*(r%2)), 1000, 1000}
		stop.Add([]dataset.Sample{a, b})
	}
	if stop.Open(TeamPoint{}) {
		t.Error("open: each rank alone varies, the slowest of them does not")
	}
	got := stop.Summary()
	if last := got[len(got)-1]; len(got) != 3 || last.Phase != "slowest" || last.Reason != dataset.StopTarget || last.Median != 1000 {
		t.Errorf("summary %+v", got)
	}
}
