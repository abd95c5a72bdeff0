package agent_test

import (
	"fmt"
	"testing"

	"calib/bench"
	patterns "calib/bench/pattern"
	"calib/internal/plane"
	"calib/internal/units"
)

// patterns: every communication pattern ends, although messages are larger than the buffers between ranks, and leaves
// nothing behind for the next.
func (s suite) patterns(t *testing.T) {
	for _, size := range []int{2, 5} {
		s.run(t, size, false, func(g bench.Group) error {
			if err := exchange(g, 1); err != nil { // opens every connection
				return err
			}
			if err := g.Reopen(plane.Socket{SndBuf: 16 * units.KiB, RcvBuf: 64 * units.KiB}); err != nil {
				return err
			}
			var memory patterns.Scratch
			for _, p := range patterns.All {
				if !p.Defined(size) {
					continue
				}
				for _, m := range []int{1, 300 << 10} {
					if err := p.On(g, m, &memory); err != nil {
						return fmt.Errorf("%s of %d bytes: %w", p.Name(), m, err)
					}
				}
			}
			return exchange(g, 2)
		})
	}
}
