package roundtrip

import (
	"context"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
)

// Wakeup passes messages of one byte to and fro in up to four ways, in turn, and records half of each round trip:
//
//	blocking    receivers sleep until the message comes, one message after the other: as pingpong
//	polling     receivers look for the message again and again; only where each of the two has a CPU of its own
//	idle        as blocking, each exchange after a pause: the receiver's CPU has slept
//	idle-awake  the same while both hosts keep their CPUs out of sleep states; only where both may
//
// So blocking − polling is the wake-up of a receiver, and idle − blocking what a message costs more after a pause; with
// idle-awake one sees how much of that is the CPU's way out of its sleep state.
type Wakeup struct{}

const (
	bytes = 1
	reps  = 400 // of blocking and polling
	// pause is how long the hosts are idle before an exchange. idleReps are the exchanges after one.
	pause    = units.Millisecond
	idleReps = 40
	// thinPairs bounds the pairs that a thin plan measures.
	thinPairs = 3
	// placeBytes is what a rank tells of where it runs.
	placeBytes = 3 * 8
)

// Name implements bench.Experiment.
func (Wakeup) Name() string { return names.Wakeup }

// Design implements bench.Experiment: one point.
func (Wakeup) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	return []bench.Point{{names.FactorBytes: bytes}}
}

// Ranges implements bench.Experiment.
func (Wakeup) Ranges() bench.Ranges {
	return bench.Ranges{names.FactorBytes: bench.Sizes}
}

// Teams implements bench.Experiment.
func (Wakeup) Teams(l bench.Limits, _ bench.Point) []bench.Step {
	steps := bench.Neighbours(l.Hosts)
	return steps[:bench.Thinned(l, len(steps), min(len(steps), thinPairs))]
}

// Cost implements bench.Experiment.
func (Wakeup) Cost(l bench.Limits, _ bench.Point) bench.Cost {
	c := bench.Cost{Bytes: 2 * placeBytes, Messages: 2}
	for _, b := range []Bounds{hot(), hot(), idle(), idle()} {
		c = c.Add(b.Cost(l))
	}
	c.Time += 2 * units.Nanos(l.Effort.Reps(idleReps, MinReps)) * pause
	return c
}

func hot() Bounds {
	b := Pings(bytes, 1, MinReps)
	b.Most, b.Settle = reps, true
	return b
}

func idle() Bounds {
	b := Pings(bytes, 1, MinReps)
	b.Most = idleReps
	return b
}

// Run implements bench.Experiment.
func (Wakeup) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	if err := bench.CheckSize(g, 2); err != nil {
		return err
	}
	release, err := g.Machine().StayAwake()
	mayStay := err == nil
	if mayStay {
		release()
	}
	polls, stays, err := agree(g, g.Place(), mayStay)
	if err != nil {
		return err
	}
	peer, msg := 1-g.Rank(), r.Payload(bytes)
	record := func(phase string, x Exchange, b Bounds) error {
		return Record(g, r, x, b, bench.Batch{Phase: phase, Point: p, Aux: map[string]float64{names.AuxClock: bench.TimerCost(g)}})
	}
	if err := record(names.PhaseBlocking, Whole(peer, msg), hot()); err != nil {
		return err
	}
	if polls {
		if err := record(names.PhasePolling, Polled(peer, msg), hot()); err != nil {
			return err
		}
	}
	if err := record(names.PhaseIdle, AfterPause(peer, msg, pause), idle()); err != nil || !stays {
		return err
	}
	if release, err = g.Machine().StayAwake(); err != nil {
		return err
	}
	defer release()
	return record(names.PhaseIdleAwake, AfterPause(peer, msg, pause), idle())
}

// agree tells the peer where this rank runs, and returns whether both have a CPU of their own and may poll, and whether
// both may keep their CPUs awake.
func agree(g bench.Group, own plane.Place, mayStay bool) (polls, stays bool, err error) {
	shared := int64(LastMark(own.Shared))
	if err := bench.SendNumbers(g, 1-g.Rank(), shared, int64(own.CPU), int64(LastMark(mayStay))); err != nil {
		return false, false, err
	}
	n, err := bench.RecvNumbers(g, 1-g.Rank(), placeBytes/8)
	if err != nil {
		return false, false, err
	}
	return MayPoll(own, plane.Place{Shared: n[0] != 0, CPU: int(n[1])}), mayStay && n[2] == 1, nil
}
