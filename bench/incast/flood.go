package incast

import (
	"fmt"
	"hash/fnv"
	"slices"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Flood finds B_L, how many packets the network holds for host 0 before it loses any (Tam and Wang 2000, section 3.2),
// in two ways that share no assumption: the share of a burst of datagrams that arrives (eq. 4), or what a full port
// held; and the delay of small datagrams through a port that TCP streams keep full.
var Flood = &bench.Experiment{
	Name: names.Flood, Clocks: true, Stamps: true, // a burst has a common start, a probe a one-way time
	Points: floodPoints,
	Ranges: bench.Ranges{
		names.FactorBytes: {Least: 0, Most: maxDatagram}, names.FactorPackets: {Least: 0, Most: maxBurst},
		names.FactorSenders: bench.TeamSize, names.FactorProbe: bench.Flag,
	},
	Size: teamSize,
	Cost: floodCost,
	Run: func(x bench.Team) {
		probes := x.P[names.FactorProbe] != 0
		if probes && x.Size() < 3 || !probes && x.P[names.FactorBytes] < minDatagram {
			bench.Fail("a probe needs two senders, and a datagram %d bytes", minDatagram)
		}
		bench.Check(x.OpenDatagrams(openTime))
		if probes {
			probe(newTeam(x))
		} else {
			newBursts(newTeam(x)).run()
		}
	},
}

const (
	minBurst  = 16    // datagrams of the shortest burst, and of the trial
	maxBurst  = 16384 // of the longest
	burstReps = 3     // of a short burst, at effort 1
	// burstTime bounds the time in which a burst is sent, at any effort: only a burst longer than B_L shows it. Its
	// arrival may last arrivalFactor times that.
	burstTime     = 3 * units.Second
	arrivalFactor = 4

	minDatagram = 24   // bytes: what a burst's datagram has to say
	maxDatagram = 1399 // bytes
)

// sizes: the largest fills the port soonest, and B_L is the number of those; a second tells whether the port counts
// packets or bytes. Which of the smaller ones the senders can fill a port with depends on how fast their CPUs are: of
// those that did, the fit uses all. A smaller size has the bursts of every other length.
var floodSizes = []units.Bytes{64, 250, 500, 1000}

// floodPoints are bursts of 16·2^i datagrams of the largest size and 16·4^i of the others, from all other hosts and,
// where those are four or more, from half of them; and the probe. Where the effort is below a half, they are bursts of
// 16·4^i datagrams of the largest size, and the probe. Bursts that would be skipped on the path are none.
func floodPoints(l bench.Limits) []bench.Point {
	most, factor := int64(l.Hosts-1), int64(2)
	senders := []int64{most}
	own := slices.DeleteFunc(l.SizesUpTo(maxDatagram, floodSizes), func(m units.Bytes) bool { return m < minDatagram })
	switch {
	case l.Effort.Thin():
		factor, own = 4, own[max(0, len(own)-1):]
	case most >= 4:
		senders = append(senders, most/2)
	}
	var out []bench.Point
	for _, n := range senders {
		for i, m := range own {
			step := factor
			if i < len(own)-1 {
				step *= factor
			}
			gap := units.Nanos(float64(m) * l.OnPath().PerByte)
			for k := int64(minBurst); k <= maxBurst && !tooLong(k, n, gap); k *= step {
				out = append(out, bench.Point{names.FactorBytes: int64(m), names.FactorPackets: k, names.FactorSenders: n})
			}
		}
	}
	if most >= 2 {
		out = append(out, bench.Point{names.FactorProbe: 1, names.FactorSenders: most})
	}
	return out
}

func floodCost(l bench.Limits, p bench.Point) bench.Cost {
	path, n := l.OnPath(), p[names.FactorSenders]
	if p[names.FactorProbe] != 0 {
		senders := units.Bytes(n)
		trials := 2 * bench.TrialChunks * senders * largestSegment
		return bench.Cost{
			Bytes: trials + loadBytes(l.Effort)*3/2 + largestSegment*senders + 2*maxProbes*probeBytes,
			Time: 3*path.Start(teamSize(p)) + 2*l.Effort.Time(loadTime, loadTime/5) +
				3*path.Message(int64(2*bench.TrialChunks*senders*bench.ChunkSize), 1), // the trials, and what a full port holds
		}
	}
	sent := minBurst + p[names.FactorPackets]*int64(maxReps(l.Effort))
	burst := path.Message(p[names.FactorPackets]*p[names.FactorBytes], 1)
	return bench.Cost{
		Bytes: units.Bytes(sent * p[names.FactorBytes]),
		// Beside the repetitions, the trial and, where they lost datagrams, a burst that keeps the port full.
		Time: units.Nanos(maxReps(l.Effort)+2)*(path.Start(teamSize(p))+maxQuiet/4) +
			burst + bench.Repeated(burst, burstTime, 1, maxReps(l.Effort)),
	}
}

// maxReps bounds the repetitions of a burst.
func maxReps(e bench.Effort) int { return e.Reps(burstReps, 1) }

// openTime is how long datagrams may take to be opened.
const openTime = 10 * units.Second

// datagramTag names the datagrams of one point of one slot, and with a number added one burst of them, so that a late
// one of another is not taken for one of its own.
func datagramTag(x team) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", x.R.Task.Round, x.R.Task.Slot, x.P.Key())
	return int64(h.Sum64())
}

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
	team
	chunk, segment int64
	buf            []byte // of the streams
	received       []byte // has room for any datagram: one of an earlier burst may be late
	seen           probes
}

