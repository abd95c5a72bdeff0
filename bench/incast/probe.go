package incast

import (
	"fmt"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

const (
	idleProbes = 50   // at effort 1
	maxProbes  = 1000 // of one phase
	probeEvery = 2 * units.Millisecond
	probeShare = 2   // segments' times from probe to probe, at least: more would load the port
	minLoad    = 200 // probes under load, at least, where that leaves probeShare
	loadTime   = 1500 * units.Millisecond
	// loadSegments is how many segments' times the load lasts at least: congestion control needs about as many to fill
	// a buffer of half as many.
	loadSegments = 4000
	quietTime    = 20 * units.Millisecond // in which the last probes arrive
	// maxLoad bounds a load on a fast network, where buffers fill sooner, over the root's link at effort 1.
	maxLoad = 192 * units.MiB
	// largestSegment is as large as segments get: on the loopback.
	largestSegment = 64 * units.KiB

	// A probe: its tag, its number, and when it was sent.
	probeBytes = 64
	atNumber   = 8
	atSent     = 16
	// pollTime is how long the root looks for nothing but probes while no stream has anything for it.
	pollTime = 50 * units.Microsecond
)

// Two loss-based congestion controls: they send until the buffer overflows. The second is in every Linux kernel.
const (
	lossBased       = "cubic"
	lossBasedAlways = "reno"
)

// loadBytes bounds a load, from all streams. Each stream may have half as much again as its share.
func loadBytes(e bench.Effort) units.Bytes { return e.Bytes(maxLoad, maxLoad/8) }

// prober is one rank's part in the probe through a saturated port: ranks 1 to p'−1 stream, rank p' probes, rank 0
// receives both.
type prober struct {
	Team
	chunk, segment int64
	buf            []byte // of the streams
	received       []byte // has room for any datagram: one of an earlier burst may be late
	seen           probes
}

// probes are those that arrived at the root.
type probes struct {
	tag          int64
	number, sent []int64
	at           []int64
	planned      int // how many are sent in all
	first        int // of those that count, which are under load
}

// probe measures the point on connections of their own, because what was measured before has changed the old ones.
func probe(x Team) error {
	name, err := agreeCongestion(x)
	if err != nil {
		return err
	}
	return bench.Reopened(x.G, plane.Socket{Congestion: name}, func() error {
		y := prober{Team: x, buf: x.R.Payload(int64(ReadBytes)), received: make([]byte, maxDatagram)}
		return y.run()
	})
}

// agreeCongestion chooses the congestion control, the same for all: if one host does not have it, its Reopen fails and
// that of the others does not. What every host uses already every host has; otherwise it is the one that is always
// there.
func agreeCongestion(x Team) (string, error) {
	c, err := x.G.Counters(x.Connection())
	if err != nil {
		return "", err
	}
	var other int64
	if c.Congestion != lossBased {
		other = 1
	}
	if other, err = x.Max(other); err != nil || other > 0 {
		return lossBasedAlways, err
	}
	return lossBased, nil
}

func (x *prober) run() error {
	if err := x.agreeSegment(); err != nil {
		return err
	}
	var per units.Nanos // of a segment
	for range 2 {       // trials of one chunk a stream: a load of no length ends with its first
		t, _, err := x.load(bench.Start{}, 0)
		if err != nil {
			return err
		}
		per = t.Interval()
	}
	every := max(probeEvery, probeShare*per)
	if err := x.idle(every); err != nil {
		return err
	}
	bytes := float64(loadBytes(x.R.Effort))
	length := max(x.R.Time(loadTime, loadTime/5), loadSegments*per)
	length = min(length, bench.MaxStream, max(units.Nanos(float64(per)*bytes/float64(x.segment)), MinLength))
	chunks := int(1.5*bytes/float64(x.chunk))/(x.G.Size()-2) + 1
	every = max(probeShare*per, min(every, length/minLoad), length/maxProbes)
	return x.underLoad(bench.Start{Period: length, Reps: chunks}, every)
}

// agreeSegment makes chunks whole segments, so that what arrives can be counted in them.
func (x *prober) agreeSegment() error {
	c, err := x.G.Counters(x.Connection())
	if err != nil {
		return err
	}
	if x.segment, err = x.Max(c.MSS); err != nil {
		return err
	}
	if x.segment > int64(largestSegment) {
		return fmt.Errorf("segments of %d bytes, want at most %d", x.segment, int64(largestSegment))
	}
	x.chunk = bench.WholeSegments(int64(bench.ChunkSize), x.segment)
	if x.segment <= 0 { // not known
		x.segment = x.chunk
	}
	return nil
}

// probing reports whether this rank sends the probes.
func (x *prober) probing() bool { return x.G.Rank() == x.G.Size()-1 }

// load runs one announced load with a probe at every interval, none where that is 0. A sender gets how much it sent:
// chunks, or probes.
func (x *prober) load(s bench.Start, every units.Nanos) (*Arrivals, int64, error) {
	s, err := x.Announce(s)
	if err != nil {
		return nil, 0, err
	}
	t := NewArrivals(s, x.G.Size()-2, x.chunk, x.segment)
	var sent int64
	switch {
	case x.Root():
		err = x.receive(s, t)
	case !x.probing():
		sent, err = x.stream(s, x.buf[:x.chunk])
	case every > 0:
		sent, err = x.sendProbes(s, every)
	}
	return t, sent, err
}

// idle probes the network while nothing else is on it.
func (x *prober) idle(every units.Nanos) error {
	x.expect(0, min(x.R.Reps(idleProbes, 10), maxProbes), 0)
	s, err := x.Announce(bench.Start{Period: every})
	if err != nil {
		return err
	}
	if x.probing() {
		_, err = x.sendProbes(s, s.Period)
		return err
	}
	if !x.Root() {
		return nil
	}
	if err := x.await(s.At + units.Nanos(x.seen.planned)*s.Period + 2*x.R.Clocks.MaxRTT() + quietTime); err != nil {
		return err
	}
	x.addProbes(names.PhaseProbeIdle)
	return nil
}

// underLoad probes the port while it is saturated.
func (x *prober) underLoad(s bench.Start, every units.Nanos) error {
	at, err := x.Announce(bench.Start{Period: every, Reps: int(s.Period / every)})
	if err != nil {
		return err
	}
	x.expect(1, at.Reps, int(bench.RampShare*float64(at.Reps)))
	before, err := x.G.Counters(x.Connection())
	if err != nil {
		return err
	}
	t, sent, err := x.load(s, at.Period)
	if err != nil {
		return err
	}
	if x.Root() {
		if err := x.await(x.G.Now() + 2*x.R.Clocks.MaxRTT() + quietTime); err != nil {
			return err
		}
	}
	tcp, _, err := x.Collect(before, sent)
	if err != nil || !x.Root() {
		return err
	}
	x.addProbes(names.PhaseProbe)
	b := t.Batch(x.Team, names.PhaseProbeDrain, tcp, t.End())
	b.Aux[names.AuxSegment] = float64(x.segment)
	x.R.Add(b)
	return nil
}

// stream sends msg to the root until the end of the load, or s.Reps times. The last byte of the last message is 1, that
// of all others 0.
func (x *prober) stream(s bench.Start, msg []byte) (sent int64, err error) {
	mark, end := &msg[len(msg)-1], s.At+s.Period
	*mark = 0
	if err := x.G.WaitUntil(s.At); err != nil {
		return 0, err
	}
	for x.G.Now() < end && sent < int64(s.Reps)-1 {
		if err := x.G.Send(0, msg); err != nil {
			return sent, err
		}
		sent++
	}
	*mark = 1
	return sent + 1, x.G.Send(0, msg)
}

// sendProbes sends the planned probes from the start on.
func (x *prober) sendProbes(s bench.Start, every units.Nanos) (int64, error) {
	msg := x.buf[:probeBytes]
	bench.PutNumbers(msg, x.seen.tag)
	for i := range x.seen.planned {
		if err := x.G.WaitUntil(s.At + units.Nanos(i)*every); err != nil {
			return int64(i), err
		}
		bench.PutNumbers(msg[atNumber:], int64(i), int64(x.G.Now()))
		if err := x.G.SendDatagram(0, msg); err != nil {
			return int64(i), err
		}
	}
	return int64(x.seen.planned), nil
}

// receive takes the streams to their ends, and the probes among them. A probe has its turn before every read, and while
// there is nothing to read, so that it is not stamped late. It ends with the streams; after their time, when one is
// silent for as long as the group's deadline.
func (x *prober) receive(s bench.Start, t *Arrivals) error {
	overdue := s.At + s.Period + graceTime
	for busy := 0; t.Open > 0; {
		if now := x.G.Now(); x.seen.planned > 0 && now < overdue {
			var err error
			if busy, err = x.pending(busy); err != nil {
				return err
			}
			if busy == 0 {
				now += pollTime
			}
			got, err := x.takeProbe(now)
			if err != nil {
				return err
			}
			if got || busy == 0 {
				continue
			}
		}
		from, n, at, err := x.G.RecvAny(x.buf)
		if err != nil {
			return err
		}
		t.Take(from, x.buf[:n], at)
	}
	return nil
}

// pending returns a streaming rank that has bytes waiting, 0 for none. It asks first before the others.
func (x *prober) pending(first int) (int, error) {
	streams := x.G.Size() - 2
	for i := range streams {
		rank := 1 + (max(first, 1)-1+i)%streams
		n, err := x.G.Pending(rank)
		if err != nil {
			return 0, err
		}
		if n > 0 {
			return rank, nil
		}
	}
	return 0, nil
}

// takeProbe receives one datagram, if there is one until then, and keeps what it says if it is a probe of this phase.
func (x *prober) takeProbe(until units.Nanos) (got bool, err error) {
	b := x.received
	d, err := x.G.RecvDatagram(b, until)
	if err != nil || !d.Got {
		return false, err
	}
	p := &x.seen
	if d.Bytes == probeBytes && bench.GetNumber(b) == p.tag && len(p.at) < cap(p.at) {
		p.number = append(p.number, bench.GetNumber(b[atNumber:]))
		p.sent = append(p.sent, bench.GetNumber(b[atSent:]))
		p.at = append(p.at, int64(d.At))
	}
	return true, nil
}

// await receives the probes that are still on their way, until then or until all are here.
func (x *prober) await(until units.Nanos) error {
	for len(x.seen.at) < x.seen.planned {
		if got, err := x.takeProbe(until); err != nil || !got {
			return err
		}
	}
	return nil
}

// expect prepares for n probes, of which those from first on count.
func (x *prober) expect(phase int64, n, first int) {
	x.seen = probes{tag: datagramTag(x.Team) + phase, planned: n, first: first}
	if x.Root() {
		x.seen.number, x.seen.sent, x.seen.at = x.R.Buffer(n)[:0], x.R.Buffer(n)[:0], x.R.Buffer(n)[:0]
	}
}

// addProbes records the one-way times of the probes that count. A lost one is missing.
func (x *prober) addProbes(phase string) {
	p := &x.seen
	var ns, at []int64
	for i, number := range p.number {
		if number >= int64(p.first) {
			ns, at = append(ns, p.at[i]-p.sent[i]), append(at, p.at[i])
		}
	}
	last := x.G.Size() - 1
	b := bench.Batch{
		Phase: phase, Point: x.P, Ranks: []int{last, 0}, NS: ns,
		Aux: map[string]float64{names.AuxSent: float64(p.planned - p.first), names.AuxReceived: float64(len(ns))},
	}
	if len(ns) == 0 {
		b.NS, b.Flags = []int64{0}, []string{dataset.FlagTimeout}
		x.R.Add(b)
		return
	}
	x.R.AddOneWay(b, last, 0, at)
}
