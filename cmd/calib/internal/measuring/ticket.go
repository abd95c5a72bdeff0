package measuring

import (
	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/units"
)

// fastStreams is how much more a stream may carry than experiments count for it: they count one window at 1 Gbit/s, but time
// bounds it, a path may carry 200 Gbit/s, and one that is not steady is streamed over up to eight times as long.
const fastStreams = 200 * 8

// ticketBytes is what a pair of hosts may send each other in a run: the plan's bytes, and as much room for fast streams as the
// agents allow.
func ticketBytes(f bench.Forecast, hosts []dataset.Host) units.Bytes {
	plan := f.LinkBytes * units.Bytes(f.MaxRounds)
	room := max(2*plan+64*units.GiB, fastStreams*min(plan, 1024*units.GiB))
	for _, h := range hosts {
		if h.MostBytes > 0 {
			room = min(room, units.Bytes(h.MostBytes))
		}
	}
	return max(plan, room)
}
