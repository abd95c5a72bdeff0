// Package overlap measures what a host does beside its messages, or for them: overlap, overhead and copy.
package overlap

import (
	"math"
	"slices"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/plane"
	"calib/internal/units"
)

// Overlap lets two ranks compute and exchange messages, step by step, in three ways (I.1 to I.3 of Strumpen 1994,
// sections 3.1 and 3.2), and in the same batch each part alone. The fit makes the gains of them, and what a second
// thread costs. A value is the mean time of an even number of steps in a row: where one rank is ahead by less than a
// message takes, the ranks' steps are longer and shorter in turn. Granularity is the computation of a step over the
// transfer of its message [%].
var Overlap = &bench.Experiment{
	Name:   names.Overlap,
	Points: overlapPoints,
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes,
		names.FactorGranularity: {Least: 0, Most: granularities[len(granularities)-1]}},
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		m, ways := p[names.FactorBytes], len(waysAt(p))
		steps := warmSteps + trialSteps + maxTrial + ways*maxSteps(l.Effort, m)
		orders := 3 + 2*looks + ways*max(minSets, maxSets(l.Effort))
		return bench.Cost{
			Bytes: units.Bytes(int64(steps)*m) + units.Bytes((orders+attempts)*orderBytes) + bench.LossBytes,
			Time:  sweepTime(l, p),
		}
	},
	Run: func(x bench.Team) { // a batch is within the group's deadlines and longest
		peer, m := 1-x.Rank(), x.P[names.FactorBytes]
		y := &pair{Team: x, peer: peer, host: x.Machine(),
			transfer: transfer{peer: peer, out: x.R.Payload(m), in: x.R.Payload(m)}}
		move := func(g plane.Mover) error { return bench.Caught(func() { y.transfer.exchange(g) }) }
		bench.Check(x.Beside(move, func(s plane.Second) error {
			y.second = s
			if x.Root() {
				return bench.Caught(func() { bench.During("overlap", y.lead) })
			}
			return bench.Caught(y.follow)
		}))
	},
}

// Close to where the gain is largest there are more of them.
var (
	granularities      = []int64{10, 20, 40, 70, 100, 140, 200, 400, 1000, 3000, 10_000}
	granularitiesQuick = []int64{10, 40, 100, 200, 1000, 10_000}

	// The paper's boundary column of 500 numbers, and a message that a segment does not hold.
	sweepSizes      = []units.Bytes{4000, 64 * units.KiB}
	sweepSizesQuick = []units.Bytes{4000}
	transferSizes   = []units.Bytes{1, 1000, 4000, 16 * units.KiB, 64 * units.KiB}
)

// overlapPoints are the transfer of every size alone, and every granularity at few sizes; of the user's, the smallest
// and the largest.
func overlapPoints(l bench.Limits) []bench.Point {
	sizes := l.SizesOr(transferSizes)
	out := bench.Cross(bench.Values(names.FactorGranularity, 0), bench.Values(names.FactorBytes, sizes...))
	if len(sizes) == 0 {
		return out
	}
	sweep := bench.Thinned(l, sweepSizes, sweepSizesQuick)
	sweep = lists.Where(sweep, func(x units.Bytes) bool { return slices.Contains(sizes, x) })
	if l.Sizes != nil || len(sweep) == 0 {
		sweep = slices.Compact([]units.Bytes{sizes[0], sizes[len(sizes)-1]})
	}
	work := bench.Values(names.FactorGranularity, bench.Thinned(l, granularities, granularitiesQuick)...)
	return append(out, bench.Cross(work, bench.Values(names.FactorBytes, sweep...))...)
}

// sweepTime is how long a batch is expected to take: a step of each way is the longer of computing and transferring, or
// both.
func sweepTime(l bench.Limits, p bench.Point) units.Nanos {
	path, ways := l.OnPath(), units.Nanos(len(waysAt(p)))
	transfer := path.Trip(p[names.FactorBytes])
	step := transfer + units.Nanos(p[names.FactorGranularity])*transfer/whole
	sets := bench.Repeated(minSteps*step, l.Effort.Time(budget, 0)/max(1, ways), minSets, maxSets(l.Effort))
	return ways*sets + units.Nanos(warmSteps+trialSteps)*transfer + 2*trialTime
}

// transfer sends a message to the peer and receives one of it, on either thread.
type transfer struct {
	peer    int
	out, in []byte
	got     int // of in, of the message under way
}

func (t *transfer) exchange(g plane.Mover) {
	t.send(g)
	t.receive(g)
}

// send sends the message, and receives only what it must so that the peer can send, too.
func (t *transfer) send(g plane.Mover) { t.got = bench.Push(g, t.peer, t.out, t.in, len(t.out)) }

// receive takes what send has not.
func (t *transfer) receive(g plane.Mover) {
	if t.got < len(t.in) {
		bench.Check(g.Recv(t.peer, t.in[t.got:]))
	}
}

// way is what a step consists of.
type way int64

