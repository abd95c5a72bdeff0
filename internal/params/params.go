// Package params is params.json: what one run says about one network, in SI units, and all that is needed to judge it.
// A program that reads the file needs this package only, and none of those that fit.
//
// Every number that was fitted stands once. What a fit has to say is a Finding with a code and values; the kind of
// network is a value; the points of a fit are series with a quantity and factors. Sentences are for people only.
package params

// Schema names the version of params.json that Encode writes and Decode reads.
const Schema = "calib.params/2"

// Params is a whole params.json.
type Params struct {
	Schema      string      `json:"schema"`
	Run         Run         `json:"run"`
	Environment Environment `json:"environment"`
	// Network is the kind of network; absent where no model looked for it.
	Network    *Network             `json:"network,omitempty"`
	Parameters map[string]Parameter `json:"parameters"`
	Functions  map[string]Function  `json:"functions"`
	// Correlations say which numbers err together: one entry for each table of points that fits share.
	Correlations []Correlation `json:"correlations,omitempty"`
	// Fits holds every model's fit with its quality, series and findings.
	Fits       []*Fit       `json:"fits"`
	Validation []Validation `json:"validation"`
	Pairs      []Pair       `json:"pairs"`
	// Loss is that of all pairs together; absent where no experiment tells it from losses that it causes.
	Loss *Loss `json:"loss,omitempty"`
	// Findings concern the run or the file as a whole; those of one model are in its Fit.
	Findings []Finding `json:"findings,omitempty"`
}

// Run says which measurements the parameters came from.
type Run struct {
	ID    string   `json:"id"`
	Seed  uint64   `json:"seed"`
	Plan  string   `json:"plan"`
	Hosts []string `json:"hosts"` // in rank order
	// Versions are the calib versions of the agents, sorted; more than one is warned of.
	Versions []string `json:"versions"`
	Rounds   int      `json:"rounds"`
	Batches  int      `json:"batches"` // lines of samples.jsonl
	Timings  int      `json:"timings"` // raw nanosecond values in them
	// Sampled says by experiment which hosts and pairs of hosts it is from; a plan need not measure all.
	Sampled map[string]Sampled `json:"sampled,omitempty"`
	// Missing is the share of the planned slots that were not measured.
	Missing float64 `json:"missing,omitempty"`
}

// Sampled is what an experiment measured.
type Sampled struct {
	Rounds int `json:"rounds"`
	Hosts  int `json:"hosts"`           // that took part
	Pairs  int `json:"pairs,omitempty"` // of hosts that a line is of
	Of     int `json:"of,omitempty"`    // pairs that there are
	Teams  int `json:"teams,omitempty"` // of three hosts or more that a line is of
}

// Environment is the fingerprint of the hosts, split into what they share and where they differ.
type Environment struct {
	Common map[string]string `json:"common"`
	// Differences is fact → host → value. A host that did not report the fact is absent.
	Differences map[string]map[string]string `json:"differences"`
}

// Pair is what was found between two hosts.
type Pair struct {
	From      string      `json:"from"`
	To        string      `json:"to"`
	Latency   *float64    `json:"latency"` // s, half round trip of the smallest size
	LatencyCI *[2]float64 `json:"latency_ci95,omitempty"`
	Rate      *float64    `json:"rate"` // B/s, of the largest size
	RateCI    *[2]float64 `json:"rate_ci95,omitempty"`
	// LatencyBytes and RateBytes are these sizes; 0 in files of builds that did not state them.
	LatencyBytes int64  `json:"latency_bytes,omitempty"`
	RateBytes    int64  `json:"rate_bytes,omitempty"`
	Slow         string `json:"slow,omitempty"` // why this pair stands out
	Loss         *Loss  `json:"loss,omitempty"`
}

// Kind is what a network behaves like.
type Kind string

// Kinds of network.
const (
	Switch  Kind = "switch"    // pairs of hosts do not disturb each other
	Shared  Kind = "shared"    // pairs of hosts share one medium
	Unknown Kind = "not known" // the data cannot tell
)

// Network is the kind of network, for messages of one packet and for streams: a switch whose uplink is narrow is a
// switch to the first and shared by the second.
type Network struct {
	Packets Kind `json:"packets"`
	Streams Kind `json:"streams"`
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

// networkWords say what a network behaves like, as a clause that goes on from "the network".
var networkWords = map[Network]string{
	{Switch, Switch}: "behaves like a switch: T does not depend on n; a holds what the port takes for a message",
	{Switch, Shared}: "behaves like a switch for messages of one packet (a_c is zero or negligible), " +
		"but streams share capacity: b' rises with n",
	{Shared, Shared}:  "behaves like a shared medium",
	{Shared, Switch}:  "behaves like a shared medium for messages of one packet; streams did not reach its limit",
	{Shared, Unknown}: "behaves like a shared medium for messages of one packet; whether streams share capacity is not known",
	{Switch, Unknown}: "behaves like a switch for messages of one packet; whether streams share capacity is not known",
	{Unknown, Switch}: "behaves like a switch for streams; whether messages of one packet disturb each other is not known",
	{Unknown, Shared}: "behaves like a shared medium for streams; whether messages of one packet disturb each other is not known",
}

// Words says what the network behaves like, as a clause that goes on from "the network"; "" where nothing is known.
func (n *Network) Words() string {
	if n == nil {
		return ""
	}
	return networkWords[*n]
}

// Loss is which share of the segments of some connections was sent again.
type Loss struct {
	Segments int64      `json:"segments"` // with payload, those sent again included
	Again    int64      `json:"again"`
	Rate     float64    `json:"rate"`
	CI95     [2]float64 `json:"ci95"` // as if segments were lost independently of each other (Wilson 1927)
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
