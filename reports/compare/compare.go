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
	"io"
	"slices"

	"calib/internal/units"
	"calib/reports"
)

const (
	OK            = "ok"
	Regression    = "regression"
	Inconclusive  = "inconclusive"
	NotComparable = "not comparable"
)

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
		v.lose(lost(old, new), t.lost)
	}
	v.Notes, v.Skipped = append(v.Notes, t.notes...), t.skipped
	if v.Old.Nights < minNights && len(old) >= minTested && !(o.gate && t.together) {
		counts := map[bool]string{false: "looks like a change",
			true: "is taken to be as large as one between runs of a night"}[o.gate]
		v.Notes = append(v.Notes, fmt.Sprintf("the old runs are of %s, so a difference between nights %s; give it "+
			"%d nights", units.Plural(v.Old.Nights, "night"), counts, minNights))
	}
	v.changes, v.moved = t.judge(o), t.moves(o)
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
	apart := unlikes(old, new)
	was := valuesIn(old, Run.hosts)
	common := without(was, without(was, valuesIn(new, Run.hosts)))
	v.otherHosts = slices.ContainsFunc(apart, func(u unlike) bool { return u.kind == AllowHosts })
	v.Environment = differences(old, new, common)
	for _, d := range v.Environment {
		if d.Counts {
			apart = append(apart, unlike{kind: AllowEnvironment, text: "the environment differs: " + d.String()})
		}
	}
	for _, u := range apart {
		if u.kind == "" || slices.Contains(o.Allow, u.kind) {
			v.Notes = append(v.Notes, u.text)
		} else if o.gate && u.kind == AllowLinks {
			v.Dead = u.links
		} else {
			v.apart = append(v.apart, fmt.Sprintf("%s (to compare anyway: --allow %s)", u.text, u.kind))
		}
	}
	v.allowsLost = slices.Contains(o.Allow, AllowParameters)
	if len(common) == 0 {
		v.Outcome, v.Why = NotComparable, []string{"the runs have no host in common"}
	}
	return len(common) > 0
}

const Schema = "calib.verdict/1" // names the version of a verdict

// Verdict is the result of a comparison. No number in it is NaN or infinite.
type Verdict struct {
	Schema  string   `json:"schema"`
	Outcome string   `json:"outcome"` // ok, regression, inconclusive, not comparable
	Why     []string `json:"why"`     // the reasons, for people
	Old     Side     `json:"old"`
	New     Side     `json:"new"`
	// Alpha is the chance of any false alarm that was accepted. Relative and Absolute (by unit, SI) are the least
	// change that counts.
	Alpha    float64            `json:"alpha"`
	Relative float64            `json:"relative"`
	Absolute map[string]float64 `json:"absolute,omitempty"`
	// Findings are regressions, then what is inconclusive or no longer ok, then improvements, then changes that are
	// neither better nor worse; of each, the largest first.
	Findings []Finding `json:"findings"`
	Tested   Tested    `json:"tested"`
	// Network and Hosts are all quantities tested there. Links are those that a finding names: the others are counted.
	Network     []Change     `json:"network"`
	Hosts       []Change     `json:"hosts"`
	Links       []Change     `json:"links"`
	More        *More        `json:"more,omitempty"` // the runs still needed for a conclusion
	Environment []Difference `json:"environment"`
	Skipped     []Skipped    `json:"skipped,omitempty"`
	Lost        []Lost       `json:"lost,omitempty"` // parameters that are not ok any more
	Dead        []string     `json:"dead,omitempty"` // of a gate: links that the new runs could not measure
	Notes       []string     `json:"notes"`
	Again       *Again       `json:"again,omitempty"` // of a gate that measured again

	changes []Change               // all of them
	moved   map[[2]string][]string // link → kinds of finding that the medians of its metrics would be
	apart   []string               // differences that make the runs not comparable
	gate    bool
	// otherHosts says that the sides are of different hosts, allowsLost that parameters may be lost.
	otherHosts, allowsLost bool
}

// Skipped is a quantity that was not compared because its status, or its message sizes, differ between the sides.
type Skipped struct {
	Name string `json:"name"`
	Old  string `json:"old"` // status of at least half of the old runs; or the sizes
	New  string `json:"new"`
	Why  string `json:"why,omitempty"` // "other sizes"; "" is the status
}

