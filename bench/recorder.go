package bench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/units"
)

// Recorder takes one rank's samples of one slot. Its buffers are allocated and touched before a timed section, so that
// recording a time is one store.
type Recorder struct {
	Effort           // of the plan
	Task   Task      // what is recorded
	Clocks *Timeline // of an experiment that asks for Clocks, else nil
	// Samples are what was recorded.
	Samples []dataset.Sample

	memory memory
	oneWay []oneWay
	cpu    int              // that the thread was on at the last line, or when the point began
	start  [startBytes]byte // for Team.Announce, which must not allocate
}

// oneWay marks a sample whose NS are differences between two ranks' clocks.
type oneWay struct {
	sample   int     // index in samples
	from, to int     // ranks
	at       []int64 // when each was taken, on the clock of rank to
}

func NewRecorder(t Task) *Recorder {
	return &Recorder{Effort: Effort(t.Reps), Task: t, memory: memory{most: t.Memory}}
}

// All memory whose size a point or the effort decides is taken by the methods below, or charged with Charge, by the
// goroutine of Run. Beyond Task.Memory they end the task.

// Buffer returns n slots for raw times, touched. It counts to the end of the task, since samples may hold it.
func (r *Recorder) Buffer(n int) []int64 {
	r.memory.charge(&r.memory.kept, 8*min(int64(n), 1<<59)) // beyond it there is no memory anyway
	b := make([]int64, n)
	clear(b) // of a fresh page the first store is slow
	return b
}

