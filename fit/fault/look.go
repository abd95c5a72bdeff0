package fault

import (
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/stats"
)

// Look is what a pair saw in a round, in one run of the experiment probe.
type Look struct {
	Round int
	Seen
	Took float64 // s, of all of its messages
	MSS  int64   // B
}

// Looks reads the samples of probes, in their order.
func Looks(samples []*dataset.Sample) (out []Look) {
	at := map[[3]int]int{} // by round and pair
	for _, s := range samples {
		if len(s.Ranks) != 2 || len(s.NS) == 0 || s.Ranks[0] == s.Ranks[1] {
			continue
		}
		key := [3]int{s.Round, s.Ranks[0], s.Ranks[1]}
		k, ok := at[key]
		if !ok {
			k = len(out)
			at[key], out = k, append(out, Look{Round: s.Round, Seen: Seen{From: s.Ranks[0], To: s.Ranks[1]}})
		}
		l := &out[k]
		sum := 0.
		for _, t := range s.NS {
			sum += float64(t) * 1e-9
		}
		switch s.Phase {
		case names.PhaseTrip:
			l.Latency = stats.Median(stats.Floats(s.NS)) * 1e-9
			l.Took += 2 * sum
		case names.PhaseRate:
			// The answer to the burst took a trip.
			l.PerByte = max(0, sum-2*l.Latency) / s.Aux[names.AuxBytes]
			l.Took += 2 * sum // the bursts before were half as long, a quarter, …
		}
		if s.TCP != nil {
			l.Segments, l.Again, l.MSS = l.Segments+s.TCP.DataSegsOut, l.Again+s.TCP.Retrans, s.TCP.MSS
		}
	}
	return out
}
