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
}

// SharesMachine reports whether two hosts of a team are known to be one machine. Their agents then sleep through every
// wait to its end, because one that spins would take the CPU from another.
func (s Session) SharesMachine(team []int) bool {
	seen := map[string]bool{}
	for _, h := range team {
		m := s.peer(h).Machine
		if m != "" && seen[m] {
			return true
		}
		seen[m] = true
	}
	return false
}

// OneClock says of each rank of a team whether it is known to read the clock that rank 0 reads.
func (s Session) OneClock(team []int) []bool {
	out := make([]bool, len(team))
	for k, h := range team {
		clock := s.peer(h).Clock
		out[k] = k == 0 || clock != "" && clock == s.peer(team[0]).Clock
	}
	return out
}

// peer returns a host of the run, of which nothing is known where it is not listed. A coordinator lists the hosts in
// order: a team of a thousand is looked up before every task.
func (s Session) peer(host int) Peer {
	if host >= 0 && host < len(s.Peers) && s.Peers[host].Host == host {
		return s.Peers[host]
	}
	for _, p := range s.Peers {
		if p.Host == host {
			return p
		}
	}
	return Peer{}
}

// Peer is where another agent takes data connections.
type Peer struct {
	Host int    // index of the host in the run
	Name string // for messages
	Addr string // host:port, or [IPv6%zone]:port
	// Machine and Clock are equal where hosts are one machine, and where they read one clock. Empty is unknown.
	Machine, Clock string
	// Consent is what its agent said of itself over control. No host without one is dialled.
	Consent string
}

// Ticket allows one pair of hosts data connections to each other, in one run, up to a size and a time. The coordinator
// makes the key and gives it to the two hosts only.
type Ticket struct {
	A, B     int // host indices, A < B; A dials
	Key      [32]byte
	MaxBytes units.Bytes // over all connections of the pair, both directions
	Expires  int64       // Unix seconds
}
