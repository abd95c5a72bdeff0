// Package plane holds the types that experiments, agents and data planes (package transport, package sim) share:
// sessions and tickets, socket options, datagrams, and what an experiment may do with the host itself. It has no
// behaviour, so that experiments and data planes need not import each other.
package plane

import (
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"calib/internal/dataset"
	"calib/internal/units"
)

// Socket holds the options of a data connection. Zero values leave the kernel's default: automatic buffers, the
// system's congestion control, messages kept apart, Nagle's algorithm off.
type Socket struct {
	// SndBuf and RcvBuf are asked of the kernel as SO_SNDBUF and SO_RCVBUF [B]; it grants twice that, up to
	// net.core.wmem_max and rmem_max. What it granted is in the counters.
	SndBuf, RcvBuf units.Bytes
	// Congestion names the congestion control ("cubic", "bbr").
	Congestion string
	// NoEOR lets the kernel merge the end of one message and the start of the next into one segment.
	NoEOR bool
	Nagle bool
}

// Datagram is what one call of RecvDatagram returned.
type Datagram struct {
	Got   bool        // false: the time ended and nothing had come
	From  int         // rank
	Bytes int         // its length
	At    units.Nanos // when it reached this host, as with RecvAt
	// Dropped counts, where Got is false, the datagrams that this host's own socket had no room for since the team
	// began: those were not lost in the network.
	Dropped int64
}

type Place struct {
	Crowded bool // ranks of the team are on one machine, and may have to wait for each other's CPU
	CPU     int  // on which its thread is pinned; −1 if on none
	On      int  // on which the calling thread is; −1 where that is not known
}

// Machine is the host itself, as far as an experiment uses it beside its network. Its calls are made by the thread that
// times.
type Machine interface {
	// CPUs is how many the agent may use.
	CPUs() int
	// Caches are the sizes of the data caches one CPU sees, nearest first; none where the host does not say.
	Caches() []units.Bytes
	// Compute does work steps of one fixed computation on some of the CPUs the agent may use, counted from 0, or on
	// every one where none is named, all at once, and returns the sum of the times the CPUs took. The computation
	// neither allocates nor sleeps nor touches memory that others use.
	Compute(work int64, cpus ...int) (units.Nanos, error)
	// Work does so many steps of the same computation on the calling thread, and returns the time they took.
	Work(steps int64) (units.Nanos, error)
	// Received is how much each of those CPUs has done of taking in what arrives, since some time in the past: a number
	// that grows with every interrupt for packets. It is nil where the host does not say.
	Received() []int64
	// StayAwake keeps every CPU out of sleep states from which waking takes time, until release. It fails where the
	// process may not ask for that.
	StayAwake() (release func(), err error)
	// Copy makes n copies one after the other and returns the time of all of them.
	Copy(c Copy, n int) (units.Nanos, error)
	// Cold is the memory that copies from or to memory go through, taken at the first of them.
	Cold() units.Bytes
}

type Copy struct {
	Bytes units.Bytes
	// ColdFrom and ColdTo say that source and destination are in no cache, because so much other memory has been
	// touched since they were; otherwise they were used just before.
	ColdFrom, ColdTo bool
	// Loop copies byte by byte, as a program that converts data does; otherwise all at once.
	Loop bool
}

type Route struct {
	Device int // index of the interface that they leave by
	MTU    int // largest packet that the kernel sends on this way [B]
}

// Session is what an agent must know before its first task: the run, who the others are, and the tickets without which
// no data connection opens.
type Session struct {
	Run     string
	Self    int // this agent's host index in the run
	Peers   []Peer
	Tickets []Ticket // those that name Self
	Socket  Socket
	Watch   string        // which other watches are told; "" of a run, or of a watch that lets others look too
	Keep    time.Duration // how long other watches leave the host to this one
}

