// Package tuning measures what a program may choose: the size of fragments, the socket buffers, and Nagle's algorithm.
package tuning

import (
	"slices"

	"calib/bench"
	"calib/bench/roundtrip"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/stats"
	"calib/internal/units"
)

// Fragment passes a message to and fro in fragments of f bytes, each by a call of its own: T(M, f) of section 3.1.2 of
// the latency-hiding paper, figure 11. The fit says which f is best.
var Fragment = &bench.Experiment{
	Name: names.Fragment,
	Points: func(l bench.Limits) []bench.Point {
		var out []bench.Point
		for _, size := range l.SizesOr(fragmentSizes) {
			m := int64(size)
			for f := int64(smallestFragment); f < m; f *= bench.Thinned(l, int64(2), 4) {
				out = append(out, bench.Point{names.FactorBytes: m, names.FactorFragment: f})
			}
			out = append(out, bench.Point{names.FactorBytes: m, names.FactorFragment: m})
		}
		return out
	},
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorFragment: bench.Sizes},
	Cost:   func(l bench.Limits, p bench.Point) bench.Cost { return fragmentBounds(p).Cost(l) },
	Run: func(x bench.Team) {
		f := int(x.P[names.FactorFragment])
		msg := roundtrip.InPieces(1-x.Rank(), x.R.Payload(x.P[names.FactorBytes]), f, f)
		roundtrip.Record(x, msg, fragmentBounds(x.P), "", nil)
	},
}

const (
	smallestFragment = 256
	fragmentLeast    = 3 // repetitions: many fragments take long on a slow network
)

var fragmentSizes = []units.Bytes{16 * units.KiB, 64 * units.KiB, 256 * units.KiB, units.MiB}

func fragmentBounds(p bench.Point) roundtrip.Bounds {
	m, f := p[names.FactorBytes], p[names.FactorFragment]
	return roundtrip.Bounds{Bytes: units.Bytes(m), Sends: int((m + f - 1) / f), Least: fragmentLeast}
}

// NoDelay passes messages to and fro with Nagle's algorithm and without, in one write or in two, a header and the rest.
// The sizes lie around whole segments, and around the buffers that a connection begins with: a point has segments and
// an offset, or bytes. The fit says at which sizes Nagle costs.
var NoDelay = &bench.Experiment{
	Name:   names.NoDelay,
	Points: nodelayPoints,
	Ranges: bench.Ranges{
		names.FactorBytes: {Most: bench.MaxSize}, names.FactorOffset: {Least: -maxOffset, Most: maxOffset},
		names.FactorSegments: {Most: maxSegments}, names.FactorWrites: {Least: 1, Most: 2}, names.FactorNagle: bench.Flag,
	},
	// For segments of the size that the plan knows. Where they are longer a batch moves more.
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		return nodelayBounds(nodelayBytes(p, int64(l.SegmentSize())), p).Cost(l)
	},
	// A batch whose exchanges begin to wait for delayed acknowledgements is cut short.
	Run: func(x bench.Team) {
		x.Reopened(plane.Socket{NoEOR: true, Nagle: x.P[names.FactorNagle] == 1}, func() {
			size := agreeSize(x)
			b := x.R.Payload(size)
			msg := roundtrip.Whole(1-x.Rank(), b)
			if x.P[names.FactorWrites] == 2 {
				msg = roundtrip.InPieces(1-x.Rank(), b, int(min(nodelayHeader, size/2)), len(b))
			}
			roundtrip.Record(x, msg, nodelayBounds(size, x.P), "", map[string]float64{names.AuxBytes: float64(size)})
		})
	},
}

const (
	nodelayHeader = 16 // bytes of the first of two writes, at most half the message
	nodelayLeast  = 2  // repetitions: one that waits for a delayed acknowledgement takes a tenth of a second
)

