package roundtrip

import (
	"math/rand/v2"
	"slices"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Load measures L(m,p) of the cluster model (Tam and Wang 2000, section 3.2): n pairs of hosts pass messages of m
// bytes, of one packet, to and fro, all from a common start to a common end, so that p = 2n hosts are active. Recorded
// are halves of round trips, O_s + L + O_r + U_r each, for every pair by its even rank's clock; the fit takes the
// overheads out.
var Load = &bench.Experiment{
	Name: names.Load, Clocks: true, // a pair that starts late would see, and make, less than full load
	Points: func(l bench.Limits) []bench.Point {
		own := l.OnePacket(bench.Thinned(l, loadSizes, loadSizesQuick), false)
		var out []bench.Point
		for _, n := range bench.PairCounts(l.Hosts) {
			out = append(out, bench.SizePoints(own, bench.Point{names.FactorPairs: int64(n)})...)
		}
		return out
	},
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes, names.FactorPairs: bench.TeamSize},
	Size:   func(p bench.Point) int { return int(2 * p[names.FactorPairs]) },
	// The window is bounded by time, not by messages: this is what it holds at guessedTrip each.
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		n := int(leastWindow(l.Effort)/guessedTrip) + 2*(warmTrips+trialTrips+1)
		path, pairs := l.OnPath(), int(p[names.FactorPairs])
		trip := 2 * path.Message(p[names.FactorBytes], pairs)
		length := min(max(windowTrips*trip, leastWindow(l.Effort)), bench.MaxStream)
		return bench.Cost{
			Bytes: units.Bytes(int64(n) * p[names.FactorBytes]),
			Time:  2*path.Start(2*pairs) + (warmTrips+trialTrips+1)*trip + length,
		}
	},
	Run: func(x bench.Team) {
		peer := x.Rank() ^ 1
		y := pair{x, Whole(peer, x.R.Payload(x.P[names.FactorBytes]))}
		s := x.Announce(bench.Start{Period: y.window()})
		before := x.Counters(peer)
		if !y.leads() {
			followAll(x, y.msg)
			x.SendLosses(peer, x.CountersSince(peer, before))
			return
		}
		ns := y.passUntil(s)
		tcp := x.CountersSince(peer, before)
		x.AddLosses(peer, tcp)
		b := bench.Batch{
			Phase: names.PhaseLoad, Ranks: []int{x.Rank(), peer}, NS: drawEach(ns, keptTrips, x.R.Task.Slot), TCP: tcp,
			Aux: map[string]float64{names.AuxPairs: float64(x.P[names.FactorPairs]), names.AuxTrips: float64(len(ns)),
				names.AuxClock: x.TimerCost()},
		}
		if len(ns) < 2 {
			b.Flags = []string{dataset.FlagUnsteady}
		}
		x.Add(b)
	},
}

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

func leastWindow(e bench.Effort) units.Nanos {
	return e.Time(150*units.Millisecond, 60*units.Millisecond)
}

// pair is one rank of a pair. The even one leads.
type pair struct {
	bench.Team
	msg *Message
}

func (x pair) leads() bool { return x.Rank()%2 == 0 }

// window is how long the load lasts, known to rank 0 alone: it times a few round trips while every pair makes some.
func (x pair) window() units.Nanos {
	s := x.Announce(bench.Start{})
	if !x.leads() {
		followAll(x.Team, x.msg)
		return x.MaxAtRoot(0)
	}
	x.WaitUntil(s.At)
	var slowest int64
	for i := range warmTrips + trialTrips {
		if t := x.msg.Lead(x.Team, i == warmTrips+trialTrips-1); i >= warmTrips {
			slowest = max(slowest, t.Took)
		}
	}
	most := x.MaxAtRoot(units.Nanos(slowest))
	return min(max(windowTrips*most, leastWindow(x.R.Effort)), bench.MaxStream)
}

// passUntil makes round trips from s.At to the end of the period and one more, so that no pair stops before all have
// ended, and returns the halves of those that lie wholly after the ramp.
func (x pair) passUntil(s bench.Start) []int64 {
	ns := x.R.Buffer(maxTrips)
	end := s.At + s.Period
	from := s.At + units.Nanos(bench.RampShare*float64(s.Period))
	x.WaitUntil(s.At)
	n := 0
	for now := x.Now(); ; {
		t := x.msg.Lead(x.Team, now >= end)
		began := now
		if now = x.Now(); began >= end {
			return ns[:n]
		}
		if began >= from && now <= end && n < len(ns) {
			ns[n] = t.NS
			n++
		}
	}
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
