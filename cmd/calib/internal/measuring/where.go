package measuring

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/files"
	"calib/internal/hosts"
	"calib/internal/netspec"
)

// where names the hosts to measure, and how to reach them. It is kept in run.json, so that --resume needs no flags.
type where struct {
	HostsFile   string   `json:"hosts_file,omitempty"` // absolute
	Ranges      []string `json:"ranges,omitempty"`
	Local       int      `json:"local,omitempty"`
	Sim         string   `json:"sim,omitempty"`
	Launch      string   `json:"launch,omitempty"`
	AgentBinary string   `json:"agent_binary,omitempty"`
	Fanout      int      `json:"fanout,omitempty"`
	Slurm       bool     `json:"slurm,omitempty"`
	Cert        string   `json:"cert,omitempty"` // absolute
}

// defaultFanout is how many hosts are reached at a time: an sshd drops more logins than ten at once (MaxStartups).
const defaultFanout = 8

// maxLocal bounds the agents on one machine.
const maxLocal = 256

// WhereFlags name the hosts to measure, and how to reach them.
func WhereFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "hosts", Usage: "`FILE` of hosts, one or a range a line (see calib hosts --help)"},
		&cli.StringSliceFlag{Name: "host", Usage: "host or `RANGE` such as node[01-16,20]; may be repeated"},
		&cli.IntFlag{Name: "local", Usage: "`N` agents on this machine, over loopback"},
		&cli.StringFlag{Name: "sim", Usage: "no hosts at all: simulate `PRESET[:HOSTS]` or a lab file, in virtual time"},
		&cli.StringFlag{Name: "launch", Value: defaultLaunch, EnvVars: []string{"CALIB_LAUNCH"},
			Usage: "`PREFIX` that runs a command on {host} with its standard streams, such as 'ip netns exec {host}'"},
		&cli.StringFlag{Name: "cert", EnvVars: []string{"CALIB_CERT"},
			Usage: "`DIR` of the certificate that calib cert issue has made for you, for daemons on TCP (calib://host:port)"},
		&cli.StringFlag{Name: "agent-binary", Usage: "`PATH` of calib-agent, or of calib, for hosts of another kind than calib has agents for"},
		&cli.IntFlag{Name: "fanout", Value: defaultFanout, Usage: "start agents on `N` hosts at a time"},
	}, slurmFlags()...)
}

// whereOf reads WhereFlags.
func whereOf(c *cli.Context) (where, error) {
	w := where{
		HostsFile: c.String("hosts"), Ranges: c.StringSlice("host"), Local: c.Int("local"), Sim: c.String("sim"),
		Launch: c.String("launch"), AgentBinary: c.String("agent-binary"), Fanout: c.Int("fanout"), Slurm: c.Bool("slurm"), Cert: c.String("cert"),
	}
	given := 0
	for _, set := range []bool{w.HostsFile != "" || w.Slurm, len(w.Ranges) > 0, c.IsSet("local"), w.Sim != ""} {
		if set {
			given++
		}
	}
	switch {
	case given == 0:
		return w, command.Usagef("say which hosts: --hosts FILE, --host RANGE, --slurm, --local N, or --sim PRESET")
	case given > 1:
		return w, command.Usagef("give one of --hosts, --host, --slurm, --local and --sim, not %d of them", given)
	case c.IsSet("local") && (w.Local < 1 || w.Local > maxLocal):
		return w, command.Usagef("--local %d: want 2 to %d agents", w.Local, maxLocal)
	case w.Fanout < 1:
		return w, command.Usagef("--fanout %d: want 1 host at a time or more", w.Fanout)
	case w.Slurm && c.IsSet("launch") && os.Getenv("CALIB_LAUNCH") == "":
		return w, command.Usagef("give --slurm or --launch: a job's step is started by srun")
	}
	for flag, path := range map[string]*string{"hosts": &w.HostsFile, "cert": &w.Cert} {
		if *path == "" {
			continue
		}
		abs, err := filepath.Abs(*path)
		if err != nil {
			return w, command.Usagef("--%s: %w", flag, err)
		}
		*path = abs
	}
	return w, checkSlurm(c)
}

// hosts lists the hosts; a network needs two. note is called with what was ignored.
func (w where) hosts(note func(string)) ([]hosts.Host, error) {
	list, err := w.list(note)
	if err != nil {
		return nil, err
	}
	if len(list) < 2 {
		return nil, command.Usagef("1 host: a network needs two; add a host to the hosts file, or use --local 2 to try calib here")
	}
	return list, nil
}

func (w where) list(note func(string)) ([]hosts.Host, error) {
	switch {
	case w.Sim != "":
		spec, err := netspec.Resolve(w.Sim)
		if err != nil {
			return nil, command.Usagef("--sim: %w", err)
		}
		return numbered("sim-h%d", spec.Hosts, ""), nil
	case w.Local > 0:
		return numbered("local%d", w.Local, "127.0.0.1"), nil
	case len(w.Ranges) > 0:
		return rangeHosts(w.Ranges)
	case w.Slurm:
		return w.slurmList(note)
	}
	return w.fileHosts(note)
}

// slurmList lists the nodes of the job, or those of them that the hosts file has.
func (w where) slurmList(note func(string)) ([]hosts.Host, error) {
	nodes, err := slurmHosts(note)
	if err != nil || w.HostsFile == "" {
		return nodes, err
	}
	described, err := w.fileHosts(note)
	if err != nil {
		return nil, err
	}
	return among(nodes, described)
}

func (w where) fileHosts(note func(string)) ([]hosts.Host, error) {
	text, err := files.Read(w.HostsFile, hosts.MaxFile)
	if err != nil {
		return nil, command.Usagef("hosts file %s: %w: write it, one host or range on a line such as node[01-16], or name hosts with --host",
			w.HostsFile, files.Reason(err))
	}
	list, notes, err := hosts.Parse(text, w.HostsFile)
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, err)
	}
	for _, n := range notes {
		note(n)
	}
	return list, nil
}

// numbered names n hosts, all at one address.
func numbered(format string, n int, addr string) []hosts.Host {
	out := make([]hosts.Host, n)
	for i := range out {
		out[i] = hosts.Host{Name: fmt.Sprintf(format, i), Addr: addr}
	}
	return out
}

func rangeHosts(ranges []string) ([]hosts.Host, error) {
	var out []hosts.Host
	seen := map[string]bool{}
	for _, r := range ranges {
		names, err := hosts.Expand(r)
		if err != nil {
			return nil, command.Usagef("--host: %w", err)
		}
		for _, name := range names {
			if seen[name] {
				return nil, command.Usagef("--host %s: host %s is named twice", r, name)
			}
			seen[name] = true
			out = append(out, hosts.Host{Name: name})
		}
	}
	return out, nil
}
