// Package compare tells whether a network has become slower, from runs that were made before and after.
//
// Its opinion: the sample is the run, never a timing. Timings of one run share the state of the network on that day; a
// test that takes them for independent raises a false alarm two times out of three where nothing has changed. So each
// quantity has one value a run. A change is reported only where the values of the runs differ significantly, allowing
// for the number of quantities tested, and by more than the threshold and the noise. Where the runs are too few to
// tell, the verdict is inconclusive and names how many more are needed; it is never ok.
//
// Like is compared with like: a number that is ok on one side and provisional on the other is not compared but listed,
// and one that is to be used on one side only is listed with its status.
//
// A quantity is a parameter of the network, a host (the median of its links) or a link. A host is compared without what
// holds for all links, and a link without what holds for one of its hosts, so that one bad network card is one finding.
package compare

import (
	"cmp"
	"fmt"
	"slices"

	"calib/internal/units"
)

// Outcomes of a verdict.
const (
	OK            = "ok"
	Regression    = "regression"
	Inconclusive  = "inconclusive"
	NotComparable = "not comparable"
)

// Defaults of Options.
const (
	DefaultAlpha    = 0.05
	DefaultRelative = 0.05
)

// Options of a comparison. The zero value means the defaults.
type Options struct {
	Alpha    float64            // chance of any false alarm among all quantities; 0 means DefaultAlpha
	Relative float64            // least change that counts, of the old value; 0 means DefaultRelative, a negative one none
	Absolute map[string]float64 // least change that counts, by unit [SI]
	Noise    *Floor             // of A/A runs; nil where there are none
	// Allow are the differences between the sides that do not make them not comparable, of Allowable: what both sides
	// have is judged then, and the rest listed.
	Allow []string
	Seed  uint64 // of bootstrap and permutations

	nights float64         // chance of a false alarm a night by what differs between nights; 0 means Alpha
	only   map[string]bool // ids of the quantities to test; nil is all
	gate   bool            // nights are taken to differ by as much as the runs of one, where they are too few to tell

	replicates int // of the bootstrap over runs; 0 means 1,000
}

func (o Options) defaults() Options {
	o.Alpha = cmp.Or(o.Alpha, DefaultAlpha)
	o.Relative = max(cmp.Or(o.Relative, DefaultRelative), 0)
	o.nights = cmp.Or(o.nights, o.Alpha)
	o.replicates = cmp.Or(o.replicates, 1000)
	return o
}

// Compare compares new runs with old ones. Verdict documents the result, and Change how it is decided.
func Compare(old, new []Run, o Options) *Verdict {
	o = o.defaults()
	v := &Verdict{
		Schema: Schema, Old: sideOf(old), New: sideOf(new), Alpha: o.Alpha, Relative: o.Relative, Absolute: o.Absolute,
		Why: []string{}, Findings: []Finding{}, Network: []Change{}, Hosts: []Change{}, Links: []Change{},
		Environment: []Difference{}, Notes: []string{}, gate: o.gate,
	}
	if !v.comparable(old, new, o) {
		return v
	}
	t := newTable(old, new, o.gate)
	if v.otherHosts {
		t.params = nil
		v.Notes = append(v.Notes, "parameters of the whole network are of different hosts, and not compared")
	} else {
		v.lose(lost(old, new, o.Alpha), t.lost, o.gate)
	}
	v.Notes, v.Skipped = append(v.Notes, t.notes...), t.skipped
	if v.Old.Nights < minNights && len(old) >= minTested && !(o.gate && t.together) {
		counts := "counts as a change"
		if o.gate {
			counts = "is taken to be as much as between runs of one night"
		}
		v.Notes = append(v.Notes, fmt.Sprintf("the old runs are of %s: what differs from night to night is not known, and %s",
			units.Plural(v.Old.Nights, "night"), counts))
	}
	v.changes, v.moved = t.judge(o), t.moves(o)
	v.Notes = append(v.Notes, power(v.changes)...)
	v.conclude()
	return v
}

// comparable records how the environments of the two sides differ. It returns false, with the outcome, where the sides
// have nothing in common to compare.
func (v *Verdict) comparable(old, new []Run, o Options) bool {
	if len(old) == 0 || len(new) == 0 {
		v.Outcome, v.Why = Inconclusive, []string{"there are no runs on one side"}
		v.More = &More{Old: max(1-len(old), 0), New: max(1-len(new), 0)}
		return false
	}
	v.Notes = append(v.Notes, otherDifferences(old, new)...)
	was := valuesIn(old, Run.hosts)
	common := without(was, without(was, valuesIn(new, Run.hosts)))
	if len(common) == 0 {
		v.Outcome, v.Why = NotComparable, []string{"the runs have no host in common"}
		return false
	}
	apart := unlikes(old, new)
	v.otherHosts = slices.ContainsFunc(apart, func(u unlike) bool { return u.kind == AllowHosts })
	v.Environment = differences(old, new, common)
	for _, d := range v.Environment {
		if d.Counts {
			apart = append(apart, unlike{kind: AllowEnvironment, text: "the environment differs: " + d.String()})
		}
	}
	for _, u := range apart {
		if slices.Contains(o.Allow, u.kind) {
			v.Notes = append(v.Notes, u.text)
		} else if o.gate && u.kind == AllowLinks {
			v.Dead = u.links
		} else {
			v.apart = append(v.apart, fmt.Sprintf("%s (--allow %s compares all the same)", u.text, u.kind))
		}
	}
	v.allowsLost = slices.Contains(o.Allow, AllowParameters)
	return true
}
