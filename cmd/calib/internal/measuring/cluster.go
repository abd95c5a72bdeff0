package measuring

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"calib/agent"
	"calib/agent/simagent"
	"calib/cmd/calib/internal/command"
	"calib/internal/certs"
	"calib/internal/dataset"
	"calib/internal/environ"
	"calib/internal/hosts"
	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/run/coord"
	"calib/transport/sim"
)

// callsAtOnce bounds how many agents are called at a time.
const callsAtOnce = 32

// cluster is the hosts of a run, each with its agent, by index. Hosts that could not be reached are not in it.
type cluster struct {
	agents  []coord.Agent
	infos   []dataset.Host
	lost    []dataset.Failure
	starter *starter // nil for a simulation
}

// open starts an agent on every host, some at a time, and asks each who it is. It calls started with the number of hosts that have
// answered, and, later and from any goroutine, warn with what a user should know of one. It fails when fewer than two answer, or ctx
// ends; otherwise the caller closes the cluster.
func (w where) open(ctx context.Context, list []hosts.Host, started func(n int), warn func(string)) (*cluster, error) {
	if w.Sim != "" {
		return w.simulate(ctx)
	}
	starter, err := w.starter(ctx, list)
	if err != nil {
		return nil, err
	}
	credentials, err := w.credentials(list)
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
	starts.SetLimit(w.atOnce())
	var mu sync.Mutex // of answered, and so that started sees it grow
	answered := 0
	for i, h := range list {
		starts.Go(func() error {
			m := &members[i]
			m.agent, m.info, m.err = startOne(ctx, starter, h, credentials, warn)
			if m.err != nil {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			answered++
			started(answered)
			return nil
		})
	}
	_ = starts.Wait() // each member has its own error
	c := &cluster{starter: starter}
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

// credentials are what daemons on TCP are shown, nil where there is none of them or no certificate was named.
func (w where) credentials(list []hosts.Host) (func(string) *tls.Config, error) {
	if w.Cert == "" || !slices.ContainsFunc(list, func(h hosts.Host) bool { return h.Daemon && !h.Socket() }) {
		return nil, nil
	}
	c, err := certs.Load(w.Cert)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--cert: %w", err)
	case c.Role() != certs.Coordinator:
		return nil, fmt.Errorf("--cert %s: the certificate is for an agent: agents are asked with one of calib cert issue --coordinator", w.Cert)
	}
	return c.Client, nil
}

// startOne starts or dials the agent of one host, and completes its own description with what the hosts file says.
func startOne(ctx context.Context, s *starter, h hosts.Host, credentials func(string) *tls.Config, warn func(string)) (coord.Agent, dataset.Host, error) {
	var first sync.Once // of the warnings: the agent's log has them all
	at := s.dialled(ctx, h)
	opts := agent.ClientOptions{DataAddr: knownAddr(ctx, at), Warn: func(s string) { first.Do(func() { warn(s) }) }}
	var client *agent.Client
	if h.Daemon {
		var err error
		if client, err = dial(ctx, h, credentials, opts); err != nil {
			return nil, dataset.Host{}, err
		}
	} else {
		p, err := s.start(ctx, h)
		if err != nil {
			return nil, dataset.Host{}, err
		}
		client = agent.NewClient(h.Name, p, opts)
	}
	info, err := client.Hello(ctx)
	if err == nil {
		info.Addr, err = dataAddr(h, at, info.Addr)
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
func dial(ctx context.Context, h hosts.Host, credentials func(string) *tls.Config, opts agent.ClientOptions) (*agent.Client, error) {
	within, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	client, err := agent.Dial(within, h.Name, h.Name, credentials, opts)
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		err = fmt.Errorf("connect to the daemon of host %s: no answer within %v: the host is down, or a firewall drops what comes to this port", h.Name, dialTime)
	}
	return client, err
}

// dialled is where peers dial a host. It is empty for a daemon on a socket without addr=.
func (s *starter) dialled(ctx context.Context, h hosts.Host) string {
	host, _, err := net.SplitHostPort(h.Name)
	switch {
	case h.Addr != "" || h.Socket():
		return h.Addr
	case h.Daemon && err == nil:
		return host
	}
	return s.at(ctx, h)
}

// knownAddr is the host's data address, as far as it is known here: the agent describes the interface that has it. It is empty
// where only the hosts themselves can resolve the name; the interface is then not in the fingerprint.
func knownAddr(ctx context.Context, at string) string {
	if addrs, err := net.DefaultResolver.LookupHost(ctx, at); err == nil {
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

// dataAddr is where peers dial: the port the agent listens on, at the address of the hosts file, its own, or at.
func dataAddr(h hosts.Host, at, listens string) (string, error) {
	host, port, err := net.SplitHostPort(listens)
	if err != nil {
		return "", fmt.Errorf("host %s: data address %q: %w", h.Name, listens, err)
	}
	switch ip := net.ParseIP(host); {
	case h.Addr != "":
		host = h.Addr
	case h.Socket() && (ip == nil || ip.IsUnspecified()):
		return "", fmt.Errorf("host %s: its agent takes data connections on every address: say in the hosts file at which one peers "+
			"reach it (addr=)", h.Name)
	case ip == nil || ip.IsUnspecified():
		host = at
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
	for i, err := range slices.Backward(errs) {
		if err != nil {
			c.leave(i, err.Error())
			out = append(out, err)
		}
	}
	return errors.Join(out...)
}

// peers are the hosts as their agents reach each other.
func (c *cluster) peers() []plane.Peer {
	out := make([]plane.Peer, len(c.infos))
	for i, h := range c.infos {
		out[i] = plane.Peer{Host: i, Name: h.Name, Addr: h.Addr, Machine: h.Boot, Clock: h.Clock, Consent: h.Consent}
	}
	return out
}

// close ends every agent, and returns when no process is left.
func (c *cluster) close() error {
	err := coord.CloseAll(c.agents, callsAtOnce)
	if c.starter != nil {
		err = errors.Join(err, c.starter.close())
	}
	return err
}

// copied says what the hosts were sent, or nothing.
func (c *cluster) copied() string {
	if c.starter == nil {
		return ""
	}
	return copiedText(c.starter.copied())
}

// otherBuilds lists the agents that run another build than this coordinator or what it has sent.
func (c *cluster) otherBuilds() []string {
	own, err := environ.BuildHash()
	if err != nil {
		return []string{fmt.Sprintf("the build of this calib is not known: %v", err)}
	}
	good := []string{"", own}
	if c.starter != nil {
		good = append(good, c.starter.builds...)
	}
	var out []string
	for _, h := range c.infos {
		if !slices.Contains(good, h.Build) {
			out = append(out, fmt.Sprintf("host %s runs calib %s, build %.12s; this is build %.12s", h.Name, h.Version, h.Build, own))
		}
	}
	slices.Sort(out)
	return out
}
