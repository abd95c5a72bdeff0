package coord_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/units"
	"calib/run/coord"
)

// known gives a walk a path and a budget, so that slots are bounded by what is expected of them.
func (w *walk) known(budget units.Nanos) {
	w.plan.Budget = budget
	w.plan.Limits.Path = bench.Path{Latency: 50 * units.Microsecond, PerByte: 1, Together: true, Slot: units.Millisecond}
}

// TestCutOff: a host that answers, and reaches no other, is named within seconds, and the rest is measured without it;
// a link is named where just two hosts do not reach each other. Slots of teams of all hosts say which as well as those
// of pairs.
func TestCutOff(t *testing.T) {
	host := func(h int) func(a, b int) bool { return func(a, b int) bool { return a == h || b == h } }
	for name, c := range map[string]struct {
		exp  string
		cut  func(a, b int) bool
		lost []int
		link *coord.Link
	}{
		"a host among pairs":          {"pingpong", host(3), []int{3}, nil},
		"the root of a flood":         {"flood", host(0), []int{0}, nil},
		"a sender of a flood":         {"flood", host(5), []int{5}, nil},
		"a host of a paired exchange": {"paired", host(2), []int{2}, nil},
		"two hosts":                   {"paired", func(a, b int) bool { return b >= 6 }, []int{6, 7}, nil},
		"a link among pairs":          {"pingpong", func(a, b int) bool { return a == 1 && b == 4 }, nil, &coord.Link{1, 4}},
		"a link of a gather":          {"gather", func(a, b int) bool { return a == 0 && b == 3 }, nil, &coord.Link{0, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWalk(8, 3)
				w.known(10 * 60 * units.Second)
				w.plan.Experiments, w.plan.Permute = []string{c.exp}, true
				w.cfg.Names = []string{"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"}
				w.fleet.cut = c.cut
				begun := time.Now()
				r := w.must(t)
				var lost []int
				for h := range r.Lost {
					lost = append(lost, h)
				}
				slices.Sort(lost)
				if !slices.Equal(lost, c.lost) || !r.Partial() {
					t.Errorf("lost %v, want %v (%v)", lost, c.lost, r.Lost)
				}
				if c.link == nil && len(r.Cut) > 0 || c.link != nil && (len(r.Cut) != 1 || r.Cut[*c.link] == "") {
					t.Errorf("cut %v, want %v", r.Cut, c.link)
				}
				if took := time.Since(begun); took > time.Minute || r.Slots == 0 {
					t.Errorf("%d slots in %v", r.Slots, took)
				}
				for _, h := range c.lost {
					if text := strings.Join(w.notes, "\n"); !strings.Contains(text,
						"going on without host "+w.cfg.Names[h]+": its agent answers") {
						t.Errorf("notes %q", w.notes)
					}
				}
			})
		})
	}
}

// TestBackAgain: a host that was cut off for a while is measured again, and the run is partial all the same.
func TestBackAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWalk(6, 40)
		w.known(10 * 60 * units.Second)
		begun := time.Now()
		w.cfg.Slot = func(bench.Slot, time.Duration) { time.Sleep(time.Second) }
		w.fleet.cut = func(a, b int) bool { return b == 5 && time.Since(begun) < 30*time.Second }
		r := w.must(t)
		if len(r.Lost) != 0 || !r.Partial() || len(r.Failures) == 0 {
			t.Fatalf("result %+v", r)
		}
		f := r.Failures[len(r.Failures)-1]
		if f.Host != "5" || !strings.Contains(f.Error, "was left out for") {
			t.Errorf("failure %+v", f)
		}
		with := func(b []dataset.Sample) bool {
			return slices.ContainsFunc(b, func(s dataset.Sample) bool { return slices.Contains(s.Ranks, 5) })
		}
		if !slices.ContainsFunc(w.slots[len(w.slots)-5:], with) {
			t.Error("the last round has no sample of the host that is back")
		}
	})
}

// TestOnlyLinkBackAgain: a run of two hosts waits for their link, a minute or so, and says why it failed.
func TestOnlyLinkBackAgain(t *testing.T) {
	for away, back := range map[time.Duration]bool{30 * time.Second: true, time.Hour: false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWalk(2, 12)
			w.known(10 * 60 * units.Second)
			begun := time.Now()
			w.cfg.Slot = func(bench.Slot, time.Duration) { time.Sleep(time.Second) }
			w.fleet.cut = func(_, _ int) bool { d := time.Since(begun); return d > 2*time.Second && d < away }
			r := w.must(t)
			planned := len(w.planned(t))
			if (len(r.Cut) == 0) != back || !r.Partial() || back != (r.Slots > planned/2) {
				t.Errorf("away for %v: %d of %d slots, result %+v", away, r.Slots, planned, r)
			}
			if text := strings.Join(w.notes, "\n"); !strings.Contains(text, "no byte came through: ") {
				t.Errorf("notes %q", w.notes)
			}
			if took := time.Since(begun); took > 2*time.Minute {
				t.Errorf("ended after %v", took)
			}
		})
	}
}

// TestNoWaitBeyondBudget: a run does not wait for a link until there would be no time to measure with it.
func TestNoWaitBeyondBudget(t *testing.T) {
	for budget := 20 * time.Second; budget <= 60*time.Second; budget += 5 * time.Second {
		synctest.Test(t, func(t *testing.T) {
			w := newWalk(2, 100)
			w.known(units.Nanos(budget))
			begun := time.Now()
			w.cfg.Slot = func(bench.Slot, time.Duration) { time.Sleep(time.Second) }
			w.fleet.cut = func(_, _ int) bool { return time.Since(begun) > 2*time.Second }
			r := w.must(t)
			if took := time.Since(begun); r.Slots == 0 || len(r.Cut) != 1 || took > budget*11/10+4*time.Second {
				t.Errorf("budget %v: ended after %v, result %+v", budget, took, r)
			}
		})
	}
}

// TestNetworkAtFault: where no pair of hosts reaches each other, no host is blamed.
func TestNetworkAtFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWalk(6, 3)
		w.known(60 * units.Second)
		w.fleet.cut = func(_, _ int) bool { return true }
		begun := time.Now()
		r, err := w.do(t, t.Context())
		if err == nil || len(r.Lost)+len(r.Cut) != 0 || !strings.Contains(strings.Join(w.notes, "\n"),
			"calib doctor says what is wrong with the network between them") {
			t.Errorf("error %v, result %+v, notes %q", err, r, w.notes)
		}
		// the budget and a tenth; then the pairs are tried once more
		if took := time.Since(begun); took > (66+10+4)*time.Second {
			t.Errorf("ended after %v", took)
		}
	})
}

// TestEndsWithinBudget: whatever slots take, and from the first on, a walk ends within its budget and a tenth of it.
func TestEndsWithinBudget(t *testing.T) {
	for _, path := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWalk(4, 5)
			if w.plan.Budget = 30 * units.Second; path {
				w.known(30 * units.Second)
			}
			w.cfg.Deadline = func(bench.Slot) units.Nanos { return 600 * units.Second }
			slow := w.planned(t)[2].ID
			w.fleet.run = func(ctx context.Context, _ int, task bench.Task) error {
				if task.Slot < slow {
					return nil
				}
				select {
				case <-time.After(time.Duration(task.Deadline)):
					return errTimeout
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			begun := time.Now()
			r, err := w.do(t, t.Context())
			if took := time.Since(begun); err != nil || took > 33*time.Second || r.Slots < 2 {
				t.Errorf("path known %v: %d slots, error %v after %v", path, r.Slots, err, took)
			}
		})
	}
}
