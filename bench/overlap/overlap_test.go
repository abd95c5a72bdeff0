package overlap

import (
	"math"
	"slices"
	"strings"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// switched is a network of two hosts whose directions share nothing.
func switched() netspec.Spec {
	s := benchtest.Spec(2)
	s.Mode, s.L = netspec.Switched, 300*benchtest.US
	return s
}

// measured runs one point and returns the median of each phase [ns].
func measured(t *testing.T, n *sim.Net, p bench.Point) map[string]float64 {
	t.Helper()
	lines := benchtest.MustRun(t, Overlap, n, bench.Slot{Teams: [][]int{{0, 1}}, Points: []bench.Point{p}}, 0.5, nil)[0]
	out := map[string]float64{}
	for _, l := range lines {
		out[l.Phase] = benchtest.Median(l.NS)
	}
	return out
}

func point(bytes, granularity int64) bench.Point {
	return bench.Point{names.FactorBytes: bytes, names.FactorGranularity: granularity}
}

func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if math.Abs(got-want) > rel*math.Abs(want) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// Where sending and receiving cost the hosts nothing, the steps are as eq. 1 says: the sum of computation and transfer
// in turn, the longer of the two otherwise.
func TestIdeal(t *testing.T) {
	for _, bytes := range []int64{1, 1000, 200_000} { // the last is more than all buffers hold
		for _, g := range []int64{10, 50, 200, 1000} {
			m := measured(t, sim.New(switched(), sim.Options{}), point(bytes, g))
			compute, transfer := m[names.PhaseCompute], m[names.PhaseTransfer]
			near(t, "granularity", compute/transfer, float64(g)/whole, 0.01)
			near(t, "in turn", m[names.PhaseInTurn], compute+transfer, 0.01)
			if bytes > 1000 {
				continue // a part is sent when the rank that computes reads
			}
			for _, phase := range []string{names.PhaseSendFirst, names.PhaseSecond} {
				near(t, phase, m[phase], math.Max(compute, transfer), 0.01)
			}
		}
	}
	m := measured(t, sim.New(switched(), sim.Options{}), point(1, 0))
	s := switched()
	near(t, "transfer", m[names.PhaseTransfer], 1e9*benchtest.OneWay(&s, 0, 1, 1), 0.01)
	near(t, "handed over", m[names.PhaseTransferSecond], m[names.PhaseTransfer], 0.01)
}

// A large message that is sent first waits for a peer that computes; the second thread does not.
func TestLargeMessages(t *testing.T) {
	m := measured(t, sim.New(switched(), sim.Options{}), point(1_000_000, 100))
	compute, transfer := m[names.PhaseCompute], m[names.PhaseTransfer]
	if m[names.PhaseSecond] > 1.1*math.Max(compute, transfer) {
		t.Errorf("second thread: %g, computation %g, transfer %g", m[names.PhaseSecond], compute, transfer)
	}
	if m[names.PhaseSendFirst] < 1.3*m[names.PhaseSecond] {
		t.Errorf("sent first: %g, no slower than the second thread's %g", m[names.PhaseSendFirst], m[names.PhaseSecond])
	}
}

// To wake the second thread and to be woken cost what Options say, and a second thread without a CPU of its own takes
// what its calls take from the computation.
func TestOverhead(t *testing.T) {
	const send, recv, wake = 20_000, 30_000, 7_000
	for _, cpus := range []int{1, 2} {
		n := sim.New(switched(), sim.Options{Cost: sim.Cost{Send: send, Recv: recv, Wake: wake}, CPUs: cpus})
		m := measured(t, n, point(1, 0))
		near(t, "handed over", m[names.PhaseTransferSecond]-m[names.PhaseTransfer], 2*wake, 0.02)
		m = measured(t, n, point(1, 1000))
		stolen := 0.0
		if cpus == 1 {
			stolen = send + recv + 2*wake // woken by the rank, and by the message
		}
		if got := m[names.PhaseSecond] - m[names.PhaseCompute]; math.Abs(got-stolen) > 1500 {
			t.Errorf("%d CPUs: computing takes %g ns longer beside a transfer, want %g", cpus, got, stolen)
		}
	}
}

// A point that would take too long is not measured, and says so.
func TestSkipped(t *testing.T) {
	s := switched()
	s.L = 0.3
	lines := benchtest.MustRun(t, Overlap, sim.New(s, sim.Options{}), bench.Slot{Teams: [][]int{{0, 1}},
		Points: []bench.Point{point(1, 10_000), point(1, 10)}}, 1, nil)[0]
	phases := map[string]dataset.Sample{}
	for _, l := range lines {
		if l.Point[names.FactorGranularity] == 10_000 && l.Phase != names.PhaseSkipped ||
			l.Point[names.FactorGranularity] == 10 && l.Phase == names.PhaseSkipped {
			t.Errorf("phase %s at %s", l.Phase, l.Point.Key())
		}
		phases[l.Phase] = l
	}
	if v := phases[names.PhaseSkipped].NS; len(v) != 1 || v[0] < int64(longest) {
		t.Errorf("skipped: %v", v)
	}
	if n := len(phases[names.PhaseSecond].NS); n == 0 {
		t.Error("nothing measured where there is time")
	}
}

// Rank 1 does not follow orders beyond its bounds.
func TestBadOrders(t *testing.T) {
	for _, bad := range [][]int64{{99, 1, 1}, {int64(inTurn), 0, 1}, {int64(inTurn), mostStepsOrder + 1, 1},
		{int64(compute), 1, maxWork + 1}, {int64(compute), 1, -1}} {
		err := sim.New(switched(), sim.Options{Deadline: units.Second}).Run([]int{0, 1}, func(rank int, g *sim.Group) error {
			if rank == 0 {
				return bench.Caught(func() { bench.Team{Group: g}.SendNumbers(1, bad...) })
			}
			task := bench.Task{Reps: 1, Team: []int{0, 1}, Rank: 1, Points: []bench.Point{point(1, 10)}}
			_, err := bench.Perform(t.Context(), Overlap, g, task, nil)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "ordered to do") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// The user's sizes: the transfer of each, the granularities of the smallest and the largest.
func TestDesign(t *testing.T) {
	for _, c := range []struct {
		sizes []units.Bytes
		want  []units.Bytes
	}{{nil, sweepSizes}, {[]units.Bytes{1}, []units.Bytes{1}}, {[]units.Bytes{1, 50, 900}, []units.Bytes{1, 900}}} {
		var swept []units.Bytes
		alone := 0
		for _, p := range Overlap.Design(bench.Limits{Hosts: 2, Sizes: c.sizes, Effort: 1}) {
			if p[names.FactorGranularity] == 0 {
				alone++
			} else if m := units.Bytes(p[names.FactorBytes]); !slices.Contains(swept, m) {
				swept = append(swept, m)
			}
		}
		if !slices.Equal(swept, c.want) || alone != max(len(c.sizes), 1) && c.sizes != nil {
			t.Errorf("sizes %v: swept %v, want %v; %d alone", c.sizes, swept, c.want, alone)
		}
	}
}
