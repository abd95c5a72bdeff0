package flow

import (
	"math"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Paired lets n pairs of hosts send at once, one message (a burst) or bytes for a while (a stream), for each n up to
// half the hosts: Stoica, Sultan and Keyes 1994, section 4. From how the time grows with n the fit tells the hosts'
// blocks (a, b) from the network's (a_c, b_c) by eq. 16-17.
var Paired = &bench.Experiment{
	Name: names.Paired, Clocks: true, Stamps: true, // a burst is a one-way time
	Points: func(l bench.Limits) []bench.Point {
		each := bench.Values(names.FactorBytes, l.SizesOr(bench.Thinned(l, burstSizes, burstSizesQuick))...)
		each = append(each, bench.Point{names.FactorStream: 1})
		pairs, alone := bench.Values(names.FactorPairs, bench.PairCounts(l.Hosts)...), []bench.Point(nil)
		if !l.Effort.Thin() {
			one := bench.Point{names.FactorPairs: 1, names.FactorStream: 1}
			alone = bench.Cross([]bench.Point{one}, bench.Values(names.FactorConnections, connections...))
		}
		return append(bench.Cross(pairs, each), alone...)
	},
	Ranges: bench.Ranges{
		names.FactorPairs: bench.TeamSize, names.FactorStream: bench.Flag, names.FactorBytes: {Least: 0, Most: bench.MaxSize},
		names.FactorConnections: {Least: 0, Most: plane.MaxLines},
	},
	Size: func(p bench.Point) int { return int(2 * p[names.FactorPairs]) },
	Cost: pairedCost,
	Run: func(x bench.Team) {
		if x.P[names.FactorStream] == 0 {
			BothDirections(x, bursts)
		} else {
			BothDirections(x, bytes)
		}
	},
}

var (
	// burstSizes keep three within one packet, where a' is read off, and some above it as a cross-check of b'.
	burstSizes      = []units.Bytes{1, 181, 1123, 5003, 20011}
	burstSizesQuick = []units.Bytes{1, 1123, 5003}
	// connections are the numbers of connections a pair in streams, beside one: a stream that they make faster was
	// limited by one connection or one CPU and not by the link.
	connections = []int64{2, 4, 8}
)

const (
	maxBursts = 40
	minBursts = 3
	burstTime = 120 * units.Millisecond // of one batch at effort 1

	// bearableLoss is the share of segments sent again above which a stream is flagged for it: sending them again slows
	// a stream by as much.
	bearableLoss = 0.02
)

func pairedCost(l bench.Limits, p bench.Point) bench.Cost {
	path, pairs, m := l.OnPath(), int(p[names.FactorPairs]), p[names.FactorBytes]
	if p[names.FactorStream] == 0 {
		last := path.Message(m, pairs)
		time := 5*last + 2*path.Start(2*pairs) +
			bench.Repeated(burstPeriod(last), l.Effort.Time(burstTime, burstTime/4), minBursts, maxBursts)
		return bench.Cost{Bytes: units.Bytes(2 * (maxBursts + 1) * m), Time: 2 * time}
	}
	// The stream is bounded by time, not by bytes: this is what one pair alone would send in it.
	time := bulkTimeOn(path, pairs, max(1, int(p[names.FactorConnections])))
	return bench.Cost{Bytes: units.Bytes(2 * float64(time) / math.Max(path.PerByte, 1e-2)), Time: 2 * time}
}

// burstPause is what a repetition has beside one and a half times the last delivery, so that repetitions do not
// overlap. Meanwhile receivers cool down.
const burstPause = units.Millisecond

func burstPeriod(last units.Nanos) units.Nanos { return last + last/2 + burstPause }

// bursts measures one direction of one point: a trial of hosts that are cold, where they can be warm one of these, and
// then the repetitions, whose period the trial before sets.
func bursts(x Role) {
	msg := x.R.Payload(x.P[names.FactorBytes])
	for range 2 { // untimed each way, so that connection, congestion window and buffers exist and are touched
		if x.Sends() {
			x.Send(x.Peer(), msg)
		}
		x.Recv(x.Peer(), msg)
		if !x.Sends() {
			x.Send(x.Peer(), msg)
		}
	}
	trial := []int64{0}
	x.burst(x.Announce(bench.Start{Reps: 1}), msg, trial)
	announce := func() bench.Start {
		period := burstPeriod(x.MaxAtRoot(units.Nanos(trial[0])))
		reps := min(max(int(x.R.Time(burstTime, burstTime/4)/period), minBursts), maxBursts)
		return x.Announce(bench.Start{Period: period, Reps: reps})
	}
	s := announce()
	if _, warm := x.warmLead(s); warm {
		x.burst(s, msg, trial)
		s = announce()
	}
	before := x.AllCounters()
	at := x.R.Buffer(s.Reps)
	x.burst(s, msg, at)
	sent := at
	if !x.Sends() {
		sent = x.R.Buffer(len(at))
	}
	if tcp := x.HandOver(sent, before); !x.Sends() {
		x.addBursts(s, at, sent, x.Batch(names.PhaseBurst, nil, tcp))
	}
}

// warmLead is how long before a start the hosts of a burst begin their last exchange of a byte, so that they are as
// warm as those of a ping-pong: a little more than its two deliveries. Where these take as long as the pause, hosts of
// a ping-pong have cooled down as well. On a crowded machine others would wait for the CPU, and the kernel stamps
// arrivals.
func (x Role) warmLead(s bench.Start) (lead units.Nanos, warm bool) {
	lead = (s.Period - burstPause) * 5 / 3 // see burstPeriod
	return lead, lead > 0 && 2*lead < burstPause && !x.Place().Crowded
}

// burst is the timed section: a sender waits for each start and stamps its send, a receiver stamps each delivery.
// Stamps are relative to the repetition's planned start. It ends after a message for each of at, or the group's receive
// deadline.
func (x Role) burst(s bench.Start, msg []byte, at []int64) {
	peer := x.Peer()
	lead, warm := x.warmLead(s)
	for k := range at {
		planned := s.At + units.Nanos(k)*s.Period
		if warm {
			x.keepWarm(planned-lead, lead, msg[:1])
		}
		if x.Sends() {
			x.WaitUntil(planned)
			at[k] = x.Elapsed(planned)
			x.Send(peer, msg)
		} else {
			at[k] = int64(x.RecvAt(peer, msg) - planned)
		}
	}
}

// keepWarm passes a byte to and fro. The last time, it is one and goes at a time on the sender's clock. The receiver
// answers that as well: it would acknowledge the second message in a row before it returns it, which takes
// microseconds.
func (x Role) keepWarm(last, lead units.Nanos, b []byte) {
	for b[0] = 0; b[0] == 0; {
		if x.Sends() {
			if x.Now() >= last-lead {
				x.WaitUntil(last)
				b[0] = 1
			}
			x.Send(x.Peer(), b)
		}
		x.Recv(x.Peer(), b)
		if !x.Sends() {
			x.Send(x.Peer(), b)
		}
	}
}

// addBursts records the bursts that were received at some times and sent at others. Both are relative to one planned
// instant, each on its own clock. It takes that back with the offsets known so far; the difference of the two clocks is
// corrected after the slot.
func (x Role) addBursts(s bench.Start, at, sent []int64, b bench.Batch) {
	n := len(at)
	delivered, deliveredAt, started, startedAt := x.R.Buffer(n), x.R.Buffer(n), x.R.Buffer(n), x.R.Buffer(n)
	common := x.R.Clocks.ToCommon(x.Rank(), s.At)
	local := x.R.Clocks.ToLocal(x.Peer(), common)
	for k := range at {
		planned := int64(k) * int64(s.Period)
		delivered[k] = at[k] - sent[k] + int64(s.At-local)
		deliveredAt[k] = at[k] + int64(s.At) + planned
		// When the sender really started, relative to the planned start in rank 0's time.
		started[k] = sent[k] + int64(local-common)
		startedAt[k] = sent[k] + int64(local) + planned
	}
	b.NS = delivered
	x.AddOneWay(b, x.Peer(), x.Rank(), deliveredAt)
	x.AddOneWay(x.Batch(names.PhaseBurstStart, started, nil), 0, x.Peer(), startedAt)
}

// bytes measures one direction of one point: all senders send bytes as fast as they can from a common start, and the
// receivers count what comes in a window that all share. The rate of all pairs together is the sum of their bytes over
// its length, however they share the medium.
func bytes(x Role) {
	seen := bulk{x, max(1, int(x.P[names.FactorConnections]))}.run()
	if x.Sends() {
		return
	}
	b := x.Batch(names.PhaseStream, seen.perWrite(), seen.tcp)
	b.Flags = seen.flags
	first, second := seen.halves()
	b.Aux[names.AuxChunk], b.Aux[names.AuxWindow] = float64(seen.write), float64(seen.window)
	b.Aux[names.AuxWindowChunks], b.Aux[names.AuxAveraged] = (first+second)/float64(seen.write), seen.averaged()
	b.Aux[names.AuxRamp], b.Aux[names.AuxHalves] = float64(seen.ramp), second/max(1, first)
	b.Aux[names.AuxCPUSend], b.Aux[names.AuxCPURecv] = float64(seen.sendCPU), float64(seen.recvCPU)
	x.AddLossy(b, bearableLoss)
}

// Gap measures the least interval at which one host can put messages of m bytes into the network, each a segment of its
// own or, with merge, sharing them: the send gap g_s(m) of the cluster model (Tam and Wang 2000, section 3.2).
var Gap = &bench.Experiment{
	Name: names.Gap, Clocks: true, Stamps: true, // sender and receiver stream from a common start to a common end
	Points: func(l bench.Limits) []bench.Point {
		merged := l.SizesUpTo(l.SegmentSize(), bench.Thinned(l, mergedSizes, mergedSizesQuick))
		return append(bench.Values(names.FactorBytes, l.PacketSizes()...),
			bench.Cross(bench.Values(names.FactorMerge, 1), bench.Values(names.FactorBytes, merged...))...)
	},
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorMerge: bench.Flag},
	// Hosts in threes, or in pairs, one team a step, the last filled up with the first hosts.
	Steps: func(l bench.Limits, _ bench.Point) (steps []bench.Step) {
		if gapTeam(l) < 3 {
			return bench.Neighbours(l.Hosts)
		}
		for first := 0; first < l.Hosts; first += 3 {
			steps = append(steps, bench.Step{{first, (first + 1) % l.Hosts, (first + 2) % l.Hosts}})
		}
		return steps
	},
	Size: bench.AnySize,
	Cost: func(l bench.Limits, p bench.Point) bench.Cost { // one stream from each host of the team
		team, most := gapTeam(l), gapCount(l.Effort, p)
		return bench.Cost{
			Bytes: units.Bytes(int64(team*(most+2*gapTrial+2))*p[names.FactorBytes]) + 3*controlBytes,
			Time:  units.Nanos(team) * streamTime(l, p[names.FactorBytes], most),
		}
	},
	Run: func(x bench.Team) {
		switch {
		case x.Size() < 2 || x.Size() > 3:
			bench.Fail("team of %d, want 2 or 3", x.Size())
		case x.P[names.FactorMerge] == 0:
			gaps(x, ahead)
		default:
			x.Reopened(plane.Socket{NoEOR: true}, func() { gaps(x, aheadMerged) })
		}
	},
}

