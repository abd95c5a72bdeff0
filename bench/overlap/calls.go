package overlap

import (
	"calib/bench"
	"calib/bench/flow"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

const (
	// A batch is as many exchanges as fit into callBudget, between minCalls and maxCalls; all but minCalls scale
	// with the effort. warmCalls come before, untimed.
	callBudget = 30 * units.Millisecond
	maxCalls   = 100
	minCalls   = 8
	warmCalls  = 4

	// settleTime is the pause from an acknowledgement to the next send, in which the kernel finishes with the
	// acknowledgement. On a host of its own the rank keeps the CPU busy meanwhile: like a program that has just
	// computed a message, it sends after it has been running for a while, and not on its way out of sleep.
	settleTime = 30 * units.Microsecond
)

func mostCalls(e bench.Effort) int { return e.Reps(maxCalls, minCalls) }

// timeCalls measures one direction of one size. In an exchange the sender times its send; the receiver waits until the
// whole message is there, times its receive and acknowledges with a byte. So a send finds nothing of the one before in
// any buffer, and a receive neither waits nor is woken. It ends with the message that is marked as the last, after as
// many as a batch may have, or when a receive reaches the group's deadline.
func timeCalls(x flow.Role) {
	msg := x.R.Payload(x.P[names.FactorBytes])
	ns := x.R.Buffer(warmCalls + mostCalls(x.R.Effort))
	empty := x.TimerCost()
	before := x.AllCounters()
	phase, call := names.PhaseSend, timeSends
	if !x.Sends() {
		phase, call = names.PhaseRecv, timeReceives
	}
	ns = call(x, msg, ns)
	b := x.Batch(phase, ns, x.HandOver(nil, before))
	b.Ranks = []int{x.From, x.To[0]}
	b.Aux[names.AuxClock] = empty
	x.Add(b)
}

// timeSends is the sender's part. The time of the warm-up decides how many sends follow.
func timeSends(x flow.Role, msg []byte, ns []int64) []int64 {
	peer, last := x.Peer(), len(ns)-1
	msg[0] = 0
	var ack [1]byte
	for i := range ns {
		began := x.Now()
		x.WaitUntil(began + settleTime)
		if i == last {
			msg[0] = 1
		}
		start := x.Now()
		x.Send(peer, msg)
		ns[i] = x.Elapsed(start)
		if i == last {
			break
		}
		x.Recv(peer, ack[:])
		if i == warmCalls-1 {
			fit := int(x.R.Time(callBudget, 0)) / int(max(1, x.Elapsed(began)))
			last = min(last, i+max(minCalls, fit))
		}
	}
	x.Recv(peer, ack[:])
	return ns[warmCalls : last+1]
}

// timeReceives is the receiver's part. A receive whose message did not arrive in time is left out.
func timeReceives(x flow.Role, msg []byte, ns []int64) []int64 {
	peer, kept := x.Peer(), 0
	var ack [1]byte
	for i := range ns {
		there := await(x.Team, peer, len(msg))
		start := x.Now()
		x.Recv(peer, msg)
		if t := x.Elapsed(start); there && i >= warmCalls {
			ns[kept] = t
			kept++
		}
		x.Send(peer, ack[:])
		if msg[0] == 1 {
			break
		}
	}
	return ns[:kept]
}

const (
	// awaitStep is the pause between two looks at what has arrived. On a host of its own a rank keeps the CPU busy
	// meanwhile, so that the CPU is awake when the bytes are there; where hosts share a machine it sleeps.
	awaitStep = 20 * units.Microsecond
	// awaitMost is how long bytes that were sent may take, a retransmission included.
	awaitMost = units.Second
)

// await waits until n bytes of a rank can be received, without receiving. It returns false if they did not arrive
// within a second: what has happened to them, the receive will say.
func await(x bench.Team, from, n int) bool {
	end := x.Now() + awaitMost
	for x.Pending(from) < n {
		now := x.Now()
		if now >= end {
			return false
		}
		x.WaitUntil(now + awaitStep)
	}
	return true
}
