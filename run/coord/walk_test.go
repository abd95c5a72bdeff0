package coord_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/units"
	"calib/run/coord"
	"calib/run/plan"
)

func TestSlotsInOrder(t *testing.T) {
	w := newWalk(8, 3)
	var timed []int
	var done []float64
	w.cfg.Slot = func(s bench.Slot, _ time.Duration) { timed = append(timed, s.ID) }
	w.cfg.Progress = func(p coord.Progress) { done = append(done, p.Done) }
	r := w.must(t)
	var want []int
	for i, s := range w.planned(t) {
		want = append(want, s.ID)
		var samples []dataset.Sample // by team, then rank
		for _, team := range s.Teams {
			for rank := range team {
				samples = append(samples, canned(bench.Task{
					Exp: s.Exp, Team: team, Points: s.Points, Round: s.Round, Slot: s.ID, Rank: rank,
				})...)
			}
		}
		if d := cmp.Diff(samples, w.slots[i]); d != "" {
			t.Fatalf("slot %d as saved (-want +got):\n%s", s.ID, d)
		}
	}
	if len(want) != 3*7 || !slices.Equal(want, w.saved()) || !slices.Equal(want, timed) {
		t.Errorf("planned slots %v, saved %v, timed %v", want, w.saved(), timed)
	}
	if n := len(done) - 1; n != len(want) || !slices.IsSorted(done) || done[0] != 0 || done[n-1] >= 1 || done[n] != 1 {
		t.Errorf("progress %v", done)
	}
	if r.Slots != len(want) || r.Rounds != 3 || r.Partial() || r.Interrupted {
		t.Errorf("result %+v", r)
	}
}

// sayer is a judge that says what a test wants.
type sayer struct{ met bool }

func (s sayer) Look(*dataset.Dataset) ([]plan.State, error) {
	return []plan.State{{Parameter: "alpha", Met: s.met, HalfWidth: 1, Target: 0.02, Experiments: []string{"pingpong"}}},
		nil
}

// TestTargetsEnd: a walk ends when two looks in a row say that the targets are met.
func TestTargetsEnd(t *testing.T) {
	for _, c := range []struct {
		steered, met bool
		rounds       int
	}{{false, false, 8}, {true, false, 8}, {true, true, 3}} {
		w := newWalk(4, 2)
		w.plan.Rounds.Max = 8
		if c.steered {
			w.look = sayer{c.met}.Look
		}
		r := w.must(t)
		if r.TargetsMet != c.met || r.Rounds != c.rounds {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}

// TestTask: what an agent is told of its part.
func TestTask(t *testing.T) {
	w := newWalk(4, 1)
	w.plan.Limits.Effort = 0.25
	w.must(t)
	for _, task := range w.fleet.tasks {
		if task.Run != "test" || task.Deadline != 30*units.Second || task.Recv != coord.Recv || task.Reps != 0.25 ||
			len(task.Team) != 2 || len(task.Points) != 2 {
			t.Fatalf("task %+v", task)
		}
	}
	if len(w.fleet.tasks) != 12 {
		t.Errorf("%d tasks, want one for each of 6 pairs and rank", len(w.fleet.tasks))
	}
}

// TestEpochs: every round has connections of its own, unless the plan keeps them.
func TestEpochs(t *testing.T) {
	for _, keep := range []bool{false, true} {
		w := newWalk(4, 3)
		w.plan.KeepConnections = keep
		w.must(t)
		for _, task := range w.fleet.tasks {
			if want := map[bool]int{false: task.Round + 1, true: 1}[keep]; task.Epoch != want {
				t.Fatalf("keep %v: task of round %d has epoch %d", keep, task.Round, task.Epoch)
			}
		}
	}
}

// TestPermuted: a run whose hosts change places goes on where it stood.
func TestPermuted(t *testing.T) {
	whole := newWalk(6, 4)
	whole.plan.Permute, whole.plan.Limits.Pairs = true, 0
	whole.must(t)
	for _, at := range []int{1, 5, 10} {
		again := newWalk(6, 4)
		again.plan = whole.plan
		again.cfg.Have = slices.Concat(whole.slots[:at]...)
		if r := again.must(t); r.Had != at || r.Slots != len(whole.slots)-at {
			t.Errorf("after %d slots: %+v", at, r)
		}
		if d := cmp.Diff(whole.slots[at:], again.slots); d != "" {
			t.Errorf("after %d slots (-want +got):\n%s", at, d)
		}
	}
}

// TestBudget: a budget that is used up at once still leaves one slot; one that lasts longer ends between slots.
func TestBudget(t *testing.T) {
	for _, c := range []struct {
		budget        units.Nanos
		rounds, slots int
	}{
		{units.Nanos(1), 1, 1},
		{3 * units.Second, 1, 3}, // used up with the first round's last slot
		{4 * units.Second, 2, 4},
		{0, 5, 15},
		{15 * units.Second, 5, 15},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWalk(4, 5)
			w.plan.Budget = c.budget
			w.cfg.Slot = func(bench.Slot, time.Duration) { time.Sleep(time.Second) }
			if r := w.must(t); r.Rounds != c.rounds || r.Slots != c.slots {
				t.Errorf("budget %v: %+v, want %d rounds, %d slots", c.budget, r, c.rounds, c.slots)
			}
		})
	}
}

