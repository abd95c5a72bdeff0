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

// caller is one rank's part in timed calls. In an exchange the sender times its send; the receiver waits until the
// whole message is there, times its receive and acknowledges with a byte. So a send finds nothing of the one before in
// any buffer, and a receive neither waits nor is woken. It ends with the message that is marked as the last, after as
// many as a batch may have, or when a receive reaches the group's deadline.
type caller struct{ flow.Role }

// measure measures one direction of one size.
func (x caller) measure() error {
	msg := x.R.Payload(x.P[names.FactorBytes])
	ns := x.R.Buffer(warmCalls + mostCalls(x.R.Effort))
	empty := bench.TimerCost(x.G)
	before, err := x.Counters()
	if err != nil {
		return err
	}
	phase, call := names.PhaseSend, x.sends
	if !x.Sends() {
		phase, call = names.PhaseRecv, x.receives
	}
	ns, err = call(msg, ns)
	if err != nil {
		return err
	}
	tcp, err := x.HandOver(nil, before)
	if err != nil {
		return err
	}
	b := x.Batch(phase, ns, tcp)
	b.Ranks = []int{x.From, x.To[0]}
	b.Aux[names.AuxClock] = empty
	x.R.Add(b)
	return nil
}

// sends is the sender's part. The time of the warm-up decides how many sends follow.
func (x caller) sends(msg []byte, ns []int64) ([]int64, error) {
	peer, last := x.Peer(), len(ns)-1
	msg[0] = 0
	var ack [1]byte
	for i := range ns {
		began := x.G.Now()
		if err := x.G.WaitUntil(began + settleTime); err != nil {
			return nil, err
		}
		if i == last {
			msg[0] = 1
		}
		start := x.G.Now()
		if err := x.G.Send(peer, msg); err != nil {
			return nil, err
		}
		ns[i] = bench.Elapsed(x.G, start)
		if i == last {
			break
		}
		if err := x.G.Recv(peer, ack[:]); err != nil {
			return nil, err
		}
		if i == warmCalls-1 {
			fit := int(x.R.Time(callBudget, 0)) / int(max(1, bench.Elapsed(x.G, began)))
			last = min(last, i+max(minCalls, fit))
		}
	}
	return ns[warmCalls : last+1], x.G.Recv(peer, ack[:])
}

// receives is the receiver's part. A receive whose message did not arrive in time is left out.
func (x caller) receives(msg []byte, ns []int64) ([]int64, error) {
	peer, kept := x.Peer(), 0
	var ack [1]byte
	for i := range ns {
		there, err := bench.Await(x.G, peer, len(msg))
		if err != nil {
			return nil, err
		}
		start := x.G.Now()
		if err := x.G.Recv(peer, msg); err != nil {
			return nil, err
		}
		if t := bench.Elapsed(x.G, start); there && i >= warmCalls {
			ns[kept] = t
			kept++
		}
		if err := x.G.Send(peer, ack[:]); err != nil {
			return nil, err
		}
		if msg[0] == 1 {
			break
		}
	}
	return ns[:kept], nil
}
