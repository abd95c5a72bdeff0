package flow

import (
	"math"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/internal/units"
)

// What a stream of bytes is made of.
const (
	// bulkTries, and thinTries of a thin plan, are how often a stream is run at most. All but the last are warm-up:
	// hosts that are never steady would otherwise spend the time of several rounds on one.
	bulkTries, thinTries = 4, 2
	// readSize is the room of a read [B].
	readSize = units.MiB
	// slices are equal parts of the window, whose times per write are the raw times of the stream.
	slices = 20
	// grown is by how much the second half may be faster, where the slices tell, before windows and buffers have grown.
	grown = 0.01
)

// counted is what a receiver saw of a stream, and its sender told it.
type counted struct {
	schedule
	bytes [slices + 1]float64
	// Of the sender in the window; of several connections the sums.
	tcp *dataset.TCP
	// CPU time of the threads at the two ends in the window.
	sendCPU, recvCPU units.Nanos
	// Flags of the stream as a whole, the same for every pair.
	flags []string
	// At a sender: bbr's PROBE_RTT.
	probed bool
}

// halves are the bytes in the two halves of the window.
func (c *counted) halves() (first, second float64) {
	return c.bytes[slices/2] - c.bytes[0], c.bytes[slices] - c.bytes[slices/2]
}

// growing reports whether the second half is faster than the first by more than grown, and by more than twice what the
// scatter of slices within the halves explains.
func (c *counted) growing() bool {
	first, second := c.halves()
	squares := 0.0
	for i := range slices {
		mean := first
		if i >= slices/2 {
			mean = second
		}
		off := c.bytes[i+1] - c.bytes[i] - mean/(slices/2)
		squares += off * off
	}
	noise := math.Sqrt(squares / (slices - 2) * slices)
	return second-first > max(grown*(first+second)/2, 2*noise)
}

// bulk is one direction of a stream of bytes over some connections a pair, in large writes, of which the receivers
// count what comes in a window of time that all pairs share.
type bulk struct {
	Role
	connections int
}

// run streams until a window counts, or so many times as the plan allows. What it returns says something at a receiver
// only. A window is followed by another, after a ramp twice as long, where judge finds something wrong with it; the
// last one is flagged with that.
func (x bulk) run() *counted {
	segment := x.Max(x.Counters(x.Peer()).MSS) // the largest of the pairs [B]
	trip := x.trip()
	perByte := x.trial(segment)
	last := bulkTries - 1
	if x.R.Effort.Thin() {
		last = thinTries - 1
	}
	// The trial's rate is that of one connection alone, which all may share; a try's is what each of them had.
	for try, sharing := 0, x.connections; ; try, sharing = try+1, 1 {
		s := plan(perByte, sharing, trip, segment, try)
		s.at = x.Announce(bench.Start{Period: s.window}).At
		seen := x.once(s)
		var growing bool
		seen.flags, growing, perByte = x.judge(seen)
		// A trial is too short to show the rate of a long path: where it was far off, writes were too small.
		again := len(seen.flags) > 0 || growing || plan(perByte, sharing, trip, segment, try).write > 2*s.write
		if !again || try == last {
			return seen
		}
	}
}

// trial sends some whole segments, and gives every rank the time per byte of the slowest pair [ns/B].
func (x bulk) trial(segment int64) float64 {
	b := make([]byte, bench.WholeSegments(int64(bench.ChunkSize), segment))
	longest := x.Max(int64(x.span(bench.TrialChunks, b)))
	return float64(max(1, longest)) / float64((bench.TrialChunks-1)*len(b))
}

// once runs one try over all connections, and lets the receiver know what the sender saw.
func (x bulk) once(s schedule) *counted {
	ends := make([]lineEnd, x.connections)
	for i := range ends {
		ends[i].schedule = s
		if x.Sends() {
			ends[i].buf = x.R.Payload(s.write)
		} else {
			ends[i].buf = x.R.Bytes(int64(readSize))
		}
	}
	bench.Check(x.Lines(x.Peer(), x.connections, func(i int, l plane.Line) error {
		return bench.Caught(func() {
			if x.Sends() {
				ends[i].send(l)
			} else {
				ends[i].receive(l)
			}
		})
	}))
	c := &counted{schedule: s, tcp: &dataset.TCP{}}
	var cpu units.Nanos
	for i := range ends {
		e := &ends[i]
		*c.tcp = c.tcp.Add(e.last.TCP.Sub(e.first.TCP))
		cpu += e.cpu()
		c.probed = c.probed || e.probed
		for k, v := range e.bytes {
			c.bytes[k] += v
		}
	}
	sent := []int64{int64(cpu)}
	x.hand(x.Peer(), sent, c.tcp)
	c.sendCPU, c.recvCPU = units.Nanos(sent[0]), cpu
	return c
}