// TestInterruptInSlot: what was whole is kept, of the slot under way nothing, and nobody counts as lost.
func TestInterruptInSlot(t *testing.T) {
	w := newWalk(6, 2)
	ctx, cancel := context.WithCancel(t.Context())
	at := w.planned(t)[4].ID
	w.fleet.run = func(ctx context.Context, host int, task bench.Task) error {
		if task.Slot != at || task.Rank == 0 {
			return nil // rank 0 of the interrupted slot has its samples already
		}
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	r, err := w.do(t, ctx)
	if err != nil || !r.Interrupted || r.Slots != 4 || len(w.slots) != 4 || r.Partial() {
		t.Errorf("result %+v, error %v, %d slots saved", r, err, len(w.slots))
	}
}

// TestInterruptWhileAsking: an interrupt cancels the questions who is still there; that is no answer.
func TestInterruptWhileAsking(t *testing.T) {
	w := newWalk(4, 2)
	ctx, cancel := context.WithCancel(t.Context())
	w.fleet.run = func(context.Context, int, bench.Task) error { return errBroken }
	w.fleet.hello = func(ctx context.Context, _ int) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	r, err := w.do(t, ctx)
	if err != nil || !r.Interrupted || r.Partial() {
		t.Errorf("result %+v, error %v", r, err)
	}
}

// TestInterruptTooLate: a walk that is through is complete.
func TestInterruptTooLate(t *testing.T) {
	w := newWalk(4, 1)
	ctx, cancel := context.WithCancel(t.Context())
	w.cfg.Sink = func(b []dataset.Sample) error {
		if w.slots = append(w.slots, b); len(w.slots) == 3 {
			cancel()
		}
		return nil
	}
	if r, err := w.do(t, ctx); err != nil || r.Interrupted || r.Slots != 3 {
		t.Errorf("result %+v, error %v", r, err)
	}
}

func TestInterruptBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := newWalk(4, 1)
	if r, err := w.do(t, ctx); err != nil || !r.Interrupted || len(w.fleet.tasks) != 0 {
		t.Errorf("result %+v, error %v, %d tasks", r, err, len(w.fleet.tasks))
	}
}

// asked notes how long a task may take.
type asked struct {
	coord.Agent
	deadline *units.Nanos
}

func (a asked) Run(_ context.Context, t bench.Task) ([]dataset.Sample, error) {
	*a.deadline = t.Deadline
	return nil, nil
}

// TestLooksAtBusyHosts: a look at hosts whose queues others fill has not failed before its time.
func TestLooksAtBusyHosts(t *testing.T) {
	var deadline units.Nanos
	agents := newFleet().agents(2)
	agents[0] = asked{agents[0], &deadline}
	coord.Observe(t.Context(), agents, "test", 0, [][2]int{{0, 1}}, 1, units.Second/10, coord.BusyLook, 0,
		func(units.Nanos) bool { return true })
	if deadline != coord.BusyLook {
		t.Errorf("%v", time.Duration(deadline))
	}
}

// TestFailedLooksTake: a look that fails has used the link too, for as long as the slowest that is known.
func TestFailedLooksTake(t *testing.T) {
	agents := newFleet().agents(8)
	for i := range agents {
		agents[i] = asked{agents[i], new(units.Nanos)}
	}
	pairs := [][2]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}}
	for atOnce, turns := range map[int]units.Nanos{1: 4, 2: 2, 3: 2, 4: 1, 9: 1} {
		seen := coord.Observe(t.Context(), agents, "test", 0, pairs, atOnce, units.Second/10,
			coord.BusyLook, 0, func(units.Nanos) bool { return true })
		want := turns * units.Second / 10
		if seen.Took != want || seen.Slowest != 0 || len(seen.Seen) != len(pairs) || !seen.Seen[1].Failed {
			t.Errorf("%d at once: %+v, want %v", atOnce, seen, want)
		}
	}
}
