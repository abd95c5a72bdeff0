// Package params is params.json: what one run says about one network, in SI units, and all that predictions need. A
// program that reads the file needs this package only, and none of those that fit.
//
// Every number that was fitted stands once. What a fit has to say is a Finding with a code and values; the kind of
// network is a value. Sentences are for people only. What is behind the numbers is in a file beside it, points.json:
// the measured points of every fit, as series with a quantity and factors, and all that only reports show.
package params

import (
	"fmt"
	"slices"

	"calib/internal/lists"
)

// Schema names the version of params.json that Encode writes. Decode reads the two before, too.
const Schema, older, oldest = "calib.params/5", "calib.params/4", "calib.params/3"

// Params is a whole params.json.
type Params struct {
	Schema       string               `json:"schema" jsonschema:"version of this format"`
	Run          Run                  `json:"run" jsonschema:"which measurements the numbers came from"`
	Environment  Environment          `json:"environment" jsonschema:"facts of the hosts"`
	Network      *Network             `json:"network,omitempty" jsonschema:"kind of network; absent where nothing tells"`
	Parameters   map[string]Parameter `json:"parameters" jsonschema:"numbers by name"`
	Functions    map[string]Function  `json:"functions" jsonschema:"costs by message size, by name"`
	Correlations []Correlation        `json:"correlations,omitempty" jsonschema:"which numbers err together"`
	Measured     []Series             `json:"measured,omitempty" jsonschema:"points of T(x), and of the time per byte of streams"`
	Fits         []*Fit               `json:"fits" jsonschema:"by model: its quality, and what it used"`
	Validation   []Validation         `json:"validation" jsonschema:"predictions of patterns that no fit has seen, by the simulation that is best at it"`
	Pairs        []Pair               `json:"pairs" jsonschema:"what was found between two hosts"`
	Groups       *Groups              `json:"groups,omitempty" jsonschema:"groups of hosts, such as racks; absent where none are seen"`
	Kinds        [][]string           `json:"kinds,omitempty" jsonschema:"hosts that are alike, where hosts are of several kinds; the largest kind first"`
	Classes      []Class              `json:"classes,omitempty" jsonschema:"numbers of parts of the pairs, where groups or kinds are seen"`
	Loss         *Loss                `json:"loss,omitempty" jsonschema:"segments sent again; absent where not measured"`
	Findings     []Finding            `json:"findings,omitempty" jsonschema:"of the run as a whole; those of a model are in its fit"`
}

// Groups are groups of hosts, such as racks, with shorter ways within than between.
type Groups struct {
	Hosts    [][]string `json:"hosts" jsonschema:"names, by group"`
	Apart    float64    `json:"apart" jsonschema:"times as long as within a group a byte takes between two"`
	Machines bool       `json:"machines,omitempty" jsonschema:"the hosts of each group share a machine"`
}

// Class is a part of the pairs, whose numbers are fitted from their own messages.
type Class struct {
	Name       string               `json:"name" jsonschema:"within groups, between groups, or the number of a kind, of which both hosts are"`
	Pairs      int                  `json:"pairs" jsonschema:"pairs measured"`
	Parameters map[string]Parameter `json:"parameters" jsonschema:"numbers by name"`
	Functions  map[string]Function  `json:"functions" jsonschema:"costs by message size, by name"`
}

// Names of the classes that groups make.
const (
	WithinGroups  = "within groups"
	BetweenGroups = "between groups"
)

// KindName is the name of the class of kind i of the hosts, from 0.
func KindName(i int) string { return fmt.Sprintf("kind %d", i+1) }

// Ways are what a short message takes [s] between hosts of a group, and between those of two; false where that is not
// known.
func (p *Params) Ways() (within, between float64, ok bool) {
	within, _ = p.ClassTime(WithinGroups, 1)
	between, _ = p.ClassTime(BetweenGroups, 1)
	return within, between, within > 0 && between > within
}

// ClassTime is what a message takes [s] between hosts of the class of that name; false where that is not known.
func (p *Params) ClassTime(name string, bytes int) (float64, bool) {
	for _, c := range p.Classes {
		if c.Name != name {
			continue
		}
		if v := c.Parameters["a_prime_limits"].Value; v != nil && bytes == 1 { // as measured; T(x) is of all sizes
			return *v, true
		}
		t, err := c.Functions["T"].At(float64(bytes), 2, nil)
		return t, err == nil && t > 0
	}
	return 0, false
}

// GroupsByIndex are the hosts of each group, as indices of Run.Hosts; none where hosts are in no groups.
func (p *Params) GroupsByIndex() [][]int {
	if p.Groups == nil {
		return nil
	}
	return lists.Map(p.Groups.Hosts, p.Indices)
}

// Indices are those of hosts in Run.Hosts, without hosts that it does not have.
func (p *Params) Indices(hosts []string) (out []int) {
	for _, name := range hosts {
		if i := slices.Index(p.Run.Hosts, name); i >= 0 {
			out = append(out, i)
		}
	}
	return out
}

// classes are all pairs together, and the classes of p.
func (p *Params) classes() []Class {
	return append([]Class{{Parameters: p.Parameters, Functions: p.Functions}}, p.Classes...)
}

