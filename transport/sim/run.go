package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"calib/internal/netspec"
)

// Run calls fn as every rank of a team at once and returns their errors, joined. Every group is closed when its fn
// returns.
func (n *Net) Run(team []int, fn func(rank int, g *Group) error) error {
	return n.RunTeams([][]int{team}, func(_, rank int, g *Group) error { return fn(rank, g) })
}

// RunTeams is Run for several disjoint teams at once, which share the medium. Errors that only say that a peer has left
// are left out when another error says why.
func (n *Net) RunTeams(teams [][]int, fn func(team, rank int, g *Group) error) error {
	if err := n.check(teams); err != nil {
		return err
	}
	n.mu.Lock()
	n.runs++
	groups := n.build(fmt.Sprintf("run %d", n.runs), teams)
	n.mu.Unlock()
	var wg sync.WaitGroup
	all := make([]error, len(slices.Concat(groups...))) // by id of the rank
	for i, team := range groups {
		for rank, g := range team {
			wg.Go(func() {
				defer g.Close()
				g.w.begin(g.self)
				if err := fn(i, rank, g); err != nil {
					all[g.self.id] = fmt.Errorf("rank %d (host %d): %w", rank, g.self.host, err)
				}
			})
		}
	}
	wg.Wait()
	left := func(err error) bool { return err == nil || errors.Is(err, ErrPeer) }
	if why := slices.DeleteFunc(slices.Clone(all), left); len(why) > 0 {
		return errors.Join(why...)
	}
	return errors.Join(all...)
}

type rendezvous struct {
	team    []int
	arrived map[int]bool // by rank
	done    chan struct{}
	groups  []*Group // set before done is closed
}

// Group returns rank's view of a team, a list of distinct hosts in rank order, once every rank has called Group with
// the same key. The caller closes it. Groups of different keys are simulations of their own: teams that are to share a
// medium need RunTeams. Each host's time continues from the end of its last group.
func (n *Net) Group(ctx context.Context, key string, team []int, rank int) (*Group, error) {
	r, err := n.join(key, team, rank)
	if err != nil {
		return nil, fmt.Errorf("group %q: %w", key, err)
	}
	select {
	case <-r.done:
		return r.groups[rank], nil
	case <-ctx.Done():
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if r.groups != nil {
		return r.groups[rank], nil
	}
	there := len(r.arrived)
	if delete(r.arrived, rank); there == 1 {
		delete(n.waiting, key)
	}
	return nil, fmt.Errorf("group %q: %d of %d ranks waiting: %w", key, there, len(team), ctx.Err())
}

func (n *Net) join(key string, team []int, rank int) (*rendezvous, error) {
	if rank < 0 || rank >= len(team) {
		return nil, fmt.Errorf("%w: rank %d of %d", ErrRank, rank, len(team))
	}
	if err := n.check([][]int{team}); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.waiting[key]
	switch {
	case r == nil:
		r = &rendezvous{team: slices.Clone(team), arrived: map[int]bool{}, done: make(chan struct{})}
		n.waiting[key] = r
	case !slices.Equal(r.team, team):
		return nil, fmt.Errorf("team %v, but another rank waiting with %v", team, r.team)
	case r.arrived[rank]:
		return nil, fmt.Errorf("rank %d waiting twice", rank)
	}
	r.arrived[rank] = true
	if len(r.arrived) < len(team) {
		return r, nil
	}
	delete(n.waiting, key)
	r.groups = n.build(key, [][]int{team})[0]
	close(r.done)
	return r, nil
}

func (n *Net) check(teams [][]int) error {
	if n.bad != nil {
		return n.bad
	}
	seen := map[int]bool{}
	for _, team := range teams {
		for _, h := range team {
			if h < 0 || h >= n.spec.Hosts {
				return fmt.Errorf("teams %v: host %d, but the network has %d (from 0)", teams, h, n.spec.Hosts)
			}
			if seen[h] {
				return fmt.Errorf("teams %v: host %d occurs twice", teams, h)
			}
			seen[h] = true
		}
	}
	return nil
}

// build makes the world of some teams, which have been checked, and lets its first rank run. n.mu is held.
func (n *Net) build(key string, teams [][]int) [][]*Group {
	w := &world{net: n, opt: &n.opt, rng: n.rng(key, teams), acks: map[instant]*line[ack]{}}
	w.factor = max(0, 1+n.opt.Noise.Round*w.rng.NormFloat64())
	groups := make([][]*Group, len(teams))
	for i, hosts := range teams {
		procs := make([]*proc, len(hosts))
		shared := &team{procs: procs}
		for rank, h := range hosts {
			at := &node{owner: len(w.procs), host: h, clock: &n.clock[h]}
			at.tx.then, at.rx.then = w.leaveHost, w.deliver
			p := &proc{node: at, id: len(w.procs), rank: rank, team: shared, wake: make(chan struct{}, 1)}
			procs[rank] = p
			w.procs = append(w.procs, p)
			w.now = max(w.now, n.last[h])
			w.ready.Push(p)
			groups[i] = append(groups[i], &Group{w: w, self: p, team: procs, rank: rank})
		}
	}
	w.live = len(w.procs)
	w.path = netspec.NewNetwork(&n.spec, slices.Concat(teams...), perSecond, w.service, w.rng, false)
	w.links = make([]line[packet], 2*len(n.spec.Links))
	for i := range w.links {
		w.links[i].then = func(pk packet) { w.onward(pk, i) }
	}
	w.lost.then, w.delack.then = w.transmit, ack.overdue
	if w.opt.Active && w.path.Active != nil {
		for i := range w.procs {
			w.path.Active.Sent(w.now, i)
		}
	}
	w.handOver()
	return groups
}

func (n *Net) ended(host int, t instant) {
	n.mu.Lock()
	n.last[host] = max(n.last[host], t)
	n.mu.Unlock()
}
