package resample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"calib/internal/lsq"
	"calib/internal/stats"
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
	for name, shape := range map[string][2]int{"points100_rounds10": {100, 10}, "points1000_rounds50": {1000, 50},
		"points50_rounds1000": {50, 1000}} {
		x, data := million(shape[0], shape[1])
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, row := range data {
					for _, s := range row {
						slices.Sort(s)
					}
				}
				cells(data).bootstrap(cells(data).medians(), 1000, 1, func(med [][]float64) []float64 {
					y := make([]float64, len(med))
					for p, v := range med {
						slices.Sort(v)
						y[p] = stats.SortedQuantile(v, 0.5)
					}
					l, err := lsq.FitLine(x, y, nil)
					if err != nil {
						b.Error(err)
					}
					return []float64{l.C0, l.C1}
				})
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
		rng := rand.New(rand.NewPCG(1, 1))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				drawMedian(sample, rng)
			}
		})
	}
}
