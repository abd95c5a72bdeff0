package agent_test

import (
	"errors"
	"fmt"
	"testing"

	"calib/bench"
	"calib/internal/plane"
)

// machine: a host computes and copies, and more of it takes longer.
func (s suite) machine(t *testing.T) {
	s.run(t, 1, false, func(g bench.Group) error {
		m := g.Machine()
		if m == nil || m.CPUs() < 1 {
			return errors.New("a host without a CPU")
		}
		for i, c := range m.Caches() {
			if c <= 0 {
				return fmt.Errorf("cache %d has %d bytes", i, int64(c))
			}
		}
		// A thousand times the work: no disturbance of the lesser makes up for that.
		some := must(m.Compute(10_000))
		more := must(m.Compute(10_000_000))
		if some <= 0 || more <= some {
			return fmt.Errorf("10,000 steps take %v ns, and 10,000,000 take %v ns", int64(some), int64(more))
		}
		for _, c := range []plane.Copy{
			{Bytes: 4096}, {Bytes: 4096, Loop: true}, {Bytes: 4096, ColdTo: true}, {Bytes: 4096, ColdFrom: true, ColdTo: true},
		} {
			took, err := m.Copy(c, 3)
			if err != nil {
				return fmt.Errorf("copy %+v: %w", c, err)
			}
			if took <= 0 {
				return fmt.Errorf("copy %+v takes %d ns", c, int64(took))
			}
		}
		return nil
	})
}
