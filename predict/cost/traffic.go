package cost

import (
	"fmt"
	"sync"

	"calib/bench/pattern"
)

// Traffic is a pattern with a size in a team. It is written down once, when it is first needed, for all models that
// predict it. It is safe for concurrent use.
type Traffic struct {
	Pattern      pattern.Pattern
	Hosts, Bytes int
	list         func() (*list, error)
	extent       func() (pattern.Extent, error)
}

// TrafficOf returns a pattern with size bytes [B] in a team of hosts.
func TrafficOf(p pattern.Pattern, hosts, bytes int) *Traffic {
	return &Traffic{p, hosts, bytes,
		sync.OnceValues(func() (*list, error) {
			s, err := pattern.Of(p, hosts, bytes)
			if err != nil {
				return nil, err
			}
			l, err := number(s)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.Name(), err)
			}
			return l, nil
		}),
		sync.OnceValues(func() (pattern.Extent, error) { return pattern.ExtentOf(p, hosts, bytes) })}
}

// Extent is how much it moves. Errors are those of pattern.ExtentOf.
func (t *Traffic) Extent() (pattern.Extent, error) { return t.extent() }
