// Package compare says whether a network has become slower, of runs that exist.
//
// Its opinion: the run is the sample, never a timing. Timings of one run share what the network did that day, and a test that
// takes them for independent raises a false alarm two times out of three where nothing has changed. So each quantity has one
// value a run; a change is said only where the values of the runs differ significantly, all quantities considered, and by
// more than anyone would call noise; and runs too few to tell are told so, with how many are wanting, never passed as good.
//
// A quantity is a parameter of the network, a host (what is typical of its links) or a link. What holds for all links is
// taken out of the hosts, and what holds for a host out of its links, so that one bad network card is one finding.
package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"calib/fit/params"
	"calib/internal/units"
)

// Run is what a comparison needs of a run.
type Run struct {
	ID          string
	At          time.Time // zero where it is not known
	Plan        string
	Versions    []string                     // of calib on the hosts
	Models      []string                     // that were fitted
	Environment map[string]map[string]string // host → fact → value
	Metrics     []params.Metric
}

// FromParams takes it off a params.json.
func FromParams(p *params.Params, at time.Time) Run {
	r := Run{ID: p.Run.ID, At: at, Plan: p.Run.Plan, Versions: p.Run.Versions, Metrics: p.Metrics(),
		Environment: Facts(p.Environment, p.Run.Hosts)}
	for _, f := range p.Fits {
		if f != nil && !slices.Contains(r.Models, f.Model) {
			r.Models = append(r.Models, f.Model)
		}
	}
	slices.Sort(r.Models)
	return r
}

// Facts returns the environment of each host, of what they share and where they differ.
func Facts(e params.Environment, hosts []string) map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, h := range hosts {
		out[h] = maps.Clone(e.Common)
		if out[h] == nil {
			out[h] = map[string]string{}
		}
	}
	for fact, by := range e.Differences {
		for h, v := range by {
			if out[h] != nil {
				out[h][fact] = v
			}
		}
	}
	return out
}

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
	// AcrossEnvironments compares runs of different environments all the same.
	AcrossEnvironments bool
	Seed               uint64 // of bootstrap and random deals

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

// Compare holds new runs against old ones. See Verdict for what it says and Change for how it decides.
func Compare(old, new []Run, o Options) *Verdict {
	o = o.defaults()
	v := &Verdict{
		Schema: Schema, Old: sideOf(old), New: sideOf(new), Alpha: o.Alpha, Relative: o.Relative, Absolute: o.Absolute,
		Why: []string{}, Findings: []Finding{}, Network: []Change{}, Hosts: []Change{}, Links: []Change{},
		Environment: []Difference{}, Notes: []string{},
	}
	if !v.comparable(old, new, o) {
		return v
	}
	t := newTable(old, new)
	v.Notes = append(v.Notes, t.notes...)
	if v.Old.Nights < leastNights && len(old) >= leastTested {
		counts := "counts as a change"
		if o.gate {
			counts = "is taken to be as much as between runs of one night"
		}
		v.Notes = append(v.Notes, fmt.Sprintf("the old runs are of %s: what differs from night to night is not known, and %s",
			units.Plural(v.Old.Nights, "night"), counts))
	}
	v.changes, v.moved = t.judge(o), t.moves(o)
	v.conclude()
	return v
}

// comparable fills in how the two sides differ. Without anything in common there is nothing to go on with.
func (v *Verdict) comparable(old, new []Run, o Options) bool {
	v.Outcome = NotComparable
	if len(old) == 0 || len(new) == 0 {
		v.Outcome = Inconclusive
		v.Why = []string{"there are no runs on one side"}
		m, n := max(1, len(old)), max(1, len(new))
		v.More = &More{Old: m - len(old), New: n - len(new)}
		return false
	}
	common, says := commonHosts(old, new)
	v.Notes = append(v.Notes, says...)
	v.Notes = append(v.Notes, otherwise(old, new)...)
	v.Environment = differences(old, new, common)
	if len(common) == 0 {
		v.Why = []string{"the runs have no host in common"}
		return false
	}
	for _, d := range v.Environment {
		if d.Counts && !o.AcrossEnvironments {
			v.apart = append(v.apart, "the environment differs: "+d.String())
		}
	}
	return true
}
