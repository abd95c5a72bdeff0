package transport

import "calib/internal/plane"

// Options are set on every data connection of a session, before it carries data.
type Options = plane.Socket

// Counters are the kernel's counters of one connection, of the calling thread and of the machine, all since their
// start. They are read at the edges of a batch and subtracted.
type Counters struct {
	SegsOut, SegsIn         int64 // segments, pure acknowledgements included
	DataSegsOut, DataSegsIn int64 // segments with payload; retransmissions are counted again
	Retrans                 int64 // segments sent more than once
	RwndLimitedUS           int64 // time the peer's window was what limited sending [µs]
	SndbufLimitedUS         int64 // time the send buffer was [µs]
	BusyUS                  int64 // time with data to send [µs]
	Cwnd                    int64 // congestion window now [segments]
	MSS                     int64 // sending segment size now [B]
	RTTUS, MinRTTUS         int64 // smoothed and smallest round trip the kernel saw [µs]
	Involuntary             int64 // involuntary context switches of the calling thread
	StealTicks              int64 // CPU time the hypervisor took from the whole machine [clock ticks]
	Congestion              string
	SndBuf, RcvBuf          int64 // buffers as granted [B]
}
