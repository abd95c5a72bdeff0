// Package collective measures communication patterns, to compare predictions and exported platforms with. No model is
// fitted on them.
package collective

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"calib/bench"
	"calib/bench/pattern"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// Pattern runs a communication pattern of package pattern on the first hosts, from one time on until the last host has
// done its part. Predictions are held against it.
var Pattern = &bench.Experiment{
	// Ranks start together and end each by its own clock. One that wakes up must not take the CPU from one that has
	// just begun.
	Name: names.Pattern, Clocks: true, Stamps: true,
	Points: patternPoints,
	Ranges: bench.Ranges{
		names.FactorPattern: {Most: math.MaxInt32}, names.FactorHosts: bench.TeamSize, names.FactorBytes: bench.Sizes,
	},
	Size: func(p bench.Point) int { return int(p[names.FactorHosts]) },
	Cost: func(l bench.Limits, p bench.Point) bench.Cost {
		_, s, err := known(p)
		if err != nil {
			return bench.Cost{}
		}
		hosts, path := int(p[names.FactorHosts]), l.OnPath()
		one := units.Nanos(s.depth())*path.Latency + units.Nanos(float64(s.Busiest)*path.PerByte*path.Sharing(hosts/2))
		return bench.Cost{
			Bytes: units.Bytes((untimed + maxPatterns(l.Effort, s)) * s.Busiest),
			Time:  units.Nanos(untimed+repetitions(l.Effort, s, one)) * (path.Start(hosts) + one + one/4),
		}
	},
	Run: runPattern,
}

const (
	patternReps  = 20
	patternLeast = 3 // at a small effort; fewer where they take longer than patternTime
	patternTime  = 100 * units.Millisecond
	patternBytes = 16 * units.MiB // of a batch at effort 1, over the busiest link
	patternShort = 8 * units.KiB  // of the first repetitions, which tell how long one takes
	patternMost  = 64 * units.KiB
	// patternLongest is the longest of one repetition: a receive may wait no longer before a silent peer is given up.
	patternLongest = 4 * units.Second
	// untimed is how many repetitions come before those that are recorded, at most.
	untimed = 3
)

var patternSizes = []units.Bytes{1, units.KiB, 8 * units.KiB, 64 * units.KiB}

