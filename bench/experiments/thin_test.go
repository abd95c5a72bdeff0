package experiments_test

import (
	"testing"

	"calib/bench"
	"calib/bench/experiments"
)

// TestThin: points of a thin design are points of the whole one, so that a short budget measures them first.
func TestThin(t *testing.T) {
	for _, hosts := range []int{2, 3, 8} {
		for _, e := range experiments.All {
			whole := map[string]bool{}
			l := bench.Limits{Hosts: hosts, Seed: 1, Effort: 1}
			for _, p := range e.Design(l) {
				whole[p.Key()] = true
			}
			l.Effort = 0.25
			for _, p := range e.Design(l) {
				if !whole[p.Key()] {
					t.Errorf("%s on %d hosts: %s is no point of the whole design", e.Name, hosts, p.Key())
				}
			}
		}
	}
}
