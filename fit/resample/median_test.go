package resample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"calib/internal/stats"
)

// TestMedianResamplerExact compares the frequency of each median against the binomial formula: for odd m the resample
// median is at most sorted[i] exactly when at least (m+1)/2 of m draws are, each with probability (i+1)/m.
func TestMedianResamplerExact(t *testing.T) {
	for _, m := range []int{1, 3, 5, 17, 33} {
		sample := make([]float64, m)
		for i := range sample {
			sample[i] = float64(i)
		}
		sorted := slices.Sorted(slices.Values(sample))
		rng := rand.New(rand.NewPCG(1, uint64(m)))
		const draws = 100_000
		count := make([]int, m)
		for range draws {
			count[int(drawMedian(sorted, rng))]++
		}
		var seen int
		for i := range m {
			seen += count[i]
			want := binomialTail(m, (m+1)/2, float64(i+1)/float64(m))
			if d := math.Abs(float64(seen)/draws - want); d > 4*math.Sqrt(want*(1-want)/draws)+1e-9 {
				t.Errorf("m %d: P(median ≤ %d) is %.4f, exactly %.4f", m, i, float64(seen)/draws, want)
			}
		}
	}
}

// binomialTail is P(X ≥ k) for X ~ Binomial(n, p).
func binomialTail(n, k int, p float64) float64 {
	var sum float64
	for j := k; j <= n; j++ {
		c, _ := math.Lgamma(float64(n + 1))
		a, _ := math.Lgamma(float64(j + 1))
		b, _ := math.Lgamma(float64(n - j + 1))
		sum += math.Exp(c-a-b) * math.Pow(p, float64(j)) * math.Pow(1-p, float64(n-j))
	}
	return sum
}

// TestMedianResamplerBrute compares distributions with medians of resamples drawn element by element, by the two-sample
// Kolmogorov-Smirnov distance.
func TestMedianResamplerBrute(t *testing.T) {
	data := rand.New(rand.NewPCG(20, 26))
	for _, m := range []int{1, 2, 4, 7, 16, 17, 18, 50, 101, 1000} {
		sample := make([]float64, m)
		for i := range sample {
			sample[i] = data.ExpFloat64()
		}
		sorted := slices.Sorted(slices.Values(sample))
		const draws = 20_000
		fast, brute := make([]float64, draws), make([]float64, draws)
		rng := rand.New(rand.NewPCG(3, uint64(m)))
		again := make([]float64, m)
		for i := range draws {
			fast[i] = drawMedian(sorted, rng)
			for j := range again {
				again[j] = sample[rng.IntN(m)]
			}
			slices.Sort(again)
			brute[i] = stats.SortedQuantile(again, 0.5)
		}
		if d := kolmogorov(fast, brute); d > 1.95*math.Sqrt(2.0/draws) { // p = 0.001
			t.Errorf("m %d: distance %.4f", m, d)
		}
	}
}

// kolmogorov is the two-sample Kolmogorov-Smirnov distance.
func kolmogorov(a, b []float64) float64 {
	slices.Sort(a)
	slices.Sort(b)
	var d float64
	for i, j := 0, 0; i < len(a) && j < len(b); {
		v := min(a[i], b[j])
		for i < len(a) && a[i] == v {
			i++
		}
		for j < len(b) && b[j] == v {
			j++
		}
		d = max(d, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return d
}
