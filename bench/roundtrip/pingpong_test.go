package roundtrip

import (
	"math"
	"slices"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// Without noise every half round trip is T(x) to the nanosecond: the mean of both ways where a host is slow.
func TestPingPongIsExact(t *testing.T) {
	sparc, err := netspec.Preset("sparc1994", 4)
	if err != nil {
		t.Fatal(err)
	}
	slow := benchtest.Spec(4)
	slow.Overrides = map[int]netspec.Block{3: {A: 90 * benchtest.US, B: 0.08 * benchtest.US}}
	switched := benchtest.Spec(4)
	switched.Mode, switched.L = netspec.Switched, 2e-3
	for _, s := range []netspec.Spec{*sparc, benchtest.Spec(4), slow, switched} {
		points := Pingpong.Design(bench.Limits{Hosts: s.Hosts, MaxBytes: 300_000, Seed: 5})
		n := sim.New(s, sim.Options{ClockOffset: units.Second})
		for _, pair := range [][]int{{0, 1}, {2, 3}} {
			got := benchtest.MustRun(t, Pingpong, n, bench.Slot{Teams: [][]int{pair}, Points: points}, 0.2, nil)[0]
			if len(got) != len(points) {
				t.Fatalf("%d lines for %d sizes", len(got), len(points))
			}
			for _, line := range got {
				x := int(line.Point[names.FactorBytes])
				want := (benchtest.OneWay(&s, pair[0], pair[1], x) + benchtest.OneWay(&s, pair[1], pair[0], x)) / 2 * 1e9
				for _, ns := range line.NS {
					if math.Abs(float64(ns)-want) > 1 {
						t.Fatalf("%s, pair %v, %d bytes: half round trip %d ns, want %.2f", s.Name, pair, x, ns, want)
					}
				}
			}
		}
	}
}

func TestPingPongDesign(t *testing.T) {
	sizes := func(l bench.Limits) (out []int64) {
		for _, p := range Pingpong.Design(l) {
			out = append(out, p[names.FactorBytes])
		}
		return out
	}
	full := sizes(bench.Limits{Hosts: 2, Seed: 1})
	if full[0] != 1 || full[len(full)-1] != 4<<20 || !slices.IsSorted(full) {
		t.Errorf("sizes %v: want 1 to 4 MiB, ascending", full)
	}
	quick := sizes(bench.Limits{Hosts: 2, Seed: 1, Effort: 0.25})
	if d := float64(len(full)) / math.Log10(4<<20); d < 5 || d > 7 {
		t.Errorf("%d sizes, %.1f a decade, want about 6", len(full), d)
	}
	if r := float64(len(full)) / float64(len(quick)); r < 1.6 || r > 2.4 {
		t.Errorf("%d sizes, quick %d: want half", len(full), len(quick))
	}
	for _, x := range full[1 : len(full)-1] {
		if x > 1000 && x&(x-1) == 0 {
			t.Errorf("size %d is a power of two", x)
		}
	}
	if slices.Equal(full, sizes(bench.Limits{Hosts: 2, Seed: 2})) {
		t.Error("the seed does not move the sizes")
	}
	if got := sizes(bench.Limits{Hosts: 2, Sizes: []units.Bytes{7, 70, 700}, MaxBytes: 100}); !slices.Equal(got,
		[]int64{7, 70}) {
		t.Errorf("given sizes within 100 B are %v", got)
	}
	if got := sizes(bench.Limits{Hosts: 1}); got != nil {
		t.Errorf("one host has sizes %v", got)
	}
}

// growing shows a congestion window that opens by one segment a reading.
type growing struct {
	bench.Group
	window, limit int64
	reads         int
}

func (g *growing) Counters(peer int) (dataset.TCP, error) {
	c, err := g.Group.Counters(peer)
	g.reads++
	g.window = min(g.window+1, g.limit)
	c.Cwnd = g.window
	return c, err
}

// The warm-up goes on while the window grows and the message does not fit, and no longer than maxWarm.
func TestPingPongWarmsUp(t *testing.T) {
	for _, tc := range []struct {
		name  string
		bytes int64
		limit int64
		want  int
	}{
		{"fits at once", 100, 10, 2},
		{"fits after 5", 5 * 1448, 10, 5},
		{"stops growing at 4", 1 << 20, 4, 5},
		{"never fits", 1 << 20, 1000, maxWarm},
	} {
		var root *growing
		benchtest.MustRun(t, Pingpong, benchtest.Net(benchtest.Spec(2)),
			bench.Slot{Teams: [][]int{{0, 1}}, Points: []bench.Point{{names.FactorBytes: tc.bytes}}}, 0.1,
			func(g bench.Group) bench.Group {
				if g.Rank() != 0 {
					return g
				}
				root = &growing{Group: g, limit: tc.limit}
				return root
			})
		if got := root.reads - 2; got != tc.want { // less the readings before and after the batch
			t.Errorf("%s: %d warm-ups, want %d", tc.name, got, tc.want)
		}
	}
}

// A batch takes its budget of time: many repetitions of a fast message, few of a slow one.
func TestPingPongBudget(t *testing.T) {
	s := benchtest.Spec(2)
	fits := func(bytes, ns int) int { return ns / (2 * int(math.Round(benchtest.OneWay(&s, 0, 1, bytes)*1e9))) }
	for _, tc := range []struct {
		bytes  int64
		effort float64
		want   int
	}{
		{1, 1, min(hotReps, fits(1, 50_000_000))},
		{1, 0.1, max(tailReps, min(hotReps/10, fits(1, 5_000_000)))},
		{20_000, 1, fits(20_000, 50_000_000)},
		{1_000_000, 0.1, minReps},
	} {
		n := sim.New(s, sim.Options{})
		line := benchtest.MustRun(t, Pingpong, n, bench.Slot{Teams: [][]int{{0, 1}},
			Points: []bench.Point{{names.FactorBytes: tc.bytes}}}, tc.effort, nil)[0][0]
		if got := len(line.NS); got != tc.want {
			t.Errorf("%d bytes at effort %g: %d repetitions, want %d", tc.bytes, tc.effort, got, tc.want)
		}
	}
}

// far lets rank 1's counters show a retransmission and a preemption after the batch.
type far struct {
	bench.Group
	reads int64
}

func (f *far) Counters(peer int) (dataset.TCP, error) {
	c, err := f.Group.Counters(peer)
	f.reads++
	c.Retrans, c.Involuntary = f.reads, 2*f.reads
	return c, err
}

func TestPingPongReportsTheFarEnd(t *testing.T) {
	line := benchtest.MustRun(t, Pingpong, benchtest.Net(benchtest.Spec(2)),
		bench.Slot{Teams: [][]int{{1, 0}}, Points: []bench.Point{{names.FactorBytes: 64}}}, 0.1,
		func(g bench.Group) bench.Group {
			if g.Rank() == 0 {
				return g
			}
			return &far{Group: g}
		})[0][0]
	if line.TCP.Retrans != 1 || line.TCP.Involuntary != 2 || !line.Has(dataset.FlagRetrans) ||
		!line.Has(dataset.FlagPreempt) {
		t.Errorf("rank 1 lost a segment and the processor during the batch; the line says %+v, flags %v", *line.TCP,
			line.Flags)
	}
	if line.Aux[names.AuxClock] != 25 {
		t.Errorf("the clock of the simulated host costs %g ns", line.Aux[names.AuxClock])
	}
	if want := int64(len(line.NS)); line.TCP.DataSegsOut != want || line.TCP.DataSegsIn != want {
		t.Errorf("%d repetitions are %d segments out, %d in", want, line.TCP.DataSegsOut, line.TCP.DataSegsIn)
	}
	if !slices.Equal(line.Ranks, []int{1, 0}) {
		t.Errorf("ranks %v, want hosts 1, 0", line.Ranks)
	}
}
