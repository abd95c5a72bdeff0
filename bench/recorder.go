package bench

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Recorder takes one rank's samples of one slot. Its buffers are allocated and touched before a timed section, so that
// recording a time is one store.
type Recorder struct {
	Effort           // of the plan
	Task   Task      // what is recorded
	Clocks *Timeline // of a Synchronised experiment, else nil

	memory  memory
	samples []dataset.Sample
	oneWay  []oneWay
	start   [startBytes]byte // for Team.Announce, which must not allocate
}

// oneWay marks a sample whose NS are differences between two ranks' clocks.
type oneWay struct {
	sample   int     // index in samples
	from, to int     // ranks
	at       []int64 // when each was taken, on the clock of rank to
}

// NewRecorder returns a recorder for a task.
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
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], uint64(r.Task.Slot))
	// Read of a ChaCha8 never fails.
	_, _ = rand.NewChaCha8(seed).Read(b)
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

// Batch is what an experiment knows about a finished batch. Its ranks are those within the team. Without Exp it is of the
// experiment that runs; others are by-products, such as clock offsets.
type Batch = dataset.Sample

// Add records a batch of the point, and charges what it takes until the coordinator has it: a sample takes about
// sampleBytes beside its ranks and the memory of its times, and a time at most timeBytes in the message. Do not call it
// in a timed section.
func (x Team) Add(b Batch) { x.AddLossy(b, 0) }

// AddLossy is Add where a share of the segments may have been sent again before the batch is flagged for it.
func (x Team) AddLossy(s Batch, bearable float64) {
	r := x.R
	r.memory.charge(&r.memory.kept, sampleBytes+8*int64(len(s.Ranks))+timeBytes*int64(len(s.NS)))
	s.Point, s.Round, s.Slot = x.P, r.Task.Round, r.Task.Slot
	if s.Exp == "" {
		s.Exp = r.Task.Exp
	}
	s.Ranks = slices.Clone(s.Ranks)
	for i, k := range s.Ranks {
		s.Ranks[i] = r.Task.Team[k]
	}
	if s.NS == nil {
		s.NS = []int64{}
	}
	if s.TCP != nil {
		s.Flags = append(s.Flags, tcpFlags(*s.TCP, bearable)...)
	}
	r.samples = append(r.samples, s)
}

// AddOneWay records a batch whose NS are a time stamp of rank to minus a time stamp of rank from, each on its own
// clock; at are the stamps of rank to. They are corrected when the clocks have been read again after the slot, which
// adds to b.Aux.
func (x Team) AddOneWay(b Batch, from, to int, at []int64) {
	x.Add(b)
	x.R.oneWay = append(x.R.oneWay, oneWay{len(x.R.samples) - 1, from, to, at})
}

// correct takes the clock offsets out of every one-way time.
func (r *Recorder) correct() {
	for _, o := range r.oneWay {
		s := &r.samples[o.sample]
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

// Samples returns what was recorded.
func (r *Recorder) Samples() []dataset.Sample { return r.samples }

// Intervals returns those between ascending completions. Each is the mean of so many neighbours, averaged, that at most
// MaxIntervals are left.
func Intervals(done []int64) (ns []int64, averaged int) {
	averaged = max(1, (len(done)+MaxIntervals-1)/MaxIntervals)
	for i := averaged; i < len(done); i += averaged {
		ns = append(ns, (done[i]-done[i-averaged])/int64(averaged))
	}
	return ns, averaged
}

// ErrMemory reports a task that would take more memory than it may.
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
