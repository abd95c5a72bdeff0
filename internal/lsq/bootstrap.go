package lsq

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Replicates are the values of a statistic over bootstrap resamples.
type Replicates struct {
	// Values holds one row per replicate in the order of their seeds. The row of
	// a replicate whose statistic returned an error is all NaN.
	Values [][]float64
	// Failed counts the replicates with an error or any value that is not
	// finite; FailedAt counts those that are not finite by component.
	Failed   int
	FailedAt []int
	// Err is the error of the first replicate that returned one.
	Err error
}

// Draw is one two-level resample: Rounds[k] is the round drawn k-th and Index[k]
// are the indices of the samples drawn within it, as many as the round has. Both
// are reused by later replicates.
type Draw struct {
	Rounds []int
	Index  [][]int
}

// Bootstrap resamples clustered data: each of b replicates draws as many rounds
// as there are with replacement, then within each drawn round as many samples as
// it has with replacement. sizes[i] is the number of samples of round i. Source:
// Davison and Hinkley (1997), Bootstrap Methods and their Application, §3.8.
//
// stat maps a resample to estimates, always of the same number; it runs on all
// CPUs at once, each with its own Draw. Every replicate has its own generator,
// seeded from seed and its number: results do not depend on GOMAXPROCS.
//
// Errors: ErrShape (b < 1, a negative size, varying numbers of estimates),
// ErrShort (no rounds), ErrReplicates (every replicate failed; Err of the
// returned replicates says why).
func Bootstrap(sizes []int, b int, seed uint64, stat func(*Draw) ([]float64, error)) (*Replicates, error) {
	if len(sizes) == 0 {
		return nil, fmt.Errorf("bootstrap of no rounds: %w", ErrShort)
	}
	if i := slices.IndexFunc(sizes, func(n int) bool { return n < 0 }); i >= 0 {
		return nil, fmt.Errorf("bootstrap: round %d has %d samples: %w", i, sizes[i], ErrShape)
	}
	largest := slices.Max(sizes)
	return replicate(b, seed, func() func(*rand.Rand) ([]float64, error) {
		d := &Draw{Rounds: make([]int, len(sizes)), Index: make([][]int, len(sizes))}
		space := make([]int, largest*len(sizes))
		return func(rng *rand.Rand) ([]float64, error) {
			for k := range d.Rounds {
				d.Rounds[k] = rng.IntN(len(sizes))
				n := sizes[d.Rounds[k]]
				d.Index[k] = space[k*largest : k*largest+n]
				for i := range d.Index[k] {
					d.Index[k][i] = rng.IntN(n)
				}
			}
			return stat(d)
		}
	})
}

// RoundMedians resamples the medians of measured points: the fast path of
// Bootstrap for statistics of medians.
type RoundMedians struct {
	cells  [][]MedianResampler // [point][round]; empty where nothing was measured
	rounds int
}

// NewRoundMedians sorts samples[point][round] once. All points have the same
// number of rounds; a point may lack samples in some. Errors: ErrShort, ErrShape,
// ErrNotFinite.
func NewRoundMedians(samples [][][]float64) (*RoundMedians, error) {
	if len(samples) == 0 || len(samples[0]) == 0 {
		return nil, fmt.Errorf("round medians of %d points: %w", len(samples), ErrShort)
	}
	m := &RoundMedians{cells: make([][]MedianResampler, len(samples)), rounds: len(samples[0])}
	for p, rounds := range samples {
		if len(rounds) != m.rounds {
			return nil, fmt.Errorf("point %d has %d rounds, point 0 has %d: %w", p, len(rounds), m.rounds, ErrShape)
		}
		m.cells[p] = make([]MedianResampler, m.rounds)
		for r, s := range rounds {
			if len(s) == 0 {
				continue
			}
			cell, err := NewMedianResampler(s)
			if err != nil {
				return nil, fmt.Errorf("point %d, round %d: %w", p, r, err)
			}
			m.cells[p][r] = *cell
		}
	}
	return m, nil
}

// Medians returns the median of each point in each round of the data as they
// are, NaN where a round has no samples of the point.
func (m *RoundMedians) Medians() [][]float64 {
	out := make([][]float64, len(m.cells))
	for p, cells := range m.cells {
		out[p] = make([]float64, m.rounds)
		for r, cell := range cells {
			out[p][r] = math.NaN()
			if cell.Len() > 0 {
				out[p][r] = cell.Median()
			}
		}
	}
	return out
}

// Bootstrap is the two-level bootstrap of Bootstrap for a statistic of medians:
// med[point][k] is the median of a resample of the point's samples in the round
// drawn k-th, the same round for all points; NaN where there are none. med is
// reused by later replicates. A draw costs O(1) whatever the number of samples.
func (m *RoundMedians) Bootstrap(b int, seed uint64, stat func(med [][]float64) ([]float64, error)) (*Replicates, error) {
	return replicate(b, seed, func() func(*rand.Rand) ([]float64, error) {
		med, drawn := make([][]float64, len(m.cells)), make([]int, m.rounds)
		for p := range med {
			med[p] = make([]float64, m.rounds)
		}
		return func(rng *rand.Rand) ([]float64, error) {
			for k := range drawn {
				drawn[k] = rng.IntN(m.rounds)
			}
			for p, cells := range m.cells {
				for k, r := range drawn {
					med[p][k] = math.NaN()
					if cells[r].Len() > 0 {
						med[p][k] = cells[r].Draw(rng)
					}
				}
			}
			return stat(med)
		}
	})
}

// replicate runs b replicates over the CPUs. worker makes the function of one
// goroutine, with its own scratch space.
func replicate(b int, seed uint64, worker func() func(*rand.Rand) ([]float64, error)) (*Replicates, error) {
	if b < 1 {
		return nil, fmt.Errorf("bootstrap of %d replicates: %w", b, ErrShape)
	}
	values, errs := make([][]float64, b), make([]error, b)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), b) {
		wg.Go(func() {
			run := worker()
			for i := next.Add(1) - 1; i < int64(b); i = next.Add(1) - 1 {
				n := uint64(i)
				v, err := run(rand.New(rand.NewPCG(mix(seed), mix(mix(seed^mix(n))))))
				values[i], errs[i] = slices.Clone(v), err
			}
		})
	}
	wg.Wait()
	return collect(values, errs)
}

// mix is the SplitMix64 finaliser, which spreads neighbouring seeds over all
// bits. Source: Steele, Lea and Flood (2014), OOPSLA, 453-472.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// collect checks the shape of the replicates and counts the failed ones.
func collect(values [][]float64, errs []error) (*Replicates, error) {
	out := &Replicates{Values: values}
	width := -1
	for i, v := range values {
		if errs[i] != nil {
			if out.Err == nil {
				out.Err = fmt.Errorf("replicate %d: %w", i, errs[i])
			}
			continue
		}
		if width < 0 {
			width = len(v)
		}
		if len(v) != width {
			return nil, fmt.Errorf("replicate %d has %d estimates, an earlier one %d: %w", i, len(v), width, ErrShape)
		}
	}
	out.FailedAt = make([]int, max(width, 0))
	for i := range values {
		if errs[i] != nil {
			values[i] = slices.Repeat([]float64{math.NaN()}, max(width, 0))
		}
		if errs[i] != nil || allFinite("estimate", values[i]) != nil {
			out.Failed++
		}
		for j, v := range values[i] {
			if !finite(v) {
				out.FailedAt[j]++
			}
		}
	}
	if out.Failed == len(values) {
		return out, fmt.Errorf("bootstrap: all %d replicates failed: %w", len(values), ErrReplicates)
	}
	return out, nil
}
