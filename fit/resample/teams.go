package resample

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"calib/internal/lists"
	"calib/internal/stats"
)

// Team names a set of hosts, in any order.
func Team(hosts []int) string {
	return strings.Join(lists.Map(slices.Sorted(slices.Values(hosts)), strconv.Itoa), ",")
}

// teamRound is where a team measured a point, teamPart what it measured in one direction.
type (
	teamRound struct {
		team  string
		round int
	}
	teamPart struct {
		dir    int
		values []float64
	}
)

// shifts draw teams. What a team deviates from the others of its rounds in one round, it has in all others too as far
// as it is the team's own: the products of its deviations in different rounds say how far, whatever noise the rounds
// have, and whether the same teams measured every round or others each time. Source: Cameron, Gelbach, Miller 2011,
// Robust inference with multiway clustering, J. Bus. Econ. Stat. 29, 238-249.
type shifts struct {
	teams  int
	points [][]teamShift // by point
}

// teamShift is by how much drawing a team once more moves a point.
type teamShift struct {
	team  int
	shift float64
}

// shifts prepares the draw of teams, given the deviations and the values of the points, for intervals that are widened
// by a factor for their rounds.
func (t *Table[K]) shifts(found []deviations, values []float64, widened float64) *shifts {
	out := &shifts{points: make([][]teamShift, len(t.points))}
	number := map[string]int{}
	own := make([]float64, len(t.points)) // share of the teams' scatter that persists, by point
	typical, scattered := 0.0, 0.0
	for i, d := range found {
		if len(d.teams) < 2 {
			continue
		}
		share, varies := d.persists(values[i])
		for _, team := range slices.Sorted(maps.Keys(d.teams)) {
			if _, seen := number[team]; !seen {
				number[team] = len(number)
			}
			out.points[i] = append(out.points[i], teamShift{number[team], d.teams[team].sum / d.cells})
		}
		if varies {
			own[i] = share
			typical += share
			scattered++
		}
	}
	out.teams = len(number)
	for i, p := range out.points {
		share := math.Max(own[i], typical/math.Max(1, scattered)) // what most points show, one may hide by chance
		k := math.Sqrt(math.Max(0, share)) * smallSample(len(p)) / widened
		for j := range p {
			p[j].shift *= k
		}
	}
	return out
}

// apply draws as many teams as there are, with replacement and the same for all points, in every replicate.
func (s *shifts) apply(replicates [][]float64, seed uint64) {
	if s.teams < 2 {
		return
	}
	Each(len(replicates), func(b int) {
		rng := rand.New(rand.NewPCG(seed^0x7465616d73, uint64(b)))
		drawn := make([]float64, s.teams)
		for range s.teams {
			drawn[rng.IntN(s.teams)]++
		}
		for i, p := range s.points {
			for _, q := range p {
				replicates[b][i] += (drawn[q.team] - 1) * q.shift
			}
		}
	})
}

// deviations are those of a point's teams from the mean of their rounds.
type deviations struct {
	teams map[string]teamSum
	cells float64 // teams × rounds that count: rounds in which several teams measured
}

// teamSum adds up the deviations of one team.
type teamSum struct{ sum, squares float64 }

func (p *point) deviations() deviations {
	byRound := map[int]map[string]float64{}
	for k, parts := range p.teams {
		if v, ok := p.cell(parts); ok {
			if byRound[k.round] == nil {
				byRound[k.round] = map[string]float64{}
			}
			byRound[k.round][k.team] = v
		}
	}
	d := deviations{teams: map[string]teamSum{}}
	for _, round := range slices.Sorted(maps.Keys(byRound)) {
		cells := byRound[round]
		if len(cells) < 2 {
			continue
		}
		names := slices.Sorted(maps.Keys(cells))
		mean := lists.Sum(names, func(team string) float64 { return cells[team] / float64(len(cells)) })
		for _, team := range names {
			e, s := cells[team]-mean, d.teams[team]
			d.teams[team] = teamSum{s.sum + e, s.squares + e*e}
			d.cells++
		}
	}
	return d
}

// cell is the value of one team in one round: of a one-way time the mean of both directions, where both were measured
// anywhere.
func (p *point) cell(parts []teamPart) (float64, bool) {
	var dirs [2][]float64
	for _, q := range parts {
		dirs[q.dir] = append(dirs[q.dir], q.values...)
	}
	both := !p.duration && len(p.parts[0]) > 0 && len(p.parts[1]) > 0
	sum, n := 0.0, 0
	for _, v := range dirs {
		if len(v) > 0 {
			sum += stats.Median(v)
			n++
		}
	}
	return sum / float64(n), n == 2 || !both && n == 1
}

// persists is the share of the scatter between teams that is the same in all rounds, which may come out negative;
// varies is false where nothing varies beside a value.
func (d deviations) persists(value float64) (share float64, varies bool) {
	var products, scatter float64 // of deviations in different rounds, of their sums
	for _, team := range slices.Sorted(maps.Keys(d.teams)) {
		s := d.teams[team]
		products += s.sum*s.sum - s.squares
		scatter += s.sum * s.sum
	}
	return products / scatter, !(math.Sqrt(scatter)/d.cells <= 1e-12*math.Abs(value))
}
