package incast

import (
	"cmp"
	"encoding/binary"
	"slices"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/units"
)

const (
	// The root takes a burst to have ended when nothing has arrived for quietGaps intervals of the trial, but no less
	// than minQuiet and no more than maxQuiet, and two round trips.
	quietGaps = 8
	minQuiet  = 5 * units.Millisecond
	maxQuiet  = 100 * units.Millisecond
	// graceTime is how much longer than expected a burst may last before the root waits for the senders' reports alone.
	graceTime = 5 * units.Second

	// A burst's datagram: its tag, the sender, the sequence number within the sender's share, when it was sent.
	atSender   = 8
	atSequence = 12
	atSendTime = 16

	// reportBytes is what a sender tells the root of its share of a burst: how many it sent, and how long that took
	// [ns].
	reportBytes = 16
)

// arrivalBytes is the size of one.
const arrivalBytes = 8 + 8 + 4 + 4

// arrival is a datagram at the root.
type arrival struct {
	at     units.Nanos // on the root's clock
	sent   units.Nanos // on the sender's
	from   uint32      // rank
	number uint32      // within the sender's share
}

// readArrival is what a datagram of at least minDatagram bytes says of itself.
func readArrival(at units.Nanos, b []byte) arrival {
	return arrival{
		at: at, sent: units.Nanos(bench.GetNumber(b[atSendTime:])),
		from: binary.LittleEndian.Uint32(b[atSender:]), number: binary.LittleEndian.Uint32(b[atSequence:]),
	}
}

// bursts is one rank's part in the bursts of one point.
type bursts struct {
	team
	msg, received, report []byte
	tag                   int64
	quiet                 units.Nanos // without an arrival, after which the root takes a burst to have ended
	dropped               int64       // by the root's own socket, so far
	seen                  burst
}

// burst is what the root has of the last one.
type burst struct {
	came    []arrival // in the order of arrival
	dropped int64     // by its own socket
	sent    int64
	took    int64 // of the longest sender [ns]
}

// span is the time from the first arrival to the last.
func (b *burst) span() int64 {
	if len(b.came) == 0 {
		return 0
	}
	return int64(b.came[len(b.came)-1].at - b.came[0].at)
}

// gap is the interval of the trial's datagrams: at the root, or, where fewer than two arrived, as they were sent.
func (b *burst) gap() units.Nanos {
	if n := len(b.came) - 1; n > 0 {
		return units.Nanos(b.span() / int64(n))
	}
	return units.Nanos(b.took / minBurst)
}

func newBursts(x team) *bursts {
	f := &bursts{
		team: x, msg: x.R.Payload(x.P[names.FactorBytes]), received: make([]byte, maxDatagram),
		report: make([]byte, reportBytes), tag: datagramTag(x), quiet: maxQuiet/4 + 2*x.R.Clocks.MaxRTT(),
	}
	if x.Root() {
		most := max(x.P[names.FactorPackets], minBurst, idleDatagrams*x.P[names.FactorSenders])
		x.R.Charge(most * arrivalBytes)
		f.seen.came = make([]arrival, 0, most)
	}
	return f
}

// run measures the point: a trial by one sender, which tells how long the burst will take, the repetitions, and, where
// one lost datagrams, the full port.
func (x *bursts) run() {
	x.once(0, bench.Start{}, x.alone)
	gap := x.seen.gap()
	// At most. Until all of a burst has left a port that is as slow as one sender the root hears from nobody.
	most := units.Nanos(x.P[names.FactorPackets]) * gap
	var s bench.Start
	if !tooLong(x.P[names.FactorPackets], x.P[names.FactorSenders], gap) {
		s.Reps = max(1, min(maxReps(x.R.Effort), int(burstTime/max(most, 1))))
	}
	if s = x.Announce(s); s.Reps == 0 {
		x.Skip(most)
		return
	}
	x.quiet = min(max(quietGaps*gap, minQuiet), maxQuiet) + 2*x.R.Clocks.MaxRTT()
	lost := false // in the network, and not by the root's own socket
	for i := range s.Reps {
		x.once(i+1, bench.Start{}, x.share)
		if x.Root() {
			x.add()
			lost = lost || x.seen.dropped == 0 && int64(len(x.seen.came)) < x.seen.sent
		}
	}
	x.full(s.Reps+1, gap, lost)
}

// tooLong reports whether a burst of so many packets takes too long at a gap [ns]: to send, or to pass a port that is
// as slow as one sender.
func tooLong(packets, senders int64, gap units.Nanos) bool {
	all := units.Nanos(packets) * gap
	return all/units.Nanos(senders) > burstTime || all > arrivalFactor*burstTime
}