// patternPoints are at an effort above 1 every pattern, and else the patterns asked for, with every size on all hosts
// and on half of them. Without either they are some of each kind, drawn by the seed: see sampleOf.
func patternPoints(l bench.Limits) []bench.Point {
	sizes := l.SizesUpTo(patternMost, patternSizes)
	if len(sizes) == 0 {
		return nil
	}
	if l.Patterns == nil && l.Effort <= 1 {
		return sampleOf(l, sizes)
	}
	var out []bench.Point
	for _, p := range pattern.All {
		if l.Patterns == nil || slices.Contains(l.Patterns, p.Name()) {
			for _, hosts := range teamsOf(p, l.Hosts) {
				out = append(out, points(p, hosts, sizes)...)
			}
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
			n = pattern.Least
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
	on := bench.Point{names.FactorPattern: p.ID, names.FactorHosts: int64(hosts)}
	return bench.Cross([]bench.Point{on}, bench.Values(names.FactorBytes, sizes...))
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

func maxPatterns(e bench.Effort, s shape) int {
	return max(1, min(e.Reps(patternReps, patternLeast), int(e.Bytes(patternBytes, 0))/s.Busiest))
}

// repetitions is how many a batch has of a pattern that takes one.
func repetitions(e bench.Effort, s shape, one units.Nanos) int {
	return min(maxPatterns(e, s), max(1, int(e.Time(patternTime, 0)/max(1, one))))
}

// player is one rank of a team that runs a pattern.
type player struct {
	bench.Team
	play  func(m int) // this rank's part with m bytes
	first bool        // it begins by sending: others wait for it, and when it begins matters
	// quiet is for how long after the start a rank keeps still when it has done its part, so that what it says of it
	// does not meet the parts of others.
	quiet  units.Nanos
	signal [1]byte
}

func runPattern(x bench.Team) {
	m := int(x.P[names.FactorBytes])
	// The largest message holds what all hosts have; writing the pattern down sends and receives it.
	x.R.Charge(2 * int64(x.Size()) * int64(m))
	what, s, err := known(x.P)
	bench.Check(err)
	own := bench.Must(pattern.Rank(what, x.Rank(), x.Size(), m, &pattern.Scratch{}))
	name, peers := what.Name(), pattern.Peers(own)
	var memory pattern.Scratch
	memory.Use(x.R.Payload(int64(s.Largest)), x.R.Payload(int64(s.Largest)))
	c := pattern.On(x.Group)
	y := &player{Team: x, first: len(own) > 0 && len(own[0].Out) > 0,
		play: func(m int) { bench.During(name, func() { what.Run(c, m, &memory) }) }}

	short := min(m, int(patternShort))
	y.repeat(short, 1) // warms hosts and connections
	trial, _ := y.repeat(short, 1)
	estimate := max(1, units.Nanos(float64(trial[0])*float64(m)/float64(short)))
	reps := repetitions(x.R.Effort, s, estimate)
	if estimate > patternLongest {
		reps = 0
	}
	start := x.Announce(bench.Start{Reps: reps, Period: estimate + estimate/4})
	if start.Reps == 0 {
		x.Skip(estimate)
		return
	}
	y.quiet = start.Period
	if short < m { // opens the windows
		y.repeat(m, 1)
	}
	before := x.CountersOf(peers)
	ns, apart := y.repeat(m, start.Reps)
	after := x.CountersOf(peers)
	lost := x.SumAtRoot(after.Sub(before).Retrans)
	if x.Root() {
		x.Add(bench.Batch{Phase: names.PhasePattern, Ranks: x.Ranks(), NS: ns,
			TCP: &dataset.TCP{Retrans: lost, SndBuf: after.SndBuf, Congestion: after.Congestion},
			Aux: map[string]float64{names.AuxStartSkew: float64(apart)}})
	}
}

// repeat runs the pattern n times with m bytes. At rank 0 it returns how long each took, from when the first of the
// ranks that begin by sending began until the last rank had done its part, and how far apart those ranks began at most
// [ns]. What the others get says nothing.
func (y *player) repeat(m, n int) (took []int64, apart int64) {
	own := y.R.Buffer(3 * n)
	early, late, ended := own[:n], own[n:2*n], own[2*n:]
	for i := range n {
		early[i], ended[i] = y.once(m)
		late[i] = early[i]
		if !y.first {
			early[i], late[i] = math.MaxInt64, math.MinInt64
		}
	}
	b := y.R.Bytes(3 * 8 * int64(n))
	if !y.Root() {
		bench.PutNumbers(b, own...)
		y.Send(0, b)
		return ended, 0
	}
	of := y.R.Buffer(3 * n)
	y.RecvAll(b, func(int) {
		bench.GetNumbers(b, of)
		for i := range n {
			early[i], late[i], ended[i] = min(early[i], of[i]), max(late[i], of[n+i]), max(ended[i], of[2*n+i])
		}
	})
	for i := range n {
		apart = max(apart, late[i]-early[i])
		ended[i] -= early[i]
	}
	return ended, apart
}

// once runs the pattern once, and returns when this rank began and ended, from the announced start. It ends when every
// rank has done its part, so that the next does not overlap.
func (y *player) once(m int) (began, ended int64) {
	at := y.Announce(bench.Start{}).At
	y.WaitUntil(at)
	began = y.Elapsed(at)
	y.play(m)
	ended = y.Elapsed(at)
	if y.Root() {
		y.RecvAll(y.signal[:], func(int) {})
	} else {
		y.WaitUntil(at + y.quiet)
		y.Send(0, y.signal[:])
	}
	return began, ended
}

// shape is what the ranks of a pattern need to know of the others, and how many messages follow one another.
type shape struct {
	pattern.Extent
	depth func() int
}

// shapes are those of the points that this process has met lately, by pattern, hosts and bytes. A pattern of a thousand
// hosts has up to maxMessages messages: they are written down once, and never kept.
var shapes struct {
	sync.Mutex
	of map[[3]int64]shape
}

// maxShapes bounds those that a process keeps, which for an agent may measure for years.
const maxShapes = 1 << 12

func known(p bench.Point) (pattern.Pattern, shape, error) {
	what, ok := pattern.ByID(p[names.FactorPattern])
	if !ok {
		return what, shape{}, fmt.Errorf("this version of calib has no pattern %d: use the coordinator's version on "+
			"every host", p[names.FactorPattern])
	}
	k := [...]int64{what.ID, p[names.FactorHosts], p[names.FactorBytes]}
	shapes.Lock()
	defer shapes.Unlock()
	if s, had := shapes.of[k]; had {
		return what, s, nil
	}
	s, err := shapeOf(what, int(k[1]), int(k[2]))
	if len(shapes.of)%maxShapes == 0 {
		shapes.of = map[[3]int64]shape{}
	}
	if err == nil {
		shapes.of[k] = s
	}
	return what, s, err
}

func shapeOf(p pattern.Pattern, hosts, bytes int) (s shape, err error) {
	s.Extent, err = pattern.ExtentOf(p, hosts, bytes)
	s.depth = sync.OnceValue(func() int { return bench.Must(pattern.Of(p, hosts, bytes)).Depth() })
	return s, err
}

// maxMessages bounds the messages of a pattern: of one in which every host sends to all others a thousand hosts would
// send a million, for minutes.
const maxMessages = 1 << 15

// fitting is the largest number of hosts up to n that a pattern runs on: n, or a half, a quarter, … of it.
func fitting(p pattern.Pattern, n int) int {
	for n > pattern.Least && sendsMany(p, n) {
		n = (n + 1) / 2
	}
	return n
}

// sendsMany reports whether a pattern sends more than maxMessages with one byte for every host, so that no block is
// empty. It does not write down what is beyond.
func sendsMany(p pattern.Pattern, hosts int) bool {
	var scratch pattern.Scratch
	sent := 0
	for rank := 0; rank < hosts && sent <= maxMessages; rank++ {
		steps, err := pattern.Rank(p, rank, hosts, hosts, &scratch)
		if err != nil {
			return false // it does not run on so many
		}
		for _, s := range steps {
			sent += len(s.Out)
		}
	}
	return sent > maxMessages
}
