package lsq

import (
	"math/rand/v2"
	"testing"
)

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
	for b.Loop() {
		if _, err := HuberLine(m, y); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFitSegments(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, n := range map[string]int{"n100": 100, "n3000": 3000} {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(i)
			y[i] = 100 + x[i] + max(0, x[i]-float64(n)/2) + rng.NormFloat64()
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := FitSegments(x, y, SegmentOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
