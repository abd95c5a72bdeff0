package measuring

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"calib/agent"
	"calib/cmd/calib/internal/command"
	"calib/internal/coord"
	"calib/internal/dataset"
	"calib/internal/environ"
	"calib/internal/hosts"
	"calib/internal/launch"
	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/internal/simagent"
	"calib/transport/sim"
)

// startsAtOnce bounds how many hosts are reached at a time, so that logins do not pile up.
const startsAtOnce = 32

// cluster is the hosts of a run, each with its agent, by index. Hosts that could not be reached are not in it.
type cluster struct {
	agents []coord.Agent
	infos  []dataset.Host
	lost   []dataset.Failure
}

// open starts an agent on every host, at most startsAtOnce at a time, and asks each who it is. It calls started with the number
// of hosts that were tried. It fails when fewer than two answer, or ctx ends; otherwise the caller closes the cluster.
func (w where) open(ctx context.Context, list []hosts.Host, started func(n int)) (*cluster, error) {
	if w.Sim != "" {
		return w.simulate(ctx)
	}
	launcher, err := w.launcher()
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, err)
	}
	type member struct {
		agent coord.Agent
		info  dataset.Host
		err   error
	}
	members := make([]member, len(list))
	var starts errgroup.Group
	starts.SetLimit(startsAtOnce)
	var mu sync.Mutex // of done, and so that started sees it grow
	done := 0
	for i, h := range list {
		starts.Go(func() error {
			m := &members[i]
			m.agent, m.info, m.err = startOne(ctx, launcher, h)
			mu.Lock()
			defer mu.Unlock()
			done++
			started(done)
			return nil
		})
	}
	_ = starts.Wait() // each member has its own error
	c := &cluster{}
	var errs []error
	for i, m := range members {
		if m.err != nil {
			c.lost = append(c.lost, dataset.Failure{Host: list[i].Name, Error: m.err.Error()})
			errs = append(errs, m.err)
			continue
		}
		c.agents = append(c.agents, m.agent)
		c.infos = append(c.infos, m.info)
	}
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), c.close())
	}
	if len(c.agents) < 2 {
		return nil, errors.Join(fmt.Errorf("fewer than two hosts answered:\n%w", errors.Join(errs...)), c.close())
	}
	return c, nil
}

func (w where) launcher() (*launch.Launcher, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if w.Local > 0 {
		return launch.Local(own), nil
	}
	var binaries []launch.Binary
	for _, path := range []string{own, w.AgentBinary} {
		if path == "" {
			continue
		}
		b, err := launch.ReadBinary(path)
		if err != nil {
			return nil, err
		}
		binaries = append(binaries, b)
	}
	return launch.Template(w.Launch, binaries...)
}

// startOne starts or dials the agent of one host, and completes its own description with what the hosts file says.
func startOne(ctx context.Context, l *launch.Launcher, h hosts.Host) (coord.Agent, dataset.Host, error) {
	opts := agent.ClientOptions{DataAddr: knownAddr(ctx, h)}
	var client *agent.Client
	if h.Daemon {
		var err error
		if client, err = dial(ctx, h, opts); err != nil {
			return nil, dataset.Host{}, err
		}
	} else {
		p, err := l.Launch(ctx, launch.Host{Name: h.Name, User: h.User}, agentArgs(h)...)
		if err != nil {
			return nil, dataset.Host{}, err
		}
		client = agent.NewClient(h.Name, p, opts)
	}
	info, err := client.Hello(ctx)
	if err == nil {
		info.Addr, err = dataAddr(h, info.Addr)
	}
	if err != nil {
		return nil, dataset.Host{}, errors.Join(err, client.Close())
	}
	info.Name, info.CPU = h.Name, h.CPU
	if h.Arch != "" && info.Arch != "" && h.Arch != info.Arch {
		err := fmt.Errorf("host %s: arch=%s in the hosts file, but its agent runs on %s", h.Name, h.Arch, info.Arch)
		return nil, dataset.Host{}, errors.Join(err, client.Close())
	}
	return client, info, nil
}

// dialTime is how long a daemon's host may take to answer at all.
const dialTime = 10 * time.Second