// Payload returns n bytes that no link can compress, touched.
func (r *Recorder) Payload(n int64) []byte {
	b := r.Bytes(n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // never fails
	return b
}

// Bytes returns n bytes, for this point.
func (r *Recorder) Bytes(n int64) []byte {
	r.Charge(n)
	return make([]byte, n)
}

// Charge counts n bytes that are taken otherwise, for this point.
func (r *Recorder) Charge(n int64) { r.memory.charge(&r.memory.point, n) }

const sampleBytes, timeBytes = 2048, 10

// Batch is what an experiment knows about a finished batch. Its ranks are those within the team. Without Exp it is of
// the experiment that runs; others are by-products, such as clock offsets.
type Batch = dataset.Sample

// Add records a batch of the point, and charges what it takes until the coordinator has it: a sample takes about
// sampleBytes beside its ranks and the memory of its times, and a time at most timeBytes in the message. Do not call it
// in a timed section.
func (x Team) Add(b Batch) { x.AddLossy(b, 0) }

// AddLossy is Add where a share of the segments may have been sent again before the batch is flagged for it.
func (x Team) AddLossy(s Batch, bearable float64) {
	r := x.R
	r.memory.charge(&r.memory.kept, sampleBytes+8*int64(len(s.Ranks))+timeBytes*int64(len(s.NS)))
	s.Exp, s.Point, s.Round, s.Slot = cmp.Or(s.Exp, r.Task.Exp), x.P, r.Task.Round, r.Task.Slot
	s.Ranks = slices.Clone(s.Ranks)
	for i, k := range s.Ranks {
		s.Ranks[i] = r.Task.Team[k]
	}
	if s.NS == nil {
		s.NS = []int64{}
	}
	if cpu := x.Place().On; cpu >= 0 {
		s.Thread, r.cpu = &dataset.Thread{Host: r.Task.Team[x.Rank()], CPU: cpu, Before: r.cpu}, cpu
	}
	if s.TCP != nil {
		s.Flags = append(s.Flags, tcpFlags(*s.TCP, bearable)...)
	}
	r.Samples = append(r.Samples, s)
}

// AddOneWay records a batch whose NS are a time stamp of rank to minus a time stamp of rank from, each on its own
// clock; at are the stamps of rank to. They are corrected when the clocks have been read again after the slot, which
// adds to b.Aux.
func (x Team) AddOneWay(b Batch, from, to int, at []int64) {
	x.Add(b)
	x.R.oneWay = append(x.R.oneWay, oneWay{len(x.R.Samples) - 1, from, to, at})
}

// correct takes the clock offsets out of every one-way time.
func (r *Recorder) correct() {
	for _, o := range r.oneWay {
		s := &r.Samples[o.sample]
		for i := range s.NS {
			t := r.Clocks.ToCommon(o.to, units.Nanos(o.at[i]))
			s.NS[i] -= int64(math.Round(r.Clocks.offset(o.to, t) - r.Clocks.offset(o.from, t)))
		}
		from, to := r.Clocks.slopes[o.from], r.Clocks.slopes[o.to]
		s.Aux[names.AuxOffsetSpread] = math.Hypot(from.spread, to.spread)
		// Whatever of the bound is possible is equally likely: a uniform distribution (JCGM 100, 4.3.7).
		s.Aux[names.AuxOffsetBound] = math.Hypot(from.bound, to.bound) / math.Sqrt(3)
		if from.refused || to.refused {
			s.Flags = append(s.Flags, dataset.FlagDrift)
		}
	}
}

// Intervals returns those between ascending completions. Each is the mean of so many neighbours, averaged, that at most
// MaxIntervals are left.
func Intervals(done []int64) (ns []int64, averaged int) {
	averaged = max(1, (len(done)+MaxIntervals-1)/MaxIntervals)
	for i := averaged; i < len(done); i += averaged {
		ns = append(ns, (done[i]-done[i-averaged])/int64(averaged))
	}
	return ns, averaged
}

var ErrMemory = errors.New("more memory than the task may take")

// memory is what a task has taken, of what it may.
type memory struct {
	most    units.Bytes // 0 is no limit
	kept    units.Bytes // for samples, to the end of the task
	point   units.Bytes // until the point ends
	garbage units.Bytes // of the points before, not collected yet
}

// charge counts n bytes, before they are taken. While a task runs the collector is off: where garbage is in the way of
// what is to be taken, it is collected here.
func (m *memory) charge(to *units.Bytes, n int64) {
	if n < 0 {
		Fail("a buffer of %d bytes: want 0 or more", n)
	}
	if left := m.most - m.kept - m.point; m.most > 0 && units.Bytes(n) > left {
		Fail("a buffer of %v, where %v of %v are left: %w", units.Bytes(n), max(left, 0), m.most, ErrMemory)
	} else if m.most > 0 && units.Bytes(n) > left-m.garbage {
		runtime.GC()
		m.garbage = 0
	}
	*to += units.Bytes(n)
}

// syncExchanges is the number of round trips from which an offset is taken. The smallest of a dozen has met no queue on
// any network that is idle most of the time; more would only lengthen the slot. Where round trips are long it is fewer,
// as many as begin within syncTime, and minExchanges at least: the time of a queue is small beside theirs.
const (
	syncExchanges = 12
	minExchanges  = 4
	syncTime      = 100 * units.Millisecond
)

// clockOffset is one rank's clock compared with rank 0's, at one instant.
type clockOffset struct {
	At     units.Nanos // on rank 0's clock
	Offset units.Nanos // this rank's clock − rank 0's clock
	RTT    units.Nanos // of the exchange that gave it: the true offset is certainly within ± RTT/2
	Spread units.Nanos // median absolute deviation of the offsets of the better half of the exchanges
}

const (
	offsetNumbers = 4
	// probeBytes is the length of a probe and of its answer. They are equal, or the difference of their transfer times
	// would look like an offset.
	probeBytes = 16
	// lastProbe is the first number of a rank's last probe. The others have 0.
	lastProbe = 1
)

// SyncBytes is what one synchronisation of a pair's clocks sends on a path.
func (p Path) SyncBytes() units.Bytes {
	return units.Bytes(p.exchanges()*2*probeBytes + 3*8*offsetNumbers)
}

// exchanges is how many round trips a synchronisation has on a path.
func (p Path) exchanges() int {
	return int(min(syncExchanges, max(minExchanges, 1+syncTime/max(1, p.Trip(probeBytes)))))
}

func (o clockOffset) numbers() []int64 {
	return []int64{int64(o.At), int64(o.Offset), int64(o.RTT), int64(o.Spread)}
}

// synchronise measures every rank's clock offset from rank 0's and gives every rank the whole table, by rank. Each rank
// in turn exchanges probes with rank 0; of the four stamps t1..t4 the offset is ((t1−t2)+(t4−t3))/2, and the exchange
// with the smallest round trip counts (Cristian 1989; Mills, RFC 5905 section 8). It ends when every rank has had its
// turn: each receive is bounded by the group's deadline.
func (x Team) synchronise() (table []clockOffset) {
	var all []int64
	if x.Root() {
		all = clockOffset{At: x.Now()}.numbers()
		for k := 1; k < x.Size(); k++ {
			During(fmt.Sprintf("clock offset of rank %d", k), func() { all = append(all, x.answerProbes(k)...) })
		}
		for k := 1; k < x.Size(); k++ {
			x.SendNumbers(k, all...)
		}
	} else {
		During("clock offset", func() { all = x.probe().numbers() })
		x.SendNumbers(0, all...)
		all = x.RecvNumbers(0, offsetNumbers*x.Size())
	}
	for n := range slices.Chunk(all, offsetNumbers) {
		table = append(table, clockOffset{units.Nanos(n[0]), units.Nanos(n[1]), units.Nanos(n[2]), units.Nanos(n[3])})
	}
	return table
}

// answerProbes is rank 0's side: it stamps each probe's arrival and departure, then receives the rank's result, as
// numbers.
func (x Team) answerProbes(k int) []int64 {
	var stamps [probeBytes]byte
	for last := false; !last; {
		x.Recv(k, stamps[:])
		last = GetNumber(stamps[:]) == lastProbe
		PutNumbers(stamps[:], int64(x.Now()))
		PutNumbers(stamps[8:], int64(x.Now()))
		x.Send(k, stamps[:])
	}
	return x.RecvNumbers(k, offsetNumbers)
}

// probe is the other rank's side. Its first exchange does not count: the answer may meet more busy hosts than it did.
func (x Team) probe() clockOffset {
	var stamps [probeBytes]byte
	var all []clockOffset
	begun := x.Now()
	for last := false; !last; {
		clear(stamps[:])
		if n := len(all) + 1; n == syncExchanges || n >= minExchanges && x.Now()-begun >= syncTime {
			last = true
			PutNumbers(stamps[:], lastProbe)
		}
		t1 := x.Now()
		x.Send(0, stamps[:])
		x.Recv(0, stamps[:])
		t4 := x.Now()
		t2, t3 := units.Nanos(GetNumber(stamps[:])), units.Nanos(GetNumber(stamps[8:]))
		all = append(all, clockOffset{At: (t2 + t3) / 2, Offset: ((t1 - t2) + (t4 - t3)) / 2, RTT: (t4 - t1) - (t3 - t2)})
	}
	all = slices.SortedStableFunc(slices.Values(all[1:]), func(a, b clockOffset) int { return cmp.Compare(a.RTT, b.RTT) })
	best := all[0]
	deviations := lists.Map(all[:(len(all)+1)/2], func(o clockOffset) units.Nanos {
		return max(o.Offset-best.Offset, best.Offset-o.Offset)
	})
	slices.Sort(deviations)
	best.Spread = deviations[len(deviations)/2]
	return best
}

// maxDrift is the largest rate at which two clocks are taken to move against each other. Quartz is within 50 ppm, and
// NTP moves a monotonic clock by up to 500 ppm only while it steers a bad one.
const maxDrift = 100e-6

// Timeline turns any rank's stamps into rank 0's time: offsets before and after the slot, linear in between. Ranks that
// read rank 0's clock have no offset.
type Timeline struct {
	before, after []clockOffset // as read
	one           []bool        // by rank: reads rank 0's clock
	slopes        []line        // by rank, when both readings are there
}

// line is an offset [ns] at an instant, and its rate [ns/ns].
type line struct {
	at           units.Nanos
	offset, rate float64
	refused      bool // the offset moved by more than maxDrift and both readings' bounds allow
	// Of the two readings, which are 0 where there is one clock: half the larger of the smallest round trips to rank 0,
	// within which the offset is certain, and the larger spread [ns].
	bound, spread float64
}

func newTimeline(before []clockOffset, one []bool) *Timeline {
	tl := &Timeline{before: before, one: one}
	for k, b := range before {
		tl.slopes = append(tl.slopes, line{at: b.At})
		if !tl.isOne(k) {
			tl.slopes[k].offset = float64(b.Offset)
		}
	}
	return tl
}

// isOne reports whether rank k reads rank 0's clock.
func (tl *Timeline) isOne(k int) bool { return k == 0 || k < len(tl.one) && tl.one[k] }

// finish takes the readings after the slot. A rate of more than maxDrift within the readings' bounds is their error,
// and not the clocks': then the reading with the smaller bound holds for the whole slot. Beyond them the clocks are
// refused.
func (tl *Timeline) finish(after []clockOffset) {
	tl.after = after
	for k, a := range after {
		if tl.isOne(k) {
			continue
		}
		b, s := tl.before[k], &tl.slopes[k]
		s.bound, s.spread = float64(max(b.RTT, a.RTT))/2, float64(max(b.Spread, a.Spread))
		elapsed, moved := float64(a.At-b.At), float64(a.Offset-b.Offset)
		switch certain := float64(a.RTT+b.RTT) / 2; {
		case elapsed <= 0:
		case math.Abs(moved) <= maxDrift*elapsed:
			s.rate = moved / elapsed
		case math.Abs(moved) > maxDrift*elapsed+certain:
			s.rate, s.refused = moved/elapsed, true
		case a.RTT < b.RTT:
			s.at, s.offset = a.At, float64(a.Offset)
		}
	}
}

// offset returns rank k's clock − rank 0's clock at instant t of rank 0's clock [ns].
func (tl *Timeline) offset(k int, t units.Nanos) float64 {
	s := tl.slopes[k]
	return s.offset + s.rate*float64(t-s.at)
}

// ToLocal turns an instant of rank 0's clock into rank k's.
func (tl *Timeline) ToLocal(k int, t units.Nanos) units.Nanos {
	return t + units.Nanos(math.Round(tl.offset(k, t)))
}

// ToCommon turns an instant of rank k's clock into rank 0's. The offset is taken at the local instant minus the first
// offset, which is off by drift × offset: below a nanosecond for any offset below a second at 1 ppm.
func (tl *Timeline) ToCommon(k int, t units.Nanos) units.Nanos {
	approx := t - units.Nanos(math.Round(tl.slopes[k].offset))
	return t - units.Nanos(math.Round(tl.offset(k, approx)))
}

// MaxRTT is the largest of the ranks' smallest round trips to rank 0.
func (tl *Timeline) MaxRTT() units.Nanos {
	var m units.Nanos
	for _, o := range tl.before {
		m = max(m, o.RTT)
	}
	return m
}

// record adds a line for each rank's offset: NS are those before and after the slot as they were read, zero where there
// is one clock.
func (tl *Timeline) record(x Team) {
	for k := 1; k < len(tl.before); k++ {
		batch := Batch{Exp: names.Clock, Phase: names.PhaseOffset, Ranks: []int{0, k}, NS: []int64{0, 0},
			Aux: map[string]float64{names.AuxBound: tl.slopes[k].bound}}
		if !tl.isOne(k) {
			batch.NS = []int64{int64(tl.before[k].Offset), int64(tl.after[k].Offset)}
		}
		if tl.slopes[k].refused {
			batch.Flags = []string{dataset.FlagDrift}
		}
		x.Add(batch)
	}
}
