package compare

import (
	"fmt"
	"io"

	"calib/reports"
)

// Schema names the version of a verdict.
const Schema = "calib.verdict/1"

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
	Network []Change `json:"network"`
	Hosts   []Change `json:"hosts"`
	Links   []Change `json:"links"`
	// More are the runs still needed for a conclusion.
	More        *More        `json:"more,omitempty"`
	Environment []Difference `json:"environment"`
	Skipped     []Skipped    `json:"skipped,omitempty"`
	Lost        []Lost       `json:"lost,omitempty"` // parameters that are not ok any more
	Dead        []string     `json:"dead,omitempty"` // of a gate: links that the old runs measured and the new ones could not
	Notes       []string     `json:"notes"`
	Again       *Again       `json:"again,omitempty"` // of a gate that measured again

	changes []Change               // all of them
	moved   map[[2]string][]string // link → kinds of finding that the medians of its metrics would be
	apart   []string               // differences that make the runs not comparable
	gate    bool
	// otherHosts says that the sides are of different hosts, allowsLost that parameters may be lost.
	otherHosts, allowsLost bool
}

// Skipped is a quantity that was not compared because its status differs between the sides, or the message sizes that
// it is of.
type Skipped struct {
	Name string `json:"name"`
	Old  string `json:"old"` // status of at least half of the old runs; or the sizes
	New  string `json:"new"`
	Why  string `json:"why,omitempty"` // "other sizes"; "" is the status
}

const otherSizes = "other sizes"

// Tested counts the quantities that were tested.
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

// Kinds of a Finding, and states of a Change.
const (
	Improvement  = "improvement"
	Changed      = "changed"
	NoLongerOK   = "no longer ok"  // parameters that the new runs give no sound value of
	NotConfirmed = "not confirmed" // the first runs of a gate looked like a regression, the second did not
)

// Scopes of a Finding or Change.
const (
	ScopeNetwork = "network"
	ScopeHost    = "host"
	ScopeLink    = "link"
)

// Finding is one thing to look at, with its evidence.
type Finding struct {
	Kind     string  `json:"kind"`  // regression, inconclusive, no longer ok, improvement, changed
	Scope    string  `json:"scope"` // network, host, link
	Subject  string  `json:"subject"`
	Text     string  `json:"text"`
	Severity float64 `json:"severity"` // |ln| of the largest ratio; 0 where there is no ratio
	// Changes are the evidence, the largest first.
	Changes []Change `json:"changes"`
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
	Scope   string      `json:"scope"`
	Name    string      `json:"name"`
	Host    string      `json:"host,omitempty"`
	From    string      `json:"from,omitempty"`
	To      string      `json:"to,omitempty"`
	Unit    string      `json:"unit"`
	Label   string      `json:"label"`
	Better  string      `json:"better,omitempty"`
	State   string      `json:"state"` // ok, regression, improvement, changed, inconclusive, not confirmed
	OldRuns int         `json:"old_runs"`
	NewRuns int         `json:"new_runs"`
	Old     float64     `json:"old"`                  // median of the runs [SI]
	New     float64     `json:"new"`                  // the same
	Ratio   *float64    `json:"ratio,omitempty"`      // New/Old, where all values are positive and Old is not near zero
	RatioCI *[2]float64 `json:"ratio_ci95,omitempty"` // by a bootstrap over runs; from 2 runs a side
	// DifferenceCI is the interval of New − Old, by the same bootstrap.
	DifferenceCI *[2]float64 `json:"difference_ci95,omitempty"`
	// Threshold is the change that had to be exceeded, and By which of relative, absolute and noise set it.
	Threshold float64 `json:"threshold"`
	By        string  `json:"by"`
	// Detectable is the change that so many runs find with a probability of 80%; absent where they are too few to find
	// any.
	Detectable *float64 `json:"detectable,omitempty"`
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

// id identifies the quantity.
func (c Change) id() string { return fmt.Sprintf("%s %q %q", c.Scope, c.Subject(), c.Name) }

// WriteVerdict writes v as JSON.
func WriteVerdict(w io.Writer, v *Verdict) error { return reports.WriteJSON(w, v) }