// dial connects to the daemon of a host.
func dial(ctx context.Context, h hosts.Host, opts agent.ClientOptions) (*agent.Client, error) {
	within, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	client, err := agent.Dial(within, h.Name, h.Name, opts)
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		err = fmt.Errorf("connect to the daemon of host %s: no answer within %v: the host is down, or a firewall drops what comes to this port", h.Name, dialTime)
	}
	return client, err
}

// knownAddr is the host's data address, as far as it is known here: the agent describes the interface that has it. It is empty
// where only the hosts themselves can resolve the name; the interface is then not in the fingerprint.
func knownAddr(ctx context.Context, h hosts.Host) string {
	if h.Addr != "" {
		return h.Addr
	}
	name := h.Name
	if host, _, err := net.SplitHostPort(name); h.Daemon && err == nil {
		name = host
	}
	if addrs, err := net.DefaultResolver.LookupHost(ctx, name); err == nil {
		return addrs[0]
	}
	return ""
}

func agentArgs(h hosts.Host) []string {
	args := []string{"agent", "--stdio", "--data", net.JoinHostPort(h.Addr, strconv.Itoa(h.Port))}
	if h.CPU != "" {
		args = append(args, "--cpu", h.CPU)
	}
	return args
}

// dataAddr is where peers dial: the port the agent listens on, at the address of the hosts file, or the host's name.
func dataAddr(h hosts.Host, listens string) (string, error) {
	host, port, err := net.SplitHostPort(listens)
	if err != nil {
		return "", fmt.Errorf("host %s: data address %q: %w", h.Name, listens, err)
	}
	switch ip := net.ParseIP(host); {
	case h.Addr != "":
		host = h.Addr
	case h.Daemon && (ip == nil || ip.IsUnspecified()):
		if host, _, err = net.SplitHostPort(h.Name); err != nil {
			return "", fmt.Errorf("host %s: %w", h.Name, err)
		}
	case ip == nil || ip.IsUnspecified():
		host = h.Name
	}
	return net.JoinHostPort(host, port), nil
}

// simulate is a cluster in virtual time.
func (w where) simulate(ctx context.Context) (*cluster, error) {
	spec, err := netspec.Resolve(w.Sim)
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, err)
	}
	c := &cluster{}
	noise := sim.Noise{Jitter: 0.005, Delay: 0, Round: 0.001}
	for _, a := range simagent.New(*spec, sim.Options{Seed: spec.Seed, Noise: noise}) {
		info, err := a.Hello(ctx)
		if err != nil {
			return nil, err
		}
		c.agents, c.infos = append(c.agents, a), append(c.infos, info)
	}
	return c, nil
}

// leaveOut closes the agents that have an error and moves their hosts to those that are lost. It returns these errors, nil for none.
func (c *cluster) leaveOut(errs []error) error {
	var out []error
	for i := len(errs) - 1; i >= 0; i-- {
		if errs[i] == nil {
			continue
		}
		c.lost = append(c.lost, dataset.Failure{Host: c.infos[i].Name, Error: errs[i].Error()})
		_ = c.agents[i].Close() // why it is left out says more
		c.agents, c.infos = slices.Delete(c.agents, i, i+1), slices.Delete(c.infos, i, i+1)
		out = append(out, errs[i])
	}
	return errors.Join(out...)
}

// peers are the hosts as their agents reach each other.
func (c *cluster) peers() []plane.Peer {
	out := make([]plane.Peer, len(c.infos))
	for i, h := range c.infos {
		out[i] = plane.Peer{Host: i, Name: h.Name, Addr: h.Addr, Machine: h.Boot, Clock: h.Clock}
	}
	return out
}

// close ends every agent, and returns when no process is left.
func (c *cluster) close() error { return coord.CloseAll(c.agents, startsAtOnce) }

// otherBuilds lists the agents that run another build than this coordinator.
func otherBuilds(infos []dataset.Host) []string {
	own, err := environ.BuildHash()
	if err != nil {
		return []string{fmt.Sprintf("the build of this calib is not known: %v", err)}
	}
	var out []string
	for _, h := range infos {
		if h.Build != "" && h.Build != own {
			out = append(out, fmt.Sprintf("host %s runs calib %s, build %.12s; this is build %.12s", h.Name, h.Version, h.Build, own))
		}
	}
	slices.Sort(out)
	return out
}
