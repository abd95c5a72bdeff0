// Package roundtrip repeats an exchange between two ranks, such as a message there and back, and times each on the
// first one's clock alone. Its experiments are such exchanges: pingpong, wakeup, prtt, and load, in which many pairs
// exchange at once. Package tuning has others.
package roundtrip

import (
	"cmp"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/units"
)

// Exchange is what is repeated: rank 0 leads and times it, rank 1 follows.
type Exchange interface {
	// Lead is rank 0's part of one exchange; last tells rank 1 that no other follows before the next order.
	Lead(x bench.Team, last bool) Trip
	// Follow is rank 1's part, and returns what rank 0 told it.
	Follow(x bench.Team) (last bool)
}

// Trip is what rank 0 knows of one exchange.
type Trip struct {
	NS    int64 // what is recorded
	Took  int64 // how long all of it lasted [ns]
	Final bool  // another exchange would show nothing more, and rank 1 knows it
}

// Bounds say what one exchange moves and how often it may be repeated.
type Bounds struct {
	Bytes       units.Bytes // of an exchange, each way at most
	Back        units.Bytes // of the reply, where it has fewer
	Sends       int         // of an exchange, by the rank that makes more of them
	Most, Least int         // repetitions at effort 1, of which 0 is pingReps; at any effort
	Settle      bool        // exchange untimed until the hosts have settled (settleTime)
}

const (
	// pingReps are the repetitions of a ping-pong within an experiment on something else, minReps those of any.
	pingReps = 200
	minReps  = 5

	// A batch is as many repetitions as fit into budget, batchBytes each way and batchSends of one rank, all three at
	// effort 1, unless the least repetitions need more.
	budget     = 50 * units.Millisecond
	batchBytes = 16 * units.MiB
	batchSends = 8192
	// patience is how many budgets a batch may take when its exchanges have become slower than in the warm-up.
	patience = 4

	leastWarm = 2 // untimed repetitions before a batch, at least,
	// maxWarm is the same at most, within batchBytes, while the congestion window still grows.
	maxWarm = 10

	// settleTime is how long a host needs after a pause until its messages take what they take from then on: caches
	// fill, clocks rise, and the Go runtime's monitor, which looks every 70 µs or so while a program begins to work,
	// falls into a slower step. On a slow network settleTrips exchanges are too long to wait for.
	settleTime  = 3 * units.Millisecond
	settleTrips = 200
)

func (b Bounds) reps(e bench.Effort) int {
	byBytes := int(min(e.Bytes(batchBytes, 0)/max(b.Bytes, 1), pingReps<<10))
	bySends := e.Reps(batchSends, 0) / max(b.Sends, 1)
	return max(b.Least, min(e.Reps(cmp.Or(b.Most, pingReps), b.Least), byBytes, bySends))
}

// warm bounds the repetitions before a batch.
func (b Bounds) warm() int {
	byBytes := int(min(batchBytes/max(b.Bytes, 1), maxWarm))
	return max(leastWarm, min(byBytes, batchSends/max(b.Sends, 1)))
}

// settle bounds the exchanges in which the hosts settle.
func (b Bounds) settle() int {
	if !b.Settle {
		return 0
	}
	return int(min(batchBytes/max(b.Bytes, 1), settleTrips))
}

// room bounds the exchanges of a batch, the warm-up included.
func (b Bounds) room(e bench.Effort) int { return b.warm() + b.settle() + b.reps(e) }

// Cost bounds a batch.
func (b Bounds) Cost(l bench.Limits) bench.Cost {
	trips := units.Bytes(b.room(l.Effort))
	return bench.Cost{Bytes: 2*b.Bytes*trips + maxOrders*(orderBytes+1) + bench.LossBytes, Time: b.time(l)}
}

// Messages bounds those of a batch.
func (b Bounds) Messages(e bench.Effort) int { return (1+b.Sends)*b.room(e) + 2*maxOrders + 1 }

// firstWindow is about what a new connection may have under way (RFC 6928); it doubles with every trip of the warm-up.
const firstWindow = 10 * bench.EthernetSegment

// time is how long a batch is expected to take.
func (b Bounds) time(l bench.Limits) units.Nanos {
	path := l.OnPath()
	trip := path.Message(int64(b.Bytes), 1) + path.Message(int64(cmp.Or(b.Back, b.Bytes)), 1)
	warm := leastWarm
	for window := 2 * firstWindow; warm < b.warm() && window < b.Bytes; window *= 2 {
		warm++
	}
	total := units.Nanos(warm)*(trip+2*path.Latency) + 6*path.Latency
	if b.Settle {
		total += bench.Repeated(trip, settleTime, 1, b.settle())
	}
	return total + bench.Repeated(trip, l.Effort.Time(budget, 0), b.Least, b.reps(l.Effort))
}

// Result is what a batch gave rank 0; rank 1's is empty.
type Result struct {
	NS    []int64
	TCP   *dataset.TCP // of rank 0, with what rank 1 lost
	Final bool         // the last of NS is a Final exchange
}

// Run repeats an exchange: a warm-up, then as many repetitions as fit into the budget, within the bounds. It ends with
// the batch, or when a receive reaches the group's deadline.
func Run(x bench.Team, e Exchange, b Bounds) (t Result) {
	if x.Rank() == 1 {
		followOrders(x, e)
		return t
	}
	l := loop{x, e, b}
	var trip int64
	bench.During("warm-up", func() { t, trip = l.warmUp() })
	if !t.Final {
		t = l.timed(trip)
	}
	order(x, false)
	x.AddLosses(1, t.TCP)
	return t
}

