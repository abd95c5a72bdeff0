package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"calib/internal/stats"
	"calib/internal/units"
	"calib/reports"
)

// powerWanted is the chance with which a change is to be found.
const powerWanted = 0.8

// residual is the spread of the runs about the median of their side.
func (s *series) residual(old int) float64 {
	var all []float64
	for _, side := range [][]float64{known(s.tested[:old]), known(s.tested[old:])} {
		m := stats.Median(side)
		for _, v := range side {
			all = append(all, v-m)
		}
	}
	lost := 2.0 // degrees of freedom, one a side
	if n := float64(len(all)); n > lost {
		return spread(all) * math.Sqrt(n/(n-lost))
	}
	return 0
}

// detectable is by how much a change must exceed the threshold for its median to be beyond it with powerWanted: medians
// of so many runs scatter about the change.
func (s *series) detectable(old int) float64 {
	scatter := medianLoss * s.residual(old) * math.Sqrt(1/float64(s.OldRuns)+1/float64(s.NewRuns))
	return scatter * distuv.UnitNormal.Quantile(powerWanted)
}

// power says which change of the parameters the runs can find.
func power(all []Change) []string {
	type able struct {
		name  string
		share float64
	}
	var found []able
	unable := 0
	for _, c := range all {
		switch {
		case c.Scope != ScopeNetwork || !c.judged || c.Old == 0:
		case c.Detectable == nil:
			unable++
		default:
			found = append(found, able{c.Name, *c.Detectable / math.Abs(c.Old)})
		}
	}
	switch {
	case len(found) == 0 && unable == 0:
		return nil
	case len(found) == 0:
		return []string{"power: so few runs find no change of a parameter"}
	}
	slices.SortFunc(found, func(a, b able) int { return cmp.Compare(a.share, b.share) })
	middle, worst := found[len(found)/2], found[len(found)-1]
	return []string{fmt.Sprintf("power: in half of %s a change of %s is found with a probability of 80%%; in %s only one of %s",
		units.Plural(len(found), "parameter"), reports.Percent(middle.share), worst.name, reports.Percent(worst.share))}
}
