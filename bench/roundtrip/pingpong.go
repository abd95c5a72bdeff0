package roundtrip

import (
	"math/rand/v2"
	"slices"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Pingpong sends a message to and fro between two hosts and records half of each round trip, by rank 0's clock alone:
// T(x) of every model, provided that the two directions are alike, and the matrix of pairs.
var Pingpong = &bench.Experiment{
	Name: names.Pingpong,
	Points: func(l bench.Limits) []bench.Point {
		top := pingMost
		if l.MaxBytes > 0 {
			top = min(top, l.MaxBytes)
		}
		own := units.Geometric(1, top, sizesPerDecade, jitter, rand.New(rand.NewPCG(l.Seed, 0x70696e67)).Float64)
		if l.Effort > 0 && l.Effort < 1 { // every second one: they are points of the whole design, too
			for i := 1; i < len(own)-1; i++ {
				own = slices.Delete(own, i, i+1)
			}
		}
		return bench.Values(names.FactorBytes, l.SizesOr(own)...)
	},
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes},
	Steps:  func(l bench.Limits, _ bench.Point) []bench.Step { return l.Pairs.Steps(l.Hosts) },
	// Bytes counts both directions of the link.
	Cost: func(l bench.Limits, p bench.Point) bench.Cost { return trips(p[names.FactorBytes]).Cost(l) },
	Run: func(x bench.Team) {
		m := x.P[names.FactorBytes]
		msg := Whole(1-x.Rank(), x.R.Payload(m))
		Record(x, msg, trips(m), "", map[string]float64{names.AuxClock: x.TimerCost()})
	},
}

const (
	pingMost       = 4 * units.MiB
	sizesPerDecade = 6
	jitter         = 0.5 // of a step between sizes
	hotReps        = 400 // of a batch: enough for the tail of the times
	// tailReps are the repetitions of a byte at any effort: with those of sixteen rounds p99 has an interval, however slow
	// the network is.
	tailReps = 24
)

// trips are the bounds of ping-pong.
func trips(bytes int64) Bounds {
	b := hot(bytes)
	if bytes == 1 {
		b.Least = tailReps
	}
	return b
}

// hot are the bounds of a ping-pong between hosts that have settled.
func hot(bytes int64) Bounds {
	return Bounds{Bytes: units.Bytes(bytes), Sends: 1, Most: hotReps, Least: minReps, Settle: true}
}

// Wakeup passes a byte to and fro in up to four ways: to receivers that sleep, that poll, after a pause, and after a
// pause with CPUs kept awake. Of the differences the fit makes the wake-up of a receiver, and what a message costs more
// after a pause.
var Wakeup = &bench.Experiment{
	Name:   names.Wakeup,
	Points: func(bench.Limits) []bench.Point { return []bench.Point{{names.FactorBytes: wakeupBytes}} },
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes},
	Steps: func(l bench.Limits, _ bench.Point) []bench.Step {
		steps := bench.Neighbours(l.Hosts)
		return steps[:bench.Thinned(l, len(steps), min(len(steps), thinPairs))]
	},
	Cost: func(l bench.Limits, _ bench.Point) bench.Cost {
		c := bench.Cost{Bytes: 2 * placeBytes}
		for _, b := range []Bounds{hot(wakeupBytes), hot(wakeupBytes), idle, idle} {
			c = c.Add(b.Cost(l))
		}
		c.Time += 2 * units.Nanos(l.Effort.Reps(idleReps, minReps)) * pause
		return c
	},
	Run: wakeup,
}

const (
	wakeupBytes = 1
	// pause is how long the hosts are idle before an exchange. idleReps are the exchanges after one.
	pause    = units.Millisecond
	idleReps = 40
	// thinPairs bounds the pairs that a thin plan measures.
	thinPairs = 3
	// placeBytes is what a rank tells of where it runs.
	placeBytes = 3 * 8
)

var idle = Bounds{Bytes: wakeupBytes, Sends: 1, Most: idleReps, Least: minReps}

func wakeup(x bench.Team) {
	release, err := x.Machine().StayAwake()
	mayStay := err == nil
	if mayStay {
		release()
	}
	polls, stays := agree(x, x.Place(), mayStay)
	msg := x.R.Payload(wakeupBytes)
	record := func(phase string, m Message, b Bounds) {
		m.peer, m.data, m.first = 1-x.Rank(), msg, wakeupBytes
		Record(x, &m, b, phase, map[string]float64{names.AuxClock: x.TimerCost()})
	}
	record(names.PhaseBlocking, Message{}, hot(wakeupBytes))
	if polls {
		record(names.PhasePolling, Message{polls: true}, hot(wakeupBytes))
	}
	record(names.PhaseIdle, Message{pause: pause}, idle)
	if stays {
		release = bench.Must(x.Machine().StayAwake())
		defer release()
		record(names.PhaseIdleAwake, Message{pause: pause}, idle)
	}
}

// agree tells the peer where this rank runs, and returns whether both may look for messages again and again, and
// whether both may keep their CPUs awake. A rank that polls must have a CPU of its own, on a machine of its own or
// pinned: it would keep another from running.
func agree(x bench.Team, own plane.Place, mayStay bool) (polls, stays bool) {
	x.SendNumbers(1-x.Rank(), int64(bench.Bit(own.Crowded)), int64(own.CPU), int64(bench.Bit(mayStay)))
	n := x.RecvNumbers(1-x.Rank(), placeBytes/8)
	apart := own.CPU >= 0 && n[1] >= 0 && int64(own.CPU) != n[1]
	return apart || !own.Crowded && n[0] == 0, mayStay && n[2] == 1
}

// Load measures L_cluster(m, p) (Tam and Wang 2000, section 3.2): n pairs of hosts pass messages of one
// packet to and fro at once, so that p = 2n hosts are active. The fit takes the overheads out of half the round trips.
var Load = &bench.Experiment{
	Name: names.Load, Clocks: true, // a pair that starts late would see, and make, less than full load
	Points: func(l bench.Limits) []bench.Point {
		own := l.OnePacket(bench.Thinned(l, loadSizes, loadSizesQuick), false)
		pairs := bench.Values(names.FactorPairs, bench.PairCounts(l.Hosts)...)
		return bench.Cross(pairs, bench.Values(names.FactorBytes, own...))
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
			Aux: map[string]float64{names.AuxClock: x.TimerCost()},
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
