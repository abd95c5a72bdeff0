package bench_test

import (
	"testing"

	"calib/bench"
)

// TestSharing: of n pairs at once each has the rate that a look at all of them foretells; without a look, a share of
// one.
func TestSharing(t *testing.T) {
	for _, c := range []struct {
		path bench.Path
		n    int
		want float64
	}{
		{bench.Path{}, 4, 4},
		{bench.Path{}, 0, 1},
		{bench.Path{Together: true, AtOnce: 4, Slower: 1.05}, 4, 1},
		{bench.Path{AtOnce: 4, Slower: 2}, 4, 2},
		{bench.Path{AtOnce: 4, Slower: 2}, 3, 1.5},
		{bench.Path{AtOnce: 4, Slower: 2}, 1, 1},
	} {
		if got := c.path.Sharing(c.n); got != c.want {
			t.Errorf("%+v, %d pairs: %g, want %g", c.path, c.n, got, c.want)
		}
	}
}
