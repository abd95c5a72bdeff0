package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"calib/agent/simagent"
	"calib/internal/dataset"
	"calib/internal/exit"
	"calib/internal/hosts"
	"calib/internal/machine"
	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/run/coord"
	"calib/transport/sim"
)

// callsAtOnce bounds how many agents are called at a time.
const callsAtOnce = 32

// fleet is the hosts of a run, each with its agent, by index. Hosts that could not be reached are not in it.
type fleet struct {
	agents  []coord.Agent
	hosts   []dataset.Host
	lost    []dataset.Failure
	starter starter
}

// open starts an agent on every host, some at a time, and asks each who it is. It fails when fewer than two answer, or
// ctx ends; otherwise the caller closes the fleet.
func (r *run) open(ctx context.Context) (*fleet, error) {
	if r.Where.Sim != "" {
		return simulated(ctx, r.Where.Sim)
	}
	credentials, err := r.credentials()
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	s, err := r.starter(ctx)
	if err != nil {
		return nil, err
	}
	f := &fleet{starter: s}
	n := len(r.Hosts)
	agents, infos := make([]coord.Agent, n), make([]dataset.Host, n)
	var mu sync.Mutex // of answered, and so that it is seen to grow
	answered := 0.
	errs := coord.Each(r.Hosts, cmp.Or(r.Where.Fanout, DefaultFanout), func(i int, h hosts.Host) (err error) {
		if agents[i], infos[i], err = s.agent(ctx, h, credentials, r.note); err == nil {
			mu.Lock()
			defer mu.Unlock()
			answered++
			r.Show.Update(answered, float64(n), 0, "")
		}
		return err
	})
	for i, err := range errs {
		if err != nil {
			f.lost = append(f.lost, dataset.Failure{Host: r.Hosts[i].Name, Error: err.Error()})
		} else {
			f.agents, f.hosts = append(f.agents, agents[i]), append(f.hosts, infos[i])
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(ctx.Err(), f.close())
	case len(f.agents) < 2:
		return nil, errors.Join(fmt.Errorf("fewer than two hosts answered:\n%w", errors.Join(errs...)), f.close())
	}
	return f, nil
}

// simulated is a fleet in virtual time.
func simulated(ctx context.Context, network string) (*fleet, error) {
	spec, err := netspec.Resolve(network)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	f := &fleet{starter: nobody}
	noise := sim.Noise{Jitter: 0.005, Delay: 0, Round: 0.001}
	for _, a := range simagent.New(*spec, sim.Options{Seed: spec.Seed, Noise: noise}) {
		info, err := a.Hello(ctx)
		if err != nil {
			return nil, err
		}
		f.agents, f.hosts = append(f.agents, a), append(f.hosts, info)
	}
	return f, nil
}

// claim takes the agents for a run, and gives each the peers and tickets for so many bytes a pair, or as many as every
// agent allows. Those that refuse, as one that measures for somebody else, are left out, and the rest are told of each
// other anew: hosts have numbers. It fails where fewer than two are left.
func (f *fleet) claim(ctx context.Context, s plane.Session, allowance units.Bytes, life time.Duration) error {
	for {
		s.Peers = nil
		for i, h := range f.hosts {
			s.Peers = append(s.Peers, plane.Peer{
				Host: i, Name: h.Name, Addr: h.Addr, Machine: h.Boot, Clock: h.Clock, Consent: h.Consent,
			})
			if h.MostBytes > 0 {
				allowance = min(allowance, units.Bytes(h.MostBytes))
			}
		}
		errs := coord.Prepare(ctx, f.agents, s, coord.NewIssuer(allowance, time.Now().Add(life)), callsAtOnce)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var refused []error
		for i, err := range slices.Backward(errs) {
			if err != nil {
				f.leave(i, err.Error())
				refused = append(refused, err)
			}
		}
		switch {
		case refused == nil:
			return nil
		case len(f.agents) < 2:
			return fmt.Errorf("fewer than two hosts can be had:\n%w", errors.Join(refused...))
		}
	}
}

// leave takes the host of that index out of the fleet, and ends its agent. That it may end badly stops nobody else.
func (f *fleet) leave(i int, why string) {
	if err := f.agents[i].Close(); err != nil {
		why += "; " + err.Error()
	}
	f.lost = append(f.lost, dataset.Failure{Host: f.hosts[i].Name, Error: why})
	f.agents, f.hosts = slices.Delete(f.agents, i, i+1), slices.Delete(f.hosts, i, i+1)
}

// late is why a host is left out that was not there when the run began: samples name hosts by index, which stays.
const late = "it answers now, but the run began without it: a new run will have it"

// resume leaves out the hosts that the run began without. All others must be there, in the same order.
func (f *fleet) resume(before []dataset.Host) error {
	for i, h := range slices.Backward(f.hosts) {
		if !slices.Contains(namesOf(before), h.Name) {
			f.leave(i, late)
		}
	}
	return f.sameAs(before)
}

// sameAs returns an error where the hosts are not those with which the run began.
func (f *fleet) sameAs(before []dataset.Host) error {
	if old, now := namesOf(before), namesOf(f.hosts); !slices.Equal(old, now) {
		return fmt.Errorf("resume: the run is on hosts %s; of them answer %s: bring all of them up, in the same order "+
			"in the hosts file, or start a new run", strings.Join(old, ", "), strings.Join(now, ", "))
	}
	return nil
}

func namesOf(list []dataset.Host) []string {
	var out []string
	for _, h := range list {
		out = append(out, h.Name)
	}
	return out
}

// close ends every agent, and returns when no process is left.
func (f *fleet) close() error {
	return errors.Join(coord.CloseAll(f.agents, callsAtOnce), f.starter.close())
}

// maxCopied is what a host is to be sent at most [B].
const maxCopied = 8 << 20

// copiedText says what the hosts were sent; it is empty where all had it.
func copiedText(n int, bytes int64) string {
	if n == 0 {
		return ""
	}
	each := bytes / int64(n)
	s := fmt.Sprintf("copied the agent, %s, to %s", units.Format(float64(each), "B"), units.GroupedPlural(n, "host"))
	if each > maxCopied {
		s += ": this calib was built without its small agent, and copied itself (make build has it)"
	}
	return s
}

// otherBuilds lists the agents that run another build than this coordinator or what it has sent.
func (f *fleet) otherBuilds() []string {
	own, err := machine.BuildHash()
	if err != nil {
		return []string{fmt.Sprintf("the build of this calib is not known: %v", err)}
	}
	good := append([]string{"", own}, f.starter.builds...)
	var out []string
	for _, h := range f.hosts {
		if !slices.Contains(good, h.Build) {
			out = append(out, fmt.Sprintf("host %s runs calib %s, build %.12s; this is build %.12s",
				h.Name, h.Version, h.Build, own))
		}
	}
	slices.Sort(out)
	return out
}
