package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/internal/units"
)

const (
	// computeTime is what the computation takes on each CPU, where the receive buffer holds what arrives meanwhile.
	computeTime = 20 * units.Millisecond
	computeReps = 4
	computeMin  = 2
	computeTry  = 1000 // steps of the first attempt

	// busyCover is how much longer than the computation alone the messages are to last, which slow it down; busySpare more
	// messages are under way before it begins.
	busyCover = 1.5
	busySpare = 4
	busyTrial = 128 // messages of the trial

	busyOrderBytes = 8

	// busyBuffer is the receive buffer asked for. A message that nobody has read takes up segmentRoom of it beside its
	// bytes, which count twice because a window is half a buffer.
	busyBuffer  = 4 * units.MiB
	segmentRoom = 2048
)

func busyReps(r *Recorder) int { return r.Reps(computeReps, computeMin) }

// busyOrders is how many orders a batch has: the trial, the repetitions, the end.
func busyOrders(r *Recorder) int { return busyReps(r) + 2 }

// mostBusy bounds the messages of one loaded computation.
func mostBusy(rate int64) int {
	return int(math.Ceil(busyCover*float64(rate)*computeTime.Seconds())) + busySpare
}

// computeUnderLoad measures one direction of one point: the receiver computes, alone and under load in turn, and the
// sender follows its orders.
func computeUnderLoad(x pairRole) error {
	before, err := x.counters()
	if err != nil {
		return err
	}
	msg := x.r.payload(x.p["bytes"])
	if x.sender() {
		if err := x.followOrders(msg); err != nil {
			return err
		}
		_, err := x.handOver(nil, before)
		return err
	}
	l := computation{pairRole: x, msg: msg, host: x.g.Machine()}
	if err := l.measure(int(before[0].RcvBuf)); err != nil {
		return err
	}
	tcp, err := x.handOver(nil, before)
	if err != nil {
		return err
	}
	l.add("compute-idle", l.idle, *tcp)
	l.add("compute", l.busy, *tcp)
	return nil
}

// followOrders is the sender's part: for each order, that many messages at the point's rate, the first order's back to
// back. It ends with the order of none, after as many orders as a batch may have, or when a receive meets the group's
// deadline.
func (x pairRole) followOrders(msg []byte) error {
	peer, most := x.peer(), mostBusy(x.p["rate"])
	var b [busyOrderBytes]byte
	for k := range busyOrders(x.r) {
		if err := x.g.Recv(peer, b[:]); err != nil {
			return err
		}
		n := binary.LittleEndian.Uint64(b[:])
		if n == 0 {
			return nil
		}
		if n > uint64(max(most, busyTrial)) {
			return fmt.Errorf("ordered to send %d messages, want at most %d", n, most)
		}
		begin := x.g.Now()
		for i := range n {
			// Each has its own time, so that one which is late does not delay the others.
			if k > 0 {
				due := begin + units.Nanos(float64(i)*1e9/float64(x.p["rate"]))
				if err := x.g.WaitUntil(due); err != nil {
					return err
				}
			}
			if err := x.g.Send(peer, msg); err != nil {
				return err
			}
		}
	}
	return nil
}

// computation is the receiver's part.
type computation struct {
	pairRole
	msg  []byte
	host plane.Machine

	work       int64 // steps of the computation
	messages   int   // ordered for each loaded computation
	arrived    int64 // segments that came during all of them
	idle, busy []int64
}

// measure takes the times; room is the size of the receive buffer.
func (x *computation) measure(room int) error {
	rate, err := x.trial()
	if err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	fit := max(2*busySpare, min(mostBusy(x.p["rate"]), room/(segmentRoom+2*len(x.msg))))
	// What does not fit into the buffer would be lost or stop the sender: rather compute for a shorter time.
	length := min(computeTime, units.Nanos(float64(fit-busySpare)/(busyCover*rate)*1e9))
	if x.work, err = calibrate(x.host, length); err != nil {
		return err
	}
	x.messages = min(fit, int(math.Ceil(busyCover*rate*length.Seconds()))+busySpare)
	n := busyReps(x.r)
	x.idle, x.busy = x.r.Buffer(n), x.r.Buffer(n)
	for i := range n {
		t, err := x.host.Compute(x.work)
		if err != nil {
			return err
		}
		x.idle[i] = int64(t)
		if x.busy[i], err = x.computeLoaded(); err != nil {
			return err
		}
	}
	return x.order(0)
}

func (x *computation) order(n int) error {
	var b [busyOrderBytes]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	return x.g.Send(x.peer(), b[:])
}

// trial returns the rate at which messages will come, which a slow path keeps below the one asked for. It also opens the
// sender's congestion window, for nobody reads later, and then the receiver's kernel acknowledges late.
func (x *computation) trial() (rate float64, err error) {
	if err := x.order(busyTrial); err != nil {
		return 0, err
	}
	var first units.Nanos
	for i := range busyTrial {
		if err := x.g.Recv(x.peer(), x.msg); err != nil {
			return 0, err
		}
		if i == 0 {
			first = x.g.Now()
		}
	}
	most := (busyTrial - 1) / max(1, x.g.Now()-first).Seconds()
	return min(float64(x.p["rate"]), most), nil
}

// computeLoaded computes while messages arrive, from after the first until, as planned, before the last. It receives them
// when it has computed.
func (x *computation) computeLoaded() (int64, error) {
	peer := x.peer()
	if err := x.order(x.messages); err != nil {
		return 0, err
	}
	if _, err := await(x.g, peer, len(x.msg)); err != nil {
		return 0, err
	}
	before, err := x.g.Counters(peer)
	if err != nil {
		return 0, err
	}
	t, err := x.host.Compute(x.work)
	if err != nil {
		return 0, err
	}
	after, err := x.g.Counters(peer)
	if err != nil {
		return 0, err
	}
	x.arrived += after.DataSegsIn - before.DataSegsIn
	for range x.messages {
		if err := x.g.Recv(peer, x.msg); err != nil {
			return 0, err
		}
	}
	return int64(t), nil
}

func (x *computation) add(phase string, ns []int64, tcp dataset.TCP) {
	b := Batch{Phase: phase, Point: x.p, Ranks: x.ranks(), NS: ns, TCP: &tcp, Aux: x.aux()}
	b.Aux["cpus"], b.Aux["work"] = float64(x.host.CPUs()), float64(x.work)
	b.Aux["messages"] = float64(x.arrived) / float64(len(ns))
	x.r.Add(b)
}

var errNoWork = errors.New("the computation takes no time on this host")

// calibrate finds how many steps of the computation take length on each CPU: it doubles them until they take a quarter of
// it, and goes on in proportion. It ends after as many attempts as there are powers of two.
func calibrate(host plane.Machine, length units.Nanos) (work int64, err error) {
	want := float64(length) * float64(host.CPUs())
	for work = computeTry; work < math.MaxInt64/2; work *= 2 {
		t, err := host.Compute(work)
		if err != nil {
			return 0, err
		}
		if 4*float64(t) >= want {
			return max(1, int64(float64(work)*want/float64(max(1, t)))), nil
		}
	}
	return 0, errNoWork
}
