package bench

import (
	"fmt"
	"slices"

	"calib/internal/dataset/names"
)

// drops says which points may be left out because they take long. The later in this list, the more.
type drops int

const (
	dropNone  drops = iota
	dropSpare       // those that no model needs (Needing)
	dropAny         // all but a few
)

// leastPoints stay, however long they take.
const leastPoints = 3

// dropCostliest leaves out the point that takes most time of a round, where that is allowed: on slow networks a stream, which must last for many
// round trips.
func (d *draft) dropCostliest() bool {
	if d.drops == dropNone || d.spans() && d.keep == keepAll || len(d.points) <= leastPoints {
		return false
	}
	most := -1
	for i, p := range d.points {
		if d.stays(p.point) || d.drops == dropSpare && d.needs(p.point) {
			continue
		}
		if most < 0 || p.perRound() > d.points[most].perRound() {
			most = i
		}
	}
	if most < 0 {
		return false
	}
	d.points = slices.Delete(d.points, most, most+1)
	d.dropped++
	d.say("points", fmt.Sprintf("without the %d points that take longest", d.dropped))
	d.sayRare()
	return true
}

// needs reports whether models need the point.
func (d *draft) needs(p Point) bool {
	e, ok := d.exp.(Needing)
	return ok && (e.Needs(p) || p[names.FactorBytes] != 0 && p[names.FactorBytes] == d.sizes()[0])
}
