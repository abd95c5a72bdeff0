package resample

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/stat/distuv"

	"calib/internal/stats"
)

// minValues is how many independent values a 95% interval of their median takes: all of n lie on one side of the median
// with probability 2·2⁻ⁿ.
const minValues = 6

// medianCI is the interval of a median of values in any order.
func medianCI(x []float64) (ci [2]float64, ok bool) {
	return SortedQuantileCI(slices.Sorted(slices.Values(x)), 0.5, len(x))
}

// medianRank is the rank of the lower end of the interval of a median of n values; the upper end mirrors it.
func medianRank(n int) int {
	ranks := make([]float64, n)
	for i := range ranks {
		ranks[i] = float64(i + 1)
	}
	ci, ok := SortedQuantileCI(ranks, 0.5, n)
	if !ok || ci[0]+ci[1] != float64(n+1) {
		panic(fmt.Sprintf("interval %v of %d ranks", ci, n))
	}
	return int(ci[0])
}

// bruteRank is medianRank by whole numbers: it adds binomial coefficients while 40·Σ C(n,k) ≤ 2ⁿ.
func bruteRank(n int) (r int, coverage float64) {
	total := new(big.Int).Lsh(big.NewInt(1), uint(n))
	sum := new(big.Int)
	for {
		next := new(big.Int).Add(sum, new(big.Int).Binomial(int64(n), int64(r)))
		if new(big.Int).Mul(next, big.NewInt(40)).Cmp(total) > 0 {
			tail, _ := new(big.Rat).SetFrac(sum, total).Float64()
			return r, 1 - 2*tail
		}
		sum = next
		r++
	}
}

// rankCoverage is the probability that the interval of n values holds the median.
func rankCoverage(n int) float64 {
	return 1 - 2*distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(medianRank(n)-1))
}

func TestMedianRankExact(t *testing.T) {
	check := func(n int) {
		r, cover := medianRank(n), rankCoverage(n)
		wantR, wantCover := bruteRank(n)
		if r != wantR || math.Abs(cover-wantCover) > 1e-9 {
			t.Errorf("n=%d: rank %d covers %v, want %d covers %v", n, r, cover, wantR, wantCover)
		}
	}
	for n := minValues; n <= 400; n++ {
		check(n)
	}
	for _, n := range []int{999, 1000, 2047, 4096} {
		check(n)
	}
}

// TestMedianRankPublished: the ranks of Nair's table of 1940 for n = 6 to 65 at 95%, as table 5 of
// https://en.wikisource.org/wiki/Page:Sm_all_cc.pdf/38 reproduces it.
func TestMedianRankPublished(t *testing.T) {
	nair := []int{
		1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 8, // n = 6 to 25
		8, 8, 9, 9, 10, 10, 10, 11, 11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 16, 16, // to 45
		16, 17, 17, 18, 18, 19, 19, 19, 20, 20, 21, 21, 22, 22, 22, 23, 23, 24, 24, 25, // to 65
	}
	for i, want := range nair {
		if r := medianRank(6 + i); r != want {
			t.Errorf("n=%d: rank %d, want %d", 6+i, r, want)
		}
	}
}

// TestMedianCIPublished is the example of ci.median in the R package statpsych (Snedecor and Cochran's interval).
func TestMedianCIPublished(t *testing.T) {
	y := []float64{
		30.2, 20.4, 15.1, 10.2, 10.5, 60.8, 20.8, 25.0, 20.7, 30.9, 10.8, 5.1, 50.9, 40.0, 20.9, 10.8, 0, 20.5, 50.8,
	}
	if iv, ok := medianCI(y); !ok || iv[0] != 10.8 || iv[1] != 30.9 || stats.Median(y) != 20.7 {
		t.Errorf("%v in %+v, want 20.7 in [10.8, 30.9]", stats.Median(y), iv)
	}
}

func TestMedianRankLarge(t *testing.T) {
	const n = 1_000_000
	r, cover := medianRank(n), rankCoverage(n)
	want := n/2 - 1.959963985*math.Sqrt(n)/2 // the normal limit
	if math.Abs(float64(r)-want) > 2 || cover < stats.Level || cover > stats.Level+1e-3 {
		t.Errorf("rank %d covers %v, want about %v and just above %v", r, cover, want, stats.Level)
	}
}