const (
	// gapMost is the number of messages of one stream at effort 1, gapLeast at any; merged ones, of which many make a
	// segment, are twice as many.
	gapMost  = 6000
	gapLeast = 2000

	gapTrial  = 16 // messages to each receiver, which set the length of the stream
	gapWindow = 40 // messages in that length at least, at the trial's rate
	// Messages sent at most, as a multiple of what the path carries in the stream's time at the trial's rate. Merged
	// ones first fill the network, each in a segment of its own, before they queue where they merge.
	ahead       = 3
	aheadMerged = 12
	// windowSlices is into how many intervals the messages of a merged stream are counted: they come in bursts, a
	// segment at a time, so that the interval from one to the next says nothing.
	windowSlices = 8
	// controlBytes is what the streams of a batch exchange beside their messages: agreements, counters, the end.
	controlBytes = 256
)

// Merged messages cost their bytes alone, which takes fewer sizes.
var (
	mergedSizes      = []units.Bytes{1, 100, 500, 1000}
	mergedSizesQuick = []units.Bytes{100, 1000}
)

// gapTeam is how many hosts stream to each other. Receivers that share a CPU would take turns at it for each message.
func gapTeam(l bench.Limits) int {
	if l.Crowded {
		return min(l.Hosts, 2)
	}
	return min(l.Hosts, 3)
}

