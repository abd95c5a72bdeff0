package lsq

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
)

// RoundMedians resamples the medians of measured points, in rounds: values within a round share what the network did at
// that time, rounds are independent.
type RoundMedians struct {
	cells  [][]MedianResampler // [point][round]; empty where nothing was measured
	rounds int
}

// NewRoundMedians sorts samples[point][round] once, in place: they are its own from then on. All points have the same
// number of rounds; a point may lack samples in some. Errors: ErrShort, ErrShape, ErrNotFinite.
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
			cell, err := ownMedianResampler(s)
			if err != nil {
				return nil, fmt.Errorf("point %d, round %d: %w", p, r, err)
			}
			m.cells[p][r] = *cell
		}
	}
	return m, nil
}

// Medians returns the median of each point in each round of the data as they are, NaN where a round has no samples of
// the point.
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

// Bootstrap resamples clustered data: each of b replicates draws as many rounds as there are, with replacement, then
// within each drawn round as many samples of a point as it has, with replacement. stat maps the medians of a resample
// to estimates: med[point][k] is that of the point in the round drawn k-th, the same round for all points; NaN where
// there are no samples. A median costs O(1) whatever the number of samples. Source: Davison and Hinkley (1997),
// Bootstrap Methods and their Application, §3.8.
//
// It returns the estimates of each replicate. stat runs on all CPUs at once; it must not keep med, which later
// replicates reuse, and its result must be new. Every replicate has its own generator, seeded from seed and its number:
// results do not depend on GOMAXPROCS. ErrShape when b is below 1.
func (m *RoundMedians) Bootstrap(b int, seed uint64, stat func(med [][]float64) []float64) ([][]float64, error) {
	if b < 1 {
		return nil, fmt.Errorf("bootstrap of %d replicates: %w", b, ErrShape)
	}
	out := make([][]float64, b)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), b) {
		wg.Go(func() {
			med, drawn := make([][]float64, len(m.cells)), make([]int, m.rounds)
			for p := range med {
				med[p] = make([]float64, m.rounds)
			}
			for i := next.Add(1) - 1; i < int64(b); i = next.Add(1) - 1 {
				m.draw(rand.New(rand.NewPCG(mix(seed), mix(mix(seed^mix(uint64(i)))))), drawn, med)
				out[i] = stat(med)
			}
		})
	}
	wg.Wait()
	return out, nil
}

// draw stores the numbers of the rounds of one resample in drawn, and the medians in med.
func (m *RoundMedians) draw(rng *rand.Rand, drawn []int, med [][]float64) {
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
}

// mix is the SplitMix64 finaliser, which spreads neighbouring seeds over all bits. Source: Steele, Lea and Flood
// (2014), OOPSLA, 453-472.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
