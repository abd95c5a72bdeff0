package overlap

import (
	"math"

	"calib/bench"
	"calib/bench/flow"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

const (
	// computeTime is how long the computation takes on each CPU, if the receive buffer holds what arrives meanwhile.
	computeTime  = 20 * units.Millisecond
	computeReps  = 4
	computeLeast = 2

	// coverTime is how many times longer than the computation alone the messages are to last, because they slow it
	// down; spareMessages more are sent before it begins.
	coverTime     = 1.5
	spareMessages = 4
	trialMessages = 128

	countBytes = 8

	// receiveBuffer is the buffer asked for. A message that nobody has read occupies segmentRoom of it beside its
	// bytes, which count twice because a window is half a buffer.
	receiveBuffer = 4 * units.MiB
	segmentRoom   = 2048
)

func computations(e bench.Effort) int { return e.Reps(computeReps, computeLeast) }

// orders is how many orders a batch has: the trial, the repetitions, the end.
func orders(e bench.Effort) int { return computations(e) + 2 }

// messagesFor bounds the messages of one computation under load.
func messagesFor(rate int64) int {
	return int(math.Ceil(coverTime*float64(rate)*computeTime.Seconds())) + spareMessages
}

// computeUnderLoad measures one direction of one point: the receiver computes, alone and under load in turn, and the
// sender follows its orders.
func computeUnderLoad(x flow.Role) {
	before := x.AllCounters()
	msg := x.R.Payload(x.P[names.FactorBytes])
	if x.Sends() {
		followOrders(x, msg)
		x.HandOver(nil, before)
		return
	}
	c := computation{Role: x, msg: msg, host: x.Machine()}
	c.measure(int(before[0].RcvBuf))
	tcp := x.HandOver(nil, before)
	c.add(names.PhaseComputeIdle, c.idle, *tcp)
	c.add(names.PhaseCompute, c.loaded, *tcp)
}

// followOrders is the sender's part: for each order, that many messages at the point's rate, the first order's back to
// back. It ends with the order of none, or after as many orders as a batch may have.
func followOrders(x flow.Role, msg []byte) {
	peer, rate := x.Peer(), x.P[names.FactorRate]
	most := max(messagesFor(rate), trialMessages)
	var b [countBytes]byte
	for k := range orders(x.R.Effort) {
		x.Recv(peer, b[:])
		n := uint64(bench.GetNumber(b[:]))
		if n == 0 {
			return
		}
		if n > uint64(most) {
			bench.Fail("ordered to send %d messages, want at most %d", n, most)
		}
		begin := x.Now()
		for i := range n {
			// Each has its own time, so that one which is late does not delay the others.
			if k > 0 {
				x.WaitUntil(begin + units.Nanos(float64(i)*1e9/float64(rate)))
			}
			x.Send(peer, msg)
		}
	}
}

// computation is the receiver's part.
type computation struct {
	flow.Role
	msg  []byte
	host plane.Machine

	cpus         []int // that compute
	steps        int64 // of the computation
	messages     int   // ordered for each computation under load
	arrived      int64 // segments that arrived during all of them
	idle, loaded []int64
}

// measure takes the times; room is the size of the receive buffer.
func (x *computation) measure(room int) {
	var rate float64
	bench.During("trial", func() { rate = x.trial() })
	fit := max(2*spareMessages, min(messagesFor(x.P[names.FactorRate]), room/(segmentRoom+2*len(x.msg))))
	// What does not fit into the buffer would be lost or stop the sender: rather compute for a shorter time.
	length := min(computeTime, units.Nanos(float64(fit-spareMessages)/(coverTime*rate)*1e9))
	x.steps = stepsFor(x.compute, length*units.Nanos(len(x.cpus)))
	x.messages = min(fit, int(math.Ceil(coverTime*rate*length.Seconds()))+spareMessages)
	n := computations(x.R.Effort)
	x.idle, x.loaded = x.R.Buffer(n), x.R.Buffer(n)
	for i := range n {
		x.idle[i] = int64(x.compute(x.steps))
		x.loaded[i] = x.computeLoaded()
	}
	x.order(0)
}

// compute lets every CPU do so many steps, and returns the sum of their times.
func (x *computation) compute(steps int64) units.Nanos {
	return bench.Must(x.host.Compute(steps, x.cpus...))
}

func (x *computation) order(n int) { x.SendNumbers(x.Peer(), int64(n)) }

// trial returns the rate at which messages will arrive, which a slow path keeps below the one asked for. It also opens
// the sender's congestion window: later nobody reads, and then the receiver's kernel acknowledges late. The CPUs that
// took the messages in are those that will compute: on all the others the computation would add its noise and lose
// nothing.
func (x *computation) trial() (rate float64) {
	x.order(trialMessages)
	before := x.host.Received()
	span := x.RecvSpan(trialMessages, x.msg)
	x.cpus = receivers(before, x.host.Received(), x.host.CPUs())
	most := (trialMessages - 1) / max(1, span).Seconds()
	return min(float64(x.P[names.FactorRate]), most)
}

// receiverShare is the share of the work of taking messages in from which on a CPU counts as a receiver.
const receiverShare = 0.05

// receivers are the CPUs that took messages in between two counts by CPU, or all n where that is not known.
func receivers(before, after []int64, n int) []int {
	var sum int64
	for i := range min(len(before), len(after)) {
		sum += after[i] - before[i]
	}
	var all, some []int
	for i := range n {
		all = append(all, i)
		if i < min(len(before), len(after)) && after[i] > before[i] && float64(after[i]-before[i]) >= receiverShare*float64(sum) {
			some = append(some, i)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// computeLoaded computes while messages arrive, from after the first until, as planned, before the last. It receives
// them when it has computed.
func (x *computation) computeLoaded() int64 {
	peer := x.Peer()
	x.order(x.messages)
	await(x.Team, peer, len(x.msg))
	before := x.Counters(peer)
	t := x.compute(x.steps)
	x.arrived += x.CountersSince(peer, before).DataSegsIn
	for range x.messages {
		x.Recv(peer, x.msg)
	}
	return int64(t)
}

func (x *computation) add(phase string, ns []int64, tcp dataset.TCP) {
	b := x.Batch(phase, ns, &tcp)
	b.Aux[names.AuxCPUs], b.Aux[names.AuxWork] = float64(len(x.cpus)), float64(x.steps)
	b.Aux[names.AuxMessages] = float64(x.arrived) / float64(len(ns))
	x.Add(b)
}
