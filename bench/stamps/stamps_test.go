package stamps

import (
	"math"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/needs"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport/sim"
)

// truth is what hosts of the tests cost.
var truth = sim.Cost{Send: 3000, SendByte: 1, Recv: 2000, RecvByte: 0.5, Arrive: 1500, ArriveByte: 0.25, Wake: 4000, Stamp: 700}

const size = 1000

// run measures one point of size bytes on a simulated pair whose clocks disagree, and returns its lines.
func run(t *testing.T, opt sim.Options, wrap func(bench.Group) bench.Group) []dataset.Sample {
	t.Helper()
	opt.Seed, opt.ClockOffset, opt.ClockDrift = 3, 2*units.Second, 20
	slot := bench.Slot{Teams: [][]int{{0, 1}}, Points: []bench.Point{{names.FactorBytes: size}}}
	return benchtest.MustRun(t, Experiment{}, sim.New(benchtest.Spec(2), opt), slot, 1, wrap)[0]
}

// phase returns the medians of a phase by direction; NaN where there is none.
func phase(lines []dataset.Sample, name string) [2]float64 {
	out := [2]float64{math.NaN(), math.NaN()}
	for _, l := range lines {
		if l.Exp == names.Stamps && l.Phase == name {
			out[int(l.Aux[names.AuxDirection])] = benchtest.Median(l.NS)
		}
	}
	return out
}

// Every part is what the simulated hosts and the network between them take, in both directions, although the clocks disagree.
func TestParts(t *testing.T) {
	lines := run(t, sim.Options{Cost: truth, StampingNIC: true}, nil)
	s := benchtest.Spec(2)
	way := (s.Service(s.Host, size)*2 + s.Service(s.Medium, size) + s.L) * 1e9
	nic := (s.Service(s.Medium, size) + s.L) * 1e9
	handedOver := 3000.0 + 700 + size
	takenIn, call := 1500+0.25*size, 2000+0.5*size
	parts := map[string]float64{
		names.PhaseSend: handedOver, names.PhaseQueue: 0, names.PhaseCall: handedOver, names.PhaseWay: way,
		names.PhaseWake: takenIn + 4000 + call, names.PhaseWakePolling: takenIn + call, names.PhaseRecv: call,
	}
	for name, want := range parts {
		for dir, got := range phase(lines, name) {
			if math.Abs(got-want) > 5 {
				t.Errorf("%s, direction %d: %g ns, want %g", name, dir, got, want)
			}
		}
	}
	if got := phase(lines, names.PhaseNIC)[0]; math.Abs(got-nic) > 5 {
		t.Errorf("between the interfaces: %g ns, want %g", got, nic)
	}
	half, plain := phase(lines, names.PhaseHalf)[0], phase(lines, names.PhasePlain)[0]
	if sum := handedOver + way + takenIn + 4000 + call; math.Abs(half-sum) > 5 {
		t.Errorf("half a round trip is %g ns, the parts are %g", half, sum)
	}
	if math.Abs(half-plain-700) > 5 {
		t.Errorf("stamps cost %g ns, want 700", half-plain)
	}
}

// The parts of each message follow each other without gaps: their sum over both directions is the round trip, to the nanosecond
// of each clock.
func TestPartsAddUp(t *testing.T) {
	lines := run(t, sim.Options{Cost: truth, Noise: sim.Noise{Jitter: 0.2}}, nil)
	var half []int64
	var sum []float64
	for _, l := range lines {
		switch l.Phase {
		case names.PhaseHalf:
			half = l.NS
		case names.PhaseSend, names.PhaseQueue, names.PhaseWay, names.PhaseWake:
			if sum == nil {
				sum = make([]float64, len(l.NS))
			}
			for i, ns := range l.NS {
				sum[i] += float64(ns) / 2
			}
		}
	}
	if len(half) < 50 || len(sum) != len(half) {
		t.Fatalf("%d half round trips, parts of %d", len(half), len(sum))
	}
	for i := range half {
		if d := sum[i] - float64(half[i]); math.Abs(d) > 4 {
			t.Errorf("message %d: the parts are %g ns off its half round trip of %d", i, d, half[i])
		}
	}
}

// only is a group without the stamps of the one in it.
type only struct{ bench.Group }

// Where one rank cannot stamp, messages are passed without.
func TestWithoutStamps(t *testing.T) {
	lines := run(t, sim.Options{Cost: truth}, func(g bench.Group) bench.Group {
		if g.Rank() == 1 {
			return only{g}
		}
		return g
	})
	for _, l := range lines {
		if l.Exp == names.Stamps && l.Phase != names.PhasePlain {
			t.Errorf("a line of phase %s", l.Phase)
		}
	}
	if math.IsNaN(phase(lines, names.PhasePlain)[0]) {
		t.Error("no messages without stamps")
	}
}