func Record(x bench.Team, e Exchange, b Bounds, phase string, aux map[string]float64) (t Result) {
	if t = Run(x, e, b); x.Root() {
		x.Add(bench.Batch{Phase: phase, Ranks: []int{0, 1}, NS: t.NS, TCP: t.TCP, Aux: aux})
	}
	return t
}

// loop is rank 0's part of a batch.
type loop struct {
	bench.Team
	e Exchange
	b Bounds
}

// warmUp exchanges until the congestion window holds a message whole or has stopped growing, and returns how long the
// last exchange took. If that one is Final, the result is the batch's.
func (l loop) warmUp() (t Result, trip int64) {
	var before dataset.TCP
	for i := range l.b.warm() {
		order(l.Team, true)
		last := l.e.Lead(l.Team, true)
		c := l.Counters(1)
		if last.Final {
			if i == 0 {
				before = c // of the connection's life before, nothing counts
			}
			lost := c.Sub(before)
			return Result{NS: []int64{last.NS}, TCP: &lost, Final: true}, 0
		}
		trip = last.Took
		grew := c.Cwnd*c.MSS > before.Cwnd*before.MSS
		before = c
		if i+1 >= leastWarm && (c.Cwnd*c.MSS >= int64(l.b.Bytes) || !grew) {
			break
		}
	}
	return t, trip
}

// timed repeats the exchange.
func (l loop) timed(trip int64) (t Result) {
	reps := l.b.reps(l.R.Effort)
	time := int64(l.R.Time(budget, 0))
	if trip > 0 {
		reps = max(l.b.Least, min(reps, int(time/trip)))
	}
	ns := l.R.Buffer(reps)
	order(l.Team, true)
	var spent int64
	for n := l.b.settle(); n > 0 && spent < int64(settleTime); n-- {
		spent += l.e.Lead(l.Team, false).Took
	}
	before := l.Counters(1)
	t.NS, t.Final = l.repeat(ns, patience*time)
	t.TCP = l.CountersSince(1, before)
	return t
}

// repeat is rank 0's timed section: it fills ns, or less of it where the exchanges take longer than limit in all.
func (l loop) repeat(ns []int64, limit int64) (filled []int64, final bool) {
	var spent int64
	for i := range ns {
		last := i+1 == len(ns) || i+1 >= l.b.Least && spent > limit
		t := l.e.Lead(l.Team, last)
		ns[i] = t.NS
		spent += t.Took
		if last || t.Final {
			return ns[:i+1], t.Final
		}
	}
	return nil, false
}

// Between batches rank 0 sends orders of one byte, and rank 1 acknowledges each.
const (
	orderBytes = 1
	maxOrders  = maxWarm + 2
)

// order tells rank 1 to follow, or that nothing more comes, and returns when rank 1 is ready: nothing is under way
// then.
func order(x bench.Team, follow bool) {
	b := [orderBytes]byte{bench.Bit(!follow)}
	x.Send(1, b[:])
	x.Recv(1, b[:])
}

// followOrders is rank 1's part of a batch: it follows after every order until there is none, then sends what it lost
// since the order before that.
func followOrders(x bench.Team, e Exchange) {
	var b [orderBytes]byte
	for lost := new(dataset.TCP); ; {
		x.Recv(0, b[:])
		before := x.Counters(0)
		x.Send(0, b[:])
		if b[0] == bench.Bit(true) {
			x.SendLosses(0, lost)
			return
		}
		followAll(x, e)
		lost = x.CountersSince(0, before)
	}
}

// followAll is rank 1's timed section: it follows until the last exchange.
func followAll(x bench.Team, e Exchange) {
	for !e.Follow(x) {
	}
}

// Message is the exchange of every ping-pong: a message to a rank and back, whole or in pieces. What is recorded is
// half the round trip, by the leading rank's clock alone.
type Message struct {
	peer  int
	data  []byte // the first byte tells the follower whether another message comes
	first int    // bytes of the first piece
	piece int    // of each other piece, where there are any
	polls bool   // both ranks look for the message again and again, and never sleep
	// pause comes before each exchange. The follower waits for the message meanwhile; the time is not recorded.
	pause units.Nanos
}

// Whole passes b, of at least one byte, to a rank and back by one send each way.
func Whole(peer int, b []byte) *Message { return InPieces(peer, b, len(b), len(b)) }

// InPieces passes b in pieces, each sent and received by itself: the first bytes, and then piece bytes at a time.
func InPieces(peer int, b []byte, first, piece int) *Message {
	return &Message{peer: peer, data: b, first: min(first, len(b)), piece: piece}
}

func (m *Message) Lead(x bench.Team, last bool) Trip {
	m.data[0] = bench.Bit(last)
	if m.pause > 0 {
		x.WaitUntil(x.Now() + m.pause)
	}
	start := x.Now()
	m.each(x.Send)
	m.recv(x)
	half := x.Elapsed(start) / 2
	return Trip{NS: half, Took: 2*half + int64(m.pause)}
}

func (m *Message) Follow(x bench.Team) (last bool) {
	m.recv(x)
	last = m.data[0] == bench.Bit(true)
	m.each(x.Send)
	return last
}

func (m *Message) recv(x bench.Team) {
	if m.polls {
		m.each(func(peer int, b []byte) { bench.Check(x.RecvPolling(peer, b)) })
	} else {
		m.each(x.Recv)
	}
}

// each passes the pieces one by one: a list of them would take more memory than the message.
func (m *Message) each(pass func(peer int, b []byte)) {
	pass(m.peer, m.data[:m.first])
	for left := m.data[m.first:]; len(left) > 0; {
		n := min(m.piece, len(left))
		pass(m.peer, left[:n])
		left = left[n:]
	}
}
