// Package bench is the core of the experiments: what an experiment is (Procedure, Point, Team, Recorder), what bounds
// its design (Limits, Path), and what the hosts of a team do together (Team, Timeline). It opens no sockets: an
// experiment sees only its Team, whose Group is real TCP or a simulated network in virtual time. It knows no plan:
// package run/plan says what is measured when.
//
// The experiments are in the packages below it, those that share their traffic in one. bench/experiments lists them
// all, and its conformance suite tests each.
package bench

import (
	"context"
	"fmt"
	"slices"

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
	// Send sends b to a rank as one message, in a segment of its own where the transport can, and returns when the
	// transport has taken it (on TCP: copied it to the send buffer).
	Send(to int, b []byte) error
	// Recv fills b with the next len(b) bytes from a rank. It fails after the group's receive deadline.
	Recv(from int, b []byte) error
	// RecvPolling is Recv by a rank that looks for the bytes again and again instead of sleeping until they come.
	RecvPolling(from int, b []byte) error
	// RecvAt is Recv and returns the time, on the clock of Now, at which the last byte reached this host: when the rank
	// had it, or, where ranks share a machine and Stamp was called, when the machine took it from the network.
	RecvAt(from int, b []byte) (units.Nanos, error)
	// Now reads this host's monotonic clock.
	Now() units.Nanos
	// WaitUntil returns when this host's clock has reached t, as soon after it as the host can.
	WaitUntil(t units.Nanos) error
	// Counters reads the kernel's counters of the connection to a peer. Do not call it in a timed section.
	Counters(peer int) (dataset.TCP, error)

	// RecvAny waits for bytes of any rank and reads at most len(b) bytes of one of them. It returns that rank, the
	// number of bytes, and when the last of them arrived (as RecvAt). Ranks that have bytes waiting are served in turn.
	// It fails after the group's receive deadline.
	RecvAny(b []byte) (from, n int, at units.Nanos, err error)
	// Pending is the number of bytes from a rank that can be received at once.
	Pending(from int) (int, error)
	// Unacked is the number of bytes sent to a rank that its host has not acknowledged yet.
	Unacked(to int) (int, error)
	// SendSome sends as much of b as the transport takes. It gives up when the transport has taken nothing more for
	// patience: then n is below len(b), err is nil, and the stream continues behind those n bytes. With a patience of 0
	// it does not wait.
	SendSome(to int, b []byte, patience units.Nanos) (n int, err error)
	// Reopen replaces the team's connections by new ones with other options. Every rank calls it with the same options
	// while no message is under way; the first rank to return may send at once. The options hold until the next Reopen
	// or the end of the team. An empty congestion control means that of the run.
	Reopen(plane.Socket) error

	// Lines calls f for each of k connections to a peer, all at once and each on a thread of its own, and returns when
	// all calls have. Line 0 is the connection of Send and Recv, on the caller's thread; the others are opened for the
	// call. The peer calls Lines with the same k at the same time, and neither uses the group otherwise meanwhile.
	Lines(peer, k int, f func(i int, l plane.Line) error) error

	// Beside calls f while a second thread of this rank stands by, on any CPU the agent may use: each Start lets it
	// call transfer once, while f goes on. Ranks that share a machine, and are not pinned, divide its CPUs between them
	// for the call. Between Start and Wait f does not use the group but for Now, WaitUntil and Machine. Where f fails,
	// or returns without having waited, the team's connections may be broken. The second thread ends with the call.
	Beside(transfer func(plane.Mover) error, f func(plane.Second) error) error

	// OpenDatagrams prepares datagrams between all ranks, which must be done before the first. Every rank calls it
	// while no message is under way. It fails where none pass within a time; the team's connections must then not be
	// used any more.
	OpenDatagrams(within units.Nanos) error
	// SendDatagram sends b as one datagram, which may be lost; b has 1 to 1,399 bytes. It waits for room on this host
	// and for the agent's limit of rate, never for the receiver.
	SendDatagram(to int, b []byte) error
	// RecvDatagram returns the next datagram of any rank of the team, or Got false when this host's clock reaches
	// until.
	RecvDatagram(b []byte, until units.Nanos) (plane.Datagram, error)

	// Stamp prepares ranks that share a machine for arrivals that are compared between them: the machine stamps what
	// arrives, and a rank that wakes up does not take the CPU from another that runs. Both make a message slower (by 2%
	// and 10% of a ping-pong on one CPU). It lasts to the end of the team. On hosts of their own it does nothing.
	Stamp() error

	// Place is where this rank runs now. Do not call it in a timed section.
	Place() plane.Place
	// Machine is this rank's host.
	Machine() plane.Machine
}

// Experiment is one measuring procedure. It has no state: every agent holds one for all runs.
type Experiment struct {
	Name string // one of package names
	// Clocks marks an experiment that compares times of several hosts' clocks. Perform then measures the offsets of the
	// team's clocks from rank 0's before and after the points, gives Run the Timeline in its Recorder, and corrects the
	// one-way times at the end.
	Clocks bool
	// Stamps marks an experiment that compares arrivals, the times of RecvAt and RecvAny, between hosts. Perform then
	// calls the Group's Stamp first. Round trips are taken without it: they would hold its cost.
	Stamps bool
	Alone  bool // it measures single hosts, too; others have no points on one
	// Points lists the points to measure, in any order; the schedule shuffles them. There are none where the limits leave
	// nothing to measure.
	Points func(Limits) []Point
	Ranges Ranges // what the factors of a point may be, of any design with any limits
	// Size is how many hosts a team of a point has: the first, alone on the network. Without it a team has two, and the
	// teams are those of Neighbours.
	Size  func(Point) int
	Steps func(Limits, Point) []Step // the teams, where they are others than these
	Cost  func(Limits, Point) Cost   // of one batch at a point, at most, for the plan
	// Run measures a point on one rank and records what that rank saw, which may be nothing. It ends after a bounded
	// number of messages, or when a receive reaches the group's deadline.
	Run func(Team)
}

