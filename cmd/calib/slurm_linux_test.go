package main

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"calib/internal/needs"
)

// slurm is a real cluster of Slurm on this machine: a controller and nodes, each in a network namespace of its own, which share a
// file system and the munge daemon.
type slurm struct {
	ts    *testscript.TestScript
	dir   string
	name  string // of the controller's namespace; those of nodes begin with it
	nodes int
}

const slurmConf = `ClusterName=calib
SlurmctldHost=%[1]s(10.55.0.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
PropagateResourceLimits=NONE
ReturnToService=2
StateSaveLocation=%[2]s/state
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdPidFile=%[2]s/slurmd.%%n.pid
SlurmdLogFile=%[2]s/slurmd.%%n.log
SlurmdSpoolDir=%[2]s/spool.%%n
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
`

// cmdSlurm starts a cluster of N nodes, x1 and on. SLURM_CONF is its configuration for the rest of the script, and the commands of Slurm
// run in its controller's namespace by "exec $SLURM command". calib.sbatch is the example.
func cmdSlurm(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 0, neg, "slurm")
	t := ts.Value(testKey{}).(testscript.T)
	needs.Root(t, "start Slurm's daemons")
	needs.Namespaces(t)
	for _, program := range []string{"slurmctld", "slurmd", "munged", "srun"} {
		needs.Program(t, program)
	}
	s := slurm{ts: ts, dir: ts.MkAbs("slurm"), name: fmt.Sprintf("calib-slurm-%d", os.Getpid()), nodes: 4}
	example, err := os.ReadFile("../../examples/slurm/calib.sbatch")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("calib.sbatch"), example, 0o644))
	s.network()
	s.configure(t)
	munged := []string{"--foreground", "--force", "--num-threads=2", "--key-file=" + s.dir + "/munge.key", "--socket=" + s.dir + "/munge.socket",
		"--pid-file=" + s.dir + "/munge.pid", "--log-file=" + s.dir + "/munge.log", "--seed-file=" + s.dir + "/munge.seed"}
	s.daemon(needs.Program(t, "munged"), munged...)
	s.wait("munge's socket", func() bool { c, err := net.Dial("unix", s.dir+"/munge.socket"); return err == nil && c.Close() == nil })
	enter := func(ns string) []string { return []string{"--net=/run/netns/" + ns, "--"} }
	nsenter := needs.Program(t, "nsenter") // not ip netns exec: its new /sys hides the cgroups from slurmd
	s.daemon(nsenter, append(enter(s.name), needs.Program(t, "slurmctld"), "-D", "-c")...)
	for i := range s.nodes {
		s.daemon(nsenter, append(enter(s.node(i)), needs.Program(t, "slurmd"), "-D", "-N", fmt.Sprintf("x%d", i+1))...)
	}
	within := fmt.Sprintf("#!/bin/sh\nexec %s --net=/run/netns/%s -- \"$@\"\n", nsenter, s.name)
	ts.Check(os.WriteFile(s.dir+"/within", []byte(within), 0o755))
	ts.Setenv("SLURM", s.dir+"/within")
	s.wait("idle nodes", func() bool {
		out, _ := s.command(nsenter, append(enter(s.name), "sinfo", "--noheader", "--format=%T %D")...).Output() // fails until slurmctld answers
		return strings.TrimSpace(string(out)) == fmt.Sprintf("idle %d", s.nodes)
	})
}

func (s *slurm) node(i int) string { return fmt.Sprintf("%s-x%d", s.name, i+1) }

// network joins the namespaces by a bridge in the controller's.
func (s *slurm) network() {
	ip := func(args ...string) {
		out, err := exec.Command(needs.Program(s.ts.Value(testKey{}).(testscript.T), "ip"), args...).CombinedOutput()
		if err != nil {
			s.ts.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	add := func(name string) {
		ip("netns", "add", name)
		s.ts.Defer(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
		ip("-n", name, "link", "set", "lo", "up")
	}
	add(s.name)
	ip("-n", s.name, "link", "add", "br0", "type", "bridge")
	ip("-n", s.name, "addr", "add", "10.55.0.254/24", "dev", "br0")
	ip("-n", s.name, "link", "set", "br0", "up")
	for i := range s.nodes {
		add(s.node(i))
		port := fmt.Sprintf("p%d", i)
		ip("-n", s.name, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", s.node(i))
		ip("-n", s.name, "link", "set", port, "master", "br0", "up")
		ip("-n", s.node(i), "addr", "add", fmt.Sprintf("10.55.0.%d/24", i+1), "dev", "eth0")
		ip("-n", s.node(i), "link", "set", "eth0", "up")
	}
}

// configure writes the files that the daemons and commands read.
func (s *slurm) configure(t needs.T) {
	host, err := os.Hostname()
	s.ts.Check(err)
	host, _, _ = strings.Cut(host, ".")
	s.ts.Check(os.MkdirAll(filepath.Join(s.dir, "state"), 0o755))
	conf := fmt.Sprintf(slurmConf, host, s.dir)
	for i := range s.nodes {
		conf += fmt.Sprintf("NodeName=x%d NodeAddr=10.55.0.%d Port=6818 CPUs=1\n", i+1, i+1)
	}
	key := make([]byte, 128)
	_, _ = rand.Read(key) // never fails
	for name, text := range map[string]string{"slurm.conf": conf, "cgroup.conf": "CgroupPlugin=cgroup/v1\n", "munge.key": string(key)} {
		s.ts.Check(os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o400))
	}
	s.ts.Setenv("SLURM_CONF", s.dir+"/slurm.conf")
}

func (s *slurm) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "WORK="+s.ts.Getenv("WORK"), "HOME="+s.ts.Getenv("HOME"), "PATH="+s.ts.Getenv("PATH"), "SLURM_CONF="+s.dir+"/slurm.conf")
	return cmd
}

// daemon starts a daemon in the foreground, which ends with the script.
func (s *slurm) daemon(name string, args ...string) {
	cmd := s.command(name, args...)
	out, err := os.OpenFile(s.dir+"/daemons.log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	s.ts.Check(err)
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	s.ts.Check(cmd.Start())
	s.ts.Defer(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed: that is its status
	})
}

func (s *slurm) wait(what string, cond func() bool) {
	if !poll(cond) {
		logs, _ := filepath.Glob(s.dir + "/*.log")
		var all strings.Builder
		for _, l := range logs {
			text, _ := os.ReadFile(l)
			fmt.Fprintf(&all, "%s:\n%s\n", l, text)
		}
		s.ts.Fatalf("no %s in %v:\n%s", what, patience, all.String())
	}
}
