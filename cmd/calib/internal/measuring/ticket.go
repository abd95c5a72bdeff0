package measuring

import (
	"fmt"

	"calib/internal/dataset"
	"calib/internal/units"
	"calib/run/plan"
)

// ample is a limit of an agent that no pair of hosts reaches: what experiments count is an upper bound, of all that passes over a
// host's link, which on many hosts is far above what a pair sends.
const ample = 64 * units.GiB

// enoughBytes returns an error where an agent allows less traffic with a peer than the plan has.
func enoughBytes(f plan.Forecast, hosts []dataset.Host) error {
	need := f.LinkBytes * units.Bytes(f.MinRounds)
	for _, h := range hosts {
		if limit := units.Bytes(h.MostBytes); limit > 0 && limit < min(need, ample) {
			return fmt.Errorf("host %s: its agent allows %v with one peer in a run (calib agent --max-bytes), the plan may send %v", h.Name, limit, need)
		}
	}
	return nil
}
