package run

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"calib/agent"
	"calib/agent/simagent"
	"calib/internal/certs"
	"calib/internal/dataset"
	"calib/internal/exit"
	"calib/internal/hosts"
	"calib/internal/launch"
	"calib/internal/lists"
	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/run/coord"
	"calib/transport/sim"
)

const (
	callsAtOnce   = 32 // agents that are called at a time
	startedAtOnce = 8  // hosts that are logged in to at a time: an sshd drops more than ten logins (MaxStartups)
)

// fleet is the hosts of a run, each with its agent, by index. Hosts that could not be reached are not in it.
type fleet struct {
	agents  []coord.Agent
	hosts   []dataset.Host
	lost    []dataset.Failure
	busy    []string // of those lost, the ones that measure for somebody else
	starter starter
}

// open starts an agent on every host, some at a time, and asks each who it is. It fails when ctx ends, or fewer than
// two answer: the fleet then says which did not. Otherwise the caller closes the fleet.
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
	errs := coord.Each(r.Hosts, startedAtOnce, func(i int, h hosts.Host) (err error) {
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
		return f, errors.Join(fmt.Errorf("fewer than two hosts answered:\n%w", errors.Join(errs...)), f.close())
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
		info, err := a.Hello(ctx, false)
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
		f.pin()
		s.Peers = nil
		most := allowance
		for i, h := range f.hosts {
			s.Peers = append(s.Peers, plane.Peer{
				Host: i, Name: h.Name, Addr: h.Addr, Machine: h.Boot, Clock: h.Clock, Consent: h.Consent, CPU: h.CPU,
			})
			if h.MostBytes > 0 {
				most = min(most, units.Bytes(h.MostBytes))
			}
		}
		errs := coord.Prepare(ctx, f.agents, s, coord.NewIssuer(most, time.Now().Add(life)), callsAtOnce)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var refused []error
		for i, err := range slices.Backward(errs) {
			if err != nil {
				if errors.Is(err, agent.ErrBusy) {
					f.busy = slices.Insert(f.busy, 0, f.hosts[i].Name)
				}
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

// pin chooses the CPU of every agent's timing thread: of those that it may have, the first that fewest agents of its
// machine have.
func (f *fleet) pin() {
	taken := map[string]int{} // by machine and CPU
	for i := range f.hosts {
		h := &f.hosts[i]
		h.CPU = ""
		for _, cpu := range h.Now.CPUs {
			if h.CPU == "" || taken[h.Boot+" "+cpu] < taken[h.Boot+" "+h.CPU] {
				h.CPU = cpu
			}
		}
		taken[h.Boot+" "+h.CPU]++
	}
}

// onOneCPU says which agents have one CPU; "" where none have.
func (f *fleet) onOneCPU() string {
	var parts []string
	for at, sharing := range dataset.ByCPU(f.hosts) {
		if names := lists.Map(sharing, func(i int) string { return f.hosts[i].Name }); len(names) > 1 {
			parts = append(parts, "CPU "+at[1]+": "+hosts.Fold(names))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

// leave takes the host of that index out of the fleet, and ends its agent. That it may end badly stops nobody else.
func (f *fleet) leave(i int, why string) {
	if err := f.agents[i].Close(); err != nil {
		why += "; " + err.Error()
	}
	f.lost = append(f.lost, dataset.Failure{Host: f.hosts[i].Name, Error: why})
	f.agents, f.hosts = slices.Delete(f.agents, i, i+1), slices.Delete(f.hosts, i, i+1)
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
	return lists.Map(list, func(h dataset.Host) string { return h.Name })
}

// close ends every agent, and returns when no process is left.
func (f *fleet) close() error {
	return errors.Join(coord.CloseAll(f.agents, callsAtOnce), f.starter.close())
}

// credentials are what daemons on TCP are shown, nil where there is none of them or no certificate was named.
func (r *run) credentials() (func(string) *tls.Config, error) {
	path := r.Where.Cert
	if path == "" || !slices.ContainsFunc(r.Hosts, func(h hosts.Host) bool { return h.Daemon && !h.Socket() }) {
		return nil, nil
	}
	c, err := certs.Load(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--cert: %w", err)
	case c.Role() != certs.Coordinator:
		return nil, fmt.Errorf("--cert %s: the certificate is for an agent: agents are asked with one of "+
			"calib cert issue --coordinator", path)
	}
	return c.Client, nil
}

// starter starts the agents of a run that are no daemons.
type starter struct {
	start func(context.Context, hosts.Host) (io.ReadWriteCloser, error)
	at    func(context.Context, hosts.Host) string // where peers dial a host without addr=
	close func() error                             // when all agents have been closed
}

// nobody starts no agent: those of a simulation are there.
var nobody = starter{close: func() error { return nil }}

// starter is chosen by Where. A step of a job starts all its agents here.
func (r *run) starter(ctx context.Context) (s starter, err error) {
	own, err := os.Executable()
	if err != nil {
		return s, err
	}
	if r.Where.Local > 0 {
		return launched(launch.Local(own)), nil
	}
	// What may be copied to a host, the first that fits: what the user gave, what is a part of this calib, and itself.
	binaries, err := r.Agents()
	for i, path := range []string{r.Where.AgentBinary, own} {
		if path != "" && err == nil {
			var b launch.Binary
			b, err = launch.ReadBinary(path)
			binaries = slices.Insert(binaries, i*len(binaries), b)
		}
	}
	if err != nil {
		return s, exit.With(exit.Usage, err)
	}
	if r.Where.Slurm {
		return step(ctx, r.Hosts, binaries)
	}
	l, err := launch.Template(r.Where.Launch, binaries...)
	if err != nil {
		return s, exit.With(exit.Usage, err)
	}
	return launched(l), nil
}

func launched(l *launch.Launcher) starter {
	return starter{
		start: func(ctx context.Context, h hosts.Host) (io.ReadWriteCloser, error) {
			args := []string{"agent", "--stdio", "--data", net.JoinHostPort(h.Addr, strconv.Itoa(h.Port))}
			return l.Launch(ctx, h, args...)
		},
		at: l.Hostname, close: nobody.close,
	}
}

// step starts one step of the job for all hosts. Their agents listen on every address.
func step(ctx context.Context, list []hosts.Host, binaries []launch.Binary) (starter, error) {
	names := lists.Map(list, func(h hosts.Host) string { return h.Name })
	config, _ := exec.Command("scontrol", "show", "config").Output()
	job := launch.Job{Command: launch.Slurm(hosts.Fold(names), len(names)), Hosts: names, Ports: portsIn(string(config))}
	s, err := launch.StartStep(ctx, job, binaries, []string{"agent", "--data", ":0"})
	if err != nil {
		return starter{}, err
	}
	return starter{
		start: func(ctx context.Context, h hosts.Host) (io.ReadWriteCloser, error) { return s.Connect(ctx, h.Name) },
		at:    func(_ context.Context, h hosts.Host) string { return h.Name },
		close: s.Close,
	}, nil
}

// ownName is what Debian has in /etc/hosts for the machine's own name: only there is it an address.
const ownName = "127.0.1.1"

// dialTime is how long a daemon's host may take to answer at all.
const dialTime = 10 * time.Second

// agent starts or dials the agent of one host, and completes its own description with what the hosts file says. It may
// call warn, later and from any goroutine, with what a user should know of it.
func (s starter) agent(ctx context.Context, h hosts.Host, credentials func(string) *tls.Config, warn func(string)) (
	_ coord.Agent, info dataset.Host, err error) {
	var first sync.Once // of the warnings: the agent's log has them all
	at := s.dialled(ctx, h)
	opts := agent.ClientOptions{Warn: func(s string) { first.Do(func() { warn(s) }) }}
	// The agent describes the interface that has its data address. Where only the hosts themselves can resolve the
	// name, the interface is not in the fingerprint.
	addrs, err := net.DefaultResolver.LookupHost(ctx, at)
	i := slices.IndexFunc(addrs, func(a string) bool { return a != ownName || at == ownName })
	if err == nil && i >= 0 {
		opts.DataAddr = addrs[i]
	}
	var client *agent.Client
	if h.Daemon {
		within, cancel := context.WithTimeout(ctx, dialTime)
		defer cancel()
		client, err = agent.Dial(within, h.Name, h.Name, credentials, opts)
		if err != nil && ctx.Err() == nil && within.Err() != nil {
			err = fmt.Errorf("connect to the daemon of host %s: no answer within %v: the host is down, "+
				"or a firewall drops what comes to this port", h.Name, dialTime)
		}
	} else {
		var p io.ReadWriteCloser
		if p, err = s.start(ctx, h); err == nil {
			client = agent.NewClient(h.Name, p, opts)
		}
	}
	if err != nil {
		return nil, info, err
	}
	info, err = client.Hello(ctx, false)
	if err == nil {
		info.Addr, err = dataAddr(h, at, info.Addr)
	}
	if err == nil && h.Arch != "" && info.Arch != "" && h.Arch != info.Arch {
		err = fmt.Errorf("host %s: arch=%s in the hosts file, but its agent runs on %s", h.Name, h.Arch, info.Arch)
	}
	if err == nil {
		err = allow(&info, h)
	}
	if err != nil {
		return nil, info, errors.Join(err, client.Close())
	}
	info.Name = h.Name
	return client, info, nil
}

// allow leaves of the CPUs that an agent may be pinned to those that the hosts file allows (cpu=).
func allow(info *dataset.Host, h hosts.Host) error {
	offered := info.Now.CPUs
	kept := lists.Where(offered, h.MayPin)
	if len(kept) == 0 && h.CPU != "" && h.CPU != hosts.FreeCPU {
		return fmt.Errorf("host %s: cpu=%s in the hosts file, but its agent may use CPUs %s", h.Name, h.CPU,
			strings.Join(offered, ", "))
	}
	info.Now.CPUs = kept
	return nil
}

// dialled is where peers dial a host. It is empty for a daemon on a socket without addr=.
func (s starter) dialled(ctx context.Context, h hosts.Host) string {
	host, _, err := net.SplitHostPort(h.Name)
	switch {
	case h.Addr != "" || h.Socket():
		return h.Addr
	case h.Daemon && err == nil:
		return host
	}
	return s.at(ctx, h)
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
		return "", fmt.Errorf("host %s: its agent takes data connections on every address: say in the hosts file at "+
			"which one peers reach it (addr=)", h.Name)
	case ip == nil || ip.IsUnspecified():
		host = at
	}
	return net.JoinHostPort(host, port), nil
}
