// Package tuned chooses the algorithms of Open MPI's collectives for the network of a run: what its component
// coll/tuned is to take instead of its compiled-in decision.
//
// The opinion of this package: never slower than the default matters more than winning. An algorithm is taken only
// where it is predicted to be faster than the one that Open MPI takes by itself, by more than the parameters' intervals
// and the model's own errors on this network's patterns leave open, at both ends of a range of sizes. Everywhere else,
// and where the default's messages are not among calib's patterns, the compiled-in decision stands.
package tuned

import (
	"fmt"
	"slices"

	"calib/internal/params"
	"calib/predict"
	"calib/reports/export"
)

type Settings struct {
	Hosts []int // sizes of communicators, each rank on a host of its own
	// Bytes are the message sizes at which a rule begins [B], of a block where the collective has Blocks; the last rule
	// ends below twice the last size.
	Bytes []int
	Seed  uint64
}

// Decision is what was decided for messages of From to To bytes, and why.
type Decision struct {
	Collective string `json:"collective"`
	Hosts      int    `json:"hosts"`
	From       int    `json:"from"`
	To         int    `json:"to"`
	Model      string `json:"model,omitempty"`
	// Default is what Open MPI takes by itself, Fastest the fastest option; Seconds are their times for From bytes.
	Default        string  `json:"default"`
	DefaultSeconds float64 `json:"default_seconds,omitempty"`
	Fastest        string  `json:"fastest,omitempty"`
	FastestSeconds float64 `json:"fastest_seconds,omitempty"`
	// Gain is by how much the default takes longer, over the time of Fastest, at the end of the range where that is
	// less; CI95 its interval.
	Gain float64     `json:"gain,omitempty"`
	CI95 *[2]float64 `json:"gain_ci95,omitempty"`
	// Why says why the compiled-in decision stands; "" where Fastest is taken.
	Why string `json:"why,omitempty"`

	taken Option
}

// Rules decides for every collective, number of hosts and size. It returns an error where no model can be made of p.
func Rules(p *params.Params, s Settings) ([]export.Rules, []Decision, error) {
	q, err := predict.New(p, nil, predict.Settings{Seed: s.Seed})
	if err != nil {
		return nil, nil, err
	}
	var rules []export.Rules
	var all []Decision
	sizes := slices.Compact(slices.Sorted(slices.Values(s.Bytes)))
	for _, c := range export.Collectives() {
		for _, hosts := range slices.Compact(slices.Sorted(slices.Values(s.Hosts))) {
			r := export.Rules{Collective: c, Ranks: hosts}
			for i, m := range sizes {
				to := 2*m - 1
				if i+1 < len(sizes) {
					to = sizes[i+1] - 1
				}
				d := (&judge{p, q, c, hosts}).decide(m, to)
				all = append(all, d)
				r.Rules = append(r.Rules, export.Rule{Bytes: c.Size(m, hosts), Algorithm: d.taken.Algorithm, Fanout: d.taken.Fanout,
					Segment: d.taken.Segment, Note: d.String()})
				r.Until = c.Size(to+1, hosts) - 1
			}
			rules = append(rules, r)
		}
	}
	return rules, all, nil
}

// String is a line for the rule file.
func (d Decision) String() string {
	if d.Fastest == "" || d.Fastest == d.Default {
		return fmt.Sprintf("%s: %s", d.Default, d.Why)
	}
	gain := fmt.Sprintf("%.4g s by %s instead of %.4g s by %s", d.FastestSeconds, d.Fastest, d.DefaultSeconds, d.Default)
	if d.CI95 != nil {
		gain += fmt.Sprintf(", which takes longer by %.0f%% (%.0f%% to %.0f%%)", 100*d.Gain, 100*d.CI95[0], 100*d.CI95[1])
	}
	if d.Why != "" {
		return d.Why + ": " + gain
	}
	return gain
}
