package overlap

import (
	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/plane"
)

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

// waysAt are the ways of a point.
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

// step does one step.
func (x *pair) step(o order) {
	if o.way == secondThread || o.way == transferSecond {
		bench.Check(x.second.Start())
	}
	if o.way == sendFirst {
		bench.Check(x.transfer.send(x.Group))
	}
	if o.way != transferAlone && o.way != transferSecond {
		bench.Must(x.host.Work(o.work))
	}
	switch o.way {
	case inTurn, transferAlone:
		bench.Check(x.transfer.exchange(x.Group))
	case sendFirst:
		bench.Check(x.transfer.receive(x.Group))
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
