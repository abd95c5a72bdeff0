package spend

import (
	"math"
	"slices"
	"testing"

	"calib/bench"
	"calib/fit"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// point is a candidate of one second, measured in eight rounds.
func point(bytes int64, team int) Candidate {
	return Candidate{Exp: names.Pingpong, Point: bench.Point{names.FactorBytes: bytes}, Team: team, Cost: units.Second, Rounds: 8}
}

// judging returns a judge with an unmet target to which points are worth so much.
func judging(seed uint64, round int, worth map[int64]float64) *Judge {
	j := NewJudge(Targets{"alpha": 0.01}, fit.Settings{}, seed)
	j.round = round
	w := want{family: familyOf("alpha"), worth: map[pointID]float64{}}
	for bytes, v := range worth {
		c := point(bytes, 0)
		w.worth[c.id()] = v
	}
	j.unmet = []want{w}
	return j
}

func kept(keep []bool) []int {
	var out []int
	for i, k := range keep {
		if k {
			out = append(out, i)
		}
	}
	return out
}

// With the lots of a seed that draws none beside the chosen ones, what is chosen is what gains most a second.
func TestNextTakesTheBest(t *testing.T) {
	candidates := []Candidate{point(1, 0), point(10, 0), point(100, 0), point(1000, 0)}
	worth := map[int64]float64{1: 8, 10: 4, 100: 3, 1000: 0.1}
	count := func(quota units.Nanos, candidates []Candidate) []int {
		often := make([]int, len(candidates))
		for round := range 400 {
			for _, i := range kept(judging(1, round, worth).Next(candidates, 0, quota)) {
				often[i]++
			}
		}
		return often
	}
	always := func(often []int, want ...int) {
		t.Helper()
		for i, n := range often {
			if slices.Contains(want, i) != (n == 400) {
				t.Errorf("kept %v times of 400, want %v always and no other", often, want)
				return
			}
			if n < 400 && (n == 0 || n > 400/6) {
				t.Errorf("candidate %d was kept %d times of 400, want about one in eight or less, and some", i, n)
			}
		}
	}
	always(count(100*units.Second, candidates), 0, 1, 2) // the last is far from worthwhile
	always(count(3*units.Second, candidates), 0, 1)
	always(count(1, candidates), 0) // one at least
	dear := slices.Clone(candidates)
	dear[0].Cost = 10 * units.Second // 0.8 a second
	always(count(100*units.Second, dear), 1, 2)
	often := slices.Clone(candidates)
	often[0].Rounds = 80 // has gained what there was to gain
	always(count(100*units.Second, often), 1, 2)
	fresh := slices.Clone(candidates)
	fresh[3].Rounds = 0 // never measured
	always(count(1, fresh), 3)
}

// Where there is time, more than what is worthwhile is kept, and at last what no target depends on. The seed draws none beside them.
func TestNextUsesTheTime(t *testing.T) {
	candidates := []Candidate{point(1, 0), point(10, 0), point(100, 0), {Exp: names.Gather, Point: bench.Point{}, Cost: 30 * units.Second, Rounds: 8}}
	worth := map[int64]float64{1: 8, 10: 0.2, 100: 0.1}
	for least, want := range map[units.Nanos]int{0: 1, units.Second: 1, 2 * units.Second: 2, 3 * units.Second: 3, 20 * units.Second: 4} {
		if n := len(kept(judging(2, 0, worth).Next(candidates, least, 100*units.Second))); n != want {
			t.Errorf("%d are kept for %v, want %d", n, least, want)
		}
	}
}

// The others together take no more than a quarter of the time of the chosen ones, over many rounds.
func TestNextLeavesLittleToOthers(t *testing.T) {
	candidates := []Candidate{point(1, 0)}
	for i := range 60 {
		c := point(int64(i)+2, 0)
		c.Cost = 2 * units.Second
		candidates = append(candidates, c)
	}
	others := 0.0
	for round := range 2000 {
		for _, i := range kept(judging(3, round, map[int64]float64{1: 1}).Next(candidates, 0, 4*units.Second)) {
			if i > 0 {
				others += candidates[i].Cost.Seconds() / 2000
			}
		}
	}
	if others < 0.2 || others > 0.3 {
		t.Errorf("others take %.2f s beside a chosen second, want a quarter", others)
	}
}

// The same seed gives the same choice, another seed breaks ties in another way.
func TestNextIsSeeded(t *testing.T) {
	var candidates []Candidate
	worth := map[int64]float64{}
	for i := range 40 {
		candidates = append(candidates, point(int64(i), 0))
		worth[int64(i)] = 1
	}
	choose := func(seed uint64) []int { return kept(judging(seed, 7, worth).Next(candidates, 0, 10*units.Second)) }
	if a, b := choose(1), choose(1); !slices.Equal(a, b) {
		t.Errorf("seed 1 chose %v and %v", a, b)
	}
	if a, b := choose(1), choose(2); slices.Equal(a, b) {
		t.Errorf("seeds 1 and 2 chose %v", a)
	}
}

// Teams of a point share its gain; the team that was measured less comes first.
func TestNextTeams(t *testing.T) {
	candidates := []Candidate{point(1, 0), point(1, 1), point(10, 0)}
	candidates[0].Rounds = 12
	j := judging(1, 0, map[int64]float64{1: 3, 10: 2})
	keep := j.Next(candidates, 0, 1)
	if !keep[2] {
		t.Errorf("kept %v, want the point that gains 2 for a second before those that gain half of 3", kept(keep))
	}
	keep = j.Next(candidates[:2], 0, 1)
	if !keep[1] {
		t.Errorf("kept %v, want the team of fewer rounds", kept(keep))
	}
}

// Of a target of which nothing is known yet every point is kept, as far as the quota goes; without an unmet target every candidate.
func TestNextUnknown(t *testing.T) {
	candidates := []Candidate{point(1, 0), point(10, 0), {Exp: names.Gather, Point: bench.Point{}, Cost: units.Second, Rounds: 8}}
	j := judging(1, 0, nil)
	j.unmet[0].worth = nil
	if keep := j.Next(candidates, 0, 10*units.Second); !keep[0] || !keep[1] {
		t.Errorf("kept %v, want both points of pingpong", kept(keep))
	}
	j.unmet = nil
	if keep := j.Next(candidates, 0, 1); len(kept(keep)) != 3 {
		t.Errorf("kept %v, want all", kept(keep))
	}
	if keep := judging(1, 0, nil).Next(nil, 0, units.Second); len(keep) != 0 {
		t.Errorf("kept %v of none", keep)
	}
}

// A parameter that is nearly zero has an interval of any number of times its value: it must not take all the time.
func TestWorthIsBounded(t *testing.T) {
	c := point(1, 0)
	f := of(&track{id: c.id(), value: 1, rounds: 8, variance: 0.01})
	near, far, farther := worth(f, 1)[c.id()], worth(f, 3)[c.id()], worth(f, 1e6)[c.id()]
	if math.Abs(near-8) > 1e-12 || math.Abs(far-9*near) > 1e-9 || math.Abs(farther-widest*widest*near) > 1e-9 {
		t.Errorf("worth %g, three times as wide %g, a million times as wide %g", near, far, farther)
	}
	if worth(f, math.Inf(1)) != nil || worth(nil, 1) != nil {
		t.Error("a point is worth something to a parameter of which nothing is known")
	}
}

// Derivatives of a line are those of least squares: they give back intercept and slope of points on a line, whatever the weights.
func TestLine(t *testing.T) {
	x, w := []float64{1, 3, 4, 9}, []float64{1, 5, 0.5, 2}
	c0, c1 := line(x, w)
	var intercept, slope float64
	for i, v := range x {
		intercept, slope = intercept+c0[i]*(7-2*v), slope+c1[i]*(7-2*v)
	}
	if math.Abs(intercept-7) > 1e-12 || math.Abs(slope+2) > 1e-12 {
		t.Errorf("line 7 − 2x has intercept %g, slope %g", intercept, slope)
	}
	if c0, c1 := line([]float64{5}, []float64{3}); c0[0] != 1 || c1[0] != 0 {
		t.Errorf("one point: %v, %v, want the value itself and no slope", c0, c1)
	}
}

// Where a model weighs points by their rounds over their variance, one more round is worth what the information matrix
// M = Σ r·f·fᵀ/σ² says by the formula of Sherman and Morrison, (cᵀM⁻¹f)²/(σ² + fᵀM⁻¹f), within a factor of 1 + 1/r.
func TestAgreesWithInformation(t *testing.T) {
	x, sigma, rounds := []float64{1, 40, 700, 1400}, []float64{1, 2, 3, 4}, []float64{6, 9, 6, 12}
	var m00, m01, m11 float64
	tracks, w := make([]*track, len(x)), make([]float64, len(x))
	for i, v := range x {
		w[i] = rounds[i] / (sigma[i] * sigma[i])
		m00, m01, m11 = m00+w[i], m01+w[i]*v, m11+w[i]*v*v
		tracks[i] = &track{value: 1, rounds: rounds[i], variance: sigma[i] * sigma[i]}
	}
	det := m00*m11 - m01*m01
	c0, c1 := line(x, w)
	for k, f := range []influence{each(c0, tracks), each(c1, tracks)} {
		for i, p := range f {
			r := rounds[i]
			got := p.by * p.by * p.at.variance / (r * (r + 1))
			row := [2]float64{(m11 - m01*x[i]) / det, (m00*x[i] - m01) / det} // M⁻¹f
			want := row[k] * row[k] / (sigma[i]*sigma[i] + row[0] + row[1]*x[i])
			if ratio := want / got; ratio < 1-1e-9 || ratio > 1+1/r {
				t.Errorf("coefficient %d, point %d: gain %g, by the information matrix %g", k, i, got, want)
			}
		}
	}
}