// probes are those that arrived at the root.
type probes struct {
	tag           int64
	planned, came int
	first         int     // of those that count, which are under load
	ns, at        []int64 // of those: one-way times, when they came
}

// probe measures the point on connections of their own, because what was measured before has changed the old ones.
func probe(x team) {
	x.Reopened(plane.Socket{Congestion: agreeCongestion(x)}, func() {
		y := prober{team: x, buf: x.R.Payload(int64(readBytes)), received: make([]byte, maxDatagram)}
		y.run()
	})
}

// agreeCongestion chooses the congestion control, the same for all: if one host does not have it, its Reopen fails and
// that of the others does not. What every host uses already every host has; otherwise it is the one that is always
// there.
func agreeCongestion(x team) string {
	if x.Max(int64(bench.Bit(x.Counters(x.connection()).Congestion != lossBased))) > 0 {
		return lossBasedAlways
	}
	return lossBased
}

func (x *prober) run() {
	x.agreeSegment()
	var per units.Nanos // of a segment
	for range 2 {       // trials of one chunk a stream: a load of no length ends with its first
		t, _ := x.load(bench.Start{}, 0)
		per = t.interval()
	}
	every := max(probeEvery, probeShare*per)
	x.idle(every)
	bytes := float64(loadBytes(x.R.Effort))
	length := max(x.R.Time(loadTime, loadTime/5), loadSegments*per)
	length = min(length, bench.MaxStream, max(units.Nanos(float64(per)*bytes/float64(x.segment)), minLength))
	chunks := int(1.5*bytes/float64(x.chunk))/(x.Size()-2) + 1
	every = max(probeShare*per, min(every, length/minLoad), length/maxProbes)
	x.underLoad(bench.Start{Period: length, Reps: chunks}, every)
}

// agreeSegment makes chunks whole segments, so that what arrives can be counted in them.
func (x *prober) agreeSegment() {
	x.segment = x.Max(x.Counters(x.connection()).MSS)
	x.chunk = bench.WholeSegments(int64(bench.ChunkSize), x.segment)
}

func (x *prober) probing() bool { return x.Rank() == x.Size()-1 }

// load runs one announced load with a probe at every interval, none where that is 0. A sender gets how much it sent:
// chunks, or probes.
func (x *prober) load(s bench.Start, every units.Nanos) (t *arrivals, sent int64) {
	s = x.Announce(s)
	t = newArrivals(s, x.Size()-2, x.chunk, x.segment)
	switch {
	case x.Root():
		x.receive(s, t)
	case !x.probing():
		sent = x.stream(s, x.buf[:x.chunk], 0)
	case every > 0:
		sent = x.sendProbes(s, every)
	}
	return t, sent
}

// idle probes the network while nothing else is on it.
func (x *prober) idle(every units.Nanos) {
	x.expect(0, min(x.R.Reps(idleProbes, 10), maxProbes), 0)
	s := x.Announce(bench.Start{Period: every})
	switch {
	case x.probing():
		x.sendProbes(s, s.Period)
	case x.Root():
		x.await(s.At + units.Nanos(x.seen.planned)*s.Period + 2*x.R.Clocks.MaxRTT() + quietTime)
		x.addProbes(names.PhaseProbeIdle)
	}
}

