package spend

import (
	"maps"
	"math"
	"slices"

	"calib/bench"
	"calib/fit"
	"calib/internal/stats"
)

// pointID names a point of an experiment.
type pointID struct{ exp, key string }

// track is what was seen of one quantity at one point.
type track struct {
	id       pointID
	point    bench.Point
	value    float64 // median of the rounds' values
	rounds   float64 // in which it was measured; a round with half of the teams counts half
	variance float64 // of the value of one round
}

// factor is a factor of the track's point.
func (t *track) factor(name string) float64 { return float64(t.point[name]) }

// cells are the values of one point: by round and direction, one a team.
type cells map[int][2][]float64

// trace makes a track of every point, in the order of their keys. value gives the quantity of one batch, and NaN where the batch does
// not tell it.
func trace(exp string, batches []fit.Batch, value func(*fit.Batch) float64) []*track {
	byPoint, points := map[string]cells{}, map[string]bench.Point{}
	for i := range batches {
		b := &batches[i]
		if b.Spoiled() || b.Timings() == 0 {
			continue
		}
		v := value(b)
		if !fit.Finite(v) {
			continue
		}
		key := b.Point.Key()
		if byPoint[key] == nil {
			byPoint[key], points[key] = cells{}, b.Point
		}
		both := byPoint[key][b.Round]
		both[b.Dir&1] = append(both[b.Dir&1], v)
		byPoint[key][b.Round] = both
	}
	var out []*track
	var scatter []float64
	for _, key := range slices.Sorted(maps.Keys(byPoint)) {
		values, rounds := byPoint[key].byRound()
		t := &track{id: pointID{exp, key}, point: points[key], value: stats.Median(values), rounds: rounds}
		out = append(out, t)
		scatter = append(scatter, relativeScatter(values))
	}
	share(out, scatter)
	return out
}

// byRound returns the value of every round, the mean of both directions of the median of the teams, and how many rounds there are.
func (c cells) byRound() (values []float64, rounds float64) {
	most := 0.0
	for _, r := range slices.Sorted(maps.Keys(c)) {
		sum, n := 0.0, 0.0
		for _, dir := range c[r] {
			if len(dir) > 0 {
				sum += stats.Median(dir)
				n++
			}
		}
		values = append(values, sum/n)
		count := float64(len(c[r][0]) + len(c[r][1]))
		most = math.Max(most, count)
		rounds += count
	}
	return values, rounds / most
}

// relativeScatter is the variance between rounds relative to the value, by the MAD: fits drop a round that was spoilt. It is NaN for
// one round.
func relativeScatter(values []float64) float64 {
	if len(values) < 2 {
		return math.NaN()
	}
	d := stats.MAD(values) / stats.Median(values)
	return d * d
}

// typicalRounds is how many rounds' worth the typical scatter of all points counts beside a point's own.
const typicalRounds = 5

// share sets the variances. What a point shows by itself in a few rounds is uncertain by half: the scatter that is typical of all
// points of the quantity, relative to their values, counts as much as five rounds of its own. Source: Smyth 2004, Linear models and
// empirical Bayes methods, Stat. Appl. Genet. Mol. Biol. 3(1), 3 (moderated variances).
func share(tracks []*track, scatter []float64) {
	known := slices.DeleteFunc(slices.Clone(scatter), func(v float64) bool { return !fit.Finite(v) })
	typical := fit.Typical(known)
	for i, t := range tracks {
		relative := typical
		if fit.Finite(scatter[i]) {
			own := math.Max(0, t.rounds-1)
			relative = (own*scatter[i] + typicalRounds*typical) / (own + typicalRounds)
		}
		t.variance = relative * t.value * t.value
	}
}

// sortBy orders tracks by a factor.
func sortBy(tracks []*track, factor string) []*track {
	out := slices.Clone(tracks)
	slices.SortStableFunc(out, func(a, b *track) int { return int(a.point[factor] - b.point[factor]) })
	return out
}

// columns returns a factor and the values of tracks.
func columns(tracks []*track, factor string) (x, y []float64) {
	for _, t := range tracks {
		x, y = append(x, t.factor(factor)), append(y, t.value)
	}
	return x, y
}
