package overlap

import (
	"calib/bench"
	"calib/bench/flow"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Overhead follows the procedures of the cluster model (Tam and Wang 2000, section 3.2) for O_s, the time inside a
// send that finds room in the buffer; U_r, the time inside a receive whose bytes are there already; and O_r, by how
// much handling an arriving message slows down whatever the receiving host computes.
//
// Points without a rate give the first two, on the same messages: phases "send" and "recv". Points with a rate run a
// fixed computation on those CPUs of the receiving host that take messages in, or on all where that is not known, alone
// ("compute-idle") and while messages that nobody reads arrive at that rate ("compute"); O_r is the slope of the time
// lost over the messages that arrived. All of it in both directions.
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
			Bytes: 2 * units.Bytes(int64(n)*p[names.FactorBytes]+int64(back+bench.CounterBytes)), Time: 2 * oneWay(l, p),
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
	if l.Thin() {
		calls, sizes, rates = callSizesQuick, computeSizesQuick, computeRatesQuick
	}
	out := bench.SizePoints(l.SizesUpTo(callMost, calls), nil)
	sizes = l.SizesUpTo(l.SegmentSize(), sizes)
	if n := len(sizes); n > len(computeSizes) { // the user's: the ends and the middle are enough for a line
		sizes = []units.Bytes{sizes[0], sizes[n/2], sizes[n-1]}
	}
	for _, m := range sizes {
		for _, r := range rates {
			out = append(out, bench.Point{names.FactorBytes: int64(m), names.FactorRate: r})
		}
	}
	return out
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
