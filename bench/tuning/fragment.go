// Package tuning measures what a program may choose: the size of fragments, the socket buffers, and Nagle's algorithm.
package tuning

import (
	"maps"

	"calib/bench"
	"calib/bench/roundtrip"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Fragment passes a message to and fro in fragments, each sent and received by a call of its own, and records half of
// each round trip: T(M, f) of M bytes in fragments of f (section 3.1.2 of the latency-hiding paper, figure 11). The
// cost of a call is in favour of large fragments; that hosts and network work on several at once is in favour of small
// ones. f = 256 B·2^i below M, every second i where the effort is below a half, and M, the message unfragmented.
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
		msg := roundtrip.InPieces(1-x.Rank(), x.R.Payload(x.P[names.FactorBytes]), int(x.P[names.FactorFragment]))
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

// NoDelay passes messages to and fro with Nagle's algorithm (nagle 1: TCP_NODELAY left off) and without (nagle 0), in
// one write or, from two bytes up, in two, a header and the rest, and records half of each round trip. Nagle keeps a
// partial segment back while anything is unacknowledged; the receiver keeps the acknowledgement back for some 40 ms
// unless it has something to send. So the sizes lie around whole segments, and around the buffers that a connection
// begins with: a point has segments and an offset, or bytes. Messages may share segments in all of it: that is what the
// algorithm is about.
var NoDelay = &bench.Experiment{
	Name:   names.NoDelay,
	Points: nodelayPoints,
	Ranges: bench.Ranges{
		names.FactorBytes: {Least: 0, Most: bench.MaxSize}, names.FactorSegments: {Least: 0, Most: maxSegments},
		names.FactorOffset: {Least: -maxOffset, Most: maxOffset}, names.FactorWrites: {Least: 1, Most: 2}, names.FactorNagle: bench.Flag,
	},
	// For segments of the size that the plan knows. Where they are longer a batch moves more.
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		return nodelayBounds(nodelayBytes(p, int64(l.SegmentSize())), p).Cost(l)
	},
	// A batch whose exchanges begin to wait for delayed acknowledgements is cut short.
	Run: func(x bench.Team) {
		x.Reopened(plane.Socket{NoEOR: true, Nagle: x.P[names.FactorNagle] == 1}, func() {
			mss, size := agreeSize(x)
			b := x.R.Payload(size)
			msg := roundtrip.Whole(1-x.Rank(), b)
			if x.P[names.FactorWrites] == 2 {
				msg = roundtrip.InTwo(1-x.Rank(), b, min(nodelayHeader, size/2))
			}
			roundtrip.Record(x, msg, nodelayBounds(size, x.P), "",
				map[string]float64{names.AuxBytes: float64(size), names.AuxMSS: float64(mss)})
		})
	},
}

const (
	nodelayHeader = 16 // bytes of the first of two writes, at most half the message
	nodelayLeast  = 2  // repetitions: one that waits for a delayed acknowledgement takes a tenth of a second
	maxNodelay    = 64 * units.MiB
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
	if l.Sizes != nil || !l.Thin() {
		sizes = append(sizes, bench.SizePoints(l.SizesOr(nodelayBuffers), nil)...)
	}
	var out []bench.Point
	for _, s := range sizes {
		for writes := int64(1); writes <= min(2, nodelayBytes(s, segment)); writes++ {
			for nagle := range int64(2) {
				p := maps.Clone(s)
				p[names.FactorWrites], p[names.FactorNagle] = writes, nagle
				out = append(out, p)
			}
		}
	}
	return out
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

// agreeSize tells rank 1 the segment size of rank 0's connection and the message size that follows from it.
func agreeSize(x bench.Team) (mss, size int64) {
	if x.Rank() == 1 {
		n := x.RecvNumbers(0, 2)
		if least := x.P[names.FactorWrites]; n[1] < least || n[1] > int64(maxNodelay) {
			bench.Fail("rank 0 announced messages of %d bytes, want %d to %d", n[1], least, maxNodelay)
		}
		return n[0], n[1]
	}
	if mss = x.Counters(1).MSS; mss <= 0 {
		mss = int64(bench.EthernetSegment)
	}
	size = nodelayBytes(x.P, mss)
	x.SendNumbers(1, mss, size)
	return mss, size
}
