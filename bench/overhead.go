package bench

import (
	"context"
	"fmt"
	"slices"

	"calib/internal/plane"
	"calib/internal/units"
)

// Overhead measures what a message costs the hosts themselves, by the procedures of the cluster model (Tam and Wang 2000,
// section 3.2): O_s, the time inside a send that finds room in the buffer; U_r, the time inside a receive whose bytes are
// there already; and O_r, what handling an arriving message takes from whatever the receiving host computes.
//
// Points without a rate give the first two, on the same messages: phases "send" and "recv". Points with one run a fixed
// computation on every CPU of the receiving host, alone ("compute-idle") and while messages arrive at that rate which
// nobody reads ("compute"); O_r is the slope of the time it loses on the messages that came. Everything runs both ways.
type Overhead struct{}

// Name implements Experiment.
func (Overhead) Name() string { return "overhead" }

const callTop = 16 * units.KiB

var (
	// Most sizes are within a packet, where the model holds; those above show how far it does.
	callSizes      = []units.Bytes{1, 40, 181, 701, 1123, 1401, 2897, 5003, 9001, callTop}
	callSizesQuick = []units.Bytes{1, 181, 701, 1401, 5003}

	busySizes      = []units.Bytes{1, 700, 1400}
	busyRates      = []int64{2000, 8000, 20000} // messages a second
	busySizesQuick = []units.Bytes{1, 1400}
	busyRatesQuick = []int64{2000, 20000}
)

// Design implements Experiment: every size for the calls; few sizes at few rates for the computation, which takes longer.
func (Overhead) Design(l Limits) []Point {
	if l.Hosts < 2 {
		return nil
	}
	calls, sizes, rates := callSizes, busySizes, busyRates
	if l.thin() {
		calls, sizes, rates = callSizesQuick, busySizesQuick, busyRatesQuick
	}
	var out []Point
	for _, m := range l.within(calls, callTop) {
		out = append(out, Point{"bytes": int64(m)})
	}
	sizes = l.within(sizes, segmentMost)
	if n := len(sizes); n > len(busySizes) { // given ones: the ends and the middle tell a line
		sizes = []units.Bytes{sizes[0], sizes[n/2], sizes[n-1]}
	}
	for _, m := range sizes {
		for _, r := range rates {
			out = append(out, Point{"bytes": int64(m), "rate": r})
		}
	}
	return out
}

// Teams implements Experiment.
func (Overhead) Teams(l Limits, _ Point) []Step { return neighbours(l.Hosts) }

// Cost implements Experiment: both directions, the receivers' bytes too.
func (Overhead) Cost(l Limits, p Point) Cost {
	r := NewRecorder(Task{Reps: l.Effort})
	n := callWarm + mostCalls(r)
	back := Cost{Bytes: units.Bytes(n), Messages: n} // an acknowledgement each
	if p["rate"] != 0 {
		n = busyTrial + busyReps(r)*mostBusy(p["rate"])
		back = Cost{Bytes: units.Bytes(busyOrders(r) * busyOrderBytes), Messages: busyOrders(r)}
	}
	return Cost{
		Bytes:    2 * (units.Bytes(int64(n)*p["bytes"]) + back.Bytes + counterBytes),
		Messages: 2 * (n + back.Messages + 1),
	}
}

// Run implements Experiment.
func (Overhead) Run(_ context.Context, g Group, p Point, r *Recorder) error {
	if g.Size() != 2 {
		return fmt.Errorf("overhead: team of %d, want 2", g.Size())
	}
	run := func(f func(pairRole) error) error {
		for dir := range 2 {
			if err := f(inPairs(crew{g, r}, p, dir)); err != nil {
				return err
			}
		}
		return nil
	}
	if p["rate"] == 0 {
		return run(timeCalls)
	}
	return reopened(g, plane.Socket{RcvBuf: busyBuffer}, func() error { return run(computeUnderLoad) })
}

const (
	clockPairs = 101

	// awaitStep is the pause between two looks at what has come. On a host of its own a rank spins through it, so that the
	// CPU is awake when the bytes are there; where hosts share a machine it sleeps.
	awaitStep = 20 * units.Microsecond
	// awaitMost is how long bytes that were sent may take, a retransmission included.
	awaitMost = units.Second
)

// clockNS is the median time of a timed section with nothing in it [ns].
func clockNS(g Group) float64 {
	var ns [clockPairs]int64
	for i := range ns {
		ns[i] = elapsed(g, g.Now())
	}
	slices.Sort(ns[:])
	return float64(ns[clockPairs/2])
}

// await waits until n bytes of a rank can be received, without receiving: false says that they did not come within
// awaitMost. What has happened to them, the receive will say.
func await(g Group, from, n int) (bool, error) {
	end := g.Now() + awaitMost
	for {
		have, err := g.Pending(from)
		if err != nil || have >= n {
			return err == nil, err
		}
		now := g.Now()
		if now >= end {
			return false, nil
		}
		if err := g.WaitUntil(now + awaitStep); err != nil {
			return false, err
		}
	}
}