const (
	end way = iota // of the batch: no step
	inTurn
	sendFirst
	secondThread
	compute
	transferAlone
	transferSecond
)

func waysAt(p bench.Point) []way {
	if p[names.FactorGranularity] == 0 {
		return []way{transferAlone, transferSecond}
	}
	return []way{inTurn, sendFirst, secondThread, compute, transferAlone}
}

// phases are those of the ways.
var phases = map[way]string{
	inTurn: names.PhaseInTurn, sendFirst: names.PhaseSendFirst, secondThread: names.PhaseSecond,
	compute: names.PhaseCompute, transferAlone: names.PhaseTransfer, transferSecond: names.PhaseTransferSecond,
}

// order is what rank 0 tells rank 1 to do with it: some steps in one way, of so much computation each.
type order struct {
	way
	steps int
	work  int64 // steps of computation
}

const (
	orderBytes = 3 * 8
	// What rank 1 accepts in an order.
	mostStepsOrder = 1 << 12
	maxWork        = 1 << 32 // which takes some seconds
)

// pair is one rank of the two.
type pair struct {
	bench.Team
	peer     int
	host     plane.Machine
	second   plane.Second
	transfer transfer
	word     [orderBytes]byte // an array local to a call would be allocated each time
}

func (x *pair) step(o order) {
	if o.way == secondThread || o.way == transferSecond {
		bench.Check(x.second.Start())
	}
	if o.way == sendFirst {
		x.transfer.send(x.Group)
	}
	if o.way != transferAlone && o.way != transferSecond {
		bench.Must(x.host.Work(o.work))
	}
	switch o.way {
	case inTurn, transferAlone:
		x.transfer.exchange(x.Group)
	case sendFirst:
		x.transfer.receive(x.Group)
	case secondThread, transferSecond:
		bench.Check(x.second.Wait())
	}
}

// leadSteps of every block are not timed: in them the ranks, of which one began when the other's order came, come as
// close together as they will be.
const leadSteps = 1

// block does the steps of an order and returns how long one took [ns]: the mean without the lead.
func (x *pair) block(o order) int64 {
	for range leadSteps {
		x.step(o)
	}
	start := x.Now()
	for range o.steps {
		x.step(o)
	}
	return x.Elapsed(start) / int64(o.steps)
}

// follow is rank 1: it does what it is told until the end. It is bounded by rank 0's orders, and by the group's
// deadline.
func (x *pair) follow() {
	before := x.Counters(x.peer)
	for {
		x.Recv(x.peer, x.word[:])
		o := order{way(bench.GetNumber(x.word[:])), int(bench.GetNumber(x.word[8:])), bench.GetNumber(x.word[16:])}
		if o.way == end {
			x.SendLosses(x.peer, x.CountersSince(x.peer, before))
			return
		}
		if phases[o.way] == "" || o.steps < 1 || o.steps > mostStepsOrder || o.work < 0 || o.work > maxWork {
			bench.Fail("overlap: ordered to do %d steps of %d in way %d: want 1 to %d, of at most %d, in ways 1 to %d",
				o.steps, o.work, o.way, mostStepsOrder, int64(maxWork), len(phases))
		}
		if took := x.block(o); o.way == compute {
			bench.PutNumbers(x.word[:], took)
			x.Send(x.peer, x.word[:8])
		}
	}
}

// do lets both ranks do the steps of an order, and returns how long one took [ns]. A computation takes as long as that
// of the slower rank.
func (x *pair) do(o order) int64 {
	bench.PutNumbers(x.word[:], int64(o.way), int64(o.steps), o.work)
	x.Send(x.peer, x.word[:])
	if o.way == end {
		return 0
	}
	took := x.block(o)
	if o.way == compute {
		x.Recv(x.peer, x.word[:8])
		took = max(took, bench.GetNumber(x.word[:]))
	}
	return took
}

// even is the even number of steps nearest to n within bounds.
func even(n float64, most int) int {
	return 2 * int(max(minSteps/2, min(float64(most)/2, n/2)))
}

const (
	whole = 100 // of the factor granularity: computing takes as long as the transfer

	// budget is the time of a batch, and batchBytes what it moves, at effort 1; a set is one block of every way.
	budget     = 100 * units.Millisecond
	batchBytes = 32 * units.MiB
	batchSets  = 32
	minSets    = 2
	// A block lasts blockTime, within so many steps, of which a pair is the least.
	blockTime  = 2 * units.Millisecond
	blockSteps = 32
	minSteps   = 2
	// longest is what the least batch may take; above it nothing is measured at the point.
	longest = 10 * units.Second

	// The trial finds how long the transfer takes, after warmSteps in which the congestion window grows, and how long
	// the computation: a first look of trialSteps, and a longer one where the network is fast.
	warmSteps  = 10
	trialSteps = 8
	maxTrial   = 256
	trialTime  = 2 * units.Millisecond
	looks      = 3  // at the transfer and at the computation, of which the median counts
	attempts   = 64 // of Steps at most
)

