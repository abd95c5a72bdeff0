package fit

import (
	"math/rand/v2"
	"testing"

	"calib/internal/stats"
)

// The statistics of all pairs but one host's are those of the pairs that are left, to the last bit.
func TestRankedWithout(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var pairs []PairTime
		hosts := 3 + rng.IntN(8)
		for a := range hosts {
			for b := a + 1; b < hosts; b++ {
				if rng.IntN(3) > 0 {
					pairs = append(pairs, PairTime{Hosts: [2]int{a, b}, Value: float64(1+rng.IntN(12)) * 0.1})
				}
			}
		}
		r := rank(pairs)
		for h := range hosts {
			var values []float64 // of the other hosts' pairs
			for _, q := range pairs {
				if q.Hosts[0] != h && q.Hosts[1] != h {
					values = append(values, q.Value)
				}
			}
			if own := len(pairs) - len(values); own != len(r.own[h]) {
				t.Fatalf("host %d: %d pairs, want %d", h, len(r.own[h]), own)
			}
			if len(values) == 0 {
				continue
			}
			mid := r.medianWithout(h)
			if want := stats.Median(values); mid != want {
				t.Fatalf("%v without %d: median %v, want %v", pairs, h, mid, want)
			}
			if got, want := r.madWithout(h, mid), stats.MAD(values); got != want {
				t.Fatalf("%v without %d: MAD %v, want %v", pairs, h, got, want)
			}
		}
	}
}