// AnySize is the Size of an experiment that bounds it itself, or does not.
func AnySize(Point) int { return 0 }

// Design lists the points to measure.
func (x *Experiment) Design(l Limits) []Point {
	if l.Hosts < 1 || l.Hosts < 2 && !x.Alone {
		return nil
	}
	return x.Points(l)
}

// Teams returns the hosts that measure p: steps in sequence, each a set of disjoint teams that may run at once. A team
// lists indices of hosts, in rank order, as they are before the schedule permutes them. Points with equal teams share a
// slot.
func (x *Experiment) Teams(l Limits, p Point) []Step {
	switch {
	case x.Steps != nil:
		return x.Steps(l, p)
	case x.Size != nil:
		return FirstHosts(x.Size(p))
	}
	return Neighbours(l.Hosts)
}

// run measures a point on this rank.
func (x *Experiment) run(t Team) {
	want := 2
	if x.Size != nil {
		want = x.Size(t.P)
	}
	if t.Size() != want && want > 0 {
		Fail("team of %d, want %d", t.Size(), want)
	}
	x.Run(t)
}

func Find(exps []*Experiment, name string) (*Experiment, bool) {
	i := slices.IndexFunc(exps, func(e *Experiment) bool { return e.Name == name })
	if i < 0 {
		return nil, false
	}
	return exps[i], true
}

// Step is a set of disjoint teams.
type Step [][]int

// Cost is what one batch of a point needs.
type Cost struct {
	Bytes units.Bytes // over the busiest link, at most
	Time  units.Nanos // how long it is expected to take on Limits.Path
}

func (c Cost) Add(d Cost) Cost { return Cost{Bytes: c.Bytes + d.Bytes, Time: c.Time + d.Time} }

// Slot is one entry of a schedule: one experiment on disjoint teams, each of which measures Points in order.
type Slot struct {
	ID     int     `json:"id"`
	Round  int     `json:"round"`
	Exp    string  `json:"exp"`
	Teams  [][]int `json:"teams"`
	Points []Point `json:"points"`
	// Effort scales the repetitions: Limits.Effort of the slot's experiment.
	Effort Effort `json:"effort,omitempty"`
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
	Reps   float64 // Limits.Effort, which scales the repetitions
	// Epoch is that of the data connections (Schedule.Epoch). Those of an earlier one are not used.
	Epoch int
	// OneClock says of each rank whether it reads the clock that rank 0 reads, so that there is no offset. nil: no rank
	// does. The agent knows; it is not sent.
	OneClock []bool
	// Memory bounds what the experiment takes; 0 is no limit. The agent says it; it is not sent.
	Memory units.Bytes
	// Deadline bounds the whole task; Recv bounds one receive.
	Deadline units.Nanos
	Recv     units.Nanos
}

// Perform runs one rank's part of a slot: every point of the task in order, by the task's experiment e. It returns all
// samples of this rank or none, because a slot is measured whole or again. progress, which may be nil, gets the index
// of each point before it begins.
func Perform(ctx context.Context, e *Experiment, g Group, t Task, progress func(point int)) ([]dataset.Sample, error) {
	r := NewRecorder(t)
	x := Team{g, r, Point{}}
	err := Caught(func() {
		if e.Stamps {
			Check(g.Stamp())
		}
		if e.Clocks {
			r.Clocks = newTimeline(x.synchronise(), t.OneClock)
		}
		for i, p := range t.Points {
			if progress != nil {
				progress(i)
			}
			Check(ctx.Err())
			r.memory.garbage, r.memory.point = r.memory.garbage+r.memory.point, 0
			r.cpu = g.Place().On
			if err := Caught(func() { e.run(Team{g, r, p}) }); err != nil {
				Fail("%s at %s: %w", t.Exp, p.Key(), err)
			}
		}
		if e.Clocks {
			r.Clocks.finish(x.synchronise())
			r.correct()
			if x.Root() {
				r.Clocks.record(x)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return r.Samples, nil
}

// failure is the panic by which a task ends that cannot go on: a rank is gone, has sent what it may not, or there is no
// more memory. Caught makes it an error.
type failure struct{ error }

// Check ends the task with an error, where there is one.
func Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Must returns v, or ends the task with an error.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

func Fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// Caught calls f, and returns the error with which that ended the task. What runs on a thread of its own, and what a
// Group calls, is called by it: a panic must not pass them.
func Caught(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			failed, ok := p.(failure)
			if !ok {
				panic(p)
			}
			err = failed.error
		}
	}()
	f()
	return nil
}

// During calls f, and says of an error that ends the task in what it did.
func During(what string, f func()) {
	if err := Caught(f); err != nil {
		Fail("%s: %w", what, err)
	}
}
