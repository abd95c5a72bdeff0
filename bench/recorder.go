package bench

import (
	"math"

	"calib/internal/dataset"
	"calib/internal/units"
)

// Recorder takes one rank's samples of one slot. Its buffers are made and touched before a timed section, so that
// recording a time is one store.
type Recorder struct {
	team    []int // host index of each rank
	round   int
	slot    int
	exp     string
	effort  float64
	samples []dataset.Sample
	time    *timeline // of a Synchronised experiment
	words   [24]byte  // an announcement's, kept here so that announcing allocates nothing
	oneWay  []oneWay
}

// oneWay remembers that NS of a sample are differences between two ranks' clocks, and when each was taken.
type oneWay struct {
	sample   int // index in samples
	from, to int // ranks
	at       []int64
}

// NewRecorder returns a recorder for a task.
func NewRecorder(t Task) *Recorder {
	effort := t.Reps
	if effort <= 0 {
		effort = 1
	}
	return &Recorder{team: t.Team, round: t.Round, slot: t.Slot, exp: t.Exp, effort: effort}
}

// Reps scales a standard number of repetitions by the plan's effort; never below lo.
func (r *Recorder) Reps(standard, lo int) int {
	return max(lo, int(float64(standard)*r.effort+0.5))
}

// Buffer returns n slots for raw times, touched.
func (r *Recorder) Buffer(n int) []int64 {
	b := make([]int64, n)
	for i := range b {
		b[i] = 1
	}
	clear(b)
	return b
}

// Batch is what an experiment knows about a finished batch.
type Batch struct {
	Exp   string // "" is the experiment that runs; others are by-products, such as clock offsets
	Phase string
	Point Point
	Ranks []int // ranks within the team
	NS    []int64
	TCP   *dataset.TCP
	Flags []string
	Aux   map[string]float64
}

// Add records a batch. Call it outside timed sections only.
func (r *Recorder) Add(b Batch) {
	s := dataset.Sample{
		Exp: b.Exp, Phase: b.Phase, Point: b.Point, Round: r.round, Slot: r.slot,
		Flags: b.Flags, TCP: b.TCP, Aux: b.Aux, NS: b.NS,
	}
	if s.Exp == "" {
		s.Exp = r.exp
	}
	s.Ranks = make([]int, len(b.Ranks))
	for i, k := range b.Ranks {
		s.Ranks[i] = r.team[k]
	}
	if s.NS == nil {
		s.NS = []int64{}
	}
	if b.TCP != nil {
		s.Flags = append(s.Flags, tcpFlags(*b.TCP)...)
	}
	r.samples = append(r.samples, s)
}

// AddOneWay records a batch whose NS are a stamp of rank to less a stamp of rank from, each by its own clock; at are the
// stamps of rank to. They are corrected when the clocks have been read again after the slot.
func (r *Recorder) AddOneWay(b Batch, from, to int, at []int64) {
	r.Add(b)
	r.oneWay = append(r.oneWay, oneWay{len(r.samples) - 1, from, to, at})
}

// correct takes the clock offsets out of every one-way time.
func (r *Recorder) correct() {
	for _, o := range r.oneWay {
		s := &r.samples[o.sample]
		for i := range s.NS {
			t := r.time.toCommon(o.to, units.Nanos(o.at[i]))
			s.NS[i] -= int64(math.Round(r.time.offset(o.to, t) - r.time.offset(o.from, t)))
		}
		if s.Aux == nil {
			s.Aux = map[string]float64{}
		}
		spread := func(k int) float64 {
			return float64(max(r.time.before[k].Spread, r.time.after[k].Spread))
		}
		s.Aux["offset_spread_ns"] = math.Hypot(spread(o.from), spread(o.to))
	}
}

// tcpFlags labels a batch by what the kernel counted during it.
func tcpFlags(t dataset.TCP) []string {
	var f []string
	if t.Retrans > 0 {
		f = append(f, dataset.FlagRetrans)
	}
	if t.Involuntary > 0 {
		f = append(f, dataset.FlagPreempt)
	}
	if t.StealTicks > 0 {
		f = append(f, dataset.FlagSteal)
	}
	return f
}

// Samples returns what was recorded.
func (r *Recorder) Samples() []dataset.Sample { return r.samples }

// delta reads a peer's counters and subtracts those read before.
func delta(g Group, peer int, before dataset.TCP) (*dataset.TCP, error) {
	after, err := g.Counters(peer)
	if err != nil {
		return nil, err
	}
	d := after.Sub(before)
	return &d, nil
}

func elapsed(g Group, since units.Nanos) int64 { return int64(g.Now() - since) }
