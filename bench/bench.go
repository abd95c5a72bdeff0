// Package bench holds the experiments: what is sent between which hosts, what is timed, and in which order all of it
// runs. It knows no sockets: an experiment speaks to its Group, which is real TCP, or a simulated network in virtual
// time, and cannot tell which.
//
// An experiment is one file and one line in the slice Experiments. The conformance suite (conformance_test.go) then
// tests it without being told.
package bench

import (
	"context"

	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/internal/units"
)

// Point is one setting of an experiment's factors.
type Point = dataset.Point

// Group is what an experiment may do: one rank's view of a team of hosts, each of which runs the same function (SPMD).
// Ranks are 0..Size()-1 within the team. A Group is used by one goroutine, locked to its thread.
type Group interface {
	Rank() int
	Size() int
	// Send sends b to a rank as one message, kept apart from its neighbours where the transport can, and returns when
	// the transport has taken it (on TCP: copied to the send buffer).
	Send(to int, b []byte) error
	// Recv fills b with the next len(b) bytes from a rank. It fails after the group's receive deadline.
	Recv(from int, b []byte) error
	// RecvAt is Recv, and says when the last byte reached this host, on the clock of Now. That is when the rank had it,
	// or, where ranks share a machine and would wait for each other's CPU, when the machine took it from the network.
	RecvAt(from int, b []byte) (units.Nanos, error)
	// Now reads this host's monotonic clock.
	Now() units.Nanos
	// WaitUntil returns when this host's clock has reached t, as close after it as the host can.
	WaitUntil(t units.Nanos) error
	// Counters reads the kernel's counters of the connection to a peer. It is not for timed sections.
	Counters(peer int) (dataset.TCP, error)

	// RecvAny waits until any rank's bytes are there, reads at most len(b) of one rank's, and says whose, how many and when
	// the last of them came (as RecvAt). Ranks that have bytes waiting are served in turn. It fails after the group's
	// receive deadline.
	RecvAny(b []byte) (from, n int, at units.Nanos, err error)
	// Pending is how many bytes from a rank can be received at once.
	Pending(from int) (int, error)
	// Unacked is how many bytes sent to a rank its host has not acknowledged yet.
	Unacked(to int) (int, error)
	// SendSome sends as much of b as the transport takes, and gives up when it has taken nothing more for patience: n is
	// then below len(b), err is nil, and the stream goes on behind those n bytes. A patience of 0 waits for nothing.
	SendSome(to int, b []byte, patience units.Nanos) (n int, err error)
	// Reopen replaces the team's connections by new ones with other options. Every rank calls it with the same options, when
	// nothing is under way; the first to return may send at once. The team's next Reopen, or its end, undoes it. Without a
	// congestion control the run's own stays.
	Reopen(plane.Socket) error

	// SendDatagram sends b as one datagram, which may be lost on the way; b is not empty and below 1,400 bytes. It waits
	// for room on this host and for the agent's limit of rate, never for the receiver.
	SendDatagram(to int, b []byte) error
	// RecvDatagram returns the next datagram of any rank of the team, or Got false when this host's clock reaches until.
	RecvDatagram(b []byte, until units.Nanos) (plane.Datagram, error)

	// Machine is this rank's host.
	Machine() plane.Machine
}

// Limits bound a design: what the user asked for and what the hosts allow.
type Limits struct {
	Hosts    int           // how many hosts there are
	Sizes    []units.Bytes // message sizes, ascending; nil means the experiment's own
	MaxBytes units.Bytes   // largest message; 0 means the experiment's own
	AllPairs bool          // pingpong over every pair of hosts, for the pair matrix
	Effort   float64       // scales repetitions: 1 is the standard plan; 0 means 1
	Seed     uint64        // moves sizes off the powers of two
}

// Experiment is one measuring procedure. Implementations have no state: every agent holds one value for all runs.
type Experiment interface {
	Name() string
	// Design lists the points to measure, in any order; the schedule shuffles them. It returns none where the limits
	// leave nothing to measure (paired on one host).
	Design(Limits) []Point
	// Teams says which hosts measure p: steps in sequence, each a set of disjoint teams that may run at once. A team
	// lists indices of hosts, in rank order. Points with equal teams share a slot.
	Teams(Limits, Point) []Step
	// Cost bounds one batch at p, for the plan: bytes over the busiest host's link, and messages in sequence.
	Cost(Limits, Point) Cost
	// Run measures p on this rank and records what this rank saw; a rank with nothing to report records nothing.
	Run(context.Context, Group, Point, *Recorder) error
}

// Step is a set of disjoint teams.
type Step [][]int

// Cost is what one batch of a point needs.
type Cost struct {
	Bytes    units.Bytes // over the busiest link
	Messages int         // one after the other
}

// Experiments is every experiment calib has. Order is the order of the plan's listing, nothing more.
var Experiments = []Experiment{Clock{}, PingPong{}, Paired{}, Overhead{}, Gap{}, Copy{}, Gather{}, Flood{}, Load{}, Fragment{}, Buffer{}, NoDelay{}, PRTT{},
	Bcast{}}

// Lookup returns the experiment of that name.
func Lookup(name string) (Experiment, bool) {
	for _, e := range Experiments {
		if e.Name() == name {
			return e, true
		}
	}
	return nil, false
}

// Slot is one entry of a schedule: one experiment on disjoint teams, each of which measures Points in order.
type Slot struct {
	ID     int     `json:"id"`
	Round  int     `json:"round"`
	Exp    string  `json:"exp"`
	Teams  [][]int `json:"teams"`
	Points []Point `json:"points"`
}

// Task is one agent's part of a slot.
type Task struct {
	Run    string
	Slot   int
	Round  int
	Exp    string
	Team   []int // host indices of the team, in rank order
	Rank   int   // this agent's rank in Team
	Points []Point
	Reps   float64 // Limits.Effort: scales the experiments' repetitions
	// Deadline bounds the whole task; Recv bounds one receive.
	Deadline units.Nanos
	Recv     units.Nanos
}
