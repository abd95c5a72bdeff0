package measuring

import (
	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/units"
)

// fastStreams is how much more a stream may carry than experiments count for it: they count one window at 1 Gbit/s, but time
// bounds it, a path may carry 200 Gbit/s, and one that is not steady is streamed over up to eight times as long.
const fastStreams = 200 * 8

// ample is a limit of an agent that no pair of hosts reaches: what experiments count is an upper bound, of all that passes over a
// host's link, which on many hosts is far above what a pair sends.
const ample = 64 * units.GiB

// ticketBytes is what a pair of hosts may send each other in a run: the plan's bytes, and as much room for fast streams as the
// agents allow. It is above an agent's limit, which the agent then says, where that is below the plan's bytes and not ample.
func ticketBytes(f bench.Forecast, hosts []dataset.Host) units.Bytes {
	plan := f.LinkBytes * units.Bytes(f.MaxRounds)
	room := max(2*plan+ample, fastStreams*min(plan, 1024*units.GiB))
	for _, h := range hosts {
		if h.MostBytes > 0 {
			room = min(room, units.Bytes(h.MostBytes))
		}
	}
	if room >= ample {
		return room
	}
	return max(plan, room)
}
