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
	"sync"
	"time"

	"calib/agent"
	"calib/internal/certs"
	"calib/internal/dataset"
	"calib/internal/exit"
	"calib/internal/hosts"
	"calib/internal/launch"
	"calib/run/coord"
)

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
	start  func(context.Context, hosts.Host) (io.ReadWriteCloser, error)
	at     func(context.Context, hosts.Host) string // where peers dial a host without addr=
	copied func() (hosts int, bytes int64)
	close  func() error // when all agents have been closed
	builds []string     // that may answer: hashes
}

// nobody starts no agent: those of a simulation are there.
var nobody = starter{copied: func() (int, int64) { return 0, 0 }, close: func() error { return nil }}

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
	if given := r.Where.AgentBinary; given != "" && err == nil {
		var first launch.Binary
		first, err = launch.ReadBinary(given)
		binaries = append([]launch.Binary{first}, binaries...)
	}
	if err == nil {
		var self launch.Binary
		self, err = launch.ReadBinary(own)
		binaries = append(binaries, self)
	}
	if err != nil {
		return s, exit.With(exit.Usage, err)
	}
	if r.Where.Slurm {
		s, err = step(ctx, r.Hosts, binaries)
	} else if l, bad := launch.Template(r.Where.Launch, binaries...); bad != nil {
		err = exit.With(exit.Usage, bad)
	} else {
		s = launched(l)
	}
	for _, b := range binaries {
		s.builds = append(s.builds, b.Hash)
	}
	return s, err
}

func launched(l *launch.Launcher) starter {
	return starter{
		start: func(ctx context.Context, h hosts.Host) (io.ReadWriteCloser, error) {
			args := []string{"agent", "--stdio", "--data", net.JoinHostPort(h.Addr, strconv.Itoa(h.Port))}
			if h.CPU != "" {
				args = append(args, "--cpu", h.CPU)
			}
			return l.Launch(ctx, launch.Host{Name: h.Name, User: h.User}, args...)
		},
		at: func(ctx context.Context, h hosts.Host) string {
			return l.Hostname(ctx, launch.Host{Name: h.Name, User: h.User})
		},
		copied: l.Copied, close: nobody.close,
	}
}

// step starts one step of the job for all hosts. Their agents listen on every address.
func step(ctx context.Context, list []hosts.Host, binaries []launch.Binary) (starter, error) {
	names := make([]string, len(list))
	for i, h := range list {
		names[i] = h.Name
	}
	config, _ := exec.Command("scontrol", "show", "config").Output()
	job := launch.Job{Command: launch.Slurm(hosts.Fold(names), len(names)), Hosts: names, Ports: portsIn(string(config))}
	s, err := launch.StartStep(ctx, job, binaries, []string{"agent", "--data", ":0"})
	if err != nil {
		return starter{}, err
	}
	return starter{
		start:  func(ctx context.Context, h hosts.Host) (io.ReadWriteCloser, error) { return s.Connect(ctx, h.Name) },
		at:     func(_ context.Context, h hosts.Host) string { return h.Name },
		copied: s.Copied, close: s.Close,
	}, nil
}

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
	if addrs, err := net.DefaultResolver.LookupHost(ctx, at); err == nil {
		opts.DataAddr = addrs[0]
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
	info, err = client.Hello(ctx)
	if err == nil {
		info.Addr, err = dataAddr(h, at, info.Addr)
	}
	if err == nil && h.Arch != "" && info.Arch != "" && h.Arch != info.Arch {
		err = fmt.Errorf("host %s: arch=%s in the hosts file, but its agent runs on %s", h.Name, h.Arch, info.Arch)
	}
	if err != nil {
		return nil, info, errors.Join(err, client.Close())
	}
	info.Name, info.CPU = h.Name, h.CPU
	return client, info, nil
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
