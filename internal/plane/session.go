package plane

import "calib/internal/units"

// Session is what an agent must know before its first task: the run, who the others are, and the tickets without which
// no data connection opens.
type Session struct {
	Run     string
	Self    int // this agent's host index in the run
	Peers   []Peer
	Tickets []Ticket // those that name Self
	Socket  Socket
	// Shared says that several agents share a machine. They then sleep through every wait to its end, because one that
	// spins would take the CPU from another.
	Shared bool
}

// Peer is where another agent takes data connections.
type Peer struct {
	Host int    // index of the host in the run
	Name string // for messages
	Addr string // host:port, or [IPv6%zone]:port
}

// Ticket allows one pair of hosts data connections to each other, in one run, up to a size and a time. The coordinator
// makes the key and gives it to the two hosts only.
type Ticket struct {
	A, B     int // host indices, A < B; A dials
	Key      [32]byte
	MaxBytes units.Bytes // over all connections of the pair, both directions
	Expires  int64       // Unix seconds
}
