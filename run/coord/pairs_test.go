package coord_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/run/coord"
)

// linked is an agent that fails where its team is listed.
type linked struct {
	cut   func(a, b int) bool
	tries *[]string
	turn  chan struct{} // holds one value: who may write tries
}

func (linked) Hello(context.Context, bool) (dataset.Host, error) { return dataset.Host{}, nil }
func (linked) Prepare(context.Context, plane.Session) error      { return nil }
func (linked) Close() error                                      { return nil }

func (a linked) Run(ctx context.Context, t bench.Task) ([]dataset.Sample, error) {
	cut := a.cut(t.Team[0], t.Team[1])
	if t.Rank == 0 {
		<-a.turn
		*a.tries = append(*a.tries, fmt.Sprintf("%d-%d", t.Team[0], t.Team[1]))
		a.turn <- struct{}{}
		if cut {
			return nil, errors.New("connection refused")
		}
	} else if cut {
		<-ctx.Done() // the host that waits to be dialled learns nothing
		return nil, ctx.Err()
	}
	return []dataset.Sample{{Exp: t.Exp, Ranks: []int{t.Team[t.Rank], t.Team[1-t.Rank]}}}, nil
}

// TestPairs: every pair is tried; a host that is off is tried a few times, whoever else is, and named by its pairs; one
// that only met hosts that are off is cleared.
func TestPairs(t *testing.T) {
	off := func(hosts ...int) func(a, b int) bool {
		return func(a, b int) bool { return slices.Contains(hosts, a) || slices.Contains(hosts, b) }
	}
	for _, c := range []struct {
		name   string
		hosts  int
		cut    func(a, b int) bool
		most   time.Duration
		failed string // pairs that failed or were skipped concern these hosts alone
		least  int    // tries
		tries  int    // at most
	}{
		{"all well", 8, off(), 0, "", 28, 28},
		{"all well, odd", 5, off(), 0, "", 10, 10},
		{"all well, in a hurry", 8, off(), 1, "", 4, 4},
		{"a host is off", 8, off(3), 0, "3", 21 + 2, 21 + 3},
		{"a host is off, in a hurry", 8, off(3), 1, "3", 5, 13},
		{"half are off", 16, off(0, 2, 3, 6, 9, 11, 12, 15), 0, "0 2 3 6 9 11 12 15", 28, 28 + 8*7},
		{"half are off, in a hurry", 16, off(0, 2, 3, 6, 9, 11, 12, 15), 1, "0 2 3 6 9 11 12 15", 8, 60},
		{"two of four are off", 4, off(0, 1), 0, "0 1", 4, 6},
		{"a link is cut", 6, func(a, b int) bool { return a == 1 && b == 4 }, 0, "1 4", 15, 15},
		{"two hosts, cut", 2, off(0), 0, "0 1", 1, 1},
		{"nothing works", 4, off(0, 1, 2, 3), 0, "0 1 2 3", 4, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tries []string
			a := linked{cut: c.cut, tries: &tries, turn: make(chan struct{}, 1)}
			a.turn <- struct{}{}
			agents := make([]coord.Agent, c.hosts)
			for i := range agents {
				agents[i] = a
			}
			later := time.Unix(1e9, 0)
			got := coord.CheckPairs(t.Context(), agents, "run", make([]dataset.Host, c.hosts), c.most,
				func() time.Time { later = later.Add(time.Second); return later })
			seen := map[[2]int]bool{}
			for _, k := range got {
				if seen[k.Hosts] || k.Hosts[0] >= k.Hosts[1] {
					t.Errorf("pair %v comes twice or the wrong way round", k.Hosts)
				}
				seen[k.Hosts] = true
				switch cut := c.cut(k.Hosts[0], k.Hosts[1]); {
				case k.OK() == cut:
					t.Errorf("pair %v: %+v", k.Hosts, k)
				case cut && !k.Skipped && k.Errors[0] != "connection refused":
					t.Errorf("pair %v does not say why: %v", k.Hosts, k.Errors)
				}
			}
			if c.most == 0 && len(seen) != c.hosts*(c.hosts-1)/2 {
				t.Errorf("%d pairs", len(seen))
			}
			if len(tries) < c.least || len(tries) > c.tries {
				t.Errorf("%d tries, want %d to %d", len(tries), c.least, c.tries)
			}
			var failed []string
			for h := range c.hosts {
				works, fails := false, false
				for _, k := range got {
					if slices.Contains(k.Hosts[:], h) {
						works, fails = works || k.OK(), fails || !k.OK()
					}
				}
				if c.name == "a link is cut" && fails || !works {
					failed = append(failed, fmt.Sprint(h))
				}
			}
			if diff := cmp.Diff(c.failed, strings.Join(failed, " ")); diff != "" {
				t.Errorf("hosts at fault: %s", diff)
			}
		})
	}
}

// TestPairsSimulated: the real experiment on a simulated network finds nothing wrong.
func TestPairsSimulated(t *testing.T) {
	got := coord.CheckPairs(t.Context(), simulated(t, 5), "run", make([]dataset.Host, 5), 0, time.Now)
	if len(got) != 10 {
		t.Fatalf("%d pairs", len(got))
	}
	for _, k := range got {
		if !k.OK() || k.Ways[0].Trip <= 0 || k.Ways[1].Trip <= 0 {
			t.Errorf("%+v", k)
		}
	}
}
