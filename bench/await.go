package bench

import "calib/internal/units"

const (
	// awaitStep is the pause between two looks at what has arrived. On a host of its own a rank keeps the CPU busy
	// meanwhile, so that the CPU is awake when the bytes are there; where hosts share a machine it sleeps.
	awaitStep = 20 * units.Microsecond
	// awaitMost is how long bytes that were sent may take, a retransmission included.
	awaitMost = units.Second
)

// Await waits until n bytes of a rank can be received, without receiving. It returns false if they did not arrive
// within a second: what has happened to them, the receive will say.
func Await(g Group, from, n int) (bool, error) {
	end := g.Now() + awaitMost
	for {
		have, err := g.Pending(from)
		if err != nil || have >= n {
			return err == nil, err
		}
		now := g.Now()
		if now >= end {
			return false, nil
		}
		if err := g.WaitUntil(now + awaitStep); err != nil {
			return false, err
		}
	}
}