// TestMedianCIAgainst holds the interval to benchmath's where that one is exact: it may be narrower by one rank on the
// left or the right (it is not symmetric), and never wider.
func TestMedianCIAgainst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := minValues; n <= 30; n++ {
		x := make([]float64, n)
		for i, v := range rng.Perm(n) {
			x[i] = float64(v + 1) // a value is its own rank
		}
		iv, ok := medianCI(x)
		if !ok {
			t.Fatalf("n=%d: no interval", n)
		}
		s := benchmath.AssumeNothing.Summary(
			benchmath.NewSample(slices.Clone(x), &benchmath.DefaultThresholds), stats.Level)
		dl, dh := s.Lo-iv[0], iv[1]-s.Hi
		if dl < 0 || dh < 0 || dl+dh > 1 {
			t.Errorf("n=%d: [%v, %v], benchmath says [%v, %v]", n, iv[0], iv[1], s.Lo, s.Hi)
		}
		if dl+dh == 0 && math.Abs(rankCoverage(n)-s.Confidence) > 1e-9 {
			t.Errorf("n=%d: coverage %v, benchmath says %v", n, rankCoverage(n), s.Confidence)
		}
	}
}

func TestMedianCITooFew(t *testing.T) {
	for n := range minValues {
		if iv, ok := medianCI(make([]float64, n)); ok {
			t.Errorf("%d values: got %v, want no interval", n, iv)
		}
	}
	if _, ok := medianCI([]float64{1, 2, 3, math.NaN(), 5, 6, 7}); ok {
		t.Error("NaN among the values: want no interval")
	}
}

// coverage draws sets of values and counts how often the interval holds the true median.
func coverage(sets int, draw func() ([2]float64, bool), truth float64) float64 {
	hit := 0
	for range sets {
		if iv, ok := draw(); ok && iv[0] <= truth && truth <= iv[1] {
			hit++
		}
	}
	return float64(hit) / float64(sets)
}

func TestMedianCICoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{6, 13, 40} {
		x := make([]float64, n)
		got := coverage(4000, func() ([2]float64, bool) {
			for i := range x {
				x[i] = rng.ExpFloat64() // skewed, with a tail
			}
			return medianCI(x)
		}, math.Ln2)
		want := rankCoverage(n)
		if math.Abs(got-want) > 0.012 { // 3.5 standard errors
			t.Errorf("n=%d: covers %v of the sets, want %v", n, got, want)
		}
	}
}

// rounds draws clustered values: a shift common to a round, and noise within it. The true median is 10.
func rounds(rng *rand.Rand, n, each int) [][]float64 {
	out := make([][]float64, n)
	for r := range out {
		shift := rng.NormFloat64()
		for range each {
			out[r] = append(out[r], 10+shift+0.3*rng.NormFloat64())
		}
	}
	return out
}

// medians are the medians of rounds.
func medians(rounds [][]float64) []float64 {
	var out []float64
	for _, r := range rounds {
		out = append(out, stats.Median(r))
	}
	return out
}

// TestClusters shows why rounds are the unit: pooled, correlated values give an interval that holds far less often than
// it says.
func TestClusters(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n, each, sets = 10, 20, 1500
	clustered := coverage(sets, func() ([2]float64, bool) { return medianCI(medians(rounds(rng, n, each))) }, 10)
	pooled := coverage(sets, func() ([2]float64, bool) {
		return medianCI(slices.Concat(rounds(rng, n, each)...))
	}, 10)
	if clustered < 0.95 {
		t.Errorf("by rounds: covers %v, want at least 0.95", clustered)
	}
	if pooled > 0.75 {
		t.Errorf("pooled: covers %v: the test has lost its point", pooled)
	}
}

func BenchmarkMedianCI(b *testing.B) {
	x := make([]float64, 10_000)
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range x {
		x[i] = rng.ExpFloat64()
	}
	for b.Loop() {
		medianCI(x)
	}
}

// TestShare: values of Newcombe 1998 (Statistics in Medicine 17, table I, method 3), and what holds of all.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		hits, n int64
		lo, hi  float64
	}{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718},
		{29, 29, 0.8830, 1},
	} {
		if _, ci := Share(c.hits, c.n); math.Abs(ci[0]-c.lo) > 1e-4 || math.Abs(ci[1]-c.hi) > 1e-4 {
			t.Errorf("%d of %d: %+v, want [%g, %g]", c.hits, c.n, ci, c.lo, c.hi)
		}
	}
}
