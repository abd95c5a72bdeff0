package coord_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/units"
	"calib/run/coord"
)

// TestAgentDies: the slot in which an agent dies is tried again without its team, and so is every later one measured.
func TestAgentDies(t *testing.T) {
	w := newWalk(8, 2)
	plan := w.planned(t)
	at := plan[5].ID
	w.fleet.run = func(ctx context.Context, host int, task bench.Task) error {
		if task.Slot != at {
			return nil
		}
		if host == 3 {
			w.fleet.kill(3)
			return errBroken
		}
		return nil
	}
	r := w.must(t)
	if !r.Partial() || len(r.Failures) != 0 || !slices.Equal(slices.Collect(maps.Keys(r.Lost)), []int{3}) ||
		!strings.Contains(r.Lost[3], "dead") {
		t.Fatalf("result %+v", r)
	}
	if r.Slots != len(plan) {
		t.Errorf("%d slots of %d", r.Slots, len(plan))
	}
	for i, b := range w.slots {
		teams := map[int]bool{}
		for _, s := range b {
			teams[s.Ranks[0]] = true
			if slices.Contains(s.Ranks, 3) && i >= 5 {
				t.Errorf("slot %d: sample of a lost host", s.Slot)
			}
		}
		if want := map[bool]int{true: 4, false: 3}[i < 5]; len(teams) != want {
			t.Errorf("slot %d: %d teams, want %d", b[0].Slot, len(teams), want)
		}
	}
	if len(w.notes) != 1 || !strings.Contains(w.notes[0], "try 1 of 2") || !strings.Contains(w.notes[0], "broken") {
		t.Errorf("notes %q", w.notes)
	}
}

// TestAgentDiesIsolated: where a slot has one team, a lost host leaves whole slots out. They are no failures of their
// own, however many follow each other.
func TestAgentDiesIsolated(t *testing.T) {
	w := newWalk(4, 3)
	w.plan.Isolate = true
	w.fleet.kill(2)
	r := w.must(t)
	found := func() bool {
		return slices.ContainsFunc(w.planned(t), func(s bench.Slot) bool {
			return s.ID == *r.Failures[0].Slot && slices.Contains(s.Teams[0], 2)
		})
	}
	if len(r.Lost) != 1 || len(r.Failures) != 1 || !found() {
		t.Errorf("result %+v, want one failure, of the slot that found host 2 lost", r)
	}
	if want := 3 * 3; r.Slots != want {
		t.Errorf("%d slots, want %d: 3 pairs without host 2, 3 rounds", r.Slots, want)
	}
}

// TestResumeAfterLoss: with the lost host back, a resumed run measures what it was left out of, and nothing twice.
func TestResumeAfterLoss(t *testing.T) {
	w := newWalk(8, 3)
	at := w.planned(t)[9].ID
	w.fleet.run = func(_ context.Context, _ int, task bench.Task) error {
		if task.Slot == at {
			w.fleet.kill(3)
		}
		return nil
	}
	if r := w.must(t); len(r.Lost) != 1 {
		t.Fatalf("result %+v", r)
	}
	again := newWalk(8, 3)
	again.cfg.Have = slices.Concat(w.slots...)
	if r := again.must(t); r.Partial() || r.Had != 9 || r.Slots != 3*7-9 {
		t.Errorf("resumed: %+v", r)
	}
	times := map[string]int{}
	for _, s := range slices.Concat(append(w.slots, again.slots...)...) {
		times[fmt.Sprint(s.Slot, s.Ranks, s.Point, s.Aux)]++
	}
	for what, n := range times {
		if n != 1 {
			t.Errorf("%s: measured %d times", what, n)
		}
	}
	if want := 3 * 28 * 2 * 2; len(times) != want { // rounds, pairs, ranks, points
		t.Errorf("%d samples, want %d", len(times), want)
	}
}

// TestAgentFailsOnce: a slot is tried again, whole.
func TestAgentFailsOnce(t *testing.T) {
	w := newWalk(4, 2)
	first := true
	at := w.planned(t)[1].ID
	w.fleet.run = func(_ context.Context, host int, task bench.Task) error {
		if task.Slot == at && host == 0 && first {
			first = false
			return errBroken
		}
		return nil
	}
	r := w.must(t)
	if r.Partial() || r.Slots != 6 || len(w.slots) != 6 || w.fleet.seen[at] != 8 || len(w.notes) != 1 {
		t.Errorf("result %+v, %d tasks of slot %d, notes %q", r, w.fleet.seen[at], at, w.notes)
	}
}

