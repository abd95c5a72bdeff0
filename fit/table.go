package fit

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"calib/internal/lsq"
	"calib/internal/stats"
)

// table holds the measured points of one fit and resamples them. The value of a point is made in three steps, each with
// its reason:
//
//   - the median of the raw timings of one round and direction: delays have a long tail to one side;
//   - the mean of the two directions of that round, in which a clock offset cancels;
//   - the midmean of the rounds (the mean without the outer quarters): a round spoilt by other traffic is dropped, and
//     little is lost against the mean where none is. Source: Hampel et al. 1986, Robust Statistics, section 2.2b.
//
// Of a point that no clock offset bears on (apart) the directions are not averaged first: the midmean is of all of them,
// so that a spoilt direction does not take the other along.
type table struct {
	points []*point
	index  map[float64]int // by key
}

// point is one measured point: its raw values in SI units by direction and round, and the timings behind it.
type point struct {
	parts [2]map[int][]float64
	n     int
	apart bool // the directions of a round stay apart
}

// at returns the index of the point with that key, made on first use. Keys are up to the model.
func (t *table) at(key float64) int {
	i, ok := t.index[key]
	if !ok {
		if t.index == nil {
			t.index = map[float64]int{}
		}
		i = len(t.points)
		t.index[key] = i
		t.points = append(t.points, &point{parts: [2]map[int][]float64{{}, {}}})
	}
	return i
}

// add appends raw values of point i, taken from n timings.
func (t *table) add(i, dir, round, n int, values ...float64) {
	p := t.points[i]
	p.parts[dir&1][round] = append(p.parts[dir&1][round], values...)
	p.n += n
}

// oneSided reports whether the point was measured in one direction only, so that its clock offset does not cancel.
func (p *point) oneSided() bool { return !p.apart && (len(p.parts[0]) == 0 || len(p.parts[1]) == 0) }

// rounds returns the rounds of p in ascending order: those with both directions, where any has both and it matters.
func (p *point) rounds() []int {
	var both, all []int
	for r := range p.parts[0] {
		all = append(all, r)
		if _, ok := p.parts[1][r]; ok {
			both = append(both, r)
		}
	}
	for r := range p.parts[1] {
		if _, ok := p.parts[0][r]; !ok {
			all = append(all, r)
		}
	}
	if len(both) > 0 && !p.apart {
		all = both
	}
	sort.Ints(all)
	return all
}

// sampled is a table with its bootstrap: values[i] of point i, and of the same point in each replicate.
type sampled struct {
	values     []float64
	replicates [][]float64
	rounds     int // behind a typical point: the median over points
	n          []int
}

// resample estimates every point and draws b replicates: rounds with replacement, the same for all points so that what a
// round did to all of them stays together, then timings within each drawn round. A point that was not measured in any
// drawn round keeps its estimate in that replicate.
func (t *table) resample(b int, seed uint64) (*sampled, error) {
	s := &sampled{}
	rounds := t.rounds()
	var raw [][][]float64
	parts := make([][]int, len(t.points)) // rows of raw that make up each point
	var counts []float64
	for i, p := range t.points {
		s.n = append(s.n, p.n)
		whole := p.rounds()
		counts = append(counts, float64(len(whole)))
		for _, byRound := range p.parts {
			if len(byRound) == 0 {
				continue
			}
			row := make([][]float64, len(rounds))
			for _, r := range whole {
				row[sort.SearchInts(rounds, r)] = byRound[r]
			}
			parts[i] = append(parts[i], len(raw))
			raw = append(raw, row)
		}
	}
	s.rounds = int(stats.Quantile(counts, 0.5))
	apart := make([]bool, len(t.points))
	for i, p := range t.points {
		apart[i] = p.apart
	}
	return s, s.draw(raw, parts, apart, b, seed)
}

// rounds returns every round of every point in ascending order.
func (t *table) rounds() []int {
	var all []int
	for _, p := range t.points {
		all = append(all, p.rounds()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s *sampled) draw(raw [][][]float64, parts [][]int, apart []bool, b int, seed uint64) error {
	m, err := lsq.NewRoundMedians(raw)
	if err != nil {
		return err
	}
	s.values = combine(m.Medians(), parts, apart, nil)
	s.replicates, err = m.Bootstrap(b, seed, func(med [][]float64) []float64 {
		return combine(med, parts, apart, s.values)
	})
	return err
}

// combine turns medians by row and round into values by point.
func combine(med [][]float64, parts [][]int, apart []bool, fallback []float64) []float64 {
	out := make([]float64, len(parts))
	byRound := make([]float64, 0, 64)
	for i, rows := range parts {
		byRound = byRound[:0]
		for k := range med[rows[0]] {
			sum, n := 0.0, 0
			for _, row := range rows {
				switch v := med[row][k]; {
				case math.IsNaN(v):
				case apart[i]:
					byRound = append(byRound, v)
				default:
					sum += v
					n++
				}
			}
			if n > 0 {
				byRound = append(byRound, sum/float64(n))
			}
		}
		if len(byRound) == 0 {
			out[i] = fallback[i]
			continue
		}
		out[i] = midmean(byRound)
	}
	return out
}

// midmean is the mean of v without the lowest and highest ⌊(n+1)/4⌋ values: the median up to n = 4, but for n = 2. It
// sorts v, which must not be empty.
func midmean(v []float64) float64 {
	slices.Sort(v)
	g := (len(v) + 1) / 4
	sum := 0.0
	for _, x := range v[g : len(v)-g] {
		sum += x
	}
	return sum / float64(len(v)-2*g)
}

// apply returns stat of each replicate; one whose stat fails is left out.
func (s *sampled) apply(stat func(values []float64) ([]float64, error)) [][]float64 {
	out := make([][]float64, 0, len(s.replicates))
	for _, r := range s.replicates {
		if v, err := stat(r); err == nil {
			out = append(out, v)
		}
	}
	return out
}

// interval returns the 95% interval of component j of replicates about the estimate v: the distances of the 2.5% and
// 97.5% quantiles from the median of the replicates, widened for the small number of rounds by
//
//	t(0.975, R−1)/1.96 · √(R/(R−1)),
//
// since resampling R rounds draws from a variance that is (R−1)/R of the true one, itself known with R−1 degrees of
// freedom only. With one round nothing is known between rounds, and the interval holds within it.
// Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, section 12.5 and problem 5.1; Hesterberg 2015,
// What Teachers Should Know About the Bootstrap, section 3.2 (narrowness bias).
func (s *sampled) interval(v float64, replicates [][]float64, j int) [2]float64 {
	x := make([]float64, 0, len(replicates))
	for _, r := range replicates {
		if finite(r[j]) {
			x = append(x, r[j])
		}
	}
	if len(x) == 0 {
		return [2]float64{v, v}
	}
	slices.Sort(x)
	mid, k := stats.SortedQuantile(x, 0.5), smallSample(s.rounds)
	return [2]float64{v - k*(mid-stats.SortedQuantile(x, 0.025)), v + k*(stats.SortedQuantile(x, 0.975)-mid)}
}

// smallSample is the widening of interval for R rounds.
func smallSample(rounds int) float64 {
	if rounds < 2 {
		return 1
	}
	r := float64(rounds)
	return tQuantile(r-1) / distuv.UnitNormal.Quantile(0.975) * math.Sqrt(r/(r-1))
}

// tQuantile is the 97.5% quantile of Student's distribution.
func tQuantile(df float64) float64 { return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(0.975) }
