package overlap

import (
	"math"

	"calib/bench"
	"calib/bench/flow"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/plane"
	"calib/internal/units"
)

// Overhead measures O_s, the time inside a send that finds room; U_r, that inside a receive whose bytes are there; and
// O_r, by how much messages that arrive slow down a computation: the slope of the time lost over their number (Tam and
// Wang 2000, section 3.2).
var Overhead = &bench.Experiment{
	Name:   names.Overhead,
	Points: overheadPoints,
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorRate: {Least: 0, Most: maxRate}},
	// Both directions, and what the receivers send.
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		n := warmCalls + mostCalls(l.Effort)
		back := n // an acknowledgement each
		if rate := p[names.FactorRate]; rate != 0 {
			n, back = trialMessages+computations(l.Effort)*messagesFor(rate), orders(l.Effort)*countBytes
		}
		return bench.Cost{
			Bytes: 2 * units.Bytes(int64(n)*p[names.FactorBytes]+int64(back+8*bench.Counters)),
			Time:  2 * oneWay(l, p),
		}
	},
	Run: func(x bench.Team) {
		if x.P[names.FactorRate] == 0 {
			flow.BothDirections(x, timeCalls)
			return
		}
		x.Reopened(plane.Socket{RcvBuf: receiveBuffer}, func() { flow.BothDirections(x, computeUnderLoad) })
	},
}

const (
	callMost = 16 * units.KiB
	maxRate  = 1_000_000 // messages a second
)

var (
	// Most sizes are within a packet, where the model holds; those above show how far it does.
	callSizes      = []units.Bytes{1, 40, 181, 701, 1123, 1401, 2897, 5003, 9001, callMost}
	callSizesQuick = []units.Bytes{1, 181, 701, 1401, 5003}

	computeSizes      = []units.Bytes{1, 700, 1400}
	computeRates      = []int64{2000, 8000, 20000} // messages a second
	computeSizesQuick = []units.Bytes{1, 1400}
	computeRatesQuick = []int64{2000, 20000}
)

// overheadPoints are every size for the calls; few sizes at few rates for the computation, which takes longer.
func overheadPoints(l bench.Limits) []bench.Point {
	calls, sizes, rates := callSizes, computeSizes, computeRates
	if l.Effort.Thin() {
		calls, sizes, rates = callSizesQuick, computeSizesQuick, computeRatesQuick
	}
	out := bench.Values(names.FactorBytes, l.SizesUpTo(callMost, calls)...)
	sizes = l.SizesUpTo(l.SegmentSize(), sizes)
	if n := len(sizes); n > len(computeSizes) { // the user's: the ends and the middle are enough for a line
		sizes = []units.Bytes{sizes[0], sizes[n/2], sizes[n-1]}
	}
	return append(out, bench.Cross(bench.Values(names.FactorBytes, sizes...), bench.Values(names.FactorRate, rates...))...)
}

// oneWay is how long one direction of a batch is expected to take.
func oneWay(l bench.Limits, p bench.Point) units.Nanos {
	path, m, rate := l.OnPath(), p[names.FactorBytes], p[names.FactorRate]
	if rate == 0 {
		exchange := settleTime + path.Message(m, 1) + path.Latency
		return warmCalls*exchange + bench.Repeated(exchange, l.Effort.Time(callBudget, 0), minCalls, mostCalls(l.Effort))
	}
	// Messages arrive for as long as the computation takes, however fast the path is: their number follows the trial.
	one := computeTime + units.Nanos(coverTime*float64(computeTime)) + path.Message(spareMessages*m, 1) + 2*path.Latency
	return units.Nanos(computations(l.Effort))*one + path.Message(trialMessages*m, 1) + 4*path.Latency
}

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
	all := lists.Upto(n)
	known := all[:min(n, len(before), len(after))]
	took := func(cpu int) float64 { return float64(after[cpu] - before[cpu]) }
	least := max(1, receiverShare*lists.Sum(known, took))
	if some := lists.Where(known, func(cpu int) bool { return took(cpu) >= least }); len(some) > 0 {
		return some
	}
	return all
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
