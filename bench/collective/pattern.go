package collective

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"calib/bench"
	"calib/bench/pattern"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Pattern runs the communication patterns of package pattern on the first hosts. All begin at one time, each by its own
// clock; a time is that from there until the last host has done its part.
type Pattern struct{}

const (
	patternReps  = 20
	patternLeast = 3 // at a small effort; fewer where they take longer than patternTime
	patternTime  = 100 * units.Millisecond
	patternBytes = 16 * units.MiB // of a batch at effort 1, over the busiest link
	patternShort = 8 * units.KiB
	patternMost  = 64 * units.KiB
	// patternLongest is the longest of one repetition: a receive may wait no longer before a silent peer is given up.
	patternLongest = 4 * units.Second
)

var patternSizes = []units.Bytes{1, units.KiB, 8 * units.KiB, 64 * units.KiB}

// Name implements bench.Experiment.
func (Pattern) Name() string { return names.Pattern }

// Synchronised implements bench.Synchronised: ranks start together and end each by its own clock.
func (Pattern) Synchronised() {}

// Stamped implements bench.Stamped: a rank that wakes up must not take the CPU from one that has just begun.
func (Pattern) Stamped() {}

// Design implements bench.Experiment: at an effort above 1 every pattern, and else the patterns asked for, with every
// size on all hosts and on half of them. Without either some of each kind, drawn by the seed: see sampleOf.
func (Pattern) Design(l bench.Limits) []bench.Point {
	if l.Hosts < 2 {
		return nil
	}
	sizes := l.SizesUpTo(patternMost, patternSizes)
	if len(sizes) == 0 {
		return nil
	}
	if l.Patterns == nil && l.Effort <= 1 {
		return sampleOf(l, sizes)
	}
	var out []bench.Point
	for _, p := range pattern.All {
		if l.Patterns != nil && !slices.Contains(l.Patterns, p.Name()) {
			continue
		}
		for _, hosts := range teamsOf(p, l.Hosts) {
			out = append(out, points(p, hosts, sizes)...)
		}
	}
	return out
}

