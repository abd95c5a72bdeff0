// Package resample holds measured points and their bootstrap: from raw timings by round and direction to one value a
// point, the same in every replicate, and intervals of whatever is computed from them.
package resample

import (
	"cmp"
	"maps"
	"math"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"calib/internal/lists"
	"calib/internal/stats"
)

// Table holds the measured points of one fit, by key. The value of a point is made in three steps, each with its
// reason:
//
//   - the median of the raw timings of one round and direction: delays have a long tail to one side;
//   - the mean of the two directions of that round, in which a clock offset cancels;
//   - the midmean of the rounds (the mean without the outer quarters): a round spoilt by other traffic is dropped, and
//     little is lost against the mean where none is. Source: Hampel et al. 1986, Robust Statistics, section 2.2b.
//
// A duration holds no clock offset. The directions of such a point are not averaged: the midmean is over the rounds of
// both, and a spoilt direction does not spoil the other.
type Table[K comparable] struct {
	Index map[K]int // of each key among the points
	// Kind tells kinds of measurement apart, which need not drift alike: the correlation of rounds is that of a kind.
	// nil: one-way times are one kind, durations another.
	Kind   func(K) int
	points []*point
}

// point is one measured point: its raw values in SI units by direction and round, and the timings behind it.
type point struct {
	parts    [2]map[int][][]float64 // as they were added
	teams    map[teamRound][]teamPart
	n        int
	duration bool
}

// OneWay returns the index of the point of k, whose values are differences of two hosts' clocks. It is made on first
// use.
func (t *Table[K]) OneWay(k K) int { return t.point(k, false) }

// Duration returns the index of the point of k, whose values are durations on one clock. It is made on first use.
func (t *Table[K]) Duration(k K) int { return t.point(k, true) }

func (t *Table[K]) point(k K, duration bool) int {
	i, ok := t.Index[k]
	if !ok {
		if t.Index == nil {
			t.Index = map[K]int{}
		}
		i = len(t.points)
		t.Index[k] = i
		t.points = append(t.points, &point{duration: duration, parts: [2]map[int][][]float64{{}, {}},
			teams: map[teamRound][]teamPart{}})
	}
	return i
}

func (t *Table[K]) Len() int { return len(t.points) }

