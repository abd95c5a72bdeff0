package roundtrip

import (
	"context"
	"math"
	"slices"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// PRTT measures PRTT(n,d,s) of Hoefler et al. (Netgauge): rank 0 sends n messages of s bytes, each d after the
// one before, rank 1 answers the n-th with one of s bytes. Its phases give LogGP's parameters:
//
//	prtt     PRTT(n,0,s); (PRTT(n,0,s) − PRTT(1,0,s))/(n−1) is the gap of a message, g + G(s−1)
//	spaced   PRTT(n,d,s) minus what was really waited, d ≥ PRTT(1,0,s), so that every send finds an idle path;
//	         minus PRTT(1,0,s), over n−1: o_s
//	delayed  messages back to back to a rank that waits d before each of the last n−1 receives, or until all are there,
//	         so that it finds the message there, minus what was really waited; likewise o_r
//
// Neither overhead is subtracted from anything. L is what is left of PRTT(1,0,s) without the overheads, and not half of
// it.
type PRTT struct{}

const (
	messages     = 16
	maxWaiting   = 16 * units.KiB // largest message of the forms that wait
	waitingReps  = 25             // repetitions of the forms that wait
	waitingLeast = 3
	waitingTime  = 50 * units.Millisecond // that they take about, where they are no more than the least
	trials       = 5                      // round trips from which d is taken
	maxDelay     = units.Second
	largest      = 256 * units.KiB
)

// Sizes are first about a packet's, then whole segments, growing by four, to largest: a segment that a message does not
// fill would put its fixed time into G.
var (
	packets       = []units.Bytes{1, 40, 181, 701, 1401}
	packetsQuick  = []units.Bytes{1, 181, 1401}
	segments      = []units.Bytes{4, 16, 45}
	segmentsQuick = []units.Bytes{4, 16}
)

// sizes are the user's or the experiment's own.
func prttSizes(l bench.Limits) []units.Bytes {
	if l.Sizes != nil {
		return l.SizesOr(nil)
	}
	own := l.OnePacket(bench.Thinned(l, packets, packetsQuick), false)
	for _, k := range bench.Thinned(l, segments, segmentsQuick) {
		if x := k * l.SegmentSize(); x <= largest {
			own = append(own, x)
		}
	}
	return l.SizesOr(own)
}

// Name implements bench.Experiment.
func (PRTT) Name() string { return names.PRTT }

// Design implements bench.Experiment.
func (PRTT) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	var out []bench.Point
	for _, s := range prttSizes(l) {
		x := int64(s)
		out = append(out, bench.Point{names.FactorBytes: x, names.FactorMessages: 1},
			bench.Point{names.FactorBytes: x, names.FactorMessages: messages})
		if s <= maxWaiting {
			out = append(out, bench.Point{names.FactorBytes: x, names.FactorMessages: messages, names.FactorSpaced: 1},
				bench.Point{names.FactorBytes: x, names.FactorMessages: messages, names.FactorDelayed: 1})
		}
	}
	return out
}

// Ranges implements bench.Experiment.
func (PRTT) Ranges() bench.Ranges {
	return bench.Ranges{
		names.FactorBytes: bench.Sizes, names.FactorMessages: {Least: 1, Most: messages}, names.FactorSpaced: bench.Flag,
		names.FactorDelayed: bench.Flag,
	}
}

// Teams implements bench.Experiment.
func (PRTT) Teams(l bench.Limits, _ bench.Point) []bench.Step { return bench.Neighbours(l.Hosts) }

// Cost implements bench.Experiment.
func (PRTT) Cost(l bench.Limits, p bench.Point) bench.Cost {
	c := trainBounds(p).Cost(l)
	if !waits(p) {
		return c
	}
	c = c.Add(trialBounds(p).Cost(l))
	// Every message but the first waits about as long as a round trip.
	trip, one := l.OnPath().Trip(p[names.FactorBytes]), trainBounds(p)
	c.Time += bench.Repeated(units.Nanos(p[names.FactorMessages])*min(trip, maxDelay), waitingTime, one.Least, one.Most)
	c.Bytes += 8 * units.Bytes(maxNumbers(trainBounds(p), l.Effort, int(p[names.FactorMessages]))+1)
	return c
}

func waits(p bench.Point) bool { return p[names.FactorSpaced] == 1 || p[names.FactorDelayed] == 1 }