// teamsOf lists how many hosts a pattern runs on: all, and half of them, or fewer where these would send more than
// maxMessages; 2 where it is defined for no others.
func teamsOf(p pattern.Pattern, hosts int) []int {
	var out []int
	for _, n := range []int{hosts, (hosts + 1) / 2} {
		if n = fitting(p, n); !p.Defined(n) {
			n = p.Least
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// points are those of a pattern on a team, one for each size, or for the smallest where the size does not matter.
func points(p pattern.Pattern, hosts int, sizes []units.Bytes) []bench.Point {
	if p.Fixed {
		sizes = sizes[:1]
	}
	return bench.SizePoints(sizes, bench.Point{names.FactorPattern: p.ID, names.FactorHosts: int64(hosts)})
}

// patternStream is that of the generator of designs.
const patternStream = 1 << 34

// sampleOf draws about a dozen points: three broadcasts at the smallest and at a large size on all hosts; one message;
// and of each operation below one algorithm, at one size, on all hosts or half of them. The user's sizes are all taken.
func sampleOf(l bench.Limits, sizes []units.Bytes) []bench.Point {
	rng := rand.New(rand.NewPCG(l.Seed, patternStream))
	draw := func(from []units.Bytes) []units.Bytes {
		if l.Sizes != nil {
			return sizes
		}
		i := rng.IntN(len(from))
		return from[i : i+1]
	}
	two := sizes
	if l.Sizes == nil && len(sizes) > 2 {
		two = append(sizes[:1:1], draw(sizes[2:])...)
	}
	var out []bench.Point
	for _, p := range pattern.All {
		if p.Operation == "bcast" && slices.Contains([]string{"serial", "binary", "binomial"}, p.Algorithm) {
			out = append(out, points(p, l.Hosts, two)...)
		}
	}
	for _, operation := range []string{"p2p", "allreduce", "neighbour", "gather", "alltoall", "incast"} {
		all := pattern.OfOperation(operation)
		p := all[rng.IntN(len(all))]
		teams := teamsOf(p, l.Hosts)
		out = append(out, points(p, teams[rng.IntN(len(teams))], draw(sizes))...)
	}
	return out
}

// Ranges implements bench.Experiment.
func (Pattern) Ranges() bench.Ranges {
	return bench.Ranges{
		names.FactorPattern: {Least: 0, Most: math.MaxInt32}, names.FactorHosts: bench.TeamSize, names.FactorBytes: bench.Sizes,
	}
}

// Teams implements bench.Experiment: the first hosts.
func (Pattern) Teams(_ bench.Limits, p bench.Point) []bench.Step {
	return bench.FirstHosts(int(p[names.FactorHosts]))
}

// Cost implements bench.Experiment.
func (Pattern) Cost(l bench.Limits, p bench.Point) bench.Cost {
	_, s, err := known(p)
	if err != nil {
		return bench.Cost{}
	}
	hosts := int(p[names.FactorHosts])
	reps := untimed + maxPatterns(l.Effort, s)
	path := l.OnPath()
	one := units.Nanos(s.depth())*path.Latency + units.Nanos(float64(s.Busiest)*path.PerByte*path.Sharing(hosts/2))
	return bench.Cost{
		Bytes: units.Bytes(reps * s.Busiest), Messages: hosts + reps*(s.depth()+2*hosts),
		Time: repeatedTime(path, hosts, one, l.Effort.Time(patternTime, 0), 1, maxPatterns(l.Effort, s)),
	}
}

func maxPatterns(e bench.Effort, s shape) int {
	return max(1, min(e.Reps(patternReps, patternLeast), int(e.Bytes(patternBytes, 0))/s.Busiest))
}

// Run implements bench.Experiment.
func (Pattern) Run(_ context.Context, g bench.Group, p bench.Point, r *bench.Recorder) error {
	hosts := int(p[names.FactorHosts])
	if err := bench.CheckSize(g, hosts); err != nil {
		return err
	}
	// The largest message holds what all hosts have; writing the pattern down sends and receives it.
	r.Charge(2 * int64(hosts) * p[names.FactorBytes])
	what, s, err := known(p)
	if err != nil {
		return err
	}
	own, err := pattern.Rank(what, g.Rank(), hosts, int(p[names.FactorBytes]))
	if err != nil {
		return err
	}
	steps := pattern.Schedule{own}
	o := operation{Team: bench.Team{G: g, R: r, P: p}, peers: steps.Peers(0), first: steps.BeginsBySending(0)}
	if err := meet(g, o.peers); err != nil {
		return fmt.Errorf("%s: connect: %w", what.Name(), err)
	}
	var memory pattern.Scratch
	memory.Use(r.Payload(int64(s.Largest)), r.Payload(int64(s.Largest)))
	c := pattern.On(g)
	o.part = func(start units.Nanos, m int) (began, ended units.Nanos, err error) {
		if err := g.WaitUntil(start); err != nil {
			return 0, 0, err
		}
		began = g.Now()
		if err := what.Run(c, m, &memory); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", what.Name(), err)
		}
		return began, g.Now(), nil
	}
	t, err := o.measure(int(p[names.FactorBytes]), bounds{
		short: int(patternShort), most: maxPatterns(r.Effort, s), least: 1, time: r.Time(patternTime, 0), longest: patternLongest,
	})
	if err != nil {
		return err
	}
	if len(t.ended) == 0 {
		if o.Root() {
			r.Add(bench.Batch{Phase: names.PhaseSkipped, Point: p, Ranks: o.Ranks(), NS: []int64{int64(t.estimate)}})
		}
		return nil
	}
	o.add(names.PhasePattern, t, t.skews())
	return nil
}

// meet opens the connections to a rank's peers, by one byte from the lower rank to the higher. All ranks go through
// their peers in ascending order, so that none waits for one that waits for it.
func meet(g bench.Group, peers []int) error {
	b := []byte{0}
	for _, k := range peers {
		err := error(nil)
		if g.Rank() < k {
			err = g.Send(k, b)
		} else {
			err = g.Recv(k, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
