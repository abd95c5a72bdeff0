package spend

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"calib/bench"
	"calib/internal/units"
)

// Candidate is a point that the next round may measure on one of its teams.
type Candidate struct {
	Exp    string
	Point  bench.Point
	Team   int         // which of the teams that measure the point
	Cost   units.Nanos // of one round of it
	Rounds int         // that it was measured in
}

const (
	// worthwhile is the share of the best gain a second below which a point waits for a later round, when those above it have gained.
	worthwhile = 0.25
	// anyway is the chance of a point that was not chosen.
	anyway = 1.0 / 8
	// anywayTime is the share of the time of the chosen points that the others may take together.
	anywayTime = 0.25
)

// Next reports which candidates to measure in the next round, in about the time most. It takes those that narrow the intervals of
// unmet targets most in a second, one at least. Those that are not worthwhile, or that no target depends on, come last, and only until the
// time least is used. Of a target of which it is not known how it depends on points, all points of its
// experiments come first. Points that were not chosen have a chance of one in eight, less where they would take more than a quarter
// of the time of those that were: none starves, and drift is seen. Without an unmet target there is nothing to choose by, and every
// candidate is kept. The same looks, candidates and seed give the same choice.
func (j *Judge) Next(candidates []Candidate, least, most units.Nanos) (keep []bool) {
	if len(j.unmet) == 0 {
		return slices.Repeat([]bool{true}, len(candidates))
	}
	keep = make([]bool, len(candidates))
	teams := map[pointID]float64{}
	for i := range candidates {
		teams[candidates[i].id()]++
	}
	rng := rand.New(rand.NewPCG(j.seed, uint64(j.round)))
	options, lots := make([]option, len(candidates)), make([]float64, len(candidates))
	all, best := 0.0, 0.0
	for i := range candidates {
		c := &candidates[i]
		o := option{i: i, cost: max(c.Cost, units.Microsecond).Seconds(), lot: rng.Float64()}
		o.rate = j.gain(c) / teams[c.id()] / o.cost
		options[i], lots[i] = o, rng.Float64()
		all += o.cost
		if !math.IsInf(o.rate, 0) {
			best = math.Max(best, o.rate)
		}
	}
	slices.SortFunc(options, func(a, b option) int { return cmp.Or(cmp.Compare(b.rate, a.rate), cmp.Compare(a.lot, b.lot)) })
	used := fill(options, keep, worthwhile*best, least.Seconds()/(1+anywayTime), most.Seconds()/(1+anywayTime))
	chance := math.Min(anyway, anywayTime*used/(all-used))
	for i := range keep {
		keep[i] = keep[i] || lots[i] < chance
	}
	return keep
}

// option is a candidate as Next sees it.
type option struct {
	i    int
	cost float64 // s
	rate float64 // gain a second
	lot  float64 // breaks ties
}

// fill keeps options in their order, until the time most [s] is used, or the time least where no option of that rate is left. It returns
// the time used.
func fill(options []option, keep []bool, rate, least, most float64) (used float64) {
	for _, o := range options {
		if (o.rate == 0 || o.rate < rate) && used >= least {
			break
		}
		if used > 0 && used+o.cost > most {
			continue
		}
		keep[o.i] = true
		used += o.cost
	}
	return used
}

func (c *Candidate) id() pointID { return pointID{c.Exp, c.Point.Key()} }

// gain is what one more round of c is worth to the unmet targets. It is +Inf where a target depends on the point, or may, and it is
// not known how.
func (j *Judge) gain(c *Candidate) float64 {
	sum, r := 0.0, float64(c.Rounds)
	for _, w := range j.unmet {
		if !w.has(c.Exp, c.Point) {
			continue
		}
		if w.worth == nil || r == 0 {
			return math.Inf(1)
		}
		sum += w.worth[c.id()] / (r * (r + 1))
	}
	return sum
}
