package bench

import (
	"calib/internal/units"
)

const (
	// A batch is as many exchanges as fit into callBudget, between callLeast and callReps; all but callLeast scale with the
	// effort. callWarm come before, untimed.
	callBudget = 30 * units.Millisecond
	callReps   = 100
	callLeast  = 8
	callWarm   = 4

	// callSettle is the pause from an acknowledgement to the next send. The kernel finishes with the acknowledgement, and on
	// a host of its own the rank spins through it: it has been running for a while when it sends, as a program that has
	// just computed a message has, and is not on its way out of sleep.
	callSettle = 30 * units.Microsecond
)

func mostCalls(r *Recorder) int { return r.Reps(callReps, callLeast) }

// timeCalls measures one direction of one size. In an exchange the sender times its send; the receiver waits until the
// whole message is there, times its receive and acknowledges with a byte. So a send finds nothing of the one before in
// any buffer, and a receive neither waits nor is woken. It ends with the message that is marked as the last, after as many
// as a batch may have, or when a receive meets the group's deadline.
func timeCalls(x pairRole) error {
	msg := x.r.payload(x.p["bytes"])
	ns := x.r.Buffer(callWarm + mostCalls(x.r))
	empty := clockNS(x.g)
	before, err := x.counters()
	if err != nil {
		return err
	}
	phase, call, ranks := "send", x.timeSends, []int{x.g.Rank(), x.peer()}
	if !x.sender() {
		phase, call, ranks = "recv", x.timeReceives, x.ranks()
	}
	ns, err = call(msg, ns)
	if err != nil {
		return err
	}
	tcp, err := x.handOver(nil, before)
	if err != nil {
		return err
	}
	b := Batch{Phase: phase, Point: x.p, Ranks: ranks, NS: ns, TCP: tcp, Aux: x.aux()}
	b.Aux["clock_ns"] = empty
	x.r.Add(b)
	return nil
}

// timeSends is the sender's part. The time of the warm-up decides how many sends follow.
func (x pairRole) timeSends(msg []byte, ns []int64) ([]int64, error) {
	peer, last := x.peer(), len(ns)-1
	msg[0] = 0
	var ack [1]byte
	for i := range ns {
		began := x.g.Now()
		if err := x.g.WaitUntil(began + callSettle); err != nil {
			return nil, err
		}
		if i == last {
			msg[0] = 1
		}
		start := x.g.Now()
		if err := x.g.Send(peer, msg); err != nil {
			return nil, err
		}
		ns[i] = elapsed(x.g, start)
		if i == last {
			break
		}
		if err := x.g.Recv(peer, ack[:]); err != nil {
			return nil, err
		}
		if i == callWarm-1 {
			fit := x.r.Reps(int(callBudget), 0) / int(max(1, elapsed(x.g, began)))
			last = min(last, i+max(callLeast, fit))
		}
	}
	return ns[callWarm : last+1], x.g.Recv(peer, ack[:])
}

// timeReceives is the receiver's part. A receive whose message did not come in time is not of use, and left out.
func (x pairRole) timeReceives(msg []byte, ns []int64) ([]int64, error) {
	peer, kept := x.peer(), 0
	var ack [1]byte
	for i := range ns {
		there, err := await(x.g, peer, len(msg))
		if err != nil {
			return nil, err
		}
		start := x.g.Now()
		if err := x.g.Recv(peer, msg); err != nil {
			return nil, err
		}
		if t := elapsed(x.g, start); there && i >= callWarm {
			ns[kept] = t
			kept++
		}
		if err := x.g.Send(peer, ack[:]); err != nil {
			return nil, err
		}
		if msg[0] == 1 {
			break
		}
	}
	return ns[:kept], nil
}
