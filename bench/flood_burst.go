package bench

import (
	"encoding/binary"
	"slices"

	"calib/internal/dataset"
	"calib/internal/units"
)

const (
	// The root takes a burst to have ended when nothing has come for quietGaps intervals of the trial, but no less than
	// quietLeast and no more than quietMost, and two round trips.
	quietGaps  = 8
	quietLeast = 5 * units.Millisecond
	quietMost  = 100 * units.Millisecond
	// floodGrace is how much longer than expected a burst may last before the root waits for the senders' reports alone.
	floodGrace = 5 * units.Second

	// A burst's datagram: its tag, the sender, the sequence number within the sender's share.
	gramSender   = 8
	gramSequence = 12
)

// burstReportBytes is what a sender tells the root of its share of a burst: how many it sent, and how long that took [ns].
const burstReportBytes = 16

// flooder is one rank's part in the bursts of one point.
type flooder struct {
	funnel
	msg, gram, report []byte
	tag               uint64
	quiet             units.Nanos // without an arrival, after which the root takes a burst to have ended
	dropped           int64       // by the root's own socket, so far
	seen              burstSeen
}

// burstSeen is what the root has of the last burst.
type burstSeen struct {
	at      []int64 // arrivals
	dropped int64   // by its own socket
	sent    int64
	took    int64 // of the longest sender [ns]
}

// span is the time from the first arrival to the last.
func (b *burstSeen) span() int64 {
	if len(b.at) == 0 {
		return 0
	}
	return b.at[len(b.at)-1] - b.at[0]
}

func newFlooder(x funnel) *flooder {
	f := &flooder{
		funnel: x, msg: x.r.payload(x.p["bytes"]), gram: make([]byte, datagramMost), report: make([]byte, burstReportBytes),
		tag: x.datagramTag(), quiet: quietMost/4 + 2*x.r.time.maxRTT(),
	}
	if x.root() {
		f.seen.at = x.r.Buffer(int(max(x.p["packets"], floodLeast)))[:0]
	}
	return f
}

// run measures the point: a trial by one sender, which tells how long the burst will take, and the repetitions.
func (x *flooder) run() error {
	if err := x.flood(0); err != nil {
		return err
	}
	gap := x.seen.gap()
	reps, est := x.planned(gap)
	s, err := x.announce(start{Reps: reps})
	if err != nil {
		return err
	}
	if s.Reps == 0 {
		x.skip(est)
		return nil
	}
	x.quiet = min(max(quietGaps*gap, quietLeast), quietMost) + 2*x.r.time.maxRTT()
	for i := range s.Reps {
		if err := x.flood(i + 1); err != nil {
			return err
		}
		if x.root() {
			x.addFlood()
		}
	}
	return nil
}

// gap is the interval of the trial's datagrams: at the root, or, where fewer than two arrived, as they were sent.
func (b *burstSeen) gap() units.Nanos {
	if n := len(b.at) - 1; n > 0 {
		return units.Nanos(b.span() / int64(n))
	}
	return units.Nanos(b.took / floodLeast)
}

// planned decides from a single sender's gap how often the burst fits into the budget, and says how long one lasts at
// most: all of it through a port that is as slow as one sender. Before it has left that port the root asks nobody anything,
// so the time is also bounded by how long a receive may wait.
func (x *flooder) planned(gap units.Nanos) (reps int, most units.Nanos) {
	k := units.Nanos(x.p["packets"])
	budget := min(effortLimit(x.r, floodBudget), mostLimit/2)
	most = k * gap
	if most/units.Nanos(x.p["senders"]) > budget || most > floodPatience*budget {
		return 0, most
	}
	return max(1, min(mostFloods(x.r), int(budget/max(most, 1)))), most
}

// flood runs one announced burst; burst 0 is the trial, which the first sender sends alone. The senders report when the
// root asks them to, which it does when nothing more comes, so that no report meets a full buffer.
func (x *flooder) flood(burst int) error {
	s, err := x.announce(start{Reps: 1})
	if err != nil {
		return err
	}
	tag := x.tag + uint64(burst)
	if !x.root() {
		return x.shoot(s, tag, x.share(burst))
	}
	x.seen = burstSeen{at: x.seen.at[:0]}
	before := x.dropped
	if err := x.count(s, tag); err != nil {
		return err
	}
	var words [2]int64
	for k := 1; k < x.g.Size(); k++ {
		if err := x.g.Recv(k, x.report); err != nil {
			return err
		}
		getWords(x.report, words[:])
		x.seen.sent += words[0]
		x.seen.took = max(x.seen.took, words[1])
	}
	x.seen.dropped = x.dropped - before
	slices.Sort(x.seen.at)
	return nil
}

