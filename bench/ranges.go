package bench

import (
	"fmt"
	"maps"
	"slices"

	"calib/internal/units"
)

// Range is the least and the most that a factor of a point may be.
type Range struct{ Least, Most int64 }

// Ranges are the factors of an experiment's points. A factor that a point does not have is 0. An agent checks every
// point that it is told against them, before it takes memory for it.
type Ranges map[string]Range

// What ranges have in common.
const (
	MaxSize  = int64(units.GiB) // bytes of a message; the agent's limit of memory is below
	MaxHosts = 1 << 16
)

var (
	Sizes    = Range{1, MaxSize}
	TeamSize = Range{1, MaxHosts}
	Flag     = Range{0, 1}
)

// Check returns an error that names the first factor of a point that is out of its range, or that no point has.
func (r Ranges) Check(p Point) error {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if _, ok := r[name]; !ok {
			return fmt.Errorf("%s=%d: there is no such factor; there are %v", name, p[name], slices.Sorted(maps.Keys(r)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if v, of := p[name], r[name]; v < of.Least || v > of.Most {
			return fmt.Errorf("%s=%d: want %d to %d", name, v, of.Least, of.Most)
		}
	}
	return nil
}
