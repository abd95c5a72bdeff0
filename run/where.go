package run

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"calib/internal/certs"
	"calib/internal/exit"
	"calib/internal/files"
	"calib/internal/hosts"
	"calib/internal/lists"
	"calib/internal/netspec"
	"calib/reports"
)

// Where names the hosts to measure, and how to reach them.
type Where struct {
	HostsFile   string   `json:"hosts_file,omitempty"` // absolute
	Ranges      []string `json:"ranges,omitempty"`
	Local       int      `json:"local,omitempty"`
	Sim         string   `json:"sim,omitempty"`
	Launch      string   `json:"launch,omitempty"`
	AgentBinary string   `json:"agent_binary,omitempty"`
	Slurm       bool     `json:"slurm,omitempty"`
	Cert        string   `json:"cert,omitempty"` // absolute
}

// whereFlag is a flag that names hosts or says how to reach them, and whether its value is in it.
var whereFlag = regexp.MustCompile(`^--?(slurm$|(hosts?|local|nodes|sim|launch|cert|agent-binary)(=|$))`)

// typed are the flags of a command line that name hosts, as a shell reads them. Those of lab and import are others.
func typed(args []string) string {
	var out []string
	for i, a := range args {
		if m := whereFlag.FindStringSubmatch(a); m != nil && args[0] != "lab" && args[0] != "import" {
			out = append(out, reports.ShellWord(a))
			if m[2] != "" && m[3] == "" && i+1 < len(args) {
				out = append(out, reports.ShellWord(args[i+1]))
			}
		}
	}
	return strings.Join(out, " ")
}

// Hosts lists the hosts; a network needs two. note is called with what was ignored.
func (w Where) Hosts(note func(string)) ([]hosts.Host, error) {
	list, err := w.List(note)
	if err == nil && len(list) < 2 {
		err = exit.Usagef("1 host: a network needs two; add a host to the hosts file, or use --local 2 to try calib here")
	}
	return list, err
}

// List is Hosts for any number of them.
func (w Where) List(note func(string)) ([]hosts.Host, error) {
	switch {
	case w.Sim != "":
		spec, err := netspec.Resolve(w.Sim)
		if err != nil {
			return nil, exit.Usagef("--sim: %w", err)
		}
		return numbered("sim-h%d", spec.Hosts, ""), nil
	case w.Local > 0:
		return numbered("local%d", w.Local, "127.0.0.1"), nil
	case len(w.Ranges) > 0:
		return rangeHosts(w.Ranges)
	case !w.Slurm:
		return w.fileHosts(note)
	}
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

func (w Where) fileHosts(note func(string)) ([]hosts.Host, error) {
	text, err := files.Read(w.HostsFile, hosts.MaxFile)
	if err != nil {
		return nil, exit.Usagef("hosts file %s: %w: write it, one host or range on a line such as node[01-16], "+
			"or name hosts with --host", w.HostsFile, files.Reason(err))
	}
	list, notes, err := hosts.Parse(text, w.HostsFile)
	for _, n := range notes {
		note(n)
	}
	return list, exit.With(exit.Usage, err)
}

// numbered names n hosts, all at one address.
func numbered(format string, n int, addr string) []hosts.Host {
	return lists.Map(lists.Upto(n), func(i int) hosts.Host { return hosts.Host{Name: fmt.Sprintf(format, i), Addr: addr} })
}

func rangeHosts(ranges []string) ([]hosts.Host, error) {
	var out []hosts.Host
	seen := map[string]bool{}
	for _, r := range ranges {
		names, err := hosts.Expand(r)
		if err != nil {
			return nil, exit.Usagef("--host: %w", err)
		}
		for _, name := range names {
			if seen[name] {
				return nil, exit.Usagef("--host %s: host %s is named twice", r, name)
			}
			seen[name] = true
			out = append(out, hosts.Host{Name: name})
		}
	}
	return out, nil
}

// slurmNodes is where Slurm tells the processes of a job its nodes.
const slurmNodes = "SLURM_JOB_NODELIST"

// slurmHosts lists the nodes of the job, with the addresses that Slurm has for them.
func slurmHosts(note func(string)) ([]hosts.Host, error) {
	nodes := os.Getenv(slurmNodes)
	if nodes == "" {
		return nil, exit.Usagef("--slurm: %s is not set: this is no job of Slurm; run it in one (sbatch, salloc)", slurmNodes)
	}
	list, err := rangeHosts([]string{nodes})
	if err != nil {
		return nil, err
	}
	out, err := exec.Command("scontrol", "--oneliner", "show", "node", nodes).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 { // its own words say more
			err = errors.New(strings.TrimSpace(string(exit.Stderr)))
		}
		note(fmt.Sprintf("scontrol does not tell the nodes' addresses (%v): they are reached by their names", err))
	}
	addrs := nodeAddrs(string(out))
	for i, h := range list {
		if a := addrs[h.Name]; a != h.Name {
			list[i].Addr = a
		}
	}
	return list, nil
}

var nodeLine = regexp.MustCompile(`(?m)^NodeName=(\S+) .*\bNodeAddr=(\S+)`)

// nodeAddrs reads what scontrol --oneliner show node says: addresses by node.
func nodeAddrs(text string) map[string]string {
	out := map[string]string{}
	for _, m := range nodeLine.FindAllStringSubmatch(text, -1) {
		out[m[1]] = m[2]
	}
	return out
}

var portRange = regexp.MustCompile(`(?m)^SrunPortRange\s*=\s*(\d+)-(\d+)\s*$`)

// portsIn reads the ports on which the site lets nodes reach srun, and so calib, from what scontrol show config says;
// 0-0 there is any port, as where Slurm does not say.
func portsIn(text string) (p certs.Ports) {
	if m := portRange.FindStringSubmatch(text); m != nil {
		_, _ = fmt.Sscan(m[1]+" "+m[2], &p.First, &p.Last) // digits
	}
	if p.First < 1 || p.Last > 65535 {
		return certs.Ports{}
	}
	return p
}

// among takes those of the hosts that a file describes, each of which must be a node of the job.
func among(nodes, described []hosts.Host) ([]hosts.Host, error) {
	known := map[string]hosts.Host{}
	for _, h := range nodes {
		known[h.Name] = h
	}
	for i, h := range described {
		node, ok := known[h.Name]
		switch {
		case !ok:
			return nil, exit.Usagef("host %s of the hosts file is no node of this job, which has %s", h.Name,
				os.Getenv(slurmNodes))
		case h.Daemon || h.Port != 0 || h.User != "":
			return nil, exit.Usagef("host %s: with --slurm only addr=, arch= and cpu= of the hosts file count: "+
				"one step starts all agents alike", h.Name)
		case h.Addr == "":
			described[i].Addr = node.Addr
		}
	}
	return described, nil
}
