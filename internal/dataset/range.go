package dataset

import (
	"fmt"

	"calib/internal/dataset/names"
	"calib/internal/units"
)

const (
	// maxTime bounds a timing, and the offset of a clock: ten years.
	maxTime = 10 * 365 * 24 * 3600 * units.Second
	// minDifference bounds a timing that is a difference of clocks or of times: less than minus an hour, which no
	// slot takes, is none. An offset of clocks, and what is flagged as measured by clocks that drift, may be anything.
	minDifference = -3600 * units.Second
	// maxSize bounds a size in bytes, and every other factor of a point: 2^50.
	maxSize = 1 << 50
)

// CheckRange rejects numbers that no network can have given: such a line was damaged, or written by somebody who means
// harm.
func (s *Sample) CheckRange() error {
	least := minDifference
	if s.Phase == names.PhaseOffset || s.Has(FlagDrift) {
		least = -maxTime
	}
	for _, ns := range s.NS {
		if ns < int64(least) || ns > int64(maxTime) {
			return fmt.Errorf("a time of %d ns in ns: want %d to %d", ns, int64(least), int64(maxTime))
		}
	}
	for name, v := range s.Point {
		if v > maxSize || v < 0 && name != names.FactorOffset || v < -maxSize {
			return fmt.Errorf("%s=%d in point: want 0 to %d", name, v, int64(maxSize))
		}
	}
	if t := s.TCP; t != nil {
		for _, f := range [...]struct {
			name  string
			value int64
		}{{"cwnd", t.Cwnd}, {"mss", t.MSS}, {"rtt_us", t.RTT}, {"min_rtt_us", t.MinRTT},
			{"sndbuf", t.SndBuf}, {"rcvbuf", t.RcvBuf}, {"port", t.Port}} {
			if f.value < 0 || f.value > maxSize {
				return fmt.Errorf("%s=%d in tcp: want 0 to %d", f.name, f.value, int64(maxSize))
			}
		}
	}
	return nil
}
