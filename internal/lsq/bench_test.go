package lsq

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// million is 10⁶ samples of a + b·m as points × rounds × samples.
func million(points, rounds int) (x []float64, data [][][]float64) {
	rng := rand.New(rand.NewPCG(1, 1))
	n := 1_000_000 / points / rounds
	for p := range points {
		size := math.Pow(1.15, float64(p%100))
		x = append(x, size)
		cell := make([][]float64, rounds)
		for r := range cell {
			for range n {
				cell[r] = append(cell[r], (100+size)*(1+0.05*rng.ExpFloat64()))
			}
		}
		data = append(data, cell)
	}
	return x, data
}

// BenchmarkFitMillion is the bar of the design: sort 10⁶ samples, then 1,000 replicates of a weighted line through the
// medians of round medians.
func BenchmarkFitMillion(b *testing.B) {
	for name, shape := range map[string][2]int{"points100_rounds10": {100, 10}, "points1000_rounds50": {1000, 50}, "points50_rounds1000": {50, 1000}} {
		x, data := million(shape[0], shape[1])
		rows := line(x)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				m, err := NewRoundMedians(data)
				if err != nil {
					b.Fatal(err)
				}
				if _, err = m.Bootstrap(1000, 1, func(med [][]float64) []float64 {
					y := make([]float64, len(med))
					for p, v := range med {
						slices.Sort(v)
						y[p] = medianSorted(v)
					}
					sol, err := Relative(rows, y)
					if err != nil {
						b.Error(err)
						return nil
					}
					return sol.Coef
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMedianDraw(b *testing.B) {
	for name, m := range map[string]int{"m2": 2, "m5": 5, "m16": 16, "m1000": 1000, "m100001": 100001} {
		sample := make([]float64, m)
		for i := range sample {
			sample[i] = float64(i)
		}
		r, err := NewMedianResampler(sample)
		if err != nil {
			b.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r.Draw(rng)
			}
		})
	}
}

func BenchmarkLinear(b *testing.B) {
	for name, n := range map[string]int{"n20": 20, "n6600": 6600} {
		m, y := pingpong(false)
		rows := line(m[:n])
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Linear(rows, y[:n], nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHuber(b *testing.B) {
	m, y := pingpong(true)
	rows := line(m)
	for b.Loop() {
		if _, err := Huber(rows, y, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSegmented(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, n := range map[string]int{"n100": 100, "n3000": 3000} {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(i)
			y[i] = 100 + x[i] + max(0, x[i]-float64(n)/2) + rng.NormFloat64()
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Segmented(x, y, nil, SegmentOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