// sending is what one rank sends of a burst.
type sending struct {
	datagrams int64
	after     units.Nanos // the start
	every     units.Nanos // 0 is as fast as it can
}

// once runs one announced burst, of which each sender sends its part. The senders report when the root asks them to,
// which it does when nothing more arrives, so that no report meets a full buffer.
func (x *bursts) once(number int, s bench.Start, part func(bench.Start) sending) {
	s = x.Announce(s)
	tag := x.tag + int64(number)
	if !x.Root() {
		x.send(s.At, tag, part(s))
		return
	}
	x.seen = burst{came: x.seen.came[:0]}
	before := x.dropped
	x.count(s, tag)
	x.RecvAll(x.report, func(int) {
		x.seen.sent += bench.GetNumber(x.report)
		x.seen.took = max(x.seen.took, bench.GetNumber(x.report[8:]))
	})
	x.seen.dropped = x.dropped - before
	slices.SortStableFunc(x.seen.came, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
}

// alone is the trial: the first sender sends it, as fast as it can.
func (x *bursts) alone(bench.Start) sending {
	if x.Rank() == 1 {
		return sending{datagrams: minBurst}
	}
	return sending{}
}

// share is this rank's part of a burst: its k datagrams are shared as evenly as they can be.
func (x *bursts) share(bench.Start) sending {
	rank, n, k := int64(x.Rank()), x.P[names.FactorSenders], x.P[names.FactorPackets]
	if rank <= k%n {
		return sending{datagrams: k/n + 1}
	}
	return sending{datagrams: k / n}
}

func (x *bursts) send(at units.Nanos, tag int64, part sending) {
	msg := x.msg
	bench.PutNumbers(msg, tag)
	binary.LittleEndian.PutUint32(msg[atSender:], uint32(x.Rank()))
	at += part.after
	x.WaitUntil(at)
	begun := x.Now()
	for i := range part.datagrams {
		now := x.Now()
		if due := at + units.Nanos(i)*part.every; now < due {
			x.WaitUntil(due)
			now = x.Now()
		}
		binary.LittleEndian.PutUint32(msg[atSequence:], uint32(i))
		bench.PutNumbers(msg[atSendTime:], int64(now))
		bench.Check(x.SendDatagram(0, msg))
	}
	bench.PutNumbers(x.report, part.datagrams, x.Elapsed(begun))
	x.Recv(0, x.signal)
	x.Send(0, x.report)
}

// count is the root's part: it stamps arrivals until nothing has arrived for the quiet time, asks the senders for their
// reports, and goes on until it has been quiet once more after those were there. It ends with the reports or, where one
// is missing, when the burst is long overdue: receiving that report is then bounded by the group's deadline.
func (x *bursts) count(s bench.Start, tag int64) {
	seen := &x.seen
	overdue := s.At + arrivalFactor*maxTime + graceTime
	asked, settled, reported := false, false, 1
	for until := s.At + x.quiet; ; {
		d := bench.Must(x.RecvDatagram(x.received, until))
		x.dropped = max(x.dropped, d.Dropped)
		until = x.Now() + x.quiet
		switch {
		case d.Got:
			if d.Bytes >= minDatagram && bench.GetNumber(x.received) == tag && len(seen.came) < cap(seen.came) {
				seen.came = append(seen.came, readArrival(d.At, x.received))
			}
			continue
		case !asked:
			asked = true
			x.SendAll(x.signal)
			continue
		case settled:
			return
		}
		for reported < x.Size() && x.Pending(reported) >= reportBytes {
			reported++
		}
		settled = reported == x.Size()
		if !settled && until > overdue {
			return
		}
	}
}

// add records one repetition.
func (x *bursts) add() {
	at := lists.Map(x.seen.came, func(a arrival) int64 { return int64(a.at) })
	ns, averaged := bench.Intervals(at)
	b := bench.Batch{Phase: names.PhaseFlood, Ranks: x.Ranks(), NS: ns, Aux: x.seen.aux()}
	if len(b.NS) == 0 {
		b.NS = append(b.NS, 0)
		b.Flags = append(b.Flags, dataset.FlagTimeout)
	}
	b.Aux[names.AuxAveraged] = float64(averaged)
	x.Add(b)
}

// aux is what the root counted and timed of a burst.
func (b *burst) aux() map[string]float64 {
	return map[string]float64{
		names.AuxSent: float64(b.sent), names.AuxReceived: float64(len(b.came)), names.AuxDropped: float64(b.dropped),
		names.AuxSpan: float64(b.span()), names.AuxSend: float64(b.took),
	}
}
