package roundtrip

import (
	"cmp"
	"math"
	"slices"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// PRTT measures PRTT(n,d,s) of Hoefler, Lichei and Rehm 2007 (Netgauge): rank 0 sends n messages of s bytes, each d
// after the one before, rank 1 answers the n-th with one of s bytes. The fit makes LogGP's parameters of it:
// (PRTT(n,0,s) − PRTT(1,0,s))/(n−1) is the gap g + G(s−1); o_s is that of trains which rank 0 spaces out (d ≥
// PRTT(1,0,s)), o_r that of trains for which rank 1 waits, both without what was really waited.
var PRTT = &bench.Experiment{
	Name: names.PRTT,
	Points: func(l bench.Limits) []bench.Point {
		var out []bench.Point
		sizes, last := trainSizes(l), min(l.SegmentSize(), maxWaiting)
		for i, s := range sizes {
			inner := i > 0 && (s > last || i+1 < len(sizes) && sizes[i+1] <= last)
			forms := []bench.Point{{names.FactorMessages: 1}, {}, {names.FactorSpaced: 1}, {names.FactorDelayed: 1}}
			if s > maxWaiting || l.Effort.Thin() && inner {
				forms = forms[:2]
			}
			for _, p := range forms {
				p[names.FactorBytes], p[names.FactorMessages] = int64(s), cmp.Or(p[names.FactorMessages], trainMessages)
				out = append(out, p)
			}
		}
		return out
	},
	Ranges: bench.Ranges{
		names.FactorBytes: bench.Sizes, names.FactorMessages: {Least: 1, Most: trainMessages}, names.FactorSpaced: bench.Flag,
		names.FactorDelayed: bench.Flag,
	},
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		one := trainBounds(p)
		c := one.Cost(l)
		if !waits(p) {
			return c
		}
		c = c.Add(trialBounds(p).Cost(l))
		// Every message but the first waits about as long as a round trip.
		trip := l.OnPath().Trip(p[names.FactorBytes])
		c.Time += bench.Repeated(units.Nanos(p[names.FactorMessages])*min(trip, maxDelay), waitingTime, one.Least, one.Most)
		c.Bytes += 8 * units.Bytes(3+one.room(l.Effort)) // what rank 1 tells
		return c
	},
	Run: func(x bench.Team) {
		t := &train{
			peer: 1 - x.Rank(), n: int(x.P[names.FactorMessages]),
			msg: x.R.Payload(x.P[names.FactorBytes]), reply: x.R.Payload(x.P[names.FactorBytes]),
		}
		if waits(x.P) {
			t.measureWaiting(x)
		} else {
			Record(x, t, trainBounds(x.P), names.PhasePRTT, nil)
		}
	},
}

const (
	trainMessages = 16
	maxWaiting    = 16 * units.KiB // largest message of the forms that wait
	waitingReps   = 25             // repetitions of the forms that wait
	waitingLeast  = 3
	waitingTime   = 50 * units.Millisecond // that they take about, where they are no more than the least
	trials        = 5                      // round trips from which d is taken
	maxDelay      = units.Second
	trainMost     = 256 * units.KiB
)

// Sizes are first about a packet's, then whole segments, growing by four, to trainMost: a segment that a message does
// not fill would put its fixed time into G.
var (
	packets       = []units.Bytes{1, 40, 181, 701, 1401}
	packetsQuick  = []units.Bytes{1, 181, 1401}
	segments      = []units.Bytes{4, 16, 45}
	segmentsQuick = []units.Bytes{4, 16}
)

// trainSizes are the user's or the experiment's own.
func trainSizes(l bench.Limits) []units.Bytes {
	own := l.OnePacket(bench.Thinned(l, packets, packetsQuick), false)
	for _, k := range bench.Thinned(l, segments, segmentsQuick) {
		if x := k * l.SegmentSize(); x <= trainMost {
			own = append(own, x)
		}
	}
	return l.SizesOr(own)
}

func waits(p bench.Point) bool { return p[names.FactorSpaced] == 1 || p[names.FactorDelayed] == 1 }

func trainBounds(p bench.Point) Bounds {
	n, m := p[names.FactorMessages], p[names.FactorBytes]
	b := Bounds{Bytes: units.Bytes(m * n), Back: units.Bytes(m), Sends: int(n), Least: minReps}
	if waits(p) {
		b.Most, b.Least = waitingReps, waitingLeast
	}
	return b
}

func trialBounds(p bench.Point) Bounds {
	return Bounds{Bytes: units.Bytes(p[names.FactorBytes]), Sends: 1, Most: trials, Least: trials}
}

// train is the exchange PRTT(n,0,s): n messages one after the other, and a reply to the last. In the forms that wait it
// is that minus the waits. A wait begins with the end of a call and ends with the beginning of the next one, so that
// each message has two readings of the clock: one is part of the wait, the other is subtracted (addWaiting).
type train struct {
	peer       int
	n          int
	msg, reply []byte // msg's first byte says whether another train comes
	// spaced: the leading rank waits for the delay before each send but the first. delayed: the following rank waits
	// before each receive but the first (await).
	spaced, delayed bool
	delay           units.Nanos
	waits           []int64 // of the following rank, their sum in an exchange
}