// judge gives every rank the same flags of a try, whether the rate of a pair still grows, and the time per byte of the
// slowest pair's connection [ns/B]. Only senders know what limited them, only receivers what came.
func (x bulk) judge(c *counted) (flags []string, growing bool, perByte float64) {
	const ofReceivers = 1 << 32
	var first, second float64
	var limited, marks, slowest int64 // marks count ranks: the senders that probed, and the receivers of a growing rate
	if x.Sends() {
		limited = c.tcp.RwndLimited * int64(units.Microsecond) / int64(x.connections)
		marks = int64(bench.Bit(c.probed))
	} else {
		first, second = c.halves()
		marks = ofReceivers * int64(bench.Bit(c.growing()))
		slowest = int64(1000 * float64(c.window) * float64(x.connections) / max(1, first+second)) // ps/B
	}
	limited, marks, slowest = x.Max(limited), x.Sum(marks), x.Max(slowest)
	one, two := x.Sum(int64(first)), x.Sum(int64(second))
	if float64(limited) > windowShare*float64(c.window) {
		flags = append(flags, dataset.FlagWindow)
	}
	if marks%ofReceivers > 0 {
		flags = append(flags, dataset.FlagProbeRTT)
	}
	if one == 0 || two == 0 {
		flags = append(flags, dataset.FlagUnsteady)
	}
	return flags, marks >= ofReceivers, max(float64(slowest)/1000, 1e-3)
}

// perWrite are the times of a write's bytes in the slices of the window [ns]; slices without bytes have none.
func (c *counted) perWrite() []int64 {
	var ns []int64
	for i := range slices {
		if n := c.bytes[i+1] - c.bytes[i]; n > 0 {
			ns = append(ns, int64(float64(c.window)/slices*float64(c.write)/n+0.5))
		}
	}
	return ns
}

// averaged is how many writes a slice holds on average, at least one.
func (c *counted) averaged() float64 {
	return max(1, (c.bytes[slices]-c.bytes[0])/float64(c.write)/slices)
}

// probeEvery is how many times in a window a sender asks whether bbr looks for the round trip, which takes it 200 ms.
const probeEvery = 10

// lineEnd is one end of one connection in one try.
type lineEnd struct {
	schedule
	buf         []byte          // a write of the sender, the room of the receiver
	first, last plane.LineState // at the beginning and the end of the window
	probed      bool
	bytes       [slices + 1]float64 // at a receiver, that had come at the ends of the slices
}

// cpu is the CPU time of the window: that between the two states, which were read a little later, in proportion.
func (e *lineEnd) cpu() units.Nanos {
	if span := e.last.At - e.first.At; span > 0 {
		return units.Nanos(float64(e.last.CPU-e.first.CPU) * float64(e.window) / float64(span))
	}
	return 0
}

// send writes until the window has ended, and waits until the receiver has all of it. The first byte of a write is 1
// where it is the last.
func (e *lineEnd) send(l plane.Line) {
	bench.Check(l.Bound(e.unsent, e.room))
	bench.Check(l.WaitUntil(e.at))
	// Where the path is slow, one write may block until the window is over: then the state at the start stands for that
	// at its beginning.
	e.first = bench.Must(l.State())
	e.buf[0] = 0
	look, step := e.begin(), e.window/probeEvery
	for now := e.at; now < e.end(); now = l.Now() {
		if now >= look {
			if look == e.begin() {
				e.first = bench.Must(l.State())
			}
			e.probed = bench.Must(l.ProbesRTT()) || e.probed
			look += step
		}
		bench.Check(l.Send(e.buf))
	}
	e.last = bench.Must(l.State())
	e.buf[0] = 1
	bench.Check(l.Send(e.buf))
	bench.Check(l.Bound(0, 0))
	bench.Must(l.RecvSome(e.buf[:1]))
}

