package main

import (
	"calib/internal/plane"
	"calib/internal/units"
)

// setup is what a child process reads from its standard input.
type setup struct {
	Self    int    // 0 dials and sends first, 1 listens
	Listen  string // host:port
	Peer    string // where 1 listens, for 0
	Consent string // of 1, for 0
	Key     [32]byte
	Expires int64 // of the ticket, Unix seconds
	CPU     int
	Measure string // pingpong
	Size    int
	Rounds  int    // of the ping-pong
	Profile string // file for a CPU profile of the dialer; none if empty
	Options plane.Socket
}

// result is what a child prints at its end.
type result struct {
	NS int64 `json:"ns,omitempty"` // median half round trip
}

// recvTimeout bounds the silence of the other child.
const recvTimeout = 10 * units.Second