// underLoad probes the port while it is saturated.
func (x *prober) underLoad(s bench.Start, every units.Nanos) {
	at := x.Announce(bench.Start{Period: every, Reps: int(s.Period / every)})
	x.expect(1, at.Reps, int(bench.RampShare*float64(at.Reps)))
	before := x.Counters(x.connection())
	t, sent := x.load(s, at.Period)
	if x.Root() {
		x.await(x.Now() + 2*x.R.Clocks.MaxRTT() + quietTime)
	}
	tcp, _ := x.collect(before, sent)
	if !x.Root() {
		return
	}
	x.addProbes(names.PhaseProbe)
	b := t.batch(x.team, names.PhaseProbeDrain, tcp, t.last.at)
	b.Aux[names.AuxSegment] = float64(x.segment)
	x.Add(b)
}

func (x *prober) sendProbes(s bench.Start, every units.Nanos) int64 {
	msg := x.buf[:probeBytes]
	bench.PutNumbers(msg, x.seen.tag)
	for i := range x.seen.planned {
		x.WaitUntil(s.At + units.Nanos(i)*every)
		bench.PutNumbers(msg[atNumber:], int64(i), int64(x.Now()))
		bench.Check(x.SendDatagram(0, msg))
	}
	return int64(x.seen.planned)
}

// receive takes the streams to their ends, and the probes among them. A probe has its turn before every read, and while
// there is nothing to read, so that it is not stamped late. It ends with the streams; after their time, when one is
// silent for as long as the group's deadline.
func (x *prober) receive(s bench.Start, t *arrivals) {
	overdue := s.At + s.Period + graceTime
	for busy := 0; t.open > 0; {
		if now := x.Now(); x.seen.planned > 0 && now < overdue {
			if busy = x.pending(busy); busy == 0 {
				now += pollTime
			}
			if got := x.takeProbe(now); got || busy == 0 {
				continue
			}
		}
		from, n, at := x.RecvAny(x.buf)
		t.take(from, x.buf[:n], at)
	}
}

// pending returns a streaming rank that has bytes waiting, 0 for none. It asks first before the others.
func (x *prober) pending(first int) int {
	streams := x.Size() - 2
	for i := range streams {
		if rank := 1 + (max(first, 1)-1+i)%streams; x.Pending(rank) > 0 {
			return rank
		}
	}
	return 0
}

// takeProbe receives one datagram, if there is one until then, and keeps what it says if it is a probe of this phase.
func (x *prober) takeProbe(until units.Nanos) (got bool) {
	b, p := x.received, &x.seen
	d := bench.Must(x.RecvDatagram(b, until))
	if d.Got && d.Bytes == probeBytes && bench.GetNumber(b) == p.tag && p.came < p.planned {
		p.came++
		if bench.GetNumber(b[atNumber:]) >= int64(p.first) {
			p.ns, p.at = append(p.ns, int64(d.At)-bench.GetNumber(b[atSent:])), append(p.at, int64(d.At))
		}
	}
	return d.Got
}

// await receives the probes that are still on their way, until then or until all are here.
func (x *prober) await(until units.Nanos) {
	for x.seen.came < x.seen.planned && x.takeProbe(until) {
	}
}

// expect prepares for n probes, of which those from first on count.
func (x *prober) expect(phase int64, n, first int) {
	x.seen = probes{tag: datagramTag(x.team) + phase, planned: n, first: first}
	if x.Root() {
		x.seen.ns, x.seen.at = x.R.Buffer(n)[:0], x.R.Buffer(n)[:0]
	}
}

// addProbes records the one-way times of the probes that count. A lost one is missing.
func (x *prober) addProbes(phase string) {
	p, last := &x.seen, x.Size()-1
	b := bench.Batch{
		Phase: phase, Ranks: []int{last, 0}, NS: p.ns,
		Aux: map[string]float64{names.AuxSent: float64(p.planned - p.first), names.AuxReceived: float64(len(p.ns))},
	}
	if len(p.ns) == 0 {
		b.NS, b.Flags = []int64{0}, []string{dataset.FlagTimeout}
		x.Add(b)
		return
	}
	x.AddOneWay(b, last, 0, p.at)
}
