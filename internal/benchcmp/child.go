package main

import (
	"time"

	"calib/internal/plane"
	"calib/internal/units"
)

// setup is what a child process reads from its standard input.
type setup struct {
	Self    int    // 0 dials and sends first, 1 listens
	Listen  string // host:port
	Peer    string // where 1 listens, for 0
	Key     [32]byte
	Expires int64 // of the ticket, Unix seconds
	CPU     int
	Measure string // pingpong or stream
	Size    int
	Rounds  int           // of the ping-pong
	Warm    time.Duration // of the stream, not counted
	For     time.Duration // of the stream, counted
	Profile string        // file for a CPU profile of the dialer; none if empty
	Options plane.Socket
}

// result is what a child prints at its end.
type result struct {
	NS   int64   `json:"ns,omitempty"`  // median half round trip
	Rate float64 `json:"bps,omitempty"` // received bytes a second
	// Retrans counts the sender's retransmitted segments.
	Retrans int64 `json:"retrans,omitempty"`
}

// recvTimeout bounds the silence of the other child.
const recvTimeout = 10 * units.Second