// share is how many datagrams this rank sends: the k of a burst are shared as evenly as they can be.
func (x *flooder) share(burst int) int64 {
	rank, n, k := int64(x.g.Rank()), x.p["senders"], x.p["packets"]
	switch {
	case burst > 0 && rank <= k%n:
		return k/n + 1
	case burst > 0:
		return k / n
	case rank == 1:
		return floodLeast
	}
	return 0
}

// shoot is a sender's part.
func (x *flooder) shoot(s start, tag uint64, share int64) error {
	msg := x.msg
	binary.LittleEndian.PutUint64(msg, tag)
	binary.LittleEndian.PutUint32(msg[gramSender:], uint32(x.g.Rank()))
	if err := x.g.WaitUntil(s.At); err != nil {
		return err
	}
	begun := x.g.Now()
	for i := range share {
		binary.LittleEndian.PutUint32(msg[gramSequence:], uint32(i))
		if err := x.g.SendDatagram(0, msg); err != nil {
			return err
		}
	}
	words := [2]int64{share, elapsed(x.g, begun)}
	putWords(x.report, words[:])
	if err := x.g.Recv(0, x.signal); err != nil {
		return err
	}
	return x.g.Send(0, x.report)
}

// count is the root's part: it stamps arrivals until nothing has come for the quiet time, asks the senders for their
// reports, and goes on until it has been quiet once more after those were there. It ends with the reports or, where one
// does not come, when the burst is long overdue: receiving that report is then bounded by the group's deadline.
func (x *flooder) count(s start, tag uint64) error {
	seen := &x.seen
	overdue := s.At + floodPatience*mostLimit + floodGrace
	asked, settled, reported := false, false, 1
	for until := s.At + x.quiet; ; {
		d, err := x.g.RecvDatagram(x.gram, until)
		if err != nil {
			return err
		}
		x.dropped = max(x.dropped, d.Dropped)
		until = x.g.Now() + x.quiet
		switch {
		case d.Got:
			if d.Bytes >= datagramLeast && binary.LittleEndian.Uint64(x.gram) == tag && len(seen.at) < cap(seen.at) {
				seen.at = append(seen.at, int64(d.At))
			}
			continue
		case !asked:
			asked = true
			if err := tellAll(x.g, x.signal); err != nil {
				return err
			}
			continue
		case settled:
			return nil
		}
		if reported, err = x.reports(reported); err != nil {
			return err
		}
		settled = reported == x.g.Size()
		if !settled && until > overdue {
			return nil
		}
	}
}

// reports returns the first rank, from next on, whose report is not there yet.
func (x *flooder) reports(next int) (int, error) {
	for ; next < x.g.Size(); next++ {
		n, err := x.g.Pending(next)
		if err != nil || n < burstReportBytes {
			return next, err
		}
	}
	return next, nil
}

// addFlood records one repetition.
func (x *flooder) addFlood() {
	seen, at := &x.seen, x.seen.at
	join := max(1, (len(at)+maxIntervals-1)/maxIntervals)
	b := Batch{Phase: phaseFlood, Point: x.p, Ranks: x.everybody(), NS: make([]int64, 0, len(at)/join+1)}
	for i := join; i < len(at); i += join {
		b.NS = append(b.NS, (at[i]-at[i-join])/int64(join))
	}
	if len(b.NS) == 0 {
		b.NS = append(b.NS, 0)
		b.Flags = append(b.Flags, dataset.FlagTimeout)
	}
	b.Aux = map[string]float64{
		"sent": float64(seen.sent), "received": float64(len(at)), "dropped": float64(seen.dropped), "averaged": float64(join),
		"span_ns": float64(seen.span()), "send_ns": float64(seen.took),
	}
	x.r.Add(b)
}