// Distinct returns the distinct values of the keys for which of gives one, ascending.
func Distinct[K comparable, V cmp.Ordered](t *Table[K], of func(K) (v V, ok bool)) []V {
	var out []V
	for k := range t.Index {
		if v, ok := of(k); ok {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AddTeam is Add for values that one of several teams of hosts measured, such as a pair. team tells the teams apart, in
// every round the same (Team makes one). What differs between teams then widens the intervals.
func (t *Table[K]) AddTeam(i int, team string, dir, round, n int, values ...float64) {
	k := teamRound{team, round}
	t.points[i].teams[k] = append(t.points[i].teams[k], teamPart{dir & 1, values})
	t.Add(i, dir, round, n, values...)
}

// Add appends raw values of point i, taken from n timings. Nothing is known of which hosts they are of. The values are
// kept, and must not change.
func (t *Table[K]) Add(i, dir, round, n int, values ...float64) {
	p := t.points[i]
	p.parts[dir&1][round] = append(p.parts[dir&1][round], values)
	p.n += n
}

// OneSided reports whether a one-way point was measured in one direction only, so that its clock offset does not
// cancel.
func (t *Table[K]) OneSided() bool {
	return slices.ContainsFunc(t.points, func(p *point) bool {
		return !p.duration && (len(p.parts[0]) == 0 || len(p.parts[1]) == 0)
	})
}

// rounds returns the rounds of p in ascending order: those with both directions, where any has both and it matters.
func (p *point) rounds() []int {
	first := slices.Sorted(maps.Keys(p.parts[0]))
	both := lists.Where(first, func(r int) bool { return p.parts[1][r] != nil })
	if len(both) > 0 && !p.duration {
		return both
	}
	all := slices.AppendSeq(first, maps.Keys(p.parts[1]))
	slices.Sort(all)
	return slices.Compact(all)
}

// Estimates are the points of a table with their bootstrap: Values[i] of point i, and of the same point in each
// replicate.
type Estimates struct {
	Values     []float64
	Replicates [][]float64
	Rounds     int     // behind a typical point: the median over points
	Serial     float64 // lag-1 correlation of rounds that the intervals allow for
	N          []int   // timings behind each point
}

// Medians are the points of a table with the median of each round and direction, ready to be drawn from as often as
// wanted.
type Medians struct {
	cells     cells
	medians   [][]float64 // of the cells
	parts     [][]int     // rows of cells that make up each point
	durations []bool
	kinds     []int     // by point
	Rounds    int       // behind a typical point: the median over points
	serial    float64   // the largest of any kind
	own       []float64 // by point: factor on the interval width, by its own rounds and correlation over Rounds and serial
	shifts    *shifts
	n         []int
}

// Medians takes the medians of a table, and the values out of it: the table is of no use then. Many timings are not
// held twice.
func (t *Table[K]) Medians() *Medians {
	m := &Medians{parts: make([][]int, len(t.points)), kinds: t.kinds()}
	found := make([]deviations, len(t.points)) // the values by team are let go
	Each(len(found), func(i int) { found[i], t.points[i].teams = t.points[i].deviations(), nil })
	whole := lists.Map(t.points, (*point).rounds)
	rounds := slices.Concat(whole...)
	slices.Sort(rounds)
	rounds = slices.Compact(rounds)
	for i, p := range t.points {
		m.n, m.durations = append(m.n, p.n), append(m.durations, p.duration)
		for _, byRound := range p.parts {
			if len(byRound) == 0 {
				continue
			}
			row := make([][]float64, len(rounds))
			for _, r := range whole[i] {
				s := slices.Concat(byRound[r]...)
				slices.Sort(s)
				row[sort.SearchInts(rounds, r)], byRound[r] = s, nil
			}
			m.parts[i] = append(m.parts[i], len(m.cells))
			m.cells = append(m.cells, row)
		}
	}
	m.Rounds = int(stats.Median(lists.Map(whole, func(rounds []int) float64 { return float64(len(rounds)) })))
	m.medians = m.cells.medians()
	m.serial, m.own = m.correlation()
	m.shifts = t.shifts(found, m.combine(m.medians, nil), widening(m.Rounds, m.serial))
	return m
}

func (t *Table[K]) kinds() []int {
	out := make([]int, len(t.points))
	for k, i := range t.Index {
		switch {
		case t.Kind != nil:
			out[i] = t.Kind(k)
		case t.points[i].duration:
			out[i] = 1
		}
	}
	return out
}

// Estimate estimates every point, without replicates.
func (m *Medians) Estimate() *Estimates {
	return &Estimates{Values: m.combine(m.medians, nil), Rounds: m.Rounds, Serial: m.serial, N: m.n}
}

// Draw estimates every point and draws b replicates: rounds with replacement, the same for all points so that what a
// round did to all of them stays together (bootstrap). A point that was not measured in any drawn round keeps its
// estimate in that replicate. Teams are drawn beside the rounds, and shift the points by what persists between them.
func (m *Medians) Draw(b int, seed uint64) *Estimates {
	s := m.Estimate()
	s.Replicates = m.cells.bootstrap(m.medians, b, seed, func(med [][]float64) []float64 {
		r := m.combine(med, s.Values)
		for i, k := range m.own {
			r[i] = s.Values[i] + k*(r[i]-s.Values[i])
		}
		return r
	})
	m.shifts.apply(s.Replicates, seed)
	return s
}

// combine turns medians by row and round into values by point.
func (m *Medians) combine(med [][]float64, fallback []float64) []float64 {
	out := make([]float64, len(m.parts))
	byRound := make([]float64, 0, 64)
	for i := range m.parts {
		byRound = m.roundsOf(i, med, byRound[:0], m.durations[i])
		switch {
		case len(byRound) > 0:
			out[i] = Midmean(byRound)
		case fallback != nil:
			out[i] = fallback[i]
		default: // its values are not numbers
			out[i] = math.NaN()
		}
	}
	return out
}

// roundsOf appends the values of point i by round: one a direction where they are apart, else the mean of both.
func (m *Medians) roundsOf(i int, med [][]float64, to []float64, apart bool) []float64 {
	rows := m.parts[i]
	for k := range med[rows[0]] {
		sum, n := 0.0, 0
		for _, row := range rows {
			switch v := med[row][k]; {
			case math.IsNaN(v):
			case apart:
				to = append(to, v)
			default:
				sum += v
				n++
			}
		}
		if n > 0 {
			to = append(to, sum/float64(n))
		}
	}
	return to
}

// Midmean is the mean of v without the lowest and highest ⌊(n+1)/4⌋ values: the median up to n = 4, but for n = 2. It
// sorts v, which must not be empty.
func Midmean(v []float64) float64 {
	slices.Sort(v)
	g := (len(v) + 1) / 4
	return lists.Sum(v[g:len(v)-g], func(x float64) float64 { return x }) / float64(len(v)-2*g)
}

// Derive returns numbers that are made of the points, in the estimates and in each replicate, as Map does. How many
// timings are behind them is not said.
func (s *Estimates) Derive(stat func(values []float64) ([]float64, error)) (*Estimates, error) {
	v, err := stat(s.Values)
	if err != nil {
		return nil, err
	}
	return &Estimates{Values: v, Replicates: Map(s.Replicates, stat), Rounds: s.Rounds, Serial: s.Serial}, nil
}

// Made returns numbers that are each made of the values of points, in the estimates and in each replicate. The timings
// behind number i are those of the points from[i].
func (s *Estimates) Made(from [][]int, of func(values []float64, i int) float64) *Estimates {
	all := lists.Upto(len(from))
	out, _ := s.Derive(func(values []float64) ([]float64, error) { // never fails
		return lists.Map(all, func(i int) float64 { return of(values, i) }), nil
	})
	out.N = lists.Map(from, func(points []int) int { return lists.Sum(points, func(i int) int { return s.N[i] }) })
	return out
}

func (s *Estimates) Select(points []int) *Estimates {
	from := lists.Map(points, func(p int) []int { return []int{p} })
	return s.Made(from, func(values []float64, i int) float64 { return values[points[i]] })
}

// Map returns stat of each row, in order; one whose stat fails is left out. stat is called from several goroutines.
func Map[Row, Out any](rows []Row, stat func(Row) (Out, error)) []Out {
	out, failed := make([]Out, len(rows)), make([]bool, len(rows))
	Each(len(rows), func(i int) {
		var err error
		out[i], err = stat(rows[i])
		failed[i] = err != nil
	})
	kept := out[:0]
	for i, v := range out {
		if !failed[i] {
			kept = append(kept, v)
		}
	}
	return kept
}

// Each calls do for 0 to n−1 on all CPUs, and returns when all are done.
func Each(n int, do func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

func Pick(values []float64, points []int) []float64 {
	return lists.Map(points, func(i int) float64 { return values[i] })
}
