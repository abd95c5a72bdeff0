package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"calib/internal/needs"
)

// testCluster is hosts on this machine, each in a network namespace of its own, and a namespace in which their bridge
// is and calib runs. The hosts x1 and on have the addresses 10.55.0.1 and on. All share the file system.
type testCluster struct {
	ts    *testscript.TestScript
	t     testscript.T
	dir   string
	name  string // of calib's namespace; those of hosts begin with it
	nodes int
}

// newCluster makes the namespaces and the agent. "exec $WITHIN command" runs a command in calib's for the rest of the
// script.
func newCluster(ts *testscript.TestScript, nodes int) *testCluster {
	s := &testCluster{ts: ts, t: ts.Value(testKey{}).(testscript.T), dir: ts.MkAbs("cluster"), nodes: nodes}
	s.name = fmt.Sprintf("calib-test-%d-%s", os.Getpid(), ts.Name())
	ts.Check(os.Mkdir(s.dir, 0o755))
	s.network()
	within := "#!/bin/sh\nexec " + strings.Join(s.within(s.name), " ") + " \"$@\"\n"
	ts.Check(os.WriteFile(s.dir+"/within", []byte(within), 0o755))
	ts.Setenv("WITHIN", s.dir+"/within")
	s.agent()
	return s
}

// agent builds the small agent, for --agent-binary $AGENT. Nobody can run it where it is, so that it has to be copied.
func (s *testCluster) agent() {
	path := s.dir + "/calib-agent"
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "calib/cmd/calib-agent")
	if out, err := build.CombinedOutput(); err != nil {
		s.ts.Fatalf("%s: %v: %s", build, err, out)
	}
	s.ts.Check(os.Chmod(path, 0o600))
	s.ts.Setenv("AGENT", path)
}

// within is a command in a namespace. It is not ip netns exec, whose new /sys hides the cgroups from slurmd.
func (s *testCluster) within(namespace string, command ...string) []string {
	return append([]string{needs.Program(s.t, "nsenter"), "--net=/run/netns/" + namespace, "--"}, command...)
}

func (s *testCluster) node(i int) string { return fmt.Sprintf("%s-x%d", s.name, i+1) }

// network joins the namespaces by a bridge in the controller's.
func (s *testCluster) network() {
	ip := func(args ...string) {
		out, err := exec.Command(needs.Program(s.t, "ip"), args...).CombinedOutput()
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

// scriptCommand runs in the script's environment.
func scriptCommand(ts *testscript.TestScript, argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = os.Environ()
	for _, name := range []string{"WORK", "HOME", "PATH", "SLURM_CONF"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	return cmd
}

// daemon starts a daemon in the foreground, which ends with the script.
func (s *testCluster) daemon(argv ...string) {
	cmd := scriptCommand(s.ts, argv...)
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

// wait waits until something is there, and shows what the daemons said where it does not come.
func (s *testCluster) wait(what string, there func() bool) {
	if poll(there) {
		return
	}
	logs, err := filepath.Glob(s.dir + "/*.log")
	s.ts.Check(err)
	var all strings.Builder
	for _, l := range logs {
		fmt.Fprintf(&all, "%s:\n%s\n", l, s.ts.ReadFile(l))
	}
	s.ts.Fatalf("no %s in %v:\n%s", what, patience, all.String())
}
