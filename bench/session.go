package bench

import (
	"calib/internal/plane"
	"calib/internal/units"
)

// Session is what an agent must know before its first task: who the others are, and the tickets without which no data
// connection opens.
type Session struct {
	Run     string
	Self    int // this agent's host index
	Peers   []Peer
	Tickets []Ticket // those that name Self
	Socket  Socket
	// Shared says that several agents share a machine: they wait asleep to the end, because one that spins would take the
	// CPU from another.
	Shared bool
}

// Peer is where another agent takes data connections, by host index.
type Peer struct {
	Host int
	Name string
	Addr string // host:port, IPv4 or [IPv6]
}

// Ticket allows one pair of hosts data connections to each other, for this run, up to a size and a time. The key is
// made by the coordinator and known to it and the two hosts only.
type Ticket struct {
	A, B     int // host indices, A < B; A dials
	Key      [32]byte
	MaxBytes units.Bytes // over all connections of the pair, both directions
	Expires  int64       // Unix seconds
}

// Socket holds the options set on every data connection.
type Socket = plane.Socket