// Run says which measurements the parameters came from.
type Run struct {
	ID       string             `json:"id" jsonschema:"name of the run"`
	Seed     uint64             `json:"seed" jsonschema:"of all random choices"`
	Plan     string             `json:"plan" jsonschema:"name of the plan"`
	Hosts    []string           `json:"hosts" jsonschema:"names of the hosts; ranks of samples.jsonl count them from 0"`
	Versions []string           `json:"versions" jsonschema:"versions of calib of the agents; more than one is warned of"`
	Rounds   int                `json:"rounds" jsonschema:"rounds measured"`
	Batches  int                `json:"batches" jsonschema:"lines of samples.jsonl"`
	Timings  int                `json:"timings" jsonschema:"raw nanosecond values in them"`
	Sampled  map[string]Sampled `json:"sampled,omitempty" jsonschema:"by experiment, how many hosts and pairs it measured"`
	Missing  float64            `json:"missing,omitempty" jsonschema:"share of the planned slots that were not measured"`
	Where    string             `json:"where,omitempty" jsonschema:"flags that named the hosts, as typed; absent where not known"`
}

type Sampled struct {
	Rounds int `json:"rounds" jsonschema:"rounds that have it"`
	Hosts  int `json:"hosts" jsonschema:"hosts that took part"`
	Pairs  int `json:"pairs,omitempty" jsonschema:"pairs of hosts measured"`
	Of     int `json:"of,omitempty" jsonschema:"pairs of hosts that there are"`
	Teams  int `json:"teams,omitempty" jsonschema:"teams of three hosts or more measured"`
}

// Environment is the fingerprint of the hosts, split into what they share and where they differ.
type Environment struct {
	Common      map[string]string            `json:"common" jsonschema:"facts that all hosts share"`
	Differences map[string]map[string]string `json:"differences" jsonschema:"fact, host, value; absent where not reported"`
}

type Pair struct {
	From         string      `json:"from" jsonschema:"one host"`
	To           string      `json:"to" jsonschema:"the other; what was measured both ways stands once"`
	Latency      *float64    `json:"latency" jsonschema:"s: half round trip of the smallest message"`
	LatencyCI    *[2]float64 `json:"latency_ci95,omitempty" jsonschema:"s: its 95% interval"`
	Rate         *float64    `json:"rate" jsonschema:"B/s: of the largest message"`
	RateCI       *[2]float64 `json:"rate_ci95,omitempty" jsonschema:"B/s: its 95% interval"`
	LatencyBytes int64       `json:"latency_bytes,omitempty" jsonschema:"B: the smallest message"`
	RateBytes    int64       `json:"rate_bytes,omitempty" jsonschema:"B: the largest message"`
	Slow         string      `json:"slow,omitempty" jsonschema:"why this pair stands out"`
	Loss         *Loss       `json:"loss,omitempty" jsonschema:"segments sent again between the two; else in points.json"`
}

// Kind is what a network behaves like.
type Kind string

const (
	Switch  Kind = "switch"    // pairs of hosts do not disturb each other
	Shared  Kind = "shared"    // pairs of hosts share one medium
	Unknown Kind = "not known" // the data cannot tell
)

// Network is the kind of network, for messages of one packet and for streams: a switch whose uplink is narrow is a
// switch to the first and shared by the second.
type Network struct {
	Packets Kind `json:"packets" jsonschema:"for messages of one packet: switch, shared or not known"`
	Streams Kind `json:"streams" jsonschema:"the same for streams"`
}

// PacketKind says what the network of p behaves like for messages of one packet. Where that is not known, guessed is
// true, and the kind is what it looks more like: shared where the pairs that were measured delay each other by a share
// of their time that matters, which is then delay; else a switch.
func (p *Params) PacketKind() (kind Kind, guessed bool, delay float64) {
	if p.Network == nil {
		return Switch, false, 0
	}
	if p.Network.Packets != Unknown {
		return p.Network.Packets, false, 0
	}
	for _, f := range p.AllFindings(Note) {
		if v := f.Values; f.Code == NetworkUnknown && v["packets"] > v["margin"] && v["margin"] > 0 {
			return Shared, true, v["packets"]
		}
	}
	return Switch, true, 0
}

// Loss is which share of the segments of some connections was sent again.
type Loss struct {
	Segments int64      `json:"segments" jsonschema:"segments with payload, those sent again included"`
	Again    int64      `json:"again" jsonschema:"segments sent again"`
	Rate     float64    `json:"rate" jsonschema:"again / segments"`
	CI95     [2]float64 `json:"ci95" jsonschema:"95% interval of rate, as if segments were lost independently (Wilson 1927)"`
}

const (
	// MaxDiscarded is the share of its timings that a model may lose to retransmissions and timeouts, and MaxMissing
	// the share of its planned slots that a run may lack, before the numbers are provisional and the run is partial.
	MaxDiscarded = 0.25
	MaxMissing   = 0.5
)

// Discarded is the share of the timings of some fits that retransmissions and timeouts have made useless.
func Discarded(fits ...*Fit) float64 {
	lost, all := 0, 0
	for _, f := range fits {
		lost += f.LeftOutWhy["retrans"] + f.LeftOutWhy["timeout"] // flags of samples
		all += f.Used + f.LeftOut
	}
	return float64(lost) / float64(max(1, all))
}
