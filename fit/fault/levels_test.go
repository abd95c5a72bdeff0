package fault

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A sound host has the level 1. One that is slower by less than the margin has what it is, and a slow one has none.
// What an uplink takes counts for none of its hosts.
func TestLevels(t *testing.T) {
	group := func(h int) int { return h / 4 }
	for _, c := range []struct {
		name  string
		hosts int
		slow  float64 // how many times as long host 3 takes; 0 has no level
		cluster
	}{
		{"alike", 8, 1, cluster{}},
		{"three hosts", 3, 1, cluster{}},
		{"latency", 8, 1.01, cluster{latency: func(a, b, _ int) float64 { return 1 + 0.01*one(a == 3 || b == 3) }}},
		{"rate", 8, 1.01, cluster{perByte: func(from, _, _ int) float64 { return 1 + 0.01*one(from == 3) }}},
		{"slow", 8, 0, cluster{latency: func(a, b, _ int) float64 { return 1 + 0.4*one(a == 3 || b == 3) }}},
		{"uplink", 16, 1, cluster{latency: func(a, b, _ int) float64 {
			return 1 + 0.3*one(group(a) != group(b)) + 0.5*one((group(a) == 0) != (group(b) == 0))
		}}},
		{"many", 80, 1, cluster{}},
	} {
		c.rng, c.noise = rand.New(rand.NewPCG(1, 7)), 0.01
		s := New(c.hosts, 0.02)
		for round := range 90 {
			var seen []Seen
			for _, p := range s.Next(c.rng) {
				seen = append(seen, c.see(p, round))
			}
			s.Add(seen, 0.5)
		}
		for h, f := range s.Levels() {
			want := 1.
			if h == 3 {
				want = c.slow
			}
			if math.Abs(f.Ratio-want) > 0.008 || f.CI[0] > f.Ratio || f.CI[1] < f.Ratio || f.CI[1]-f.CI[0] > 0.05 {
				t.Errorf("%s: host %d takes %g times as long [%g, %g], want %g", c.name, h, f.Ratio, f.CI[0], f.CI[1], want)
			}
		}
	}
}
