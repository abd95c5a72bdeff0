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