// maxSets and maxSteps bound a batch of messages of m bytes: its blocks of one way, and their steps.
func maxSets(e bench.Effort) int { return e.Reps(batchSets, minSets) }

func maxSteps(e bench.Effort, m int64) int {
	byBytes := int(min(int64(e.Bytes(batchBytes, 0))/max(m, 1), 1<<20))
	return min(maxSets(e)*(leadSteps+blockSteps), max(byBytes, minSets*(leadSteps+minSteps)))
}

// plan is what a batch does.
type plan struct {
	work  int64 // of a step
	steps int   // of a block
	sets  int
	set   units.Nanos // estimated
}

// lead is rank 0.
func (x *pair) lead() {
	before := x.Counters(x.peer)
	var b plan
	bench.During("trial", func() { b = x.plan() })
	ways := waysAt(x.P)
	times := make([][]int64, len(ways))
	for i := range times {
		times[i] = x.R.Buffer(b.sets)
	}
	for k := range b.sets {
		for i, w := range ways {
			bench.During(phases[w], func() { times[i][k] = x.do(order{w, b.steps, b.work}) })
		}
	}
	x.do(order{way: end})
	tcp := x.CountersSince(x.peer, before)
	x.AddLosses(x.peer, tcp)
	if b.sets == 0 {
		x.add(names.PhaseSkipped, []int64{int64(b.set)}, b, nil)
		return
	}
	for i, w := range ways {
		x.add(phases[w], times[i], b, tcp)
	}
}

// plan finds the computation of a step, and how many steps and blocks there is time for.
func (x *pair) plan() (b plan) {
	x.do(order{way: transferAlone, steps: warmSteps - leadSteps})
	took := x.transferTime()
	granularity := float64(x.P[names.FactorGranularity]) / whole
	most, ways := maxSteps(x.R.Effort, x.P[names.FactorBytes]), len(waysAt(x.P))
	step := float64(took) * (1 + granularity)
	b.steps = even(float64(blockTime)/step, min(blockSteps, most/minSets-leadSteps))
	b.set = units.Nanos(step * float64(ways*(b.steps+leadSteps)))
	if b.set > longest {
		return b
	}
	if granularity > 0 {
		b.work = x.workOf(float64(took) * granularity)
	}
	fit := int(x.R.Time(budget, 0) / max(1, b.set))
	least := minSets
	if b.set > longest/4 {
		least = 1
	}
	b.sets = max(least, min(fit, maxSets(x.R.Effort), most/(b.steps+leadSteps)))
	return b
}

// transferTime is how long a step of the transfer alone takes.
func (x *pair) transferTime() units.Nanos {
	took := units.Nanos(max(1, x.do(order{way: transferAlone, steps: trialSteps - leadSteps - 1})))
	m := x.P[names.FactorBytes]
	most := int(min(maxTrial/(looks+1), int64(batchBytes)/(8*max(m, 1))))
	n := even(float64(trialTime)/float64(took), max(minSteps, most-leadSteps))
	if n <= trialSteps {
		return took
	}
	return units.Nanos(max(1, x.look(order{way: transferAlone, steps: n})))
}

// look is the median of some looks at how long a step takes [ns].
func (x *pair) look(o order) int64 {
	var seen [looks]int64
	for i := range seen {
		seen[i] = x.do(o)
	}
	slices.Sort(seen[:])
	return seen[looks/2]
}

// workOf is how many steps of computation take so many nanoseconds. They are found for trialTime, since a short
// computation shows less well how long it takes.
func (x *pair) workOf(ns float64) int64 {
	steps := stepsFor(func(n int64) units.Nanos { return units.Nanos(x.do(order{compute, 1, n})) }, trialTime)
	t := x.look(order{compute, 1, steps})
	work := max(1, int64(float64(steps)*ns/float64(max(1, t))))
	if work > maxWork {
		bench.Fail("%d steps of computation for a message, the most is %d", work, int64(maxWork))
	}
	return work
}

func (x *pair) add(phase string, ns []int64, b plan, tcp *dataset.TCP) {
	x.Add(bench.Batch{Phase: phase, Ranks: x.Ranks(), NS: ns, TCP: tcp, Aux: map[string]float64{
		names.AuxWork: float64(b.work), names.AuxAveraged: float64(b.steps), names.AuxCPUs: float64(x.host.CPUs()),
	}})
}

const firstSteps = 1000 // of the first attempt

// stepsFor finds how many steps of a host's control computation (plane.Machine) take so long: it doubles them until
// they take a quarter of it, and then scales in proportion. compute does so many steps and returns their time. It ends
// after as many attempts as there are powers of two.
func stepsFor(compute func(steps int64) units.Nanos, want units.Nanos) int64 {
	for steps := int64(firstSteps); steps < math.MaxInt64/2; steps *= 2 {
		if t := compute(steps); 4*t >= want {
			return max(1, int64(float64(steps)*float64(want)/float64(max(1, t))))
		}
	}
	bench.Fail("the computation takes no time on this host")
	return 0
}
