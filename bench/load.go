package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"calib/internal/dataset"
	"calib/internal/units"
)

// Load measures L(m,p) of Tam and Wang's cost model, section 3.2: n pairs of hosts pass messages of m bytes to and fro,
// all from a common start to a common end, so that p = 2n hosts are active. Recorded are halves of round trips,
// O_s + L + O_r + U_r each, for every pair by its even rank's clock; the fit takes the overheads out.
type Load struct{}

// Synchronised implements Synchronised: a pair that starts late would see, and make, less than full load.
func (Load) Synchronised() {}

const (
	loadedWarm  = 3 // round trips before the trial,
	loadedTrial = 3 // of the trial, under load: the slowest sets the window,
	loadedTrips = 14
	loadedMost  = 1 << 16 // round trips a pair has room for; it goes on without keeping them
	loadedRaw   = 400     // raw times kept of one pair
	loadedGuess = 20 * units.Microsecond
	maxMessage  = 1448 // bytes: L is that of one packet
)

var (
	loadedSizes      = []units.Bytes{1, 181, 701, 1123, 1401}
	loadedSizesQuick = []units.Bytes{1, 701, 1401}
)

// Name implements Experiment.
func (Load) Name() string { return "load" }

// Design implements Experiment: every number of pairs, messages of one packet.
func (Load) Design(l Limits) []Point {
	sizes := loadedSizes
	if l.thin() {
		sizes = loadedSizesQuick
	}
	var out []Point
	for _, n := range pairCounts(l.Hosts / 2) {
		for _, m := range l.sizes(sizes) {
			if m <= maxMessage {
				out = append(out, Point{"bytes": int64(m), "pairs": int64(n)})
			}
		}
	}
	return out
}

// Teams implements Experiment: the first 2n hosts, alone on the network.
func (Load) Teams(l Limits, p Point) []Step { return Paired{}.Teams(l, p) }

// Cost implements Experiment. The window is bounded by time, not by messages: this is what it holds at loadedGuess each.
func (Load) Cost(l Limits, p Point) Cost {
	n := int(loadWindow(NewRecorder(Task{Reps: l.Effort}))/loadedGuess) + 2*(loadedWarm+loadedTrial+1)
	return Cost{Bytes: units.Bytes(int64(n) * p["bytes"]), Messages: n}
}

func loadWindow(r *Recorder) units.Nanos {
	return units.Nanos(r.Reps(int(150*units.Millisecond), int(60*units.Millisecond)))
}

// Run implements Experiment. It ends with the window, or when a receive meets the group's deadline.
func (Load) Run(ctx context.Context, g Group, p Point, r *Recorder) error {
	if g.Size()%2 != 0 || r.time == nil {
		return fmt.Errorf("load: team of %d without a timeline: want an even team and synchronised clocks", g.Size())
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	peer := g.Rank() ^ 1
	x := loadedPair{crew{g, r}, p, wholeMessage(peer, r.payload(p["bytes"]))}
	length, err := x.window()
	if err != nil {
		return err
	}
	s, err := x.announce(start{Period: length})
	if err != nil {
		return err
	}
	before, err := g.Counters(peer)
	if err != nil {
		return err
	}
	if g.Rank()%2 == 1 {
		return x.answer(before)
	}
	ns, err := x.passUntil(s)
	if err != nil {
		return err
	}
	return x.add(ns, before)
}

// loadedPair is one rank of a pair. The even one leads.
type loadedPair struct {
	crew
	p   Point
	msg *message
}

// window is how long the load lasts, for rank 0 alone: it times a few round trips while every pair makes some.
func (x loadedPair) window() (units.Nanos, error) {
	s, err := x.announce(start{})
	if err != nil {
		return 0, err
	}
	if x.g.Rank()%2 == 1 {
		if err := follow(x.g, x.msg); err != nil {
			return 0, err
		}
		return x.largest(0)
	}
	if err := x.g.WaitUntil(s.At); err != nil {
		return 0, err
	}
	var slowest int64
	for i := range loadedWarm + loadedTrial {
		l, err := x.msg.lead(x.g, i == loadedWarm+loadedTrial-1)
		if err != nil {
			return 0, err
		}
		if i >= loadedWarm {
			slowest = max(slowest, l.took)
		}
	}
	most, err := x.largest(units.Nanos(slowest))
	return min(max(loadedTrips*most, loadWindow(x.r)), maxStream), err
}

// passUntil makes round trips from s.At to the end of the period and one more, so that no pair stops before all have ended,
// and returns the halves of those that lie wholly behind the ramp.
func (x loadedPair) passUntil(s start) ([]int64, error) {
	ns := x.r.Buffer(loadedMost)
	end := s.At + s.Period
	from := s.At + units.Nanos(rampShare*float64(s.Period))
	if err := x.g.WaitUntil(s.At); err != nil {
		return nil, err
	}
	n := 0
	for now := x.g.Now(); ; {
		l, err := x.msg.lead(x.g, now >= end)
		if err != nil {
			return nil, err
		}
		began := now
		if now = x.g.Now(); began >= end {
			return ns[:n], nil
		}
		if began >= from && now <= end && n < len(ns) {
			ns[n] = l.ns
			n++
		}
	}
}

// answer is the odd rank's part.
func (x loadedPair) answer(before dataset.TCP) error {
	if err := follow(x.g, x.msg); err != nil {
		return err
	}
	lost, err := delta(x.g, x.msg.peer, before)
	if err != nil {
		return err
	}
	return report(x.g, x.msg.peer, lost)
}

func (x loadedPair) add(ns []int64, before dataset.TCP) error {
	tcp, err := delta(x.g, x.msg.peer, before)
	if err != nil {
		return err
	}
	if err := addReport(x.g, x.msg.peer, tcp); err != nil {
		return err
	}
	b := Batch{
		Point: x.p, Phase: "load", Ranks: []int{x.g.Rank(), x.msg.peer}, NS: pickEach(ns, loadedRaw, x.r.slot), TCP: tcp,
		Aux: map[string]float64{"pairs": float64(x.p["pairs"]), "trips": float64(len(ns))},
	}
	if len(ns) < 2 {
		b.Flags = []string{dataset.FlagUnsteady}
	}
	x.r.Add(b)
	return nil
}

// pickEach returns ns, or at most so many of it: one of each run of neighbours, drawn by a generator that the slot seeds,
// so that no period in ns is met again and again. Means would keep more of it, and not be times of which the median is
// that of a ping-pong.
func pickEach(ns []int64, most, slot int) []int64 {
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