// TestSlotFailsTwice: with all hosts there, the slot is given up and the walk goes on.
func TestSlotFailsTwice(t *testing.T) {
	w := newWalk(4, 3)
	plan := w.planned(t)
	w.fleet.run = func(_ context.Context, host int, task bench.Task) error {
		if host == 1 && (task.Slot == plan[2].ID || task.Slot == plan[3].ID || task.Slot == plan[5].ID ||
			task.Slot == plan[6].ID) {
			return errBroken
		}
		return nil
	}
	r := w.must(t) // twice two in a row
	if !r.Partial() || len(r.Failures) != 4 || len(r.Lost) != 0 || r.Slots != 5 {
		t.Fatalf("result %+v", r)
	}
	f := r.Failures[0]
	if *f.Slot != plan[2].ID || len(plan[2].Teams) != 2 || !strings.Contains(f.Error, "pingpong") ||
		!strings.Contains(f.Error, "broken") {
		t.Errorf("failure %+v", f)
	}
}

func TestThreeInARow(t *testing.T) {
	w := newWalk(4, 3)
	from := w.planned(t)[4].Round
	w.fleet.run = func(_ context.Context, _ int, task bench.Task) error {
		if task.Round >= from {
			return errBroken
		}
		return nil
	}
	r, err := w.do(t, t.Context())
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "3 measurements in a row") {
		t.Errorf("error %v", err)
	}
	if len(r.Failures) != 3 || r.Slots != 3 || len(w.slots) != 3 {
		t.Errorf("result %+v", r)
	}
}

func TestNothingMeasured(t *testing.T) {
	w := newWalk(2, 1)
	w.fleet.run = func(context.Context, int, bench.Task) error { return errBroken }
	_, err := w.do(t, t.Context())
	if !errors.Is(err, coord.ErrNothing) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("error %v", err)
	}
}

func TestOneHostLeft(t *testing.T) {
	w := newWalk(2, 4)
	w.fleet.run = func(_ context.Context, _ int, task bench.Task) error {
		if task.Round == 2 {
			w.fleet.kill(1)
			return errBroken
		}
		return nil
	}
	r, err := w.do(t, t.Context())
	if err == nil || !strings.Contains(err.Error(), "fewer than two hosts") || !strings.Contains(err.Error(), "dead") {
		t.Errorf("error %v", err)
	}
	if r.Slots != 2 || len(r.Failures) != 1 || len(r.Lost) != 1 {
		t.Errorf("result %+v", r)
	}
}

// TestDiskFull: the error of the sink ends the walk at once; what was saved before stays.
func TestDiskFull(t *testing.T) {
	w := newWalk(4, 3)
	save := w.cfg.Sink
	w.cfg.Sink = func(b []dataset.Sample) error {
		if len(w.slots) == 4 {
			return syscall.ENOSPC
		}
		return save(b)
	}
	r, err := w.do(t, t.Context())
	if !errors.Is(err, syscall.ENOSPC) || r.Slots != 4 || len(w.slots) != 4 || len(w.fleet.seen) != 5 {
		t.Errorf("error %v, result %+v, slots begun %v", err, r, w.fleet.seen)
	}
}

// TestHang: an agent that never answers is left behind at the slot's deadline, and lost if it does not say who it is.
// All in fake time.
func TestHang(t *testing.T) {
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for _, c := range []struct {
		name        string
		deaf        bool // to Hello too
		took        time.Duration
		slots, lost int
	}{
		{"deaf", true, (7 + 3 + 5) * time.Second, 3, 1}, // deadline, grace, question; then the slot's other team
		{"slow", false, 2 * (7 + 3) * time.Second, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWalk(4, 1)
				w.cfg.Deadline = func(bench.Slot) units.Nanos { return 7 * units.Second }
				at := w.planned(t)[1].ID
				w.fleet.run = func(ctx context.Context, host int, task bench.Task) error {
					if task.Slot == at && host == 2 {
						return hang(ctx)
					}
					return nil
				}
				w.fleet.hello = func(ctx context.Context, host int) error {
					if host == 2 && c.deaf {
						return hang(ctx)
					}
					return nil
				}
				begun := time.Now()
				r := w.must(t)
				if r.Slots != c.slots || len(r.Lost) != c.lost || !r.Partial() || time.Since(begun) != c.took {
					t.Errorf("result %+v after %v", r, time.Since(begun))
				}
			})
		})
	}
}
