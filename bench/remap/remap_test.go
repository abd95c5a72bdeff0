package remap_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/bench/remap"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/transport/sim"
)

func point(sync, bytes, hosts, injecting, destinations, span int64) bench.Point {
	return bench.Point{names.FactorSync: sync, names.FactorBytes: bytes, names.FactorHosts: hosts,
		names.FactorInjecting:    injecting,
		names.FactorDestinations: destinations, names.FactorSpan: span}
}

// run measures a point, and returns the lines of the remap.
func run(t *testing.T, n *sim.Net, p bench.Point, effort float64) []dataset.Sample {
	t.Helper()
	slot := bench.Slot{ID: 1, Teams: bench.FirstHosts(int(p[names.FactorHosts]))[0], Points: []bench.Point{p}}
	lines := benchtest.MustRun(t, remap.Remap, n, slot, effort, nil)[0]
	return slices.DeleteFunc(lines, func(l dataset.Sample) bool { return l.Exp != names.Remap })
}

// interval is that of the injections of all lines together [s].
func interval(lines []dataset.Sample) float64 {
	rate := 0.0
	for _, l := range lines {
		rate += 1e9 / stats.Mean(stats.Floats(l.NS))
	}
	return float64(len(lines)) / rate
}

// On a switch whose hosts take 400 µs a message, and one packet's way is 1000 µs: alone and in step hosts meet nobody;
// drawn destinations meet.
func TestOnSwitch(t *testing.T) {
	spec, err := netspec.Preset("switch", 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		point    bench.Point
		lo, hi   float64 // s
		lines    int
		intended string
	}{
		{point(1, 1, 8, 1, names.DestinationsDrawn, 0), 2000e-6, 2004e-6, 1, "round trip"},
		{point(1, 1, 8, 8, names.DestinationsRound, 0), 2000e-6, 2004e-6, 8, "round trip"},
		{point(1, 1, 8, 8, names.DestinationsNext, 0), 2000e-6, 2004e-6, 8, "round trip"},
		{point(1, 1, 8, 8, names.DestinationsDrawn, 0), 2050e-6, 2400e-6, 8, "some messages meet"},
		{point(0, 1, 8, 1, names.DestinationsDrawn, 0), 400e-6, 401e-6, 1, "gap"},
		{point(0, 1, 8, 8, names.DestinationsRound, 0), 399e-6, 401e-6, 8, "gap"},
		{point(0, 1, 8, 8, names.DestinationsDrawn, 0), 401e-6, 440e-6, 8, "some messages meet"},
		{point(0, 1, 8, 8, names.DestinationsDrawn, 1), 401e-6, 440e-6, 8, "some messages meet"},
	} {
		lines := run(t, sim.New(*spec, sim.Options{Seed: 1, Cost: sim.Cost{Now: 25}}), c.point, 1)
		if v := interval(lines); v < c.lo || v > c.hi || len(lines) != c.lines {
			t.Errorf("%s: %g s by %d lines, want %g to %g s (%s) by %d", c.point.Key(), v, len(lines), c.lo, c.hi, c.intended,
				c.lines)
		}
	}
}

// A medium that is full serves the messages of all hosts in an interval, with replies and without.
func TestOnMedium(t *testing.T) {
	spec, err := netspec.Preset("sparc1994", 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, bytes := range []int64{1, 16 << 10} {
		all := 0.0
		for left := int(bytes); left > 0; left -= spec.MSS {
			all += 8 * spec.Service(spec.Medium, min(left, spec.MSS))
		}
		for sync := range int64(2) {
			for _, destinations := range []int64{names.DestinationsDrawn, names.DestinationsRound} {
				p := point(sync, bytes, 8, 8, destinations, 0)
				v := interval(run(t, sim.New(*spec, sim.Options{Seed: 1, Cost: sim.Cost{Now: 25}}), p, 1))
				if want := float64(1+sync) * all; math.Abs(v/want-1) > 0.02 {
					t.Errorf("%s: %g s, want %g", p.Key(), v, want)
				}
			}
		}
	}
}

// Hosts that have all sent more than the buffers between them hold receive before they go on.
func TestSmallBuffers(t *testing.T) {
	n := sim.New(benchtest.Spec(5), sim.Options{Seed: 1, SendBuffer: 1500, Window: 1500, Deadline: 100 * units.Second,
		Cost: sim.Cost{Now: 25}})
	for sync := range int64(2) {
		for _, destinations := range []int64{names.DestinationsDrawn, names.DestinationsRound, names.DestinationsNext} {
			if lines := run(t, n, point(sync, 40_000, 5, 5, destinations, 0), 0.1); len(lines) != 5 {
				t.Errorf("sync %d, destinations %d: %d lines", sync, destinations, len(lines))
			}
		}
	}
}

// A remap that takes too long is skipped, and says how long it would take.
func TestSkipped(t *testing.T) {
	s := benchtest.Spec(4)
	s.Medium = netspec.Block{A: 1, B: 1}
	lines := run(t, sim.New(s, sim.Options{Seed: 1}), point(1, 1, 4, 4, names.DestinationsDrawn, 0), 1)
	if len(lines) != 1 || lines[0].Phase != names.PhaseSkipped || lines[0].NS[0] < int64(units.Second) {
		t.Errorf("%+v", lines)
	}
}

// A rank that fails in the middle ends the remap of all.
func TestFailingRank(t *testing.T) {
	n := sim.New(benchtest.Spec(3), sim.Options{Seed: 1, Deadline: 5 * units.Second})
	slot := bench.Slot{ID: 1, Teams: bench.FirstHosts(3)[0],
		Points: []bench.Point{point(1, 1, 3, 3, names.DestinationsDrawn, 0)}}
	samples, errs := benchtest.Run(context.Background(), t, remap.Remap, n, slot, 0.1,
		func(g bench.Group) bench.Group { return &failing{g, 20} })
	for _, err := range errs {
		if err == nil {
			t.Error("a rank ended well")
		}
	}
	if len(errs) != 3 || len(samples[0]) > 0 {
		t.Errorf("%d ranks, samples %v", len(errs), samples)
	}
}

// failing is a group whose rank 2 can send nothing more after some messages.
type failing struct {
	bench.Group
	left int
}

func (s *failing) SendSome(to int, b []byte, patience units.Nanos) (int, error) {
	if s.left--; s.left < 0 && s.Rank() == 2 {
		return 0, errors.New("the test ends rank 2")
	}
	return s.Group.SendSome(to, b, patience)
}