// receive reads to the end of the marked write, and notes how much had come at the end of every slice. Between two
// reads bytes are taken to come evenly.
func (e *lineEnd) receive(l plane.Line) {
	next, bound := 0, e.begin()
	before, had, marked := e.at, int64(0), false
	for !marked || had%e.write != 0 {
		n := int64(bench.Must(l.RecvSome(e.buf)))
		now, has := l.Now(), had+n
		for at := (had + e.write - 1) / e.write * e.write; at < has; at += e.write {
			marked = marked || e.buf[at-had] == 1
		}
		for ; next <= slices && now >= bound; bound = e.begin() + e.window*units.Nanos(next)/slices {
			part := float64(bound-before) / float64(max(1, now-before))
			e.bytes[next] = float64(had) + max(0, part)*float64(n)
			if next == 0 {
				e.first = bench.Must(l.State())
			}
			if next++; next > slices {
				e.last = bench.Must(l.State())
			}
		}
		before, had = now, has
	}
	if next <= slices { // nothing came after the window
		e.first, e.last = plane.LineState{}, plane.LineState{}
	}
	for ; next <= slices; next++ {
		e.bytes[next] = float64(had)
	}
	bench.Check(l.Send(e.buf[:1]))
}

// How one try of a bulk is laid out.
const (
	// writeSize is the largest write [B]: the time per byte does not fall with larger ones
	// (docs/explanation/measuring.md). It is whole pages, which a receiver copies two to three times as fast as what
	// lies across them.
	writeSize = 512 * units.KiB
	// windowTrips is how many of the path's round trips a window holds at least, windowBytes how many bytes of a
	// connection, sharedBytes where it shares that rate: what it brings in the window is known to about a segment.
	windowTrips = 20
	windowBytes = 160 * units.KiB
	sharedBytes = 40 * units.KiB
	// writeShare is the largest share of the window that a write may take: on slow paths writes are smaller.
	writeShare = 1.0 / 64
	// unsentShare is the share of the window in which the path carries what may wait unsent: a slow path would need
	// seconds to empty a send buffer that is full. On fast paths the buffer is smaller.
	unsentShare = 2 * writeShare
	// roomShare is the share of a stream in which the path carries what may be on its way, minRoom that at least [B].
	// A switch or a modem with deep queues would take megabytes, and seconds to deliver them.
	roomShare = 1.0 / 8
	minRoom   = 64 * units.KiB
	// roomTrips is how many round trips' bytes may be on their way at least.
	roomTrips = 8
	// clearTrips is how many round trips a trial lasts that tells the path's rate within a factor of two: one of fewer
	// is mostly slow start, and what is on its way is not bounded.
	clearTrips = 4
)

// schedule is what all ranks know of one try.
type schedule struct {
	at, ramp, window units.Nanos // at on the rank's own clock
	write            int64
	unsent, room     int64 // bounds of a connection's bytes [B]; 0 is none
}

func (s *schedule) begin() units.Nanos { return s.at + s.ramp }
func (s *schedule) end() units.Nanos   { return s.at + s.ramp + s.window }

// plan lays out a try for a path that takes perByte [ns/B] for one connection's bytes, or those of several that share
// its rate, and whose round trip is trip.
func plan(perByte float64, sharing int, trip units.Nanos, segment int64, try int) schedule {
	bytes := max(windowBytes, sharedBytes*units.Bytes(sharing))
	s := schedule{window: max(bench.BulkWindow, windowTrips*trip, units.Nanos(perByte*float64(bytes)))}
	s.window = min(s.window, bench.MaxStream)
	s.ramp = min(units.Nanos(bench.RampShare/(1-bench.RampShare)*float64(s.window))<<try, bench.MaxStream)
	s.unsent = int64(max(1, unsentShare*float64(s.window)/perByte))
	if perByte*float64((bench.TrialChunks-1)*bench.ChunkSize) >= clearTrips*float64(trip) {
		s.room = max(int64(minRoom), int64(max(roomShare*float64(s.window), roomTrips*float64(trip))/perByte))
	}
	s.write = int64(writeSize)
	if fits := writeShare * float64(s.window) / perByte; fits < float64(writeSize) {
		s.write = bench.WholeSegments(int64(fits), segment)
	}
	return s
}

// bulkLikely is how often a bulk is run on average: most windows count at once.
const bulkLikely = 1.1

// bulkTimeOn is how long one direction of a bulk is expected to take while n pairs have one each, over k connections.
func bulkTimeOn(path bench.Path, n, k int) units.Nanos {
	perByte := path.PerByte * path.Sharing(n)
	s := plan(max(perByte, 0.01), k, 2*path.Latency, int64(bench.EthernetSegment), 0)
	start := path.Start(2 * n)
	trial := path.Latency + units.Nanos(perByte*bench.TrialChunks*float64(bench.ChunkSize))
	around := units.Nanos(k-1)*2*path.Trip(0) + units.Nanos(perByte*float64(s.room)) // to open the others, and to drain
	return 2*start + trial + units.Nanos(bulkLikely*float64(start+s.ramp+s.window+around))
}