func (t *train) Lead(x bench.Team, last bool) Trip {
	t.msg[0] = bench.Bit(last)
	start := x.Now()
	began := start
	var waited units.Nanos
	for i := range t.n {
		if t.spaced && i > 0 {
			ended := began
			x.WaitUntil(ended + t.delay)
			began = x.Now()
			waited += began - ended
		}
		x.Send(t.peer, t.msg)
		if t.spaced {
			began = x.Now()
		}
	}
	x.Recv(t.peer, t.reply)
	took := x.Elapsed(start)
	return Trip{NS: took - int64(waited), Took: took}
}

// Follow reads the clock after each receive but the last, where that would delay the reply.
func (t *train) Follow(x bench.Team) (last bool) {
	var waited, ended units.Nanos
	for i := range t.n {
		if t.delayed && i > 0 {
			waited += t.await(x, ended, t.n-i) - ended
		}
		x.Recv(t.peer, t.msg)
		if t.delayed && i < t.n-1 {
			ended = x.Now()
		}
	}
	if t.delayed {
		t.waits = append(t.waits, int64(waited))
	}
	x.Send(t.peer, t.reply)
	return t.msg[0] == bench.Bit(true)
}

// await waits until the next message is there, and for the delay since a time as long as other messages are still under
// way, because their arrival would disturb the receive. Once all that are left are there it does not wait: the sender,
// without an acknowledgement, would send the last one again. It returns the time then, and gives up after some times
// the delay: the receive waits for the rest.
func (t *train) await(x bench.Team, since units.Nanos, left int) units.Nanos {
	const looks, share = 64, 8
	next := since + t.delay
	for range looks {
		ready, now := x.Pending(t.peer), x.Now()
		if ready >= left*len(t.msg) || now >= since+t.delay && ready >= len(t.msg) {
			return now
		}
		x.WaitUntil(next)
		next += max(t.delay/share, units.Microsecond)
	}
	return x.Now()
}

// delayOf gives both ranks a d of at least PRTT(1,0,s): a quarter more than the median of a few.
func delayOf(x bench.Team, one train) units.Nanos {
	one.n = 1
	t := Run(x, &one, trialBounds(x.P))
	if !x.Root() {
		return min(units.Nanos(x.RecvNumbers(0, 1)[0]), maxDelay)
	}
	slices.Sort(t.NS)
	d := min(units.Nanos(t.NS[len(t.NS)/2])*5/4, maxDelay)
	x.SendNumbers(1, int64(d))
	return d
}

// measureWaiting measures a form in which one of the ranks waits.
func (t *train) measureWaiting(x bench.Team) {
	t.delay = delayOf(x, *t)
	t.spaced, t.delayed = x.P[names.FactorSpaced] == 1, x.P[names.FactorSpaced] != 1
	b := trainBounds(x.P)
	if t.delayed {
		room := b.room(x.R.Effort)
		x.R.Charge(2 * 8 * int64(room)) // the numbers that rank 1 sends, at both ranks twice
		t.waits = x.R.Buffer(room)[:0]
	}
	r := Run(x, t, b)
	switch {
	case t.spaced && x.Root():
		addWaiting(x, names.PhaseSpaced, r, x.TimerCost())
	case t.spaced:
	case x.Root():
		addWaiting(x, names.PhaseDelayed, r, t.recvWaits(x, r.NS))
	default: // what was waited in every exchange, and the cost of a reading of the clock
		x.SendNumbers(0, int64(len(t.waits)), int64(x.TimerCost()))
		x.SendNumbers(0, t.waits...)
	}
}

// addWaiting records the round trips of a form that waits. Between two calls there are two readings of the clock: the
// measured wait contains one, and the other is subtracted here.
func addWaiting(x bench.Team, phase string, t Result, clock float64) {
	for i := range t.NS {
		t.NS[i] -= int64(math.Round(clock * float64(x.P[names.FactorMessages]-1)))
	}
	x.Add(bench.Batch{Phase: phase, Ranks: []int{0, 1}, NS: t.NS, TCP: t.TCP})
}

// recvWaits receives rank 1's waits and subtracts those of the last exchanges from ns. It returns the cost of a reading
// of the clock [ns].
func (t *train) recvWaits(x bench.Team, ns []int64) (clock float64) {
	head := x.RecvNumbers(t.peer, 2)
	if head[0] < int64(len(ns)) || head[0] > int64(len(ns)+maxWarm) {
		bench.Fail("delayed: rank 1 sent another number of times than it was asked for")
	}
	waits := x.RecvNumbers(t.peer, int(head[0]))
	for i, v := range waits[len(waits)-len(ns):] {
		ns[i] -= v
	}
	return float64(head[1])
}
