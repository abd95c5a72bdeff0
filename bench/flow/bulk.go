package flow

import (
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
	// halvesAgree is by how much the bytes of the window's halves may differ.
	halvesAgree = 0.03
)

// counted is what a receiver saw of a stream, and its sender told it.
type counted struct {
	write  int64       // bytes of a write
	window units.Nanos // length of the window
	ramp   units.Nanos // before it
	bytes  [slices + 1]float64
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

// bulk is one direction of a stream of bytes over some connections a pair, in large writes, of which the receivers
// count what comes in a window of time that all pairs share.
type bulk struct {
	Role
	connections int
}

// run streams until a window was steady, or so many times as the plan allows. What it returns says something at a
// receiver only.
//
// A window in which a receiver's window limited the sender, or bbr looked for the round trip, or whose halves differ,
// is followed by another after a ramp twice as long, because windows and buffers grow with what was read. The last one
// is flagged with what was wrong with it.
func (x bulk) run() *counted {
	segment := x.Max(x.Counters(x.Peer()).MSS) // the largest of the pairs [B]
	trip := x.trip()
	perByte := x.trial(segment)
	last := bulkTries - 1
	if x.R.Effort.Thin() {
		last = thinTries - 1
	}
	for try := 0; ; try++ {
		s := plan(perByte, trip, segment, try)
		s.at = x.Announce(bench.Start{Period: s.window}).At
		seen := x.once(s)
		seen.flags, perByte = x.judge(seen)
		// A trial is too short to show the rate of a long path: where it was far off, writes were too small.
		again := len(seen.flags) > 0 || plan(perByte, trip, segment, try).write > 2*s.write
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
	c := &counted{write: s.write, window: s.window, ramp: s.ramp, tcp: &dataset.TCP{}}
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

// judge gives every rank the same flags of a try, and the time per byte of the slowest pair's connection [ns/B]. Only
// senders know what limited them, only receivers what came.
func (x bulk) judge(c *counted) (flags []string, perByte float64) {
	var first, second float64
	var limited, probed, slowest int64
	if x.Sends() {
		limited = c.tcp.RwndLimited * int64(units.Microsecond) / int64(x.connections)
		if c.probed {
			probed = 1
		}
	} else {
		first, second = c.halves()
		slowest = int64(1000 * float64(c.window) * float64(x.connections) / max(1, first+second)) // ps/B
	}
	limited, probed, slowest = x.Max(limited), x.Max(probed), x.Max(slowest)
	one, two := x.Sum(int64(first)), x.Sum(int64(second))
	if float64(limited) > windowShare*float64(c.window) {
		flags = append(flags, dataset.FlagWindow)
	}
	if probed > 0 {
		flags = append(flags, dataset.FlagProbeRTT)
	}
	if d := float64(two - one); 2*max(d, -d) > halvesAgree*float64(one+two) || one == 0 || two == 0 {
		flags = append(flags, dataset.FlagUnsteady)
	}
	return flags, max(float64(slowest)/1000, 1e-3)
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
