package collective_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/bench/collective"
	"calib/bench/pattern"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// line runs one point alone on its hosts, and returns its one line.
func line(t *testing.T, n *sim.Net, p bench.Point, phase string) (ns []int64, aux map[string]float64) {
	t.Helper()
	slot := bench.Slot{Teams: bench.FirstHosts(int(p[names.FactorHosts]))[0], Points: []bench.Point{p}}
	s := benchtest.Phase(t, benchtest.MustRun(t, collective.Pattern, n, slot, 1, nil)[0], phase)
	return s.NS, s.Aux
}

func point(t *testing.T, operation, algorithm string, hosts, bytes int64) bench.Point {
	t.Helper()
	p, err := pattern.Find(operation, algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return bench.Point{names.FactorPattern: p.ID, names.FactorHosts: hosts, names.FactorBytes: bytes}
}

// exact is a network of equal clocks on which calls take no time.
func exact(s netspec.Spec) *sim.Net { return sim.New(s, sim.Options{}) }

// TestPatternTimes: on a network whose costs are known a message takes what the recursion for packets says, and
// messages that wait for each other take it as often.
func TestPatternTimes(t *testing.T) {
	s := benchtest.Spec(5)
	one := func(x int) float64 { return benchtest.OneWay(&s, 0, 1, x) * 1e9 }
	for _, c := range []struct {
		what  bench.Point
		want  float64
		wants string
	}{
		{point(t, "p2p", "direct", 2, 1), one(1), "one way"},
		{point(t, "p2p", "direct", 2, 64<<10), one(64 << 10), "one way"},
		{point(t, "bcast", "pipelined", 5, 1000), 4 * one(1000), "four ways"},
		{point(t, "barrier", "p4", 2, 1), 2 * one(1), "there and back"},
	} {
		ns, aux := line(t, exact(s), c.what, names.PhasePattern)
		if got := benchtest.Median(ns); math.Abs(got-c.want) > 2*c.want/1e4+10 {
			t.Errorf("%s: %g ns, want %g (%s)", c.what.Key(), got, c.want, c.wants)
		}
		if aux[names.AuxStartSkew] != 0 {
			t.Errorf("%s: hosts with equal clocks that cost nothing begin late: %v", c.what.Key(), aux)
		}
	}
}

// TestSignalsKeepQuiet: what ranks say when they have done their part costs the rest nothing: the last of seven
// messages on a shared medium arrives when the medium has served seven.
func TestSignalsKeepQuiet(t *testing.T) {
	s := netspec.Spec{
		Name: "slow medium", Hosts: 8, Mode: netspec.Shared, MSS: 1448,
		Host: netspec.Block{A: benchtest.US, B: 1e-9}, Medium: netspec.Block{A: 1000 * benchtest.US, B: 1e-6},
		L: benchtest.US,
	}
	for _, algorithm := range []string{"serial", "binomial"} {
		ns, _ := line(t, exact(s), point(t, "bcast", algorithm, 8, 1), names.PhasePattern)
		if got := benchtest.Median(ns); math.Abs(got-7e6) > 2e4 {
			t.Errorf("%s: %g ns, want 7 services of 1 ms", algorithm, got)
		}
	}
}

// late is a group whose rank 3 begins a microsecond late.
type late struct{ bench.Group }

func (l late) WaitUntil(t units.Nanos) error {
	if l.Rank() == 3 {
		t += units.Microsecond
	}
	return l.Group.WaitUntil(t)
}

// TestSkew: a time runs from when the first host began that sends first; how far apart those began is known.
func TestSkew(t *testing.T) {
	for _, c := range []struct {
		point bench.Point
		want  float64
	}{{point(t, "neighbour", "ring", 5, 1), 1000}, {point(t, "bcast", "serial", 5, 1), 0}} {
		slot := bench.Slot{Teams: bench.FirstHosts(5)[0], Points: []bench.Point{c.point}}
		s := benchtest.Phase(t, benchtest.MustRun(t, collective.Pattern, exact(benchtest.Spec(5)), slot, 1,
			func(g bench.Group) bench.Group { return late{g} })[0], names.PhasePattern)
		ns, _ := line(t, exact(benchtest.Spec(5)), c.point, names.PhasePattern)
		if d := benchtest.Median(s.NS) - benchtest.Median(ns); s.Aux[names.AuxStartSkew] != c.want || d < 0 || d > c.want {
			t.Errorf("%s: %v, and %g ns longer; want %g", c.point.Key(), s.Aux, d, c.want)
		}
	}
}

// TestEveryPattern: every pattern gives a line, on all hosts and on half of them.
func TestEveryPattern(t *testing.T) {
	l := bench.Limits{Hosts: 5, Effort: 2, MaxBytes: 8 * units.KiB}
	seen := map[int64]bool{}
	for _, p := range collective.Pattern.Design(l) {
		ns, _ := line(t, benchtest.Net(benchtest.Spec(5)), p, names.PhasePattern)
		if len(ns) == 0 || ns[0] <= 0 {
			t.Errorf("%s: %v", p.Key(), ns)
		}
		seen[p[names.FactorPattern]] = true
	}
	if len(seen) != len(pattern.All) {
		t.Errorf("a full design has %d of %d patterns", len(seen), len(pattern.All))
	}
}

// TestTooSlow: what would take longer than a receive may wait is not run, and the line says how long it would take.
func TestTooSlow(t *testing.T) {
	s := netspec.Spec{
		Name: "slow", Hosts: 2, Mode: netspec.Shared, MSS: 1448,
		Host: netspec.Block{A: benchtest.US, B: 1e-9}, Medium: netspec.Block{A: benchtest.US, B: 100 * benchtest.US},
		L: benchtest.US,
	}
	ns, _ := line(t, exact(s), point(t, "p2p", "direct", 2, 64<<10), names.PhaseSkipped)
	if len(ns) != 1 || math.Abs(float64(ns[0])-6.5536e9) > 1e8 {
		t.Errorf("estimated %v ns, want 65536 bytes at 100 µs", ns)
	}
}

func TestDesigns(t *testing.T) {
	count := func(l bench.Limits) int { return len(collective.Pattern.Design(l)) }
	for _, c := range []struct {
		name string
		l    bench.Limits
		want int
	}{
		{"standard", bench.Limits{Hosts: 8, Effort: 1}, 6 + 6},
		{"small messages only", bench.Limits{Hosts: 8, MaxBytes: 100}, 3 + 6},
		{"sizes", bench.Limits{Hosts: 8, Sizes: []units.Bytes{1, 64, 4096}}, 9 + 18},
		{"sizes above", bench.Limits{Hosts: 8, Sizes: []units.Bytes{units.MiB}}, 0},
		{"one pattern", bench.Limits{Hosts: 8, Patterns: []string{"bcast-binary"}}, 2 * 4},
		{"one of its own size", bench.Limits{Hosts: 8, Patterns: []string{"p2p-direct", "barrier-p4"}}, 4 + 2},
		{"full", bench.Limits{Hosts: 8, Effort: 2}, 4 + 2*4*(len(pattern.All)-3) + 2*2},
		{"one host", bench.Limits{Hosts: 1, Effort: 2}, 0},
	} {
		if got := count(c.l); got != c.want {
			t.Errorf("%s: %d points, want %d", c.name, got, c.want)
		}
	}
	a := collective.Pattern.Design(bench.Limits{Hosts: 8, Seed: 1})
	for seed := range uint64(20) {
		for i, p := range collective.Pattern.Design(bench.Limits{Hosts: 8, Seed: seed + 2}) {
			if p.Key() != a[i].Key() {
				return
			}
		}
	}
	t.Error("twenty seeds draw the same design")
}

// TestUnknownPattern: a host of another version says what to do.
func TestUnknownPattern(t *testing.T) {
	slot := bench.Slot{Teams: [][]int{{0, 1}}, Points: []bench.Point{{names.FactorPattern: 999, names.FactorHosts: 2,
		names.FactorBytes: 1}}}
	_, errs := benchtest.Run(context.Background(), t, collective.Pattern, exact(benchtest.Spec(2)), slot, 1, nil)
	for _, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "no pattern 999") {
			t.Errorf("got %v", err)
		}
	}
}
