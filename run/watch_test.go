package run

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"calib/agent"
	"calib/fit/fault"
	"calib/internal/history"
	"calib/internal/hosts"
	"calib/internal/launch"
	"calib/internal/progress"
	"calib/internal/units"
	"calib/run/coord"
	"calib/run/watch"
)

// sentinel is one of a network on which pairs look one after the other.
func sentinel(t *testing.T, where Where) *Sentinel {
	t.Helper()
	list, err := where.Hosts(func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	s := &Sentinel{Config: Config{Where: where, Hosts: list}}
	s.Show = progress.New(io.Discard, progress.Quiet, time.Now)
	return s
}

// A look ends within a round when its time is over, and the next one goes on there: every pair has its turn.
func TestLookEndsWithinRound(t *testing.T) {
	const hosts, most = 9, 300 * time.Millisecond
	s := sentinel(t, Where{Sim: "sparc1994:9"})
	seen, last := map[[2]int]int{}, map[[2]int]time.Time{}
	looks, pairs, alone := 0, 0, false
	for ; pairs < 3*hosts*(hosts-1)/2; looks++ {
		out, err := s.Look(t.Context(), &alone, nil, last, func(took time.Duration) bool { return took < most })
		if err != nil {
			t.Fatal(err)
		}
		if s.looks > 1 && (out.Took > most+time.Duration(s.slowest) || len(out.Seen) == 0) {
			t.Fatalf("look %d took %v for %d pairs", looks, out.Took, len(out.Seen))
		}
		for _, o := range out.Seen {
			if pairs++; o.Failed {
				t.Errorf("%+v", o)
			}
			seen[fault.Pair(o.From, o.To)]++
			last[[2]int{o.From, o.To}] = time.Unix(int64(looks), 0)
		}
	}
	for p, n := range seen {
		if n < 2 || n > 4 || len(seen) != hosts*(hosts-1)/2 {
			t.Errorf("pair %v was seen %d times, and %d pairs in all, in %d looks", p, n, len(seen), looks)
		}
	}
	if looks < 6 {
		t.Errorf("%d looks: none of them was cut off", looks)
	}
}

// Whether pairs look together is asked once. It then stays, also where the network would say another thing.
func TestLookStaysTogether(t *testing.T) {
	s, no := sentinel(t, Where{Sim: "switch:4"}), false
	for number, c := range []struct {
		asked *bool
		want  bool
	}{{nil, true}, {&no, false}} {
		out, err := s.Look(t.Context(), c.asked, nil, nil, func(time.Duration) bool { return true })
		if err != nil || out.Together == nil || *out.Together != c.want {
			t.Errorf("look %d: %v, %v, want %t", number, out.Together, err, c.want)
		}
	}
}

// Pairs that are observed one after the other end with their time, within a round.
func TestObserveEndsWithinRound(t *testing.T) {
	s := sentinel(t, Where{Sim: "sparc1994:12"})
	r := newRun(s.Config, "test-")
	f, err := r.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if err := r.claim(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	screen := fault.New(len(f.agents), 0.05)
	var slowest units.Nanos
	var pairs []int
	const most = time.Second
	took, err := r.observe(t.Context(), f, screen, 1, [2]time.Duration{0, most}, func(o coord.Observed) error {
		slowest, pairs = max(slowest, o.Slowest), append(pairs, len(o.Seen))
		return nil
	})
	if n := len(pairs); err != nil || n == 0 || pairs[n-1] >= 6 || took < most || took > most+time.Duration(slowest) {
		t.Errorf("took %v, the slowest pair %v, rounds of %d pairs: %v", took, time.Duration(slowest), pairs, err)
	}
}

// Whichever hosts are away, and where looks end early, a pair of hosts that are there is seen within as many looks as
// passOf says. Rounds are full, no host is in one twice, and either host of a pair sends.
func TestTurns(t *testing.T) {
	for n := 2; n <= 24; n += n/4 + 1 {
		for _, together := range []bool{false, true} {
			rng := rand.New(rand.NewPCG(uint64(n), 7))
			last, waits, sent := map[[2]int]time.Time{}, map[[2]int]int{}, map[[2]int]int{}
			fewest := n
			for look := range 400 {
				var place []int
				for h := range n {
					if h < 2 || look < 100 || look >= 200 || rng.IntN(8) > 0 {
						place = append(place, h)
					}
				}
				fewest = min(fewest, len(place))
				half := len(place) / 2
				made := watchRounds * half
				most := passOf(n, made, together)
				switch {
				case look >= 200 && together:
					made = half
					most = passOf(n, made, true)
				case look >= 200:
					made = min(made, 5)
					most = passOf(n, made, false)
				case look >= 100 && together:
					most = passOf(n, watchRounds*(n/2), true)
				case look >= 100:
					most = passOf(n, watchRounds*(fewest/2), false)
				}
				there := map[[2]int]int{} // how often
				for b, h := range place {
					for _, g := range place[:b] {
						there[[2]int{g, h}] = 0
					}
				}
				left := made
				for r, round := range turnsOf(place, last, together) {
					busy := map[int]bool{}
					for _, p := range round {
						a, b := place[p[0]], place[p[1]]
						if together && (busy[a] || busy[b]) {
							t.Fatalf("%d hosts, look %d: in round %d a host is in two pairs: %v", n, look, r, round)
						}
						busy[a], busy[b] = true, true
						if left--; left >= 0 {
							there[fault.Pair(a, b)]++
							sent[[2]int{a, b}]++
							last[[2]int{a, b}] = time.Unix(int64(look), 0)
						}
					}
					if len(round) != half {
						t.Fatalf("%d hosts, look %d: round %d has %d pairs, want %d", n, look, r, len(round), half)
					}
				}
				for p, times := range there {
					if waits[p]++; times > 0 {
						waits[p] = 0
					}
					if waits[p] >= most {
						t.Fatalf("%d hosts, together %t, look %d: pair %v was not in %d looks, want it within %d", n, together,
							look, p, waits[p], most)
					}
				}
			}
			for p, times := range sent {
				if back := sent[[2]int{p[1], p[0]}]; 4*back < 3*times-10 {
					t.Errorf("%d hosts, together %t: %v sent %d times, the other way %d", n, together, p, times, back)
				}
			}
		}
	}
}

// A watch holds the time within which it says that every pair is seen, also where looks end within a round, and where
// it is started again and again.
func TestEveryPairInTime(t *testing.T) {
	const every = 3 * time.Minute
	for _, c := range []struct {
		network string
		share   float64
		pass    int // looks
		alone   bool
	}{{"switch:8", 0.1, 3, false}, {"switch:2", 0.1, 1, false}, {"sparc1994:9", 0.1, 2, true},
		{"sparc1994:9", 5e-6, 0, true}} {
		now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
		path, rng := filepath.Join(t.TempDir(), "h.db"), rand.New(rand.NewPCG(5, 6))
		seen, most, looks := map[[2]int]time.Time{}, time.Duration(0), 0
		for range 12 {
			store, err := history.Open(t.Context(), path, true)
			if err != nil {
				t.Fatal(err)
			}
			s, left, over := sentinel(t, Where{Sim: c.network}), rng.IntN(4), errors.New("over")
			look := func(ctx context.Context, together *bool, again [][2]int, seen map[[2]int]time.Time,
				more func(time.Duration) bool) (watch.Sighting, error) {
				if c.alone {
					together = new(false)
				}
				return s.Look(ctx, together, again, seen, more)
			}
			o := watch.Config{Store: store, Look: look, Every: every, Share: c.share, Learn: 24 * time.Hour, Margin: 0.005,
				Now: func() time.Time { return now }, Tell: func(e watch.Event) { t.Error(e) },
				Wait: func(_ context.Context, d time.Duration) error {
					if now, left = now.Add(d), left-1; left < 0 {
						return over
					}
					return nil
				}}
			for _, h := range s.Hosts {
				o.Hosts = append(o.Hosts, h.Name)
			}
			o.After = func(now watch.Status) {
				for p, at := range seen {
					if waited := now.At.Sub(at); looks > 1 && (waited > most || waited > now.Waited) {
						t.Errorf("%s, look %d: pair %v has waited for %v, want at most %v; the longest is said to be %v", c.network,
							looks, p, waited, most, now.Waited)
					}
				}
				asked := looks == 0 && now.Together != nil && !c.alone // which this look alone has cost
				if looks > 1 && now.Waited > most || asked != (now.Within == 0) ||
					c.pass > 0 && !asked && now.Within != time.Duration(c.pass)*now.Next {
					t.Errorf("%s, look %d: waited %v, within %v of %v", c.network, looks, now.Waited, now.Within, now.Next)
				}
				most = max(most, now.Within)
				for _, x := range now.Seen {
					seen[fault.Pair(x.From, x.To)] = now.At
				}
				looks++
			}
			if err := errors.Join(watch.Run(t.Context(), o), store.Close()); !errors.Is(err, over) {
				t.Fatal(err)
			}
		}
		if n := len(sentinel(t, Where{Sim: c.network}).Hosts); len(seen) != n*(n-1)/2 {
			t.Errorf("%s: %d pairs were seen in %d looks", c.network, len(seen), looks)
		}
		t.Logf("%s: %d looks, each pair within %v", c.network, looks, most)
	}
}

// Of two watches on the same daemons one looks at a time. The other is told why it cannot, takes no host for dead, and
// looks the next time.
func TestTwoWatches(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var list []hosts.Host
	var served sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		server, err := agent.NewServer(agent.ServerOptions{Data: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		served.Go(func() { _ = server.ListenUnix(ctx, path) }) // it ends with the test
		list = append(list, hosts.Host{Name: path, Daemon: true, Addr: "127.0.0.1"})
		for begun := time.Now(); time.Since(begun) < 10*time.Second; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(path); err == nil {
				break
			}
		}
	}
	defer served.Wait()
	defer cancel()
	var watches [2]*Sentinel
	for i := range watches {
		watches[i] = &Sentinel{Config: Config{Hosts: list, Where: Where{Launch: "ssh {host}"},
			Agents: func() ([]launch.Binary, error) { return nil, nil }}}
		watches[i].Show = progress.New(io.Discard, progress.Quiet, time.Now)
	}
	look := func(of int, more func(time.Duration) bool) watch.Sighting {
		t.Helper()
		out, err := watches[of].Look(t.Context(), new(false), nil, nil, more)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	refused := false
	first := look(0, func(time.Duration) bool {
		if refused {
			return true
		}
		refused = true
		second := look(1, func(time.Duration) bool { return true })
		if len(second.Seen) > 0 || !strings.Contains(second.Trouble, "another run holds the agent, since ") ||
			second.Pass != 0 {
			t.Errorf("while the other looks: %+v", second)
		}
		for _, m := range second.Hosts {
			if !m.Busy {
				t.Errorf("%+v is taken for dead", m)
			}
		}
		return true
	})
	if !refused || len(first.Seen) != watchRounds || first.Trouble != "" {
		t.Errorf("the one that looks: %+v", first)
	}
	if second := look(1, func(time.Duration) bool { return true }); len(second.Seen) != watchRounds ||
		second.Trouble != "" {
		t.Errorf("the other, then: %+v", second)
	}
}
