package fault

import "testing"

// A host that is odd in one quantity only is still of the kind that it is like in the other.
func TestOddOfKind(t *testing.T) {
	for seed := range uint64(4) {
		part := func(h int) float64 { return 0.5 * (1 + 0.3*one(h < 4)) }
		c := cluster{noise: 0.02, latency: func(a, b, _ int) float64 { return part(a) + part(b) },
			perByte: func(a, b, _ int) float64 { return max(part(a), part(b)) * (1 + one(has(2, a, b))) }}
		j := screened(16, 90, 90, seed, c)
		if len(j.Kinds) != 2 || len(j.Kinds[0]) != 12 || len(j.Kinds[1]) != 4 {
			t.Errorf("seed %d: kinds %v", seed, j.Kinds)
		}
		if len(j.Slow) != 1 || j.Slow[0].Hosts[0] != 2 {
			t.Errorf("seed %d: %+v", seed, j.Slow)
		}
	}
}

// Hosts of two kinds are told apart, and none is slow for being of its kind. One that is slower than its kind is.
func TestKinds(t *testing.T) {
	for _, small := range []int{4, 8} {
		for seed := range uint64(4) {
			for _, slow := range []int{-1, 9} {
				part := func(h int) float64 { return 0.5 * (1 + 0.3*one(h < small)) * (1 + one(h == slow)) }
				c := cluster{noise: 0.02, latency: func(a, b, _ int) float64 { return part(a) + part(b) },
					perByte: func(a, b, _ int) float64 { return max(part(a), part(b)) }}
				j := screened(16, 90, 90, seed, c)
				if len(j.Kinds) != 2 || len(j.Kinds[0])+len(j.Kinds[1]) != 16-int(one(slow >= 0)) {
					t.Errorf("%d slower ones, seed %d: kinds %v", small, seed, j.Kinds)
				}
				if slow < 0 && len(j.Slow) > 0 || slow >= 0 && (len(j.Slow) != 1 || j.Slow[0].Hosts[0] != slow) {
					t.Errorf("%d slower ones, seed %d: %+v", small, seed, j.Slow)
				}
			}
		}
	}
}

// Kinds are found however many of the pairs of a batch have a slower host: nearly half of all do.
func TestKindsOfQuietHosts(t *testing.T) {
	for seed := range uint64(12) {
		slower := func(h int) float64 { return one(h < 4) }
		j := screened(16, 75, 75, seed, cluster{noise: 0.005, heavy: 0.05,
			latency: func(a, b, _ int) float64 { return 1 + 0.08*(slower(a)+slower(b)) },
			perByte: func(a, b, _ int) float64 { return 1 + 0.3*max(slower(a), slower(b)) }})
		if len(j.Slow) > 0 || len(j.Kinds) != 2 || len(j.Kinds[0]) != 12 {
			t.Errorf("seed %d: kinds %v, slow %+v", seed, j.Kinds, j.Slow)
		}
	}
}

// The kinds of hosts do not depend on how many of the pairs of a batch were over a slow uplink.
func TestUplinkIsNoKind(t *testing.T) {
	for seed := range uint64(8) {
		j := screened(16, 24, 24, seed, cluster{noise: 0.005,
			latency: func(a, b, _ int) float64 { return 1 + 0.15*one(a/4 != b/4) },
			perByte: func(a, b, _ int) float64 { return 1 + 0.5*one(a/4 != b/4 && (a/4 == 1 || b/4 == 1)) }})
		if j.Kinds != nil {
			t.Errorf("seed %d: kinds %v", seed, j.Kinds)
		}
	}
}
