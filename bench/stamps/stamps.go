// Package stamps splits the time of single messages into its parts, by the stamps that kernels and network interfaces take of
// them on their way.
package stamps

import (
	"context"

	"calib/bench"
	"calib/bench/roundtrip"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Experiment passes messages of at most a packet to and fro, one at a time, first without stamps (phase "plain": half of each
// round trip) and then with. Of each message with stamps, in both directions, it records
//
//	send    from before the sending call until the kernel hands the message to the device's queue (stamp SCHED)
//	queue   from there until the device's driver takes it (stamp SND)
//	way     from there until the receiver's kernel takes it from its device (receive stamp), on two hosts' clocks
//	wake    from there until the receiving call, which slept, has returned
//	call    the whole sending call, which may end long after the message has left
//
// send, queue, way and wake follow each other without gaps: their sum is the one-way time. "half" is half of the round trips of the same
// messages, by rank 0's clock, less the time that rank 1 takes between its calls. Then, with stamps as well: "wake-polling", as
// wake where both ranks look for the message again and again; and "recv", the receiving call of a message that is there.
// Where the network interfaces stamp, "nic" is half of the time between the interfaces, both ways together: what passes between
// sending and receiving at one, less the same at the other, each by its own clock.
//
// A Group that cannot stamp gives "plain" alone.
type Experiment struct{}

// Stamper is what a Group that stamps single messages can do beside. The kernel's stamps are on a clock of their own, the wall
// clock.
type Stamper interface {
	// StampMessages lets this host stamp the messages to and from a rank, or ends that. No message may be under way.
	StampMessages(peer int, on bool) error
	// RecvStamped is Recv, or RecvPolling, and returns the stamps of the last byte.
	RecvStamped(from int, b []byte, polls bool) (plane.Arrival, error)
	// Departure returns the stamps of the last message sent to a rank, and waits up to patience for those to come.
	Departure(to int, patience units.Nanos) (plane.Departure, error)
	// StampClock returns by how much the clock of the kernel's stamps is ahead of that of Now, and how far that may be off.
	StampClock() (ahead, bound units.Nanos)
}

// Synchronised implements bench.Synchronised: ways are compared by direction.
func (Experiment) Synchronised() {}

var (
	sizes      = []units.Bytes{1, 181, 701, 1123, 1401}
	sizesQuick = []units.Bytes{1, 701, 1401}
)

const (
	// agreeBytes is what a rank tells of itself before, afterBytes what rank 0 tells rank 1 after a phase.
	agreeBytes = 3 * 8
	afterBytes = 8
)

// Name implements bench.Experiment.
func (Experiment) Name() string { return names.Stamps }

// Design implements bench.Experiment: messages of one packet.
func (Experiment) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	return bench.SizePoints(l.OnePacket(bench.Thinned(l, sizes, sizesQuick), false), nil)
}

// Ranges implements bench.Experiment.
func (Experiment) Ranges() bench.Ranges {
	return bench.Ranges{names.FactorBytes: bench.Sizes}
}

// Teams implements bench.Experiment.
func (Experiment) Teams(l bench.Limits, _ bench.Point) []bench.Step { return bench.Neighbours(l.Hosts) }

// Cost implements bench.Experiment.
func (Experiment) Cost(l bench.Limits, p bench.Point) bench.Cost {
	c := bench.Cost{Bytes: 2 * agreeBytes, Messages: 2}
	b := bounds(p)
	results := bench.Cost{Bytes: units.Bytes(8 * (columns*b.Room(l.Effort) + clockNumbers)), Messages: 2}
	for range phases {
		c = c.Add(b.Cost(l)).Add(results).Add(bench.Cost{Bytes: afterBytes})
	}
	return c
}

// phases is how often messages are passed: plain, blocking, polling, ready.
const phases = 4

func bounds(p bench.Point) roundtrip.Bounds {
	b := roundtrip.Pings(p[names.FactorBytes], 1, roundtrip.LeastReps)
	b.Settle = true
	return b
}

// Run implements bench.Experiment.
func (Experiment) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	if err := bench.CheckSize(g, 2); err != nil {
		return err
	}
	stamper, can := g.(Stamper)
	can, polls, err := agree(g, can)
	if err != nil {
		return err
	}
	msg := r.Payload(p[names.FactorBytes])
	clock := bench.TimerCost(g)
	err = roundtrip.Record(g, r, roundtrip.Whole(1-g.Rank(), msg), bounds(p), bench.Batch{
		Phase: names.PhasePlain, Point: p, Aux: map[string]float64{names.AuxClock: clock},
	})
	if err != nil || !can {
		return err
	}
	if err := stamper.StampMessages(1-g.Rank(), true); err != nil {
		return err
	}
	b := batch{Team: bench.Team{G: g, R: r, P: p}, stamper: stamper, msg: msg, clock: clock}
	if err := b.measure(polls); err != nil {
		return err
	}
	return stamper.StampMessages(1-g.Rank(), false)
}

// agree tells the peer what this rank can do, and returns whether both stamp, and whether both may poll.
func agree(g bench.Group, can bool) (both, polls bool, err error) {
	own := g.Place()
	if err := bench.SendNumbers(g, 1-g.Rank(), int64(roundtrip.LastMark(can)), int64(roundtrip.LastMark(own.Shared)), int64(own.CPU)); err != nil {
		return false, false, err
	}
	n, err := bench.RecvNumbers(g, 1-g.Rank(), agreeBytes/8)
	if err != nil {
		return false, false, err
	}
	return can && n[0] == 1, roundtrip.MayPoll(own, plane.Place{Shared: n[1] != 0, CPU: int(n[2])}), nil
}