func gapCount(e bench.Effort, p bench.Point) int {
	return e.Reps(gapMost, gapLeast) * int(1+p[names.FactorMerge])
}

// gaps lets each rank send.
func gaps(x bench.Team, ahead float64) {
	chunk := x.R.Payload(x.P[names.FactorBytes])
	chunk[0] = 0 // 1 marks the last
	for sender := range x.Size() {
		var others []int
		for k := 1; k < x.Size(); k++ {
			others = append(others, (sender+k)%x.Size())
		}
		gap(stream{
			Role: Role{Team: x, Direction: sender, From: sender, To: others}, ahead: ahead,
			chunk: chunk, most: gapCount(x.R.Effort, x.P),
		})
	}
}

// gap keeps the later part of a stream: from when the windows are open to the last message of the first receiver that
// ends. After that another receiver would get more than its share. The receivers need not get theirs evenly at any
// moment, so the messages in that time are those of all of them.
func gap(x stream) {
	seen := x.run()
	rank, clocks := x.Rank(), x.R.Clocks
	ended := int64(math.MaxInt64)
	if !x.Sends() {
		ended = int64(clocks.ToCommon(rank, units.Nanos(seen.done[len(seen.done)-1])))
	}
	at, hi := int64(seen.At), int64(clocks.ToLocal(rank, units.Nanos(x.Min(ended))))-1
	part := seen.between(at+int64(bench.RampShare*float64(hi-at)), hi)
	if x.P[names.FactorMerge] != 0 {
		part.slice(seen.done, hi, windowSlices)
	}
	const parts = 1 << 20 // of a message
	all := x.Sum(int64(part.chunks * parts))
	if x.Sends() {
		return
	}
	n := len(x.To) // of the sender's messages this receiver got one in n
	for i := range part.ns {
		part.ns[i] /= int64(n)
	}
	b := x.Batch(names.PhaseGap, part.ns, seen.tcp)
	b.Aux[names.AuxAveraged] = float64(part.averaged * n)
	b.Aux[names.AuxMessages] = float64(seen.told[toldSent]) / float64(n)
	if part.window > 0 {
		b.Aux[names.AuxWindow], b.Aux[names.AuxWindowMessages] = float64(part.window), float64(all)/parts
	}
	if t := seen.told[toldTime]; t > 0 {
		b.Aux[names.AuxSend] = float64(t)
	}
	b.Flags = seen.flags(part)
	x.AddLossy(b, bearableLoss)
}
