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

// Bulk is one direction of a stream of bytes over some connections a pair, in large writes, of which the receivers
// count what comes in a window of time that all pairs share.
type Bulk struct {
	Role
	Connections int
}

// Counted is what a receiver saw of a stream, and its sender told it.
type Counted struct {
	Write  int64       // bytes of a write
	Window units.Nanos // length of the window
	Ramp   units.Nanos // before it
	Bytes  [slices + 1]float64
	// Of the sender in the window; of several connections the sums.
	TCP *dataset.TCP
	// CPU time of the threads at the two ends in the window.
	SendCPU, RecvCPU units.Nanos
	// Flags of the stream as a whole, the same for every pair.
	Flags []string
}

// Halves are the bytes in the two halves of the window.
func (c *Counted) Halves() (first, second float64) {
	return c.Bytes[slices/2] - c.Bytes[0], c.Bytes[slices] - c.Bytes[slices/2]
}

// Run streams until a window was steady, or so many times as the plan allows. A sender gets nil.
//
// A window in which a receiver's window limited the sender, or bbr looked for the round trip, or whose halves differ,
// is followed by another after a ramp twice as long, because windows and buffers grow with what was read. The last one
// is flagged with what was wrong with it.
func (x Bulk) Run() (*Counted, error) {
	segment, err := x.segment()
	if err != nil {
		return nil, err
	}
	trip, err := x.trip()
	if err != nil {
		return nil, err
	}
	perByte, err := x.trial(segment)
	if err != nil {
		return nil, err
	}
	last := bulkTries - 1
	if x.R.Effort.Thin() {
		last = thinTries - 1
	}
	for try := 0; ; try++ {
		s := plan(perByte, trip, segment, try)
		start, err := x.Announce(bench.Start{Period: s.window})
		if err != nil {
			return nil, err
		}
		s.at = start.At
		seen, err := x.once(s)
		if err != nil {
			return nil, err
		}
		v, err := x.judge(seen)
		if err != nil {
			return nil, err
		}
		// A trial is too short to show the rate of a long path: where it was far off, writes were too small.
		again := len(v.flags) > 0 || plan(v.perByte, trip, segment, try).write > 2*s.write
		perByte = v.perByte
		if !again || try == last {
			if x.Sends() {
				return nil, nil
			}
			seen.Flags = v.flags
			return &seen.Counted, nil
		}
	}
}

// segment gives every rank the largest segment of the pairs [B].
func (x Bulk) segment() (int64, error) {
	c, err := x.G.Counters(x.Peer())
	if err != nil {
		return 0, err
	}
	return x.Max(c.MSS)
}

// trial sends some whole segments, and gives every rank the time per byte of the slowest pair [ns/B].
func (x Bulk) trial(segment int64) (float64, error) {
	b := make([]byte, bench.WholeSegments(int64(bench.ChunkSize), segment))
	var span units.Nanos
	if x.Sends() {
		for range bench.TrialChunks {
			if err := x.G.Send(x.Peer(), b); err != nil {
				return 0, err
			}
		}
	} else {
		var err error
		if span, err = x.RecvSpan(bench.TrialChunks, b); err != nil {
			return 0, err
		}
	}
	longest, err := x.Max(int64(span))
	return float64(max(1, longest)) / float64((bench.TrialChunks-1)*len(b)), err
}

// attempt is one rank's part in a try.
type attempt struct {
	Counted
	probed bool // at a sender: bbr's PROBE_RTT
}

// once runs one try over all connections, and lets the receiver know what the sender saw.
func (x Bulk) once(s schedule) (*attempt, error) {
	ends := make([]lineEnd, x.Connections)
	for i := range ends {
		ends[i].schedule = s
		if x.Sends() {
			ends[i].buf = x.R.Payload(s.write)
		} else {
			ends[i].buf = x.R.Bytes(int64(readSize))
		}
	}
	err := x.G.Lines(x.Peer(), x.Connections, func(i int, l plane.Line) error {
		if x.Sends() {
			return ends[i].send(l)
		}
		return ends[i].receive(l)
	})
	if err != nil {
		return nil, err
	}
	a := &attempt{Counted: Counted{Write: s.write, Window: s.window, Ramp: s.ramp, TCP: &dataset.TCP{}}}
	var cpu units.Nanos
	for i := range ends {
		e := &ends[i]
		tcp := e.last.TCP.Sub(e.first.TCP)
		*a.TCP = a.TCP.Add(tcp)
		cpu += e.cpu()
		a.probed = a.probed || e.probed
		for k, v := range e.bytes {
			a.Bytes[k] += v
		}
	}
	return a, x.tell(a, cpu)
}

// tell hands the receiver the sender's counters and CPU time.
func (x Bulk) tell(a *attempt, cpu units.Nanos) error {
	b := make([]byte, bench.CounterBytes+8)
	if x.Sends() {
		a.SendCPU = cpu
		bench.PutCounters(b, a.TCP)
		bench.PutNumbers(b[bench.CounterBytes:], int64(cpu))
		return x.G.Send(x.Peer(), b)
	}
	if err := x.G.Recv(x.Peer(), b); err != nil {
		return err
	}
	own := *a.TCP
	bench.GetCounters(b, a.TCP)
	disturbed(a.TCP, own)
	a.SendCPU, a.RecvCPU = units.Nanos(bench.GetNumber(b[bench.CounterBytes:])), cpu
	return nil
}

// verdict is what all ranks think of a try.
type verdict struct {
	flags   []string
	perByte float64 // of the slowest pair's connection [ns/B]
}

// judge gives every rank the same verdict. Only senders know what limited them, only receivers what came.
func (x Bulk) judge(a *attempt) (v verdict, err error) {
	var first, second float64
	var limited, probed, slowest int64
	if x.Sends() {
		limited = a.TCP.RwndLimited * int64(units.Microsecond) / int64(x.Connections)
		if a.probed {
			probed = 1
		}
	} else {
		first, second = a.Halves()
		slowest = int64(1000 * float64(a.Window) * float64(x.Connections) / max(1, first+second)) // ps/B
	}
	if limited, err = x.Max(limited); err != nil {
		return v, err
	}
	if probed, err = x.Max(probed); err != nil {
		return v, err
	}
	if slowest, err = x.Max(slowest); err != nil {
		return v, err
	}
	one, err := x.Sum(int64(first))
	if err != nil {
		return v, err
	}
	two, err := x.Sum(int64(second))
	if err != nil {
		return v, err
	}
	if float64(limited) > windowShare*float64(a.Window) {
		v.flags = append(v.flags, dataset.FlagWindow)
	}
	if probed > 0 {
		v.flags = append(v.flags, dataset.FlagProbeRTT)
	}
	if d := float64(two - one); 2*max(d, -d) > halvesAgree*float64(one+two) || one == 0 || two == 0 {
		v.flags = append(v.flags, dataset.FlagUnsteady)
	}
	v.perByte = max(float64(slowest)/1000, 1e-3)
	return v, nil
}

// PerWrite are the times of a write's bytes in the slices of the window [ns]; slices without bytes have none.
func (c *Counted) PerWrite() []int64 {
	var ns []int64
	for i := range slices {
		if n := c.Bytes[i+1] - c.Bytes[i]; n > 0 {
			ns = append(ns, int64(float64(c.Window)/slices*float64(c.Write)/n+0.5))
		}
	}
	return ns
}

// Averaged is how many writes a slice holds on average, at least one.
func (c *Counted) Averaged() float64 {
	return max(1, (c.Bytes[slices]-c.Bytes[0])/float64(c.Write)/slices)
}
