package run

import (
	"context"
	"slices"
	"strings"
	"time"

	"calib/bench"
	"calib/fit/fault"
	"calib/internal/exit"
	"calib/internal/hosts"
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
	looks   int
	slowest units.Nanos // pair of the last round
	next    int         // round of the circle
	waiting [][][2]int  // rounds of the circle, for which there was no time
}

// Look starts the agents, has pairs of hosts look at the ways between them, and ends the agents. First those pairs look
// that are asked for. Then rounds go on in the circle of all pairs, while there is more time. Whether pairs can look
// together is asked once, as values depend on it. Why a host was not seen is in what was seen.
func (s *Sentinel) Look(ctx context.Context, number int, together *bool, again [][2]int,
	more func(took time.Duration) bool) (watch.Sighting, error) {
	r := newRun(s.Config, "watch-")
	out := watch.Sighting{Together: together}
	for _, h := range s.Hosts {
		out.Hosts = append(out.Hosts, watch.Machine{Name: h.Name})
	}
	f, err := r.open(ctx)
	if err == nil {
		err = s.see(ctx, r, f, &out, number, again, more)
		_ = f.close() // what was seen stands
	}
	if f != nil { // the hosts that it goes on without
		for _, l := range f.lost {
			m := &out.Hosts[s.index(l.Host)]
			m.Lost, m.Busy = l.Error, slices.Contains(f.busy, l.Host)
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
		out.Trouble = strings.Join(first[:min(2, len(first))], " ")
		for i := range out.Hosts { // the others have no partner, or nothing is known of them
			if m := &out.Hosts[i]; m.Lost == "" {
				m.Lost, m.Busy = err.Error(), own || f != nil
			}
		}
	}
	return out, nil
}

// see makes rounds with the agents that can be had.
func (s *Sentinel) see(ctx context.Context, r *run, f *fleet, out *watch.Sighting, number int, again [][2]int,
	more func(took time.Duration) bool) error {
	used := map[string]time.Duration{} // by daemons, before this look
	for _, h := range f.hosts {
		if s.Hosts[s.index(h.Name)].Daemon {
			used[h.Name] = h.Now.CPUTime
		}
	}
	if err := r.claim(ctx, f); err != nil {
		return err
	}
	if out.Together == nil && len(f.agents) > 3 { // a round of fewer is one pair
		p, err := coord.Probe(ctx, f.agents, r.id, s.Plan.Seed+uint64(number), leastBudget, watchBurst, time.Now)
		if err == nil {
			if out.Took = time.Duration(p.Took); p.AtOnce > 0 {
				out.Together = &p.Together
			}
		}
	}
	together := out.Together != nil && *out.Together
	first := fault.Disjoint(again, func(p [2]int) [2]int { return p })
	rounds := append(first, s.circle(number)...)
	s.looks, s.waiting = s.looks+1, nil
	at, place := map[int]int{}, make([]int, len(f.hosts)) // of a host its agent, of an agent its host, by index
	for i, h := range f.hosts {
		k := s.index(h.Name)
		at[k], place[i] = i, k
		out.Hosts[k].Boot, out.Hosts[k].Env = h.Boot, h.Env
	}
	for round, pairs := range rounds {
		var there [][2]int
		for _, p := range pairs {
			a, okA := at[p[0]]
			b, okB := at[p[1]]
			if okA && okB {
				there = append(there, [2]int{a, b})
			}
		}
		seen := coord.Observe(ctx, f.agents, r.id, round, there, together, s.slowest, coord.BusyLook, watchBurst,
			func(took units.Nanos) bool { return more(out.Took + time.Duration(took)) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, x := range seen.Seen {
			x.From, x.To = place[x.From], place[x.To]
			out.Seen = append(out.Seen, x)
		}
		if rest := there[len(seen.Seen):]; round >= len(first) && len(rest) > 0 {
			for i, p := range rest {
				rest[i] = [2]int{place[p[0]], place[p[1]]}
			}
			s.waiting = append(s.waiting, rest)
		}
		if seen.Slowest > 0 {
			s.slowest = seen.Slowest
		}
		out.Took += time.Duration(seen.Took)
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

// circle are the rounds of a look: those that wait, and then the circle of all pairs goes on. In every other circle the
// other host of a pair sends.
func (s *Sentinel) circle(number int) [][][2]int {
	if s.looks == 0 {
		s.next = number * watchRounds
	}
	n := len(s.Hosts)
	out := s.waiting
	for ; len(out) < watchRounds; s.next++ {
		var pairs [][2]int
		for _, p := range bench.Colour(n, s.next%bench.Colours(n)) {
			if s.next/bench.Colours(n)%2 == 1 {
				p[0], p[1] = p[1], p[0]
			}
			pairs = append(pairs, [2]int(p))
		}
		out = append(out, pairs)
	}
	return out
}
