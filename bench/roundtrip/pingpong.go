package roundtrip

import (
	"math/rand/v2"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Pingpong sends a message to and fro between two hosts and records half of each round trip, by rank 0's clock alone:
// T(x) of every model, provided that the two directions are alike. Limits.AllPairs measures every pair, for the pair
// matrix; otherwise every host is in at least one pair, so that a slow one is seen. Sizes are from 1 B to 4 MiB, about
// 6 a decade, or 3 where the effort is below 1.
var Pingpong = &bench.Experiment{
	Name: names.Pingpong,
	Points: func(l bench.Limits) []bench.Point {
		top, density := pingMost, sizesPerDecade
		if l.MaxBytes > 0 {
			top = min(top, l.MaxBytes)
		}
		if l.Effort > 0 && l.Effort < 1 {
			density /= 2
		}
		own := units.Geometric(1, top, density, jitter, rand.New(rand.NewPCG(l.Seed, 0x70696e67)).Float64)
		return bench.SizePoints(l.SizesOr(own), nil)
	},
	Ranges: bench.Ranges{names.FactorBytes: bench.Sizes},
	Steps: func(l bench.Limits, _ bench.Point) []bench.Step {
		if l.AllPairs {
			return bench.Colouring(l.Hosts)
		}
		return l.Pairs.Steps(l.Hosts)
	},
	// Bytes counts both directions of the link.
	Cost: func(l bench.Limits, p bench.Point) bench.Cost { return hot(p[names.FactorBytes]).Cost(l) },
	Run: func(x bench.Team) {
		m := x.P[names.FactorBytes]
		msg := Whole(1-x.Rank(), x.R.Payload(m))
		Record(x, msg, hot(m), "", map[string]float64{names.AuxClock: x.TimerCost()})
	},
}

const (
	pingMost       = 4 * units.MiB
	sizesPerDecade = 6
	jitter         = 0.5 // of a step between sizes
	hotReps        = 400 // of a batch: enough for the tail of the times
)

// hot are the bounds of a ping-pong between hosts that have settled.
func hot(bytes int64) Bounds {
	return Bounds{Bytes: units.Bytes(bytes), Sends: 1, Most: hotReps, Least: minReps, Settle: true}
}

// Wakeup passes messages of one byte to and fro in up to four ways, in turn, and records half of each round trip:
//
//	blocking    receivers sleep until the message comes, one message after the other: as pingpong
//	polling     receivers look for the message again and again; only where each of the two has a CPU of its own
//	idle        as blocking, each exchange after a pause: the receiver's CPU has slept
//	idle-awake  the same while both hosts keep their CPUs out of sleep states; only where both may
//
// So blocking − polling is the wake-up of a receiver, and idle − blocking what a message costs more after a pause; with
// idle-awake one sees how much of that is the CPU's way out of its sleep state.
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

// agree tells the peer where this rank runs, and returns whether both have a CPU of their own and may poll, and whether
// both may keep their CPUs awake.
func agree(x bench.Team, own plane.Place, mayStay bool) (polls, stays bool) {
	x.SendNumbers(1-x.Rank(), int64(LastMark(own.Shared)), int64(own.CPU), int64(LastMark(mayStay)))
	n := x.RecvNumbers(1-x.Rank(), placeBytes/8)
	return mayPoll(own, plane.Place{Shared: n[0] != 0, CPU: int(n[1])}), mayStay && n[2] == 1
}

// mayPoll reports whether two ranks may both look for messages again and again: each has a CPU of its own, on machines
// of their own or pinned. Elsewhere one that polls would keep the other from running.
func mayPoll(a, b plane.Place) bool {
	apart := a.CPU >= 0 && b.CPU >= 0 && a.CPU != b.CPU
	return !a.Shared && !b.Shared || apart
}
