package overlap

import (
	"math"
	"slices"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/bench/flow"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/needs"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// hostCost is what calls and arrivals cost on the hosts of these tests.
var hostCost = sim.Cost{
	Send: 6370, SendByte: 0.0253, Recv: 9930, RecvByte: 0.004, Arrive: 12_176, ArriveByte: 0.0429, Now: 25,
}

func measureOverhead(
	t *testing.T, s netspec.Spec, o sim.Options, effort float64, points []bench.Point, wrap func(bench.Group) bench.Group,
) []dataset.Sample {
	t.Helper()
	return benchtest.MustRun(t, Overhead, sim.New(s, o), bench.Slot{Teams: [][]int{{0, 1}}, Points: points}, effort,
		wrap)[0]
}

// Less the clock, every send is O_s(m) and every receive U_r(m), to the nanosecond the clock resolves.
func TestOverheadCallsAreExact(t *testing.T) {
	l := bench.Limits{Hosts: 2, Effort: 1}
	var points []bench.Point
	for _, p := range Overhead.Design(l) {
		if p[names.FactorRate] == 0 {
			points = append(points, p)
		}
	}
	got := measureOverhead(t, benchtest.Spec(2), sim.Options{ClockOffset: units.Second, Cost: hostCost}, 1, points, nil)
	if want := 4 * len(points); len(got) != want {
		t.Fatalf("%d lines for %d sizes, want %d: two phases, two directions", len(got), len(points), want)
	}
	for _, line := range got {
		m := float64(line.Point[names.FactorBytes])
		want := float64(hostCost.Send) + hostCost.SendByte*m
		if line.Phase == names.PhaseRecv {
			want = float64(hostCost.Recv) + hostCost.RecvByte*m
		}
		if line.Aux[names.AuxClock] != float64(hostCost.Now) || len(line.NS) < minCalls {
			t.Errorf("%s, %s: an empty section takes %g ns, and there are %d times", line.Phase, line.Point.Key(),
				line.Aux[names.AuxClock], len(line.NS))
		}
		for _, ns := range line.NS {
			if math.Abs(float64(ns)-line.Aux[names.AuxClock]-want) > 1 {
				t.Fatalf("%s, %s: %d ns with the clock, want %g", line.Phase, line.Point.Key(), ns, want)
			}
		}
		if from := line.Ranks[0]; from != int(line.Aux[names.AuxDirection]) || line.Ranks[1] != 1-from {
			t.Errorf("%s: direction %g is of ranks %v", line.Phase, line.Aux[names.AuxDirection], line.Ranks)
		}
		if line.TCP == nil || line.TCP.DataSegsOut < int64(len(line.NS)) {
			t.Errorf("%s: the sender's counters are %+v", line.Phase, line.TCP)
		}
	}
}

// lostTime is the time a message takes from the computation, by the medians of both phases [ns].
func lostTime(t *testing.T, lines []dataset.Sample) (idle, each, messages float64) {
	t.Helper()
	middle := func(phase string) (float64, float64) {
		var ns []int64
		var n float64
		for _, line := range lines {
			if line.Phase == phase {
				ns, n = append(ns, line.NS...), line.Aux[names.AuxMessages]
			}
		}
		slices.Sort(ns)
		return float64(ns[len(ns)/2]), n
	}
	idle, _ = middle(names.PhaseComputeIdle)
	busy, messages := middle(names.PhaseCompute)
	return idle, (busy - idle) / messages, messages
}

// What the computation loses is O_r(m) for each message that came, at every rate, on a fast network and on a slow one.
func TestOverheadComputation(t *testing.T) {
	slow, err := netspec.Preset("sparc1994", 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []netspec.Spec{benchtest.Spec(2), *slow} {
		for _, p := range Overhead.Design(bench.Limits{Hosts: 2, Effort: 1}) {
			if p[names.FactorRate] == 0 {
				continue
			}
			lines := measureOverhead(t, s, sim.Options{Cost: hostCost}, 1, []bench.Point{p}, nil)
			idle, each, n := lostTime(t, lines)
			if want := float64(computeTime); math.Abs(idle/want-1) > 0.01 || lines[0].Aux[names.AuxCPUs] != 1 {
				t.Errorf("%s, %s: the computation takes %g ns on %g CPUs, want %g on the one that is interrupted", s.Name, p.Key(),
					idle,
					lines[0].Aux[names.AuxCPUs], want)
			}
			m := float64(p[names.FactorBytes])
			if want := float64(hostCost.Arrive) + hostCost.ArriveByte*m; math.Abs(each/want-1) > 0.01 {
				t.Errorf("%s, %s: %g messages take %g ns each, want %g", s.Name, p.Key(), n, each, want)
			}
			per := s.Service(s.Host, int(p[names.FactorBytes]))
			if most := computeTime.Seconds() / max(per, 1/float64(p[names.FactorRate])); n < 0.9*most {
				t.Errorf("%s, %s: %g messages during the computation, want about %g", s.Name, p.Key(), n, most)
			}
		}
	}
}

// small shows a receive buffer of so many bytes, and notes the most that was in it.
type small struct {
	bench.Group
	room int64
	held int
}

func (g *small) Counters(peer int) (dataset.TCP, error) {
	c, err := g.Group.Counters(peer)
	if g.room > 0 {
		c.RcvBuf = g.room
	}
	n, _ := g.Pending(peer)
	g.held = max(g.held, n)
	return c, err
}

// Where the receive buffer is small the computation is short, so that it holds what nobody reads; the truth is the
// same.
func TestOverheadKeepsWithinTheBuffer(t *testing.T) {
	const room = 128 << 10
	for _, p := range []bench.Point{{names.FactorBytes: 1, names.FactorRate: 20_000},
		{names.FactorBytes: 1400, names.FactorRate: 20_000}} {
		var groups []*small
		lines := measureOverhead(t, benchtest.Spec(2), sim.Options{Cost: hostCost}, 1, []bench.Point{p},
			func(g bench.Group) bench.Group {
				s := &small{Group: g, room: room}
				groups = append(groups, s)
				return s
			})
		idle, each, n := lostTime(t, lines)
		if idle > float64(computeTime) {
			t.Errorf("%s: the computation takes %g ns though the buffer is small", p.Key(), idle)
		}
		for _, g := range groups {
			m := int(p[names.FactorBytes])
			if messages := g.held / m; messages*(segmentRoom+2*m) > room || float64(messages) < n {
				t.Errorf("%s: the buffer held %d messages, %g came", p.Key(), messages, n)
			}
		}
		want := float64(hostCost.Arrive) + hostCost.ArriveByte*float64(p[names.FactorBytes])
		if math.Abs(each/want-1) > 0.01 {
			t.Errorf("%s: %g ns each, want %g", p.Key(), each, want)
		}
	}
}

// blind does not see what is pending during some receives.
type blind struct {
	bench.Group
	received, from, to int
}

func (b *blind) Recv(from int, p []byte) error { b.received++; return b.Group.Recv(from, p) }

func (b *blind) Pending(from int) (int, error) {
	if b.received >= b.from && b.received < b.to {
		return 0, nil
	}
	return b.Group.Pending(from)
}

// A receive whose bytes were not seen to be there is no U_r, and is left out.
func TestOverheadLeavesOutLateReceives(t *testing.T) {
	count := func(wrap func(bench.Group) bench.Group) (recv, send int) {
		o := sim.Options{Cost: hostCost}
		for _, line := range measureOverhead(t, benchtest.Spec(2), o, 0.2, []bench.Point{{names.FactorBytes: 64}}, wrap) {
			if line.Aux[names.AuxDirection] == 1 {
				continue
			}
			if line.Phase == names.PhaseRecv {
				recv = len(line.NS)
			} else {
				send = len(line.NS)
			}
		}
		return recv, send
	}
	recv, send := count(func(g bench.Group) bench.Group {
		if g.Rank() == 0 {
			return g
		}
		return &blind{Group: g, from: warmCalls + 2, to: warmCalls + 5}
	})
	if recv != send-3 {
		t.Errorf("%d receives of %d messages, three of which came late", recv, send)
	}
}

func TestOverheadDesign(t *testing.T) {
	for _, tc := range []struct {
		name        string
		l           bench.Limits
		calls, load int
	}{
		{"standard", bench.Limits{Hosts: 2}, 10, 9},
		{"thinned", bench.Limits{Hosts: 2, Effort: 0.25}, 5, 4},
		{"at most 100 B", bench.Limits{Hosts: 2, MaxBytes: 100}, 2, 3},
		{"given sizes", bench.Limits{Hosts: 2, Sizes: []units.Bytes{1, 2, 3, 4, 5, 6000, 70_000}}, 6, 9},
		{"one host", bench.Limits{Hosts: 1}, 0, 0},
	} {
		calls, load := 0, 0
		for _, p := range Overhead.Design(tc.l) {
			if p[names.FactorRate] == 0 {
				calls++
			} else {
				load++
			}
		}
		if calls != tc.calls || load != tc.load {
			t.Errorf("%s: %d sizes for the calls, %d points for the computation, want %d and %d",
				tc.name, calls, load, tc.calls, tc.load)
		}
	}
}

func TestOverheadTimedSectionsDoNotAllocate(t *testing.T) {
	needs.Allocations(t)
	err := sim.New(benchtest.Spec(2), sim.Options{Cost: hostCost}).Run([]int{0, 1}, func(rank int, g *sim.Group) error {
		const runs = 10
		team := bench.Team{Group: g, R: bench.NewRecorder(bench.Task{Team: []int{0, 1}}),
			P: bench.Point{names.FactorBytes: 700}}
		x := flow.Role{Team: team, From: 0, To: []int{1}}
		msg, ns := make([]byte, 700), make([]int64, warmCalls+20)
		call := timeSends
		if rank == 1 {
			call = timeReceives
		}
		return bench.Caught(func() {
			each := func() { call(x, msg, ns) }
			if rank == 1 { // AllocsPerRun calls once more, to warm up, and counts what every goroutine allocates
				for range runs + 1 {
					each()
				}
				return
			}
			if n := testing.AllocsPerRun(runs, each); n > 2 { // the acknowledgement's byte, at either end
				t.Errorf("a batch of timed sends and receives allocates %g times", n)
			}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The computation runs on the CPUs that take messages in, or on all where that is not known.
func TestReceivers(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after []int64
		want          []int
	}{
		{"one of four", []int64{5, 5, 5, 5}, []int64{5, 105, 6, 5}, []int{1}},
		{"two of four", []int64{0, 0, 0, 0}, []int64{0, 60, 0, 40}, []int{1, 3}},
		{"none", []int64{1, 1, 1, 1}, []int64{1, 1, 1, 1}, []int{0, 1, 2, 3}},
		{"not known", nil, nil, []int{0, 1, 2, 3}},
	} {
		if got := receivers(c.before, c.after, 4); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
