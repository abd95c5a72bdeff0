package dataset

// Why a key (experiment, phase, point, ranks) was not measured further.
const (
	StopTarget = "target" // the 95% interval of its median is within the target
	StopBudget = "budget" // rounds or time ended first
	StopOpen   = "open"   // neither: the run was cut off
	// StopFree is a key whose precision was never a goal: its experiment says so, or its timings have a sign, as the
	// difference of two clocks has, so that no width relative to the median exists. It is not written to run.json.
	StopFree = "free"
)

// Stop says of one key why it stopped and how well its median is known.
type Stop struct {
	Experiment string `json:"experiment"`
	Phase      string `json:"phase,omitempty"`
	Point      string `json:"point"` // Point.Key: "bytes=1,pairs=3"
	// Ranks are indices of hosts; with Permuted, places of the experiment's layout, which other hosts took in every
	// round.
	Ranks    []int  `json:"ranks"`
	Permuted bool   `json:"permuted,omitempty"`
	Reason   string `json:"reason"`
	// Width is half the 95% interval of the median, relative to it, when the point stopped; nil where there is no
	// interval.
	Width  *float64 `json:"width,omitempty"`
	Rounds int      `json:"rounds"` // that gave a timing
	// Keys is the number of keys that the entry stands for, which differ in their ranks: it is that of the widest. 0 is
	// one.
	Keys int `json:"keys,omitempty"`

	N       int `json:"-"` // timings behind the median
	LeftOut int `json:"-"` // timings touched by a retransmission
	// Median [ns] is that of the medians of the rounds, or of all timings while there are fewer than six rounds.
	Median float64 `json:"-"`
	Basis  string  `json:"-"` // of the interval: bench.BasisRounds or bench.BasisSamples
}

// ThinStops returns stops where there are at most that many. Else it returns one for each experiment, phase, point and
// reason, in the order of the first of each: that with the widest interval, none being the widest, and of several that
// with the fewest rounds. A thousand hosts have a hundred thousand keys, which nobody reads and every change of
// run.json would write again.
func ThinStops(stops []Stop, most int) []Stop {
	if len(stops) <= most {
		return stops
	}
	type kind struct {
		experiment, phase, point, reason string
		permuted                         bool
	}
	var out []Stop
	index := map[kind]int{}
	for _, s := range stops {
		k := kind{s.Experiment, s.Phase, s.Point, s.Reason, s.Permuted}
		i, ok := index[k]
		if !ok {
			index[k] = len(out)
			s.Keys = 1
			out = append(out, s)
			continue
		}
		s.Keys = out[i].Keys + 1
		if s.wider(out[i]) {
			out[i] = s
		}
		out[i].Keys = s.Keys
	}
	return out
}

// wider reports whether less is known of s than of t.
func (s Stop) wider(t Stop) bool {
	switch {
	case s.Width == nil || t.Width == nil:
		return s.Width == nil && (t.Width != nil || s.Rounds < t.Rounds)
	case *s.Width != *t.Width:
		return *s.Width > *t.Width
	}
	return s.Rounds < t.Rounds
}

// Failure is a slot, a host, or the link between two hosts, that gave nothing.
type Failure struct {
	Slot  *int     `json:"slot,omitempty"`
	Host  string   `json:"host,omitempty"`
	Link  []string `json:"link,omitempty"`
	Error string   `json:"error"`
}
