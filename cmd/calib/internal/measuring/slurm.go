package measuring

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"
	"mvdan.cc/sh/v3/shell"

	"calib/cmd/calib/internal/command"
	"calib/internal/hosts"
	"calib/internal/join"
)

// What Slurm tells the processes of a job.
const (
	slurmJob   = "SLURM_JOB_ID"
	slurmNodes = "SLURM_JOB_NODELIST"
)

func slurmFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "slurm", Usage: "the nodes of this Slurm job; all agents are one step of it"},
		&cli.IntFlag{Name: "nodes", Usage: "with --slurm outside a job: ask for one of `N` nodes (salloc), and run in it"},
		&cli.StringFlag{Name: "slurm-args", Usage: "`ARGS` for salloc, such as '--partition=debug --time=30'"},
	}
}

// checkSlurm checks the flags. Outside a job it becomes salloc, which runs this command again in the job that it is granted, and ends the
// job with it.
func checkSlurm(c *cli.Context) error {
	switch job := os.Getenv(slurmJob); {
	case !c.Bool("slurm") && (c.IsSet("nodes") || c.IsSet("slurm-args")):
		return command.Usagef("--nodes and --slurm-args are for --slurm")
	case !c.Bool("slurm") || job != "":
		return nil
	case !c.IsSet("nodes"):
		return command.Usagef("--slurm outside a job of Slurm: run it in one (sbatch, salloc), or ask for one with --nodes N")
	case c.Int("nodes") < 2:
		return command.Usagef("--nodes %d: a network needs two", c.Int("nodes"))
	}
	salloc, err := exec.LookPath("salloc")
	if err != nil {
		return command.Usagef("--slurm: %w: run calib on a host that can submit jobs", err)
	}
	more, err := shell.Fields(c.String("slurm-args"), os.Getenv)
	if err != nil {
		return command.Usagef("--slurm-args: %w", err)
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	argv := append([]string{"salloc", "--nodes=" + strconv.Itoa(c.Int("nodes")), "--ntasks-per-node=1", "--exclusive", "--job-name=calib"}, more...)
	argv = append(append(argv, own), os.Args[1:]...)
	return fmt.Errorf("start salloc: %w", syscall.Exec(salloc, argv, os.Environ()))
}

// slurmHosts lists the nodes of the job, with the addresses that Slurm has for them.
func slurmHosts(note func(string)) ([]hosts.Host, error) {
	nodes := os.Getenv(slurmNodes)
	if nodes == "" {
		return nil, command.Usagef("--slurm: %s is not set: this is no job of Slurm; run it in one (sbatch, salloc)", slurmNodes)
	}
	list, err := rangeHosts([]string{nodes})
	if err != nil {
		return nil, err
	}
	out, err := exec.Command("scontrol", "--oneliner", "show", "node", nodes).Output()
	if err != nil {
		note(fmt.Sprintf("scontrol does not tell the nodes' addresses (%v): they are reached by their names", reason(err)))
	}
	addrs := nodeAddrs(string(out))
	for i, h := range list {
		if a := addrs[h.Name]; a != h.Name {
			list[i].Addr = a
		}
	}
	return list, nil
}

// reason is why a program failed, in its own words where it had any.
func reason(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return err
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

// slurmPorts are the ports on which the site lets nodes reach srun, and so calib. Where Slurm does not say, any will do.
func slurmPorts() join.Ports {
	out, _ := exec.Command("scontrol", "show", "config").Output()
	return portsIn(string(out))
}

// portsIn reads what scontrol show config says; 0-0 there is any port.
func portsIn(text string) (p join.Ports) {
	if m := portRange.FindStringSubmatch(text); m != nil {
		_, _ = fmt.Sscan(m[1]+" "+m[2], &p.First, &p.Last) // digits
	}
	if p.First < 1 || p.Last > 65535 {
		return join.Ports{}
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
			return nil, command.Usagef("host %s of the hosts file is no node of this job, which has %s", h.Name, os.Getenv(slurmNodes))
		case h.Daemon || h.Port != 0 || h.CPU != "" || h.User != "":
			return nil, command.Usagef("host %s: with --slurm only addr= and arch= of the hosts file count: one step starts all agents alike", h.Name)
		case h.Addr == "":
			described[i].Addr = node.Addr
		}
	}
	return described, nil
}
