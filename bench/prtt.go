package bench

import (
	"context"
	"math"
	"slices"

	"calib/internal/units"
)

// PRTT measures the parametrised round trip PRTT(n,d,s) of Hoefler et al. (Netgauge): rank 0 sends n messages of s bytes,
// each d after the one before, rank 1 answers the n-th with one of s bytes. From it follow LogGP's parameters:
//
//	prtt     PRTT(n,0,s); (PRTT(n,0,s) − PRTT(1,0,s))/(n−1) is the gap of a message, g + G(s−1)
//	spaced   PRTT(n,d,s) less what was really waited, d ≥ PRTT(1,0,s), so that every send finds an idle path;
//	         less PRTT(1,0,s), over n−1: o_s
//	delayed  messages back to back to a rank that waits d before each of the last n−1 receives, or until all are there,
//	         so that it finds the message there, less what was really waited; likewise o_r
//
// Neither overhead is subtracted from anything: L is what is left of PRTT(1,0,s) without them, and not half of it.
type PRTT struct{}

const (
	prttMessages  = 16
	prttMostWaits = 16 * units.KiB // largest message of the forms that wait
	prttWaits     = 25             // repetitions of the forms that wait
	prttLeast     = 3
	prttTrials    = 5 // round trips from which d is taken
	maxDelay      = units.Second
)

// prttSizes are about a packet's, then whole segments, growing by four: a segment that a message does not fill would put its
// fixed time into G.
var (
	prttSizes      = []units.Bytes{1, 40, 181, 701, 1401, 4 * segmentMost, 16 * segmentMost, 45 * segmentMost}
	prttSizesQuick = []units.Bytes{1, 181, 1401, 4 * segmentMost, 16 * segmentMost}
)

// Name implements Experiment.
func (PRTT) Name() string { return "prtt" }

// Steers implements Steered: single calls are kept for the record.
func (PRTT) Steers(phase string) bool { return phase != "send" && phase != "receive" }

// Design implements Experiment.
func (PRTT) Design(l Limits) []Point {
	if l.Hosts < 2 {
		return nil
	}
	own := prttSizes
	if l.thin() {
		own = prttSizesQuick
	}
	var out []Point
	for _, s := range l.sizes(own) {
		x := int64(s)
		out = append(out, Point{"bytes": x, "messages": 1}, Point{"bytes": x, "messages": prttMessages})
		if s <= prttMostWaits {
			out = append(out, Point{"bytes": x, "messages": prttMessages, "spaced": 1},
				Point{"bytes": x, "messages": prttMessages, "delayed": 1})
		}
	}
	return out
}

// Teams implements Experiment.
func (PRTT) Teams(l Limits, _ Point) []Step { return neighbours(l.Hosts) }

// Cost implements Experiment.
func (PRTT) Cost(l Limits, p Point) Cost {
	c := prttDose(p).cost(l.Effort)
	if !waits(p) {
		return c
	}
	r := NewRecorder(Task{Reps: l.Effort})
	c = c.add(trialDose(p).cost(l.Effort))
	c.Bytes += 8 * units.Bytes(prttHandOver(prttDose(p), r, int(p["messages"]))+1)
	return c
}

func waits(p Point) bool { return p["spaced"] == 1 || p["delayed"] == 1 }

func prttDose(p Point) dose {
	d := dose{
		bytes: units.Bytes(p["bytes"] * p["messages"]), sends: int(p["messages"]), most: pingReps, least: pingMinReps,
	}
	if waits(p) {
		d.most, d.least = prttWaits, prttLeast
	}
	return d
}

func trialDose(p Point) dose {
	return dose{bytes: units.Bytes(p["bytes"]), sends: 1, most: prttTrials, least: prttTrials}
}

// Run implements Experiment. It ends with the batches, or when a receive meets the group's deadline.
func (PRTT) Run(ctx context.Context, g Group, p Point, r *Recorder) error {
	if err := checkPair(ctx, g, "prtt"); err != nil {
		return err
	}
	x := prttRun{g, r, p, train{peer: 1 - g.Rank(), n: int(p["messages"]), msg: r.payload(p["bytes"])}}
	x.reply = r.payload(p["bytes"])
	switch {
	case p["spaced"] == 1:
		return x.spaced()
	case p["delayed"] == 1:
		return x.delayed()
	}
	t, err := rally{g, r, &x.train, prttDose(p)}.run()
	if err != nil || g.Rank() == 1 {
		return err
	}
	r.Add(Batch{Phase: "prtt", Point: p, Ranks: []int{0, 1}, NS: t.ns, TCP: t.tcp})
	return nil
}

// prttRun is one rank at one point.
type prttRun struct {
	g Group
	r *Recorder
	p Point
	train
}

// delay gives both ranks a d of at least PRTT(1,0,s): a quarter more than the median of a few.
func (x prttRun) delay() (units.Nanos, error) {
	one := x.train
	one.n = 1
	t, err := rally{x.g, x.r, &one, trialDose(x.p)}.run()
	if err != nil {
		return 0, err
	}
	if x.g.Rank() == 1 {
		w, err := recvWords(x.g, 0, 1)
		if err != nil {
			return 0, err
		}
		return min(units.Nanos(w[0]), maxDelay), nil
	}
	slices.Sort(t.ns)
	d := min(units.Nanos(t.ns[len(t.ns)/2])*5/4, maxDelay)
	return d, sendWords(x.g, 1, int64(d))
}

// spaced measures PRTT(n,d,s) with the client waiting.
func (x prttRun) spaced() error {
	d, err := x.delay()
	if err != nil {
		return err
	}
	e := &spacedTrain{train: x.train, delay: d}
	e.reserve(prttDose(x.p), x.r)
	t, err := rally{x.g, x.r, e, prttDose(x.p)}.run()
	if err != nil || x.g.Rank() == 1 {
		return err
	}
	clock := clockNS(x.g)
	x.add("spaced", "send", t, slices.Clone(e.sends.last(len(t.ns))), d, clock)
	return nil
}

// delayed measures PRTT(n,0,s) with the server waiting.
func (x prttRun) delayed() error {
	d, err := x.delay()
	if err != nil {
		return err
	}
	e := &delayedTrain{train: x.train, delay: d}
	if x.g.Rank() == 1 {
		e.reserve(prttDose(x.p), x.r)
	}
	t, err := rally{x.g, x.r, e, prttDose(x.p)}.run()
	if err != nil {
		return err
	}
	if x.g.Rank() == 1 {
		return e.handOver(x.g)
	}
	clock, err := e.take(x.g, t.ns)
	if err != nil {
		return err
	}
	x.add("delayed", "receive", t, e.receives.last(len(t.ns)), d, clock)
	return nil
}

// add records the round trips and the single calls of a form that waits. Between two calls there are two readings of the
// clock, of which the wait that they showed holds one: the other is waiting too. The calls' own times hold one each.
func (x prttRun) add(form, call string, t score, calls []int64, delay units.Nanos, clock float64) {
	for i := range t.ns {
		t.ns[i] -= int64(math.Round(clock * float64(x.n-1)))
	}
	b := Batch{Point: x.p, Ranks: []int{0, 1}, TCP: t.tcp}
	b.Phase, b.NS, b.Aux = form, t.ns, map[string]float64{"delay_ns": float64(delay)}
	x.r.Add(b)
	b.Phase, b.NS, b.Aux = call, calls, map[string]float64{"clock_ns": clock}
	x.r.Add(b)
}
