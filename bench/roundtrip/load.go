package roundtrip

import (
	"context"
	"math/rand/v2"
	"slices"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Load measures L(m,p) of the cluster model (Tam and Wang 2000, section 3.2): n pairs of hosts pass messages of m
// bytes to and fro, all from a common start to a common end, so that p = 2n hosts are active. Recorded are halves of
// round trips, O_s + L + O_r + U_r each, for every pair by its even rank's clock; the fit takes the overheads out.
type Load struct{}

// Synchronised implements bench.Synchronised: a pair that starts late would see, and make, less than full load.
func (Load) Synchronised() {}

const (
	warmTrips   = 3       // round trips before the trial,
	trialTrips  = 3       // of the trial, under load: the slowest sets the window,
	windowTrips = 14      // of the slowest that the window holds at least
	maxTrips    = 1 << 16 // round trips a pair has room for; it goes on without keeping them
	keptTrips   = 400     // raw times kept of one pair
	guessedTrip = 20 * units.Microsecond
)

var (
	loadSizes      = []units.Bytes{1, 181, 701, 1123, 1401}
	loadSizesQuick = []units.Bytes{1, 701, 1401}
)

// Name implements bench.Experiment.
func (Load) Name() string { return names.Load }

// Design implements bench.Experiment: every number of pairs, messages of one packet.
func (Load) Design(l bench.Limits) []bench.Point {
	own := l.OnePacket(bench.Thinned(l, loadSizes, loadSizesQuick), false)
	var out []bench.Point
	for _, n := range bench.PairCounts(l.Hosts) {
		out = append(out, bench.SizePoints(own, bench.Point{names.FactorPairs: int64(n)})...)
	}
	return out
}

// Ranges implements bench.Experiment.
func (Load) Ranges() bench.Ranges {
	return bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorPairs: bench.TeamSize}
}

// Teams implements bench.Experiment: the first 2n hosts, alone on the network.
func (Load) Teams(_ bench.Limits, p bench.Point) []bench.Step {
	return bench.FirstHosts(int(2 * p[names.FactorPairs]))
}

// Cost implements bench.Experiment. The window is bounded by time, not by messages: this is what it holds at
// guessedTrip each.
func (Load) Cost(l bench.Limits, p bench.Point) bench.Cost {
	n := int(window(l.Effort)/guessedTrip) + 2*(warmTrips+trialTrips+1)
	path, pairs := l.OnPath(), int(p[names.FactorPairs])
	trip := 2 * path.Message(p[names.FactorBytes], pairs)
	length := min(max(windowTrips*trip, window(l.Effort)), bench.MaxStream)
	return bench.Cost{
		Bytes: units.Bytes(int64(n) * p[names.FactorBytes]), Messages: n,
		Time: 2*path.Start(2*pairs) + (warmTrips+trialTrips+1)*trip + length,
	}
}

func window(e bench.Effort) units.Nanos { return e.Time(150*units.Millisecond, 60*units.Millisecond) }

// Run implements bench.Experiment. It ends with the window.
func (Load) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	if err := bench.CheckEven(g); err != nil {
		return err
	}
	peer := g.Rank() ^ 1
	x := pair{bench.Team{G: g, R: r, P: p}, peer, Whole(peer, r.Payload(p[names.FactorBytes]))}
	length, err := x.window()
	if err != nil {
		return err
	}
	s, err := x.Announce(bench.Start{Period: length})
	if err != nil {
		return err
	}
	before, err := g.Counters(peer)
	if err != nil {
		return err
	}
	if !x.leads() {
		return x.answer(before)
	}
	ns, err := x.passUntil(s)
	if err != nil {
		return err
	}
	return x.add(ns, before)
}

// pair is one rank of a pair. The even one leads.
type pair struct {
	bench.Team
	peer int
	msg  *Message
}

func (x pair) leads() bool { return x.G.Rank()%2 == 0 }

// window is how long the load lasts, known to rank 0 alone: it times a few round trips while every pair makes some.
func (x pair) window() (units.Nanos, error) {
	s, err := x.Announce(bench.Start{})
	if err != nil {
		return 0, err
	}
	if !x.leads() {
		if err := FollowAll(x.G, x.msg); err != nil {
			return 0, err
		}
		return x.MaxAtRoot(0)
	}
	if err := x.G.WaitUntil(s.At); err != nil {
		return 0, err
	}
	var slowest int64
	for i := range warmTrips + trialTrips {
		t, err := x.msg.Lead(x.G, i == warmTrips+trialTrips-1)
		if err != nil {
			return 0, err
		}
		if i >= warmTrips {
			slowest = max(slowest, t.Took)
		}
	}
	most, err := x.MaxAtRoot(units.Nanos(slowest))
	return min(max(windowTrips*most, window(x.R.Effort)), bench.MaxStream), err
}

// passUntil makes round trips from s.At to the end of the period and one more, so that no pair stops before all have
// ended, and returns the halves of those that lie wholly after the ramp.
func (x pair) passUntil(s bench.Start) ([]int64, error) {
	ns := x.R.Buffer(maxTrips)
	end := s.At + s.Period
	from := s.At + units.Nanos(bench.RampShare*float64(s.Period))
	if err := x.G.WaitUntil(s.At); err != nil {
		return nil, err
	}
	n := 0
	for now := x.G.Now(); ; {
		t, err := x.msg.Lead(x.G, now >= end)
		if err != nil {
			return nil, err
		}
		began := now
		if now = x.G.Now(); began >= end {
			return ns[:n], nil
		}
		if began >= from && now <= end && n < len(ns) {
			ns[n] = t.NS
			n++
		}
	}
}

// answer is the odd rank's part.
func (x pair) answer(before dataset.TCP) error {
	if err := FollowAll(x.G, x.msg); err != nil {
		return err
	}
	lost, err := bench.CountersSince(x.G, x.peer, before)
	if err != nil {
		return err
	}
	return bench.SendLosses(x.G, x.peer, lost)
}

func (x pair) add(ns []int64, before dataset.TCP) error {
	tcp, err := bench.CountersSince(x.G, x.peer, before)
	if err != nil {
		return err
	}
	if err := bench.AddLosses(x.G, x.peer, tcp); err != nil {
		return err
	}
	b := bench.Batch{
		Point: x.P, Phase: names.PhaseLoad, Ranks: []int{x.G.Rank(), x.peer}, NS: drawEach(ns, keptTrips, x.R.Task.Slot), TCP: tcp,
		Aux: map[string]float64{names.AuxPairs: float64(x.P[names.FactorPairs]), names.AuxTrips: float64(len(ns)),
			names.AuxClock: bench.TimerCost(x.G)},
	}
	if len(ns) < 2 {
		b.Flags = []string{dataset.FlagUnsteady}
	}
	x.R.Add(b)
	return nil
}

// drawEach returns ns, or at most so many of it: one of each run of neighbours, drawn by a generator that the slot
// seeds, so that the choice does not fall in step with a period of ns. Means would use more of ns, but their median is
// not that of a ping-pong.
func drawEach(ns []int64, most, slot int) []int64 {
	run := (len(ns) + most - 1) / most
	if run <= 1 {
		return slices.Clone(ns) // without the room behind it
	}
	rng := rand.New(rand.NewPCG(uint64(slot), 0x6c6f6164))
	out := make([]int64, 0, most)
	for i := 0; i+run <= len(ns); i += run {
		out = append(out, ns[i+rng.IntN(run)])
	}
	return out
}
