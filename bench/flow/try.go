package flow

import (
	"calib/bench"
	"calib/internal/units"
)

// How one try of a bulk is laid out.
const (
	// writeSize is the largest write [B]: the time per byte does not fall with larger ones (docs/MEASURING.md). It is
	// whole pages, which a receiver copies two to three times as fast as what lies across them.
	writeSize = 512 * units.KiB
	// windowTrips is how many of the path's round trips a window holds at least, windowBytes how many bytes of a
	// connection.
	windowTrips = 20
	windowBytes = 160 * units.KiB
	// writeShare is the largest share of the window that a write may take: on slow paths writes are smaller.
	writeShare = 1.0 / 64
	// unsentShare is the share of the window in which the path carries what may wait unsent: a slow path would need
	// seconds to empty a send buffer that is full. On fast paths the buffer is smaller.
	unsentShare = 2 * writeShare
	// roomShare is the share of a stream in which the path carries what may be on its way, minRoom that at least [B].
	// A switch or a modem with deep queues would take megabytes, and seconds to deliver them.
	roomShare = 1.0 / 8
	minRoom   = 64 * units.KiB
	// roomTrips is how many round trips' bytes may be on their way at least.
	roomTrips = 8
	// clearTrips is how many round trips a trial lasts that tells the path's rate within a factor of two: one of fewer
	// is mostly slow start.
	clearTrips = 4
)

// bulkTime is how long a stream lasts on a path of ordinary speed, the ramp included.
const bulkTime = bench.BulkWindow * 10 / 7

// schedule is what all ranks know of one try.
type schedule struct {
	at, ramp, window units.Nanos // at on the rank's own clock
	write            int64
	unsent, room     int64 // bounds of a connection's bytes [B]; 0 is none
}

func (s *schedule) begin() units.Nanos { return s.at + s.ramp }
func (s *schedule) end() units.Nanos   { return s.at + s.ramp + s.window }

// plan lays out a try for a path that takes perByte [ns/B] for one connection's bytes and whose round trip is trip.
func plan(perByte float64, trip units.Nanos, segment int64, try int) schedule {
	s := schedule{window: max(bench.BulkWindow, windowTrips*trip, units.Nanos(perByte*float64(windowBytes)))}
	s.window = min(s.window, bench.MaxStream)
	s.ramp = min(units.Nanos(bench.RampShare/(1-bench.RampShare)*float64(s.window))<<try, bench.MaxStream)
	s.unsent = unsentIn(s.window, perByte)
	s.room = roomIn(s.window, trip, perByte, (bench.TrialChunks-1)*bench.ChunkSize)
	s.write = int64(writeSize)
	if fits := writeShare * float64(s.window) / perByte; fits < float64(writeSize) {
		s.write = bench.WholeSegments(int64(fits), segment)
	}
	return s
}

// bulkTimeOn is how long one direction of a bulk is expected to take while n pairs have one each.
func bulkTimeOn(path bench.Path, n int) units.Nanos {
	perByte := path.PerByte * path.Sharing(n)
	s := plan(max(perByte, 0.01), 2*path.Latency, int64(bench.EthernetSegment), 0)
	start := path.Start(2 * n)
	trial := path.Latency + units.Nanos(perByte*bench.TrialChunks*float64(bench.ChunkSize))
	drain := units.Nanos(perByte * float64(s.room))
	return 2*start + trial + units.Nanos(likelyTries*float64(start+s.ramp+s.window+drain))
}

// unsentIn is the bound of unsent bytes for a stream so long on a path that takes perByte [ns/B].
func unsentIn(length units.Nanos, perByte float64) int64 {
	return int64(max(1, unsentShare*float64(length)/perByte))
}

// roomIn is the bound of bytes on their way for a stream so long on a path of that round trip that takes perByte
// [ns/B]. It is 0, none, where a trial of so many bytes is too short to tell the path's rate.
func roomIn(length, trip units.Nanos, perByte float64, trial units.Bytes) int64 {
	if perByte*float64(trial) < clearTrips*float64(trip) {
		return 0
	}
	return max(int64(minRoom), int64(max(roomShare*float64(length), roomTrips*float64(trip))/perByte))
}