// nodelaySizes are segments and an offset in bytes.
var nodelaySizes = [][2]int64{{0, 1}, {0, 100}, {1, -1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {3, 100}, {6, 1}}

// maxSegments and maxOffset are far beyond those.
const (
	maxSegments = 1 << 12
	maxOffset   = 1 << 20
)

// nodelayBuffers are the send and receive buffers that Linux gives a new connection, and a byte more.
var nodelayBuffers = []units.Bytes{16 * units.KiB, 16*units.KiB + 1, 128 * units.KiB, 128*units.KiB + 1}

func nodelayPoints(l bench.Limits) []bench.Point {
	var sizes []bench.Point
	segment := int64(l.SegmentSize())
	if l.Sizes == nil {
		for _, s := range nodelaySizes {
			p := bench.Point{names.FactorSegments: s[0], names.FactorOffset: s[1]}
			if x := units.Bytes(nodelayBytes(p, segment)); l.MaxBytes == 0 || x <= l.MaxBytes {
				sizes = append(sizes, p)
			}
		}
	}
	if l.Sizes != nil || !l.Effort.Thin() {
		sizes = append(sizes, bench.Values(names.FactorBytes, l.SizesOr(nodelayBuffers)...)...)
	}
	all := bench.Cross(sizes, bench.Values(names.FactorWrites, 1, 2), bench.Values(names.FactorNagle, 0, 1))
	return slices.DeleteFunc(all, func(p bench.Point) bool { return nodelayBytes(p, segment) < p[names.FactorWrites] })
}

// nodelayBytes is the size of a message at a point.
func nodelayBytes(p bench.Point, mss int64) int64 {
	if x := p[names.FactorBytes]; x > 0 {
		return x
	}
	return p[names.FactorSegments]*mss + p[names.FactorOffset]
}

func nodelayBounds(bytes int64, p bench.Point) roundtrip.Bounds {
	return roundtrip.Bounds{Bytes: units.Bytes(bytes), Sends: int(p[names.FactorWrites]), Least: nodelayLeast}
}

// agreeSize tells rank 1 the size of a message, which follows from the segment size of rank 0's connection.
func agreeSize(x bench.Team) (size int64) {
	if x.Rank() == 1 {
		return x.RecvNumbers(0, 1)[0]
	}
	mss := x.Counters(1).MSS
	if mss <= 0 {
		mss = int64(bench.EthernetSegment)
	}
	size = nodelayBytes(x.P, mss)
	x.SendNumbers(1, size)
	return size
}

// Buffer measures what socket buffers do to messages of M bytes (sections 3.1.1 and 3.1.3 of the latency-hiding paper,
// figure 20): one way, both ways at once in fragments, and both ways at once by sends of all of M, which may be a
// deadlock. That is recorded once, and ended by going on in fragments. The fit says which buffer is enough.
var Buffer = &bench.Experiment{
	Name: names.Buffer,
	Points: func(l bench.Limits) []bench.Point {
		buffers := bench.Values(names.FactorBuffer, bench.Thinned(l, socketBuffers, socketBuffersQuick)...)
		return bench.Cross(bench.Values(names.FactorBytes, l.SizesOr(bufferMessages)...), buffers)
	},
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorBuffer: {Least: 0, Most: bench.MaxSize}},
	// Fragments are counted as large as the smallest buffer that the kernel grants.
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		one := bufferBounds(p, 1).Cost(l)
		b := bufferBounds(p, handshakeSends+1)
		both := b.Cost(l)
		both.Bytes += units.Bytes(b.Messages(l.Effort) * handshakeBytes)
		if s := p[names.FactorBuffer]; s > 0 && p[names.FactorBytes] > 2*s { // likely a deadlock
			one.Time += deadlockAfter(l.OnPath().Message(p[names.FactorBytes], 1))
		}
		return one.Add(both).Add(both)
	},
	// Each batch is within the group's deadline and at most one deadlock of maxStall.
	Run: func(x bench.Team) {
		s := units.Bytes(x.P[names.FactorBuffer])
		x.R.Charge(2 * int64(s)) // which the kernel takes
		x.Reopened(plane.Socket{SndBuf: s, RcvBuf: s}, func() {
			var patience units.Nanos
			bench.During("one way", func() { patience = oneWay(x) })
			fragment := fragmentOf(x)
			bench.During("interleaved", func() { atOnce(x, names.PhaseInterleaved, &bothWays{fragment: fragment}) })
			bench.During("both ways", func() { atOnce(x, names.PhaseBoth, &bothWays{patience: patience}) })
		})
	},
}

const (
	bufferLeast = 3 // repetitions

	// A deadlock is when the transport takes nothing for stallTrips one-way times. That is longer than a retransmission
	// time-out, which is no deadlock.
	stallTrips = 20
	minStall   = 250 * units.Millisecond
	maxStall   = units.Second
)

// bufferMessages are the M of a design, socketBuffers the sizes asked of the kernel; 0 leaves them to it.
var (
	bufferMessages = []units.Bytes{units.KiB, 8 * units.KiB, 64 * units.KiB, 512 * units.KiB}
	socketBuffers  = []units.Bytes{
		0, 4 * units.KiB, 16 * units.KiB, 64 * units.KiB, 256 * units.KiB, units.MiB, 4 * units.MiB,
	}
	socketBuffersQuick = []units.Bytes{0, 4 * units.KiB, 64 * units.KiB, units.MiB}
)

func bufferBounds(p bench.Point, sends int) roundtrip.Bounds {
	return roundtrip.Bounds{Bytes: units.Bytes(p[names.FactorBytes]), Sends: sends, Least: bufferLeast}
}

// oneWay measures the ping-pong and returns, at rank 0, after what time without progress an exchange is a deadlock.
func oneWay(x bench.Team) units.Nanos {
	msg := roundtrip.Whole(1-x.Rank(), x.R.Payload(x.P[names.FactorBytes]))
	t := roundtrip.Record(x, msg, bufferBounds(x.P, 1), names.PhaseOneWay, nil)
	if !x.Root() {
		return 0
	}
	return deadlockAfter(units.Nanos(stats.Median(stats.Floats(t.NS))))
}

