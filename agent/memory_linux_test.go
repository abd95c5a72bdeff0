package agent

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"calib/bench"
	"calib/bench/experiments"
	"calib/bench/pattern"
	"calib/internal/dataset/names"
	"calib/internal/needs"
	"calib/internal/units"
)

const (
	tightMemory  = 64 * units.MiB
	besideMemory = 32 * units.MiB // of the process, beside what a task may take
)

// peak is the most memory that an agent has held since the call before [B].
func (p *pair) peak(t *testing.T, i int) (most units.Bytes) {
	t.Helper()
	proc := "/proc/" + p.pids[i]
	status, err := os.ReadFile(proc + "/status")
	if err == nil {
		err = os.WriteFile(proc+"/clear_refs", []byte("5"), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return units.Bytes(kib) * units.KiB
}

// Of every experiment the tasks at the edges of its ranges, with the largest effort that is not refused, leave an agent
// within its limit of memory and a fixed amount beside it.
func TestTasksStayWithinMemory(t *testing.T) {
	needs.Allocations(t)
	p := startPair(t, tightMemory)
	for i := range p.clients {
		p.peak(t, i)
	}
	largest := units.Bytes(0)
	check := func(x bench.Task) (errs [2]error) {
		_, errs = p.run(x)
		for i := range p.clients {
			most := p.peak(t, i)
			largest = max(largest, most)
			if most > tightMemory+besideMemory {
				t.Errorf("%s at %s, effort %g: agent %d held %v, the limit is %v", x.Exp, x.Points[0].Key(), x.Reps, i, most,
					tightMemory)
				p = startPair(t, tightMemory) // what it holds now must not count for the next
				p.peak(t, 0)
				p.peak(t, 1)
				return errs
			}
		}
		return errs
	}
	for _, e := range slices.Concat(experiments.Before, experiments.All) {
		measured := false
		for _, point := range edges(e) {
			x := bench.Task{Run: "r1", Exp: e.Name, Team: []int{0, 1}, Points: []bench.Point{point},
				Deadline: 150 * units.Millisecond}
			for _, x.Reps = range []float64{maxReps, 100, 10, 1, 0.01} {
				err := errors.Join(func() []error { errs := check(x); return errs[:] }()...)
				if !errors.Is(err, ErrLimit) {
					measured = true
					break
				}
				if !strings.Contains(err.Error(), "--max-memory") {
					t.Errorf("%s at %s: refused with %v", e.Name, point.Key(), err)
				}
			}
		}
		if !measured {
			t.Errorf("%s: everything is refused", e.Name)
		}
	}
	// Many points, and samples until the limit.
	many := func(exp string, n int, point bench.Point, effort float64) {
		x := bench.Task{Run: "r1", Exp: exp, Team: []int{0, 1}, Points: slices.Repeat([]bench.Point{point}, n), Reps: effort,
			Deadline: 60 * units.Second}
		if err := errors.Join(func() []error { errs := check(x); return errs[:] }()...); err != nil &&
			!errors.Is(err, ErrLimit) {
			t.Errorf("%d points of %s: %v", n, exp, err)
		}
	}
	many(names.Pingpong, 40, bench.Point{names.FactorBytes: int64(tightMemory) / copies}, 0.01)
	many(names.Clock, maxPoints, bench.Point{names.FactorHosts: 1}, 0.01)
	t.Logf("the largest is %v", largest)
}

// edges are the points at the edges of an experiment's ranges, on a team of two.
func edges(e *bench.Experiment) []bench.Point {
	out := []bench.Point{{}}
	for name, r := range e.Ranges {
		values := []int64{r.Least, r.Most}
		switch name {
		case names.FactorHosts:
			values = []int64{2}
		case names.FactorPairs, names.FactorSenders:
			values = []int64{1}
		case names.FactorInjecting:
			values = []int64{2}
		case names.FactorPattern:
			values = []int64{pattern.All[0].ID, pattern.All[len(pattern.All)-1].ID}
		case names.FactorBytes:
			values[1] = min(r.Most, int64(tightMemory)/copies)
		case names.FactorBuffer, names.FactorFragment:
			values = append(values, int64(tightMemory)/copies)
		}
		var more []bench.Point
		for _, p := range out {
			for _, v := range slices.Compact(values) {
				q := maps.Clone(p)
				q[name] = v
				more = append(more, q)
			}
		}
		out = more
	}
	return out
}