// faulty is a rank with a wall clock that was set, or a driver without stamps.
type faulty struct {
	*sim.Group
	steps units.Nanos // of the wall clock at each reading
	mute  int         // takes no stamp SND for the first so many messages
	read  units.Nanos
	seen  int
}

func (g *faulty) StampClock() (ahead, bound units.Nanos) {
	ahead, _ = g.Group.StampClock()
	g.read += g.steps
	return ahead + g.read, 20
}

func (g *faulty) Departure(to int, patience units.Nanos) (plane.Departure, error) {
	d, err := g.Group.Departure(to, patience)
	if g.seen++; g.seen <= g.mute {
		d.Sent = 0
	}
	return d, err
}

func spoil(steps units.Nanos, mute int) func(g bench.Group) bench.Group {
	return func(g bench.Group) bench.Group {
		if g.Rank() == 0 {
			return g
		}
		return &faulty{Group: g.(*sim.Group), steps: steps, mute: mute}
	}
}

// A wall clock that was set during a batch spoils it; one that is read a little differently does not.
func TestSteppedClock(t *testing.T) {
	for _, c := range []struct {
		step units.Nanos
		flag bool
	}{{30, false}, {1000, true}, {-1000, true}} {
		for _, l := range run(t, sim.Options{Cost: truth}, spoil(c.step, 0)) {
			if l.Exp != names.Stamps || l.Phase == names.PhasePlain {
				continue
			}
			if l.Has(dataset.FlagStep) != c.flag {
				t.Errorf("set by %v, phase %s: flags %v", c.step, l.Phase, l.Flags)
			}
		}
	}
}

// Messages of which a stamp is missing are left out, and counted; where all are, that is all there is to say.
func TestMissingStamps(t *testing.T) {
	count := func(mute int) (half dataset.Sample, ways int) {
		lines := run(t, sim.Options{Cost: truth}, spoil(0, mute))
		for _, l := range lines {
			if l.Phase == names.PhaseWay {
				ways++
			}
		}
		return benchtest.Phase(t, lines, names.PhaseHalf), ways
	}
	whole, _ := count(0)
	n := len(whole.NS)
	if whole.Aux[names.AuxSentStamps] != 2*float64(n) || whole.Aux[names.AuxScheduled] != 2*float64(n) || whole.Aux[names.AuxTaken] != 2*float64(n) {
		t.Errorf("%d messages each way: %v", n, whole.Aux)
	}
	none, ways := count(math.MaxInt)
	if len(none.NS) != 0 || ways != 0 || none.Aux[names.AuxSentStamps] != float64(n) || !none.Has(dataset.FlagUnsteady) {
		t.Errorf("no stamp SND of rank 1: %+v and %d ways", none, ways)
	}
}

// Repeating messages allocates nothing.
func TestMessagesDoNotAllocate(t *testing.T) {
	needs.Allocations(t)
	err := sim.New(benchtest.Spec(2), sim.Options{Cost: sim.Cost{Now: 10}}).Run([]int{0, 1}, func(rank int, g *sim.Group) error {
		const runs, each = 20, 10
		x := exchange{stamper: g, peer: 1 - rank, msg: make([]byte, size), trace: newTrace(2 * each)}
		if err := g.StampMessages(1-rank, true); err != nil {
			return err
		}
		if rank == 1 {
			for range (runs + 2) * each {
				if _, err := x.Follow(g); err != nil {
					return err
				}
			}
			return nil
		}
		batch := func() {
			for i := range each {
				if _, err := x.Lead(g, i == each-1); err != nil {
					t.Error(err)
				}
			}
		}
		batch()
		if n := testing.AllocsPerRun(runs, batch); n != 0 {
			t.Errorf("a batch of messages allocates %g times", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Cost bounds what a pair passes with stamps.
func TestCost(t *testing.T) {
	p := bench.Point{names.FactorBytes: size}
	for _, effort := range []bench.Effort{0.1, 1} {
		bound := Experiment{}.Cost(bench.Limits{Hosts: 2, Effort: effort}, p)
		var sends [2]int
		var bytes [2]units.Bytes
		slot := bench.Slot{Teams: [][]int{{0, 1}}, Points: []bench.Point{p}}
		benchtest.MustRun(t, Experiment{}, sim.New(benchtest.Spec(2), sim.Options{Cost: truth}), slot, float64(effort), func(g bench.Group) bench.Group {
			return &counting{Group: g.(*sim.Group), sends: &sends[g.Rank()], bytes: &bytes[g.Rank()]}
		})
		for rank := range sends {
			if sends[rank] > bound.Messages+128 || bytes[rank] > bound.Bytes+8*units.KiB {
				t.Errorf("effort %g, rank %d: %d messages, %v; the bound is %+v", effort, rank, sends[rank], bytes[rank], bound)
			}
		}
	}
}

type counting struct {
	*sim.Group
	sends *int
	bytes *units.Bytes
}

func (g *counting) Send(to int, b []byte) error {
	*g.sends++
	*g.bytes += units.Bytes(len(b))
	return g.Group.Send(to, b)
}