// Sharing reports whether two hosts of a team are known to be one machine, and whether an agent may then have to wait
// for a CPU that another has: on a machine of the team two agents of the run are pinned to one CPU, or of several one
// is pinned to none.
func (s Session) Sharing(team []int) (machine, crowded bool) {
	cpus := map[string][]string{} // of agents, by the team's machines
	for _, h := range team {
		if m := s.Peer(h).Machine; m != "" { // else nobody knows whether two of them are one
			_, had := cpus[m]
			machine, cpus[m] = machine || had, nil
		}
	}
	if !machine {
		return false, false
	}
	for _, p := range s.Peers {
		if others, ok := cpus[p.Machine]; ok {
			free := p.CPU == "" && len(others) > 0 || slices.Contains(others, "")
			crowded = crowded || free || slices.Contains(others, p.CPU)
			cpus[p.Machine] = append(others, p.CPU)
		}
	}
	return true, crowded
}

// OneClock says of each rank of a team whether it is known to read the clock that rank 0 reads.
func (s Session) OneClock(team []int) []bool {
	out := make([]bool, len(team))
	for k, h := range team {
		clock := s.Peer(h).Clock
		out[k] = k == 0 || clock != "" && clock == s.Peer(team[0]).Clock
	}
	return out
}

// Peer returns a host of the run, of which nothing is known where it is not listed. A coordinator lists the hosts in
// order: a team of a thousand is looked up before every task.
func (s Session) Peer(host int) Peer {
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
	CPU     string `json:",omitempty"` // number of the one that its timing thread is pinned to; "" leaves it free
}

// Ticket allows one pair of hosts data connections to each other, in one run, up to a size and a time. The coordinator
// makes the key and gives it to the two hosts only.
type Ticket struct {
	A, B     int // host indices, A < B; A dials
	Key      Key
	MaxBytes units.Bytes // over all connections of the pair, both directions
	Expires  int64       // Unix seconds
}

type Key [32]byte

func (k Key) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, k[:]), nil }

func (k *Key) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err == nil && len(b) != len(k) {
		err = fmt.Errorf("a key of %d bytes, want %d", len(b), len(k))
	}
	copy(k[:], b)
	return err
}

// MaxLines is the largest number of connections a pair of hosts may have at once.
const MaxLines = 16

// Line is one of several connections between two hosts that carry bytes at once, each used by a thread of its own.
// Unlike the messages of a Group, its bytes have no boundaries.
type Line interface {
	// Send returns when the transport has taken all of b.
	Send(b []byte) error
	// Bound bounds the bytes that Send takes before the transport has sent them (unsent), and before the other end has
	// them (room, with what the network's queues hold): with as many waiting, Send blocks. 0 takes a bound away. There
	// is none of room where the transport cannot grant so many, or where a user has fixed it.
	Bound(unsent, room int64) error
	// RecvSome waits until bytes have come, and reads at most len(b) of them. It fails after the group's receive
	// deadline.
	RecvSome(b []byte) (n int, err error)
	Now() units.Nanos
	WaitUntil(t units.Nanos) error
	// State reads what the line has done so far. It makes several system calls.
	State() (LineState, error)
	// ProbesRTT reports whether the congestion control has stopped sending, for 200 ms or more, to see the path without
	// a queue (bbr's PROBE_RTT).
	ProbesRTT() (bool, error)
}

// LineState is what a line has done since it was opened.
type LineState struct {
	At  units.Nanos // when this was read
	TCP dataset.TCP
	CPU units.Nanos // time that the thread which reads this has spent on a CPU since it began
}

type Mover interface {
	Send(to int, b []byte) error
	Recv(from int, b []byte) error
	Pending(from int) (int, error)
	SendSome(to int, b []byte, patience units.Nanos) (int, error)
}

// Second is a second thread of a rank, which moves messages while the first computes.
type Second interface {
	// Start lets the second thread make its transfer once, and returns at once. From then until Wait has returned, the
	// group's connections and the transfer's buffers are the second thread's.
	Start() error
	// Wait returns when the transfer has ended, with its error. It is called once for each Start, before the next.
	Wait() error
}
