package bench

import (
	"fmt"

	"calib/internal/plane"
	"calib/internal/units"
)

const (
	idleProbes  = 50   // at effort 1
	maxProbes   = 1000 // of one phase
	probeEvery  = 2 * units.Millisecond
	probeShare  = 2   // segments' times from probe to probe, at least: more would load the port
	probeOf     = 200 // probes under load, at least, where that leaves probeShare
	probeLength = 1500 * units.Millisecond
	// probeFill is how many segments' times the load lasts at least: congestion control needs about as many to fill a buffer of
	// half as many.
	probeFill  = 4000
	probeQuiet = 20 * units.Millisecond
	// loadStandard bounds a load on a fast network, where buffers fill sooner, over the root's link at effort 1.
	loadStandard = 192 * units.MiB
	// segmentLargest is as large as segments get: on the loopback.
	segmentLargest = 64 * units.KiB
)

// Two loss-based congestion controls: they send until the buffer overflows. The second is in every Linux kernel.
const (
	lossBased       = "cubic"
	lossBasedAlways = "reno"
)

// loadBytes bounds a load, from all streams. Each stream may have half as much again as its share.
func loadBytes(r *Recorder) units.Bytes {
	return units.Bytes(r.Reps(int(loadStandard), int(loadStandard/8)))
}

// prober is one rank's part in the probe through a saturated port: ranks 1 to p'−1 stream, rank p' probes, rank 0 receives
// both.
type prober struct {
	funnel
	chunk, segment int64
	buf            []byte // of the streams
	gram           []byte // has room for any datagram: one of an earlier burst may be late
	seen           probes
}

// probe measures the point on connections of their own, because what went before has left its mark on the old ones.
func (x funnel) probe() error {
	name, err := x.lossBased()
	if err != nil {
		return err
	}
	return reopened(x.g, plane.Socket{Congestion: name}, func() error {
		y := prober{funnel: x, buf: x.r.payload(int64(anyBytes)), gram: make([]byte, datagramMost)}
		return y.run()
	})
}

// lossBased chooses the congestion control, the same for all: an option that one host does not have would leave the team in
// two minds. What every host uses already every host has; otherwise it is the one that cannot be missing.
func (x funnel) lossBased() (string, error) {
	c, err := x.g.Counters(x.connection())
	if err != nil {
		return "", err
	}
	var other units.Nanos
	if c.Congestion != lossBased {
		other = 1
	}
	if other, err = x.everyone(other); err != nil || other > 0 {
		return lossBasedAlways, err
	}
	return lossBased, nil
}

func (x *prober) run() error {
	if err := x.agreeSegment(); err != nil {
		return err
	}
	var per units.Nanos // of a segment
	for range 2 {
		t, _, err := x.load(start{Reps: trialChunks}, 0)
		if err != nil {
			return err
		}
		per = t.interval()
	}
	every := max(probeEvery, probeShare*per)
	if err := x.idle(every); err != nil {
		return err
	}
	bytes := float64(loadBytes(x.r))
	length := max(units.Nanos(x.r.Reps(int(probeLength), int(probeLength/5))), probeFill*per)
	length = min(length, maxStream, max(units.Nanos(float64(per)*bytes/float64(x.segment)), arrivalsShort))
	chunks := int(1.5*bytes/float64(x.chunk))/(x.g.Size()-2) + 1
	return x.underLoad(start{Period: length, Reps: chunks}, max(probeShare*per, min(every, length/probeOf), length/maxProbes))
}

// agreeSegment makes chunks whole segments, so that what arrives can be counted in them.
func (x *prober) agreeSegment() error {
	c, err := x.g.Counters(x.connection())
	if err != nil {
		return err
	}
	mss, err := x.everyone(units.Nanos(c.MSS))
	if err != nil {
		return err
	}
	x.segment = int64(mss)
	if x.segment > int64(segmentLargest) {
		return fmt.Errorf("flood: segments of %d bytes, want at most %d", x.segment, int64(segmentLargest))
	}
	x.chunk = wholeSegments(int64(streamChunk), x.segment)
	if x.segment <= 0 { // not known
		x.segment = x.chunk
	}
	return nil
}

// probing reports whether this rank sends the probes.
func (x *prober) probing() bool { return x.g.Rank() == x.g.Size()-1 }

// load runs one announced load with a probe at every interval, none where that is 0. A sender gets how much it sent: chunks,
// or probes.
func (x *prober) load(s start, every units.Nanos) (*inflow, int64, error) {
	s, err := x.announce(s)
	if err != nil {
		return nil, 0, err
	}
	t := newInflow(s, x.g.Size()-2, x.chunk, x.segment)
	switch {
	case x.root():
		return t, 0, x.receive(s, t)
	case x.probing() && every == 0:
		return t, 0, nil
	case x.probing():
		sent, err := x.sendProbes(s, every)
		return t, sent, err
	}
	sent, err := x.pour(s, x.buf[:x.chunk])
	return t, sent, err
}

// idle probes the network while nothing else is on it.
func (x *prober) idle(every units.Nanos) error {
	x.expect(0, min(x.r.Reps(idleProbes, 10), maxProbes), 0)
	s, err := x.announce(start{Period: every})
	if err != nil {
		return err
	}
	if x.probing() {
		_, err = x.sendProbes(s, s.Period)
		return err
	}
	if !x.root() {
		return nil
	}
	if err := x.await(s.At + units.Nanos(x.seen.planned)*s.Period + 2*x.r.time.maxRTT() + probeQuiet); err != nil {
		return err
	}
	x.addProbes("probe-idle")
	return nil
}

// underLoad probes the port while it is saturated.
func (x *prober) underLoad(s start, every units.Nanos) error {
	at, err := x.announce(start{Period: every, Reps: int(s.Period / every)})
	if err != nil {
		return err
	}
	x.expect(1, at.Reps, int(rampShare*float64(at.Reps)))
	before, err := x.g.Counters(x.connection())
	if err != nil {
		return err
	}
	t, sent, err := x.load(s, at.Period)
	if err != nil {
		return err
	}
	if x.root() {
		if err := x.await(x.g.Now() + 2*x.r.time.maxRTT() + probeQuiet); err != nil {
			return err
		}
	}
	tcp, _, err := x.collect(before, []int64{sent})
	if err != nil || !x.root() {
		return err
	}
	x.addProbes(phaseProbe)
	b := Batch{Phase: "probe-drain", Point: x.p, Ranks: x.everybody(), TCP: tcp, Aux: map[string]float64{}}
	t.into(&b, t.last.at)
	b.Aux["segment_bytes"] = float64(x.segment)
	x.r.Add(b)
	return nil
}

// pour sends msg to the root until the end of the stream, or s.Reps times. The last byte of the last message is 1, that of
// all others 0.
func (x funnel) pour(s start, msg []byte) (sent int64, err error) {
	mark, end := &msg[len(msg)-1], s.At+s.Period
	*mark = 0
	if err := x.g.WaitUntil(s.At); err != nil {
		return 0, err
	}
	for sent < int64(s.Reps)-1 && x.g.Now() < end {
		if err := x.g.Send(0, msg); err != nil {
			return sent, err
		}
		sent++
	}
	*mark = 1
	return sent + 1, x.g.Send(0, msg)
}
