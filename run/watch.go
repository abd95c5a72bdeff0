package run

import (
	"context"
	"slices"
	"strings"
	"time"

	"calib/agent"
	"calib/bench"
	"calib/fit/fault"
	"calib/internal/exit"
	"calib/internal/hosts"
	"calib/internal/lists"
	"calib/internal/units"
	"calib/run/coord"
	"calib/run/watch"
)

const (
	// watchRounds are the rounds of a look, and watchBurst is how long a burst takes: a look costs little.
	watchRounds = 6
	watchBurst  = 6 * units.Millisecond
)

// Sentinel looks at the network of its hosts, which are given, from time to time.
type Sentinel struct {
	Config
	looks   uint64
	slowest units.Nanos // pair of the last round
}

// Look starts the agents, has pairs of hosts look at the ways between them, and ends the agents. First those pairs look
// that are asked for. Then the others have their turns, by when they were seen, while there is more time. Whether pairs
// can look together is asked once, as values depend on it. Why a host was not seen is in what was seen.
func (s *Sentinel) Look(ctx context.Context, together *bool, again [][2]int, seen map[[2]int]time.Time,
	more func(took time.Duration) bool) (watch.Sighting, error) {
	r := newRun(s.Config, "watch-")
	machine := func(h hosts.Host) watch.Machine { return watch.Machine{Name: h.Name} }
	out := watch.Sighting{Together: together, Hosts: lists.Map(s.Hosts, machine)}
	f, err := r.open(ctx)
	if err == nil {
		err = s.see(ctx, r, f, &out, again, seen, more)
		_ = f.close() // what was seen stands
	}
	if f != nil { // the hosts that it goes on without
		for _, l := range f.lost {
			m := &out.Hosts[s.index(l.Host)]
			m.Lost, m.Busy = l.Error, slices.Contains(f.busy, l.Host)
			if strings.Contains(l.Error, agent.ErrWatched.Error()) {
				out.Trouble = "going on without " + hosts.Fold(f.busy) + ": " + l.Error
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case exit.CodeOf(err) == exit.Usage && s.looks == 0: // it will be the same the next time
		return out, err
	case err != nil: // fewer than two hosts can be had
		own := exit.CodeOf(err) == exit.Usage // as a certificate that has expired: nothing is known of the hosts
		first := strings.SplitN(err.Error(), "\n", 3)
		out.Trouble = "no host can be looked at: " + strings.Join(first[:min(2, len(first))], " ")
		for i := range out.Hosts { // the others have no partner, or nothing is known of them
			if m := &out.Hosts[i]; m.Lost == "" {
				m.Lost, m.Busy = err.Error(), own || f != nil
			}
		}
	}
	return out, nil
}

// see makes rounds with the agents that can be had.
func (s *Sentinel) see(ctx context.Context, r *run, f *fleet, out *watch.Sighting, again [][2]int,
	last map[[2]int]time.Time, more func(took time.Duration) bool) error {
	used := map[string]time.Duration{} // by daemons, before this look
	for _, h := range f.hosts {
		if s.Hosts[s.index(h.Name)].Daemon {
			used[h.Name] = h.Now.CPUTime
		}
	}
	if err := r.claim(ctx, f); err != nil {
		return err
	}
	known := out.Together
	if known == nil && len(f.agents) > 3 { // a round of fewer is one pair
		p, err := coord.Probe(ctx, f.agents, r.id, s.Plan.Seed+s.looks, leastBudget, watchBurst, time.Now)
		if err == nil {
			if out.Took = time.Duration(p.Took); p.AtOnce > 0 {
				out.Together = &p.Together
			}
		}
	}
	together := out.Together != nil && *out.Together
	s.looks++
	atOnce, place := 1, make([]int, len(f.hosts)) // of an agent its host, by index
	if together {
		atOnce = len(place)
	}
	for i, h := range f.hosts {
		place[i] = s.index(h.Name)
		out.Hosts[place[i]].Boot, out.Hosts[place[i]].Env = h.Boot, h.Env
	}
	var there [][2]int
	for _, p := range again {
		if a, b := slices.Index(place, p[0]), slices.Index(place, p[1]); a >= 0 && b >= 0 {
			there = append(there, [2]int{a, b})
		}
	}
	first := fault.Disjoint(there, func(p [2]int) [2]int { return p })
	turns, made := turnsOf(place, last, together), 0
	for round, pairs := range append(first, turns...) {
		seen := coord.Observe(ctx, f.agents, r.id, round, pairs, atOnce, s.slowest, coord.BusyLook, watchBurst,
			func(took units.Nanos) bool { return more(out.Took + time.Duration(took)) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, x := range seen.Seen {
			x.From, x.To = place[x.From], place[x.To]
			out.Seen = append(out.Seen, x)
		}
		if round >= len(first) {
			made += len(seen.Seen)
		}
		if seen.Slowest > 0 {
			s.slowest = seen.Slowest
		}
		out.Took += time.Duration(seen.Took)
	}
	if known == out.Together { // else others cost less
		out.Pass = passOf(len(place), made, together)
	}
	coord.Each(f.agents, callsAtOnce, func(i int, a coord.Agent) error {
		h, err := a.Hello(ctx, false)
		if err == nil {
			out.Hosts[place[i]].CPU = h.Now.CPUTime - used[f.hosts[i].Name]
		}
		return nil
	})
	return nil
}

func (s *Sentinel) index(name string) int {
	return slices.IndexFunc(s.Hosts, func(h hosts.Host) bool { return h.Name == name })
}

// turnsOf are the rounds of a look: pairs by when they were last seen, the one first that was not seen for longest, and
// who received then sends. A pair that has had its turn comes last, the other way round. Of pairs that look together a
// host is in one.
func turnsOf(place []int, last map[[2]int]time.Time, together bool) [][][2]int {
	var queue [][2]int
	seen := map[[2]int]time.Time{}
	for _, step := range bench.Colouring(len(place)) {
		for _, p := range step {
			there, back := last[[2]int{place[p[0]], place[p[1]]}], last[[2]int{place[p[1]], place[p[0]]}]
			if there.After(back) {
				p[0], p[1], back = p[1], p[0], there
			}
			pair := [2]int(p)
			queue, seen[pair] = append(queue, pair), back
		}
	}
	slices.SortStableFunc(queue, func(a, b [2]int) int { return seen[a].Compare(seen[b]) })
	var rounds [][][2]int
	for range watchRounds {
		var now, later, done [][2]int
		busy := make([]bool, len(place))
		for _, p := range queue {
			if len(now) == len(place)/2 || together && (busy[p[0]] || busy[p[1]]) {
				later = append(later, p)
				continue
			}
			busy[p[0]], busy[p[1]] = true, true
			now, done = append(now, p), append(done, [2]int{p[1], p[0]})
		}
		rounds, queue = append(rounds, now), append(later, done...)
	}
	return rounds
}

// passOf is in how many looks, each of so many turns, every pair of so many hosts has one; 0 is not known. Together, a
// pair waits for a round only while one of its hosts is in a pair that has waited longer, of which there are 2·(n − 2).
func passOf(hosts, made int, together bool) int {
	of := hosts * (hosts - 1) / 2
	if together {
		of, made = 2*hosts-3, made/(hosts/2)
	}
	if made == 0 {
		return 0
	}
	return (of + made - 1) / made
}
