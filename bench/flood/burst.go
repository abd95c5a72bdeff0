package flood

import (
	"encoding/binary"
	"slices"

	"calib/bench"
	"calib/bench/incast"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

const (
	// The root takes a burst to have ended when nothing has arrived for quietGaps intervals of the trial, but no less than
	// leastQuiet and no more than mostQuiet, and two round trips.
	quietGaps  = 8
	leastQuiet = 5 * units.Millisecond
	mostQuiet  = 100 * units.Millisecond
	// graceTime is how much longer than expected a burst may last before the root waits for the senders' reports alone.
	graceTime = 5 * units.Second

	// A burst's datagram: its tag, the sender, the sequence number within the sender's share.
	atSender   = 8
	atSequence = 12

	// reportBytes is what a sender tells the root of its share of a burst: how many it sent, and how long that took [ns].
	reportBytes = 16
)

// bursts is one rank's part in the bursts of one point.
type bursts struct {
	incast.Team
	msg, received, report []byte
	tag                   int64
	quiet                 units.Nanos // without an arrival, after which the root takes a burst to have ended
	dropped               int64       // by the root's own socket, so far
	seen                  burst
}

// burst is what the root has of the last one.
type burst struct {
	at      []int64 // arrivals
	dropped int64   // by its own socket
	sent    int64
	took    int64 // of the longest sender [ns]
}

// span is the time from the first arrival to the last.
func (b *burst) span() int64 {
	if len(b.at) == 0 {
		return 0
	}
	return b.at[len(b.at)-1] - b.at[0]
}

// gap is the interval of the trial's datagrams: at the root, or, where fewer than two arrived, as they were sent.
func (b *burst) gap() units.Nanos {
	if n := len(b.at) - 1; n > 0 {
		return units.Nanos(b.span() / int64(n))
	}
	return units.Nanos(b.took / leastBurst)
}

func newBursts(x incast.Team) *bursts {
	f := &bursts{
		Team: x, msg: x.R.Payload(x.P[names.FactorBytes]), received: make([]byte, mostDatagram),
		report: make([]byte, reportBytes), tag: datagramTag(x), quiet: mostQuiet/4 + 2*x.R.Clocks.MaxRTT(),
	}
	if x.Root() {
		f.seen.at = x.R.Buffer(int(max(x.P[names.FactorPackets], leastBurst)))[:0]
	}
	return f
}

// run measures the point: a trial by one sender, which tells how long the burst will take, and the repetitions.
func (x *bursts) run() error {
	if err := x.once(0); err != nil {
		return err
	}
	gap := x.seen.gap()
	reps, estimate := x.planned(gap)
	s, err := x.Announce(bench.Start{Reps: reps})
	if err != nil {
		return err
	}
	if s.Reps == 0 {
		x.Skip(estimate)
		return nil
	}
	x.quiet = min(max(quietGaps*gap, leastQuiet), mostQuiet) + 2*x.R.Clocks.MaxRTT()
	for i := range s.Reps {
		if err := x.once(i + 1); err != nil {
			return err
		}
		if x.Root() {
			x.add()
		}
	}
	return nil
}

// planned decides from a single sender's gap how often the burst fits into the budget, and says how long one lasts at
// most: all of it through a port that is as slow as one sender. Until it has left that port the root hears from nobody, so
// the time is also bounded by how long a receive may wait.
func (x *bursts) planned(gap units.Nanos) (reps int, most units.Nanos) {
	budget := min(incast.TimeLimit(x.R.Effort, burstTime), incast.MostTime/2)
	most = units.Nanos(x.P[names.FactorPackets]) * gap
	if most/units.Nanos(x.P[names.FactorSenders]) > budget || most > arrivalFactor*budget {
		return 0, most
	}
	return max(1, min(mostReps(x.R.Effort), int(budget/max(most, 1)))), most
}

// once runs one announced burst; burst 0 is the trial, which the first sender sends alone. The senders report when the
// root asks them to, which it does when nothing more arrives, so that no report meets a full buffer.
func (x *bursts) once(number int) error {
	s, err := x.Announce(bench.Start{Reps: 1})
	if err != nil {
		return err
	}
	tag := x.tag + int64(number)
	if !x.Root() {
		return x.send(s, tag, x.share(number))
	}
	x.seen = burst{at: x.seen.at[:0]}
	before := x.dropped
	if err := x.count(s, tag); err != nil {
		return err
	}
	err = x.RecvAll(x.report, func(int) {
		x.seen.sent += bench.GetNumber(x.report)
		x.seen.took = max(x.seen.took, bench.GetNumber(x.report[8:]))
	})
	x.seen.dropped = x.dropped - before
	slices.Sort(x.seen.at)
	return err
}

// share is how many datagrams this rank sends: the k of a burst are shared as evenly as they can be.
func (x *bursts) share(number int) int64 {
	rank, n, k := int64(x.G.Rank()), x.P[names.FactorSenders], x.P[names.FactorPackets]
	switch {
	case number > 0 && rank <= k%n:
		return k/n + 1
	case number > 0:
		return k / n
	case rank == 1:
		return leastBurst
	}
	return 0
}

// send is a sender's part.
func (x *bursts) send(s bench.Start, tag, share int64) error {
	msg := x.msg
	bench.PutNumbers(msg, tag)
	binary.LittleEndian.PutUint32(msg[atSender:], uint32(x.G.Rank()))
	if err := x.G.WaitUntil(s.At); err != nil {
		return err
	}
	begun := x.G.Now()
	for i := range share {
		binary.LittleEndian.PutUint32(msg[atSequence:], uint32(i))
		if err := x.G.SendDatagram(0, msg); err != nil {
			return err
		}
	}
	bench.PutNumbers(x.report, share, bench.Elapsed(x.G, begun))
	if err := x.G.Recv(0, x.Signal); err != nil {
		return err
	}
	return x.G.Send(0, x.report)
}

// count is the root's part: it stamps arrivals until nothing has arrived for the quiet time, asks the senders for their
// reports, and goes on until it has been quiet once more after those were there. It ends with the reports or, where one
// is missing, when the burst is long overdue: receiving that report is then bounded by the group's deadline.
func (x *bursts) count(s bench.Start, tag int64) error {
	seen := &x.seen
	overdue := s.At + arrivalFactor*incast.MostTime + graceTime
	asked, settled, reported := false, false, 1
	for until := s.At + x.quiet; ; {
		d, err := x.G.RecvDatagram(x.received, until)
		if err != nil {
			return err
		}
		x.dropped = max(x.dropped, d.Dropped)
		until = x.G.Now() + x.quiet
		switch {
		case d.Got:
			if d.Bytes >= leastDatagram && bench.GetNumber(x.received) == tag && len(seen.at) < cap(seen.at) {
				seen.at = append(seen.at, int64(d.At))
			}
			continue
		case !asked:
			asked = true
			if err := x.SendAll(x.Signal); err != nil {
				return err
			}
			continue
		case settled:
			return nil
		}
		if reported, err = x.reports(reported); err != nil {
			return err
		}
		settled = reported == x.G.Size()
		if !settled && until > overdue {
			return nil
		}
	}
}

// reports returns the first rank, from next on, whose report is not there yet.
func (x *bursts) reports(next int) (int, error) {
	for ; next < x.G.Size(); next++ {
		n, err := x.G.Pending(next)
		if err != nil || n < reportBytes {
			return next, err
		}
	}
	return next, nil
}

// add records one repetition.
func (x *bursts) add() {
	seen, at := &x.seen, x.seen.at
	ns, averaged := bench.Intervals(at)
	b := bench.Batch{Phase: names.PhaseFlood, Point: x.P, Ranks: x.Ranks(), NS: ns}
	if len(b.NS) == 0 {
		b.NS = append(b.NS, 0)
		b.Flags = append(b.Flags, dataset.FlagTimeout)
	}
	b.Aux = map[string]float64{
		names.AuxSent: float64(seen.sent), names.AuxReceived: float64(len(at)), names.AuxDropped: float64(seen.dropped),
		names.AuxAveraged: float64(averaged), names.AuxSpan: float64(seen.span()), names.AuxSend: float64(seen.took),
	}
	x.R.Add(b)
}
