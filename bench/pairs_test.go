package bench

import "testing"

func TestParsePairs(t *testing.T) {
	for text, want := range map[string]Pairs{"all": AllPairs, "ring": Ring, "random:3": 3, "random:1000": 1000} {
		if got, err := ParsePairs(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s: %d, error %v, text %s", text, int(got), err, got)
		}
	}
	for _, text := range []string{"", "random", "random:0", "random:1001", "random:x", "Ring"} {
		if _, err := ParsePairs(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestPairSteps: a ring has every host in two pairs, a matching in one; no host is twice in a step.
func TestPairSteps(t *testing.T) {
	for _, hosts := range []int{2, 3, 4, 7, 8, 33} {
		for _, c := range []struct {
			Pairs
			times int // each host is in so many pairs
		}{{Ring, min(2, hosts-1)}, {1, 1}, {2, min(2, hosts-1)}, {AllPairs, hosts - 1}} {
			in := make([]int, hosts)
			listed := map[[2]int]bool{}
			for _, step := range c.Steps(hosts) {
				for _, pair := range step {
					in[pair[0]]++
					in[pair[1]]++
					listed[[2]int(pair)] = true
				}
			}
			checkSteps(t, hosts, c.Steps(hosts), func(pair [2]int) bool { return listed[pair] })
			rests := 0
			for _, n := range in {
				rests += c.times - n
			}
			if rests < 0 || rests > c.times*(hosts%2) {
				t.Errorf("%d hosts, %v: hosts are in %v pairs, want %d", hosts, c.Pairs, in, c.times)
			}
		}
	}
}
