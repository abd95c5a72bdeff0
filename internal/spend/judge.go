// Package spend decides which points the next round measures, and when a run has measured enough. Its goal is the interval of
// a parameter, never that of a point: a point that no wanted parameter depends on need not be precise.
//
// Judge.Look fits what there is and says how wide the interval of every wanted parameter is. Judge.Next chooses points by how much
// one more round of each would narrow the intervals that are still too wide, per second. The table families says what each
// parameter is read from; what it says of a model repeats that model's estimator as derivatives, and the tests hold the two together.
//
// docs/MEASURING.md, "Where the time goes", says how and why, with the sources.
package spend

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"calib/fit"
	"calib/fit/models"
	"calib/internal/dataset"
)

// replicates of the bootstrap of a look: the ends of an interval then move by some 5% of its width between seeds, and two looks must agree.
const replicates = 400

// looks in a row must say the same before it counts.
const looks = 2

// Judge says how far the targets are met, and chooses points. It is for one goroutine.
type Judge struct {
	targets     Targets
	settings    fit.Settings
	seed        uint64
	models      []fit.Model
	round       int            // of the last look; −1 before the first
	met, beyond map[string]int // looks in a row
	unmet       []want         // of the last look
}

// want is a target that is not met yet.
type want struct {
	*family
	// worth is by how much one more round of a point, r of them being measured, narrows the interval: worth/(r·(r+1)) is the share of
	// its squared width, times that square in units of the target. nil: nothing is known yet.
	worth map[pointID]float64
}

// NewJudge returns a judge of the targets, whose parameters are of Known. Settings.Replicates 0 means fewer than a final fit takes.
func NewJudge(targets Targets, settings fit.Settings, seed uint64) *Judge {
	if settings.Replicates == 0 {
		settings.Replicates = replicates
	}
	j := &Judge{targets: targets, settings: settings, seed: seed, round: -1, met: map[string]int{}, beyond: map[string]int{}}
	needed := map[string]bool{}
	for name := range targets {
		needed[familyOf(name).model] = true
	}
	for _, m := range models.All {
		if needed[m.Name()] {
			j.models = append(j.models, quiet{m})
		}
	}
	return j
}

// quiet is a model without plots.
type quiet struct{ fit.Model }

// Look fits the samples up to and with a round, and returns the state of every target, sorted by name. A look needs samples that the one
// before has not seen, or two in a row would say the same: it is an error to look twice after one round. Other errors are those of
// models that failed; their parameters have no value, and the states stand.
func (j *Judge) Look(d *dataset.Dataset, round int) ([]State, error) {
	if round <= j.round {
		return nil, fmt.Errorf("look after round %d: the last look was after round %d, and needs a later one", round, j.round)
	}
	j.round, j.unmet = round, nil
	fits, errs := fit.Run(j.models, d, j.settings)
	v := &view{fit.Prepare(d, j.settings), fits}
	derived := map[*family]map[string]influence{}
	var out []State
	for _, name := range slices.Sorted(maps.Keys(j.targets)) {
		n := v.number(name)
		s := j.state(v, name, n)
		out = append(out, s)
		if s.Met || s.Beyond {
			continue
		}
		f := familyOf(name)
		if _, done := derived[f]; !done && f.derive != nil {
			derived[f] = f.derive(v)
		}
		j.unmet = append(j.unmet, want{f, worth(derived[f][name], n.rounds()/room(s.Target, n.fixed))})
	}
	return out, errors.Join(errs...)
}

// state judges one parameter, and counts how often in a row it was judged so.
func (j *Judge) state(v *view, name string, n number) State {
	s := State{Parameter: name, Unit: n.unit, Value: math.NaN(), HalfWidth: math.Inf(1), Scatter: math.Inf(1), Target: j.targets[name], Why: n.why}
	if n.known {
		s.Value, s.HalfWidth, s.Scatter = n.value, n.whole, n.rounds()
		if !math.IsInf(n.whole, 1) {
			s.Why = "" // of the status of a number that has an interval
		}
	}
	s.Met = held(j.met, name, s.HalfWidth <= s.Target)
	why := v.beyond(name, n, s.Target)
	if s.Beyond = held(j.beyond, name, why != ""); s.Beyond {
		s.Why = why
	}
	return s
}

// held counts looks in a row, and reports whether they are enough.
func held(count map[string]int, name string, now bool) bool {
	if !now {
		count[name] = 0
		return false
	}
	count[name]++
	return count[name] >= looks
}

// widest is how many times wider than it may be an interval counts at most. A parameter that is nearly zero has no relative width to
// speak of, and would take all the time.
const widest = 4

// worth is what more rounds of each point are worth to a parameter whose interval is wide in units of what it may be. nil where
// nothing is known of its points, or of its width.
func worth(f influence, wide float64) map[pointID]float64 {
	if !f.finite() || !fit.Finite(wide) {
		return nil
	}
	wide = math.Min(wide, widest)
	out, whole := map[pointID]float64{}, f.variance()
	for _, p := range f {
		out[p.at.id] += wide * wide * p.by * p.by * p.at.variance / whole
	}
	return out
}
