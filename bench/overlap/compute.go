package overlap

import (
	"fmt"
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
func computeUnderLoad(x flow.Role) error {
	before, err := x.Counters()
	if err != nil {
		return err
	}
	msg := x.R.Payload(x.P[names.FactorBytes])
	if x.Sends() {
		if err := followOrders(x, msg); err != nil {
			return err
		}
		_, err := x.HandOver(nil, before)
		return err
	}
	c := computation{Role: x, msg: msg, host: x.G.Machine()}
	if err := c.measure(int(before[0].RcvBuf)); err != nil {
		return err
	}
	tcp, err := x.HandOver(nil, before)
	if err != nil {
		return err
	}
	c.add(names.PhaseComputeIdle, c.idle, *tcp)
	c.add(names.PhaseCompute, c.loaded, *tcp)
	return nil
}

// followOrders is the sender's part: for each order, that many messages at the point's rate, the first order's back to
// back. It ends with the order of none, or after as many orders as a batch may have.
func followOrders(x flow.Role, msg []byte) error {
	peer, rate := x.Peer(), x.P[names.FactorRate]
	most := max(messagesFor(rate), trialMessages)
	var b [countBytes]byte
	for k := range orders(x.R.Effort) {
		if err := x.G.Recv(peer, b[:]); err != nil {
			return err
		}
		n := uint64(bench.GetNumber(b[:]))
		if n == 0 {
			return nil
		}
		if n > uint64(most) {
			return fmt.Errorf("ordered to send %d messages, want at most %d", n, most)
		}
		begin := x.G.Now()
		for i := range n {
			// Each has its own time, so that one which is late does not delay the others.
			if k > 0 {
				due := begin + units.Nanos(float64(i)*1e9/float64(rate))
				if err := x.G.WaitUntil(due); err != nil {
					return err
				}
			}
			if err := x.G.Send(peer, msg); err != nil {
				return err
			}
		}
	}
	return nil
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
func (x *computation) measure(room int) error {
	rate, err := x.trial()
	if err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	fit := max(2*spareMessages, min(messagesFor(x.P[names.FactorRate]), room/(segmentRoom+2*len(x.msg))))
	// What does not fit into the buffer would be lost or stop the sender: rather compute for a shorter time.
	length := min(computeTime, units.Nanos(float64(fit-spareMessages)/(coverTime*rate)*1e9))
	if x.steps, err = stepsFor(x.compute, length*units.Nanos(len(x.cpus))); err != nil {
		return err
	}
	x.messages = min(fit, int(math.Ceil(coverTime*rate*length.Seconds()))+spareMessages)
	n := computations(x.R.Effort)
	x.idle, x.loaded = x.R.Buffer(n), x.R.Buffer(n)
	for i := range n {
		t, err := x.compute(x.steps)
		if err != nil {
			return err
		}
		x.idle[i] = int64(t)
		if x.loaded[i], err = x.computeLoaded(); err != nil {
			return err
		}
	}
	return x.order(0)
}

// compute lets every CPU do so many steps, and returns the sum of their times.
func (x *computation) compute(steps int64) (units.Nanos, error) {
	return x.host.Compute(steps, x.cpus...)
}

func (x *computation) order(n int) error { return bench.SendNumbers(x.G, x.Peer(), int64(n)) }

// trial returns the rate at which messages will arrive, which a slow path keeps below the one asked for. It also opens
// the sender's congestion window: later nobody reads, and then the receiver's kernel acknowledges late. The CPUs that
// took the messages in are those that will compute: on all the others the computation would add its noise and lose
// nothing.
func (x *computation) trial() (rate float64, err error) {
	if err := x.order(trialMessages); err != nil {
		return 0, err
	}
	before := x.host.Received()
	span, err := x.RecvSpan(trialMessages, x.msg)
	if err != nil {
		return 0, err
	}
	x.cpus = receivers(before, x.host.Received(), x.host.CPUs())
	most := (trialMessages - 1) / max(1, span).Seconds()
	return min(float64(x.P[names.FactorRate]), most), nil
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
func (x *computation) computeLoaded() (int64, error) {
	peer := x.Peer()
	if err := x.order(x.messages); err != nil {
		return 0, err
	}
	if _, err := bench.Await(x.G, peer, len(x.msg)); err != nil {
		return 0, err
	}
	before, err := x.G.Counters(peer)
	if err != nil {
		return 0, err
	}
	t, err := x.compute(x.steps)
	if err != nil {
		return 0, err
	}
	seen, err := bench.CountersSince(x.G, peer, before)
	if err != nil {
		return 0, err
	}
	x.arrived += seen.DataSegsIn
	for range x.messages {
		if err := x.G.Recv(peer, x.msg); err != nil {
			return 0, err
		}
	}
	return int64(t), nil
}

func (x *computation) add(phase string, ns []int64, tcp dataset.TCP) {
	b := x.Batch(phase, ns, &tcp)
	b.Aux[names.AuxCPUs], b.Aux[names.AuxWork] = float64(len(x.cpus)), float64(x.steps)
	b.Aux[names.AuxMessages] = float64(x.arrived) / float64(len(ns))
	x.R.Add(b)
}