func trainBounds(p bench.Point) Bounds {
	b := Pings(p[names.FactorBytes]*p[names.FactorMessages], p[names.FactorMessages], MinReps)
	if waits(p) {
		b.Most, b.Least = waitingReps, waitingLeast
	}
	return b
}

func trialBounds(p bench.Point) Bounds {
	return Bounds{Bytes: units.Bytes(p[names.FactorBytes]), Sends: 1, Most: trials, Least: trials}
}

// Run implements bench.Experiment.
func (PRTT) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	if err := bench.CheckSize(g, 2); err != nil {
		return err
	}
	x := run{bench.Team{G: g, R: r, P: p}, train{
		peer: 1 - g.Rank(), n: int(p[names.FactorMessages]),
		msg: r.Payload(p[names.FactorBytes]), reply: r.Payload(p[names.FactorBytes]),
	}}
	switch {
	case p[names.FactorSpaced] == 1:
		return x.spaced()
	case p[names.FactorDelayed] == 1:
		return x.delayed()
	}
	return Record(g, r, &x.train, trainBounds(p), bench.Batch{Phase: names.PhasePRTT, Point: p})
}

// run is one rank at one point.
type run struct {
	bench.Team
	train
}

// delay gives both ranks a d of at least PRTT(1,0,s): a quarter more than the median of a few.
func (x run) delay() (units.Nanos, error) {
	one := x.train
	one.n = 1
	t, err := Run(x.G, x.R, &one, trialBounds(x.P))
	if err != nil {
		return 0, err
	}
	if !x.Root() {
		d, err := bench.RecvNumbers(x.G, 0, 1)
		if err != nil {
			return 0, err
		}
		return min(units.Nanos(d[0]), maxDelay), nil
	}
	slices.Sort(t.NS)
	d := min(units.Nanos(t.NS[len(t.NS)/2])*5/4, maxDelay)
	return d, bench.SendNumbers(x.G, 1, int64(d))
}

// spaced measures PRTT(n,d,s) with rank 0 waiting.
func (x run) spaced() error {
	d, err := x.delay()
	if err != nil {
		return err
	}
	e := &spacedTrain{train: x.train, delay: d, sends: newCalls(x.n, trainBounds(x.P).Room(x.R.Effort), x.R)}
	t, err := Run(x.G, x.R, e, trainBounds(x.P))
	if err != nil || !x.Root() {
		return err
	}
	clock := bench.TimerCost(x.G)
	x.add(names.PhaseSpaced, names.PhaseSend, t, e.sends.last(len(t.NS)), d, clock)
	return nil
}

// delayed measures PRTT(n,0,s) with rank 1 waiting.
func (x run) delayed() error {
	d, err := x.delay()
	if err != nil {
		return err
	}
	e := &delayedTrain{train: x.train, delay: d}
	room := trainBounds(x.P).Room(x.R.Effort)
	x.R.Charge(2 * 8 * int64(x.n) * int64(room)) // the numbers that rank 1 sends, at both ranks twice
	if !x.Root() {
		e.receives, e.waits = newCalls(x.n-2, room, x.R), newCalls(1, room, x.R)
	}
	t, err := Run(x.G, x.R, e, trainBounds(x.P))
	if err != nil {
		return err
	}
	if !x.Root() {
		return e.sendTimes(x.G)
	}
	clock, err := e.recvTimes(x.G, t.NS)
	if err != nil {
		return err
	}
	x.add(names.PhaseDelayed, names.PhaseReceive, t, e.receives.last(len(t.NS)), d, clock)
	return nil
}

// add records the round trips and the single calls of a form that waits. Between two calls there are two readings of
// the clock: the measured wait contains one, and the other is subtracted here. The calls' own times contain one each.
func (x run) add(form, call string, t Result, calls []int64, delay units.Nanos, clock float64) {
	for i := range t.NS {
		t.NS[i] -= int64(math.Round(clock * float64(x.n-1)))
	}
	b := bench.Batch{Point: x.P, Ranks: []int{0, 1}, TCP: t.TCP}
	b.Phase, b.NS, b.Aux = form, t.NS, map[string]float64{names.AuxDelay: float64(delay)}
	x.R.Add(b)
	b.Phase, b.NS, b.Aux = call, calls, map[string]float64{names.AuxClock: clock}
	x.R.Add(b)
}