const otherSizes = "other sizes"

type Tested struct {
	Network int `json:"network"`
	Hosts   int `json:"hosts"`
	Links   int `json:"links"`
}

// More are runs still needed on each side for a test to be able to conclude.
type More struct {
	Old int `json:"old"`
	New int `json:"new"`
}

// Again is what a gate found when it measured again.
type Again struct {
	Runs      []string `json:"runs"`
	Suspects  []Change `json:"suspects"`  // as the first runs showed them
	Second    []Change `json:"second"`    // the same in the second runs, on their own
	Confirmed int      `json:"confirmed"` // of the suspects
}

const (
	Improvement  = "improvement"
	Changed      = "changed"
	NoLongerOK   = "no longer ok"  // parameters that the new runs give no sound value of
	NotConfirmed = "not confirmed" // the first runs of a gate looked like a regression, the second did not
)

const (
	ScopeNetwork = "network"
	ScopeHost    = "host"
	ScopeLink    = "link"
)

type Finding struct {
	Kind     string   `json:"kind"`  // regression, inconclusive, no longer ok, improvement, changed
	Scope    string   `json:"scope"` // network, host, link
	Subject  string   `json:"subject"`
	Text     string   `json:"text"`
	Severity float64  `json:"severity"` // |ln| of the largest ratio; 0 where there is no ratio
	Changes  []Change `json:"changes"`  // the evidence, the largest first
	// Along are parameters of the network that changed with a host or link while its other links did not.
	Along []Change `json:"along,omitempty"`
	// Links counts the links of a host or of the network that changed by more than the threshold, of how many.
	Links   int `json:"links,omitempty"`
	OfLinks int `json:"of_links,omitempty"`
	// Undecided counts the quantities that do not look worse, but for which the runs are too few to exclude it.
	Undecided int `json:"undecided,omitempty"`
}

// Change is one quantity on both sides. It is a regression, improvement or change if the values of the runs differ
// significantly (AdjustedP within its share of alpha) and the medians by more than Threshold: the largest of the
// relative and the absolute threshold and the noise floor. It is inconclusive where a metric that can get worse looks
// worse but not significantly so, or where the runs are too few for any test and noise could hide a regression.
type Change struct {
	Scope        string      `json:"scope"`
	Name         string      `json:"name"`
	Host         string      `json:"host,omitempty"`
	From         string      `json:"from,omitempty"`
	To           string      `json:"to,omitempty"`
	Unit         string      `json:"unit"`
	Label        string      `json:"label"`
	Better       string      `json:"better,omitempty"`
	State        string      `json:"state"` // ok, regression, improvement, changed, inconclusive, not confirmed
	OldRuns      int         `json:"old_runs"`
	NewRuns      int         `json:"new_runs"`
	Old          float64     `json:"old"`                       // median of the runs [SI]
	New          float64     `json:"new"`                       // the same
	Ratio        *float64    `json:"ratio,omitempty"`           // New/Old, if all values are > 0 and Old is not near 0
	RatioCI      *[2]float64 `json:"ratio_ci95,omitempty"`      // by a bootstrap over runs; from 2 runs a side
	DifferenceCI *[2]float64 `json:"difference_ci95,omitempty"` // the interval of New − Old, by the same bootstrap
	// Threshold is the change that had to be exceeded, and By which of relative, absolute and noise set it.
	Threshold float64 `json:"threshold"`
	By        string  `json:"by"`
	// AdjustedP is the p value, adjusted for all quantities tested together (Westfall and Young's maxT): the
	// parameters, the hosts, the links.
	AdjustedP *float64 `json:"adjusted_p,omitempty"`

	judged bool // it can become worse and, of a gate, is among what decides
	large  bool // worse by more than the threshold
	needs  More // runs still needed
}

// Subject is what changed: "network", a host, "from→to".
func (c Change) Subject() string {
	switch c.Scope {
	case ScopeHost:
		return c.Host
	case ScopeLink:
		return c.From + "→" + c.To
	}
	return ScopeNetwork
}

func (c Change) id() string { return fmt.Sprintf("%s %q %q", c.Scope, c.Subject(), c.Name) }

func WriteVerdict(w io.Writer, v *Verdict) error { return reports.WriteJSON(w, v) }