// deadlockAfter is for how long an exchange that is a deadlock has moved nothing. oneWay is the time of a message.
func deadlockAfter(oneWay units.Nanos) units.Nanos {
	return min(max(stallTrips*oneWay, minStall), maxStall)
}

// fragmentOf is the largest fragment that is no larger than this rank's buffers: what was asked for, or half of what
// the kernel granted, since it counts its own bookkeeping.
func fragmentOf(x bench.Team) int {
	if s := x.P[names.FactorBuffer]; s > 0 {
		return int(s)
	}
	c := x.Counters(1 - x.Rank())
	if half := min(c.SndBuf, c.RcvBuf) / 2; half > 0 {
		return int(half)
	}
	return int(x.P[names.FactorBytes])
}

// atOnce measures one way of exchanging messages at once.
func atOnce(x bench.Team, phase string, both *bothWays) {
	both.peer = 1 - x.Rank()
	both.out, both.in = x.R.Payload(x.P[names.FactorBytes]), x.R.Payload(x.P[names.FactorBytes])
	t := roundtrip.Run(x, both, bufferBounds(x.P, handshakeSends+1))
	b := bench.Batch{Phase: phase, Ranks: []int{0, 1}, NS: t.NS, TCP: t.TCP}
	if t.Final {
		b.NS, b.Flags = t.NS[len(t.NS)-1:], []string{dataset.FlagDeadlock}
	}
	if x.Root() {
		x.Add(b)
	}
}

// bothWays is the exchange in which both ranks send a message at once and receive the other's. With fragment 0 each
// sends all of it before it receives, and may wait for ever: when the transport takes nothing for patience, that is a
// stall, and the rank goes on as if interleaved. A stall of either rank is a deadlock. In the end both ranks know of
// it, all of both messages has passed, and the connection can be used as before.
type bothWays struct {
	peer     int
	out, in  []byte
	fragment int                 // of the interleaved exchange [B]
	patience units.Nanos         // of an exchange that is not interleaved; rank 0's counts
	trip     units.Nanos         // rank 0: the shortest handshake so far
	word     [handshakeWord]byte // of the handshake: an array local to a call would be allocated each time
}

const (
	// A handshake is rank 0's word (last, head start, patience), an answer, rank 1's stall, and whether there was any.
	handshakeSends = 2 // of one rank
	handshakeWord  = 1 + 8 + 8
	handshakeBytes = 2 * handshakeWord
)

// Lead has rank 1 start half a round trip after that has answered the handshake, so that both start at once.
func (w *bothWays) Lead(x bench.Team, last bool) roundtrip.Trip {
	b := w.word[:]
	b[0] = bench.Bit(last)
	bench.PutNumbers(b[1:], int64(w.trip/2), int64(w.patience))
	asked := x.Now()
	x.Send(w.peer, b)
	x.Recv(w.peer, b[:1])
	start := x.Now()
	own := w.pass(x, start)
	took := x.Elapsed(start)
	if trip := start - asked; w.trip == 0 || trip < w.trip {
		w.trip = trip
	}
	x.Recv(w.peer, b[:8])
	if its := bench.GetNumber(b); own == 0 || its > 0 && its < own {
		own = its // the one that was seen first
	}
	t := roundtrip.Trip{NS: took, Took: took, Final: own > 0}
	if t.Final {
		t.NS = own
	}
	b[0] = bench.Bit(t.Final)
	x.Send(w.peer, b[:1])
	return t
}

func (w *bothWays) Follow(x bench.Team) (last bool) {
	b := w.word[:]
	x.Recv(w.peer, b)
	last = b[0] == bench.Bit(true)
	head := units.Nanos(bench.GetNumber(b[1:]))
	w.patience = min(units.Nanos(bench.GetNumber(b[9:])), maxStall)
	x.Send(w.peer, b[:1])
	x.WaitUntil(x.Now() + min(head, maxStall))
	own := w.pass(x, x.Now())
	bench.PutNumbers(b, own)
	x.Send(w.peer, b[:8])
	x.Recv(w.peer, b[:1])
	return last || b[0] == bench.Bit(true)
}

// pass sends and receives one message. It returns how long after the start sending was given up [ns], 0 if it was not.
// It ends when all has passed, or at the group's receive deadline.
func (w *bothWays) pass(x bench.Team, start units.Nanos) (stalled int64) {
	sent, fragment := 0, w.fragment
	if fragment == 0 {
		if sent = x.SendSome(w.peer, w.out, w.patience); sent == len(w.out) {
			x.Recv(w.peer, w.in)
			return 0
		}
		stalled, fragment = max(1, x.Elapsed(start)), len(w.out)
	}
	if got := bench.Push(x.Group, w.peer, w.out[sent:], w.in, fragment); got < len(w.in) {
		x.Recv(w.peer, w.in[got:])
	}
	return stalled
}
