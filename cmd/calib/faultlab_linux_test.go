package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// faultHosts is the size of the lab, and victim the host that has the fault.
const (
	faultHosts = 4
	victim     = 2
)

// faultLab is a lab, and a run on it.
type faultLab struct {
	t    *testing.T
	name string
	work string // files of the run and of the launcher
	out  string // run directory
	run  *exec.Cmd
	said bytes.Buffer
	done chan struct{}
}

// newFaultLab builds a lab whose network loses that share of the packets.
func newFaultLab(t *testing.T, loss float64) *faultLab {
	l := &faultLab{t: t, name: fmt.Sprintf("faults%d", os.Getpid()), work: t.TempDir()}
	l.out = filepath.Join(l.work, "run")
	spec := fmt.Sprintf("name: faults\nhosts: %d\nmode: switched\nmss: 1448\nhost: {a: 60e-6, b: 0.1e-6}\n"+
		"medium: {a: 50e-6, b: 0.08e-6}\n"+
		"receive: {a: 10e-6, b: 0.01e-6}\nl: 50e-6\nbuffer: 64\nseed: 3\nloss: %g\n", faultHosts, loss)
	file := filepath.Join(l.work, "lab.yaml")
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	hosts := l.must("calib", "lab", "up", "--idle", "--name", l.name, file)
	t.Cleanup(func() { l.must("calib", "lab", "down", "--name", l.name) })
	if err := os.WriteFile(filepath.Join(l.work, "hosts"), []byte(hosts), 0o600); err != nil {
		t.Fatal(err)
	}
	return l
}

// must runs a command to its end and returns what it printed.
func (l *faultLab) must(args ...string) string {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, args[0], args[1:]...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		l.t.Fatalf("%v: %v", args, err)
	}
	return string(out)
}

func (l *faultLab) host(i int) string { return fmt.Sprintf("%s-h%d", l.name, i) }

// start begins a run with these flags.
func (l *faultLab) start(args ...string) {
	l.t.Helper()
	l.run = exec.Command("calib", append([]string{"run"}, args...)...)
	l.run.Env = append(os.Environ(), "WORK="+l.work)
	l.said.Reset()
	l.run.Stdout, l.run.Stderr = &l.said, &l.said
	if err := l.run.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.done = make(chan struct{})
	go func() {
		_ = l.run.Wait() // its state is asked later
		close(l.done)
	}()
	l.t.Cleanup(func() {
		_ = l.run.Process.Kill() // fails where it has ended, as it should have
		<-l.done
	})
}

// follow starts a run of a plan on the lab.
func (l *faultLab) follow(plan string) {
	l.t.Helper()
	file := filepath.Join(l.work, "plan.yaml")
	if err := os.WriteFile(file, []byte(plan), 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.start("--hosts", filepath.Join(l.work, "hosts"), "--launch", "relay {host}", "--plan", file, "--seed", "5", "--out",
		l.out, "--json", "--yes", "--no-validate")
}

// begin starts a run of an experiment, and of ping-pong, from which something can be fitted in any case.
func (l *faultLab) begin(exp string, budget time.Duration) {
	l.t.Helper()
	if exp != "pingpong" {
		exp = "pingpong, " + exp
	}
	l.follow(fmt.Sprintf("experiments: [%s]\nsizes: 1,1400,4000\neffort: 0.1\ntarget: 0.0001\n"+
		"rounds: {min: 400, max: 400}\nbudget: %v\n", exp, budget))
}

// measures waits until the run has measured something of an experiment, or has ended.
func (l *faultLab) measures(exp string) bool {
	return poll(func() bool {
		b, err := os.ReadFile(filepath.Join(l.out, "samples.jsonl")) // may not be there yet
		return err == nil && bytes.Contains(b, []byte(`"exp":"`+exp+`"`)) || l.ended()
	})
}

func (l *faultLab) ended() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// within reports whether the run has ended in time.
func (l *faultLab) within(d time.Duration) bool {
	select {
	case <-l.done:
		return true
	case <-time.After(d):
		return false
	}
}

// agents are the processes on a host.
func (l *faultLab) agents(host int) []int {
	var out []int
	for _, f := range strings.Fields(l.must("ip", "netns", "pids", l.host(host))) {
		if pid, err := strconv.Atoi(f); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// signalAgent sends a signal to what runs on the victim, once there is something.
func (l *faultLab) signalAgent(s syscall.Signal) {
	poll(func() bool { return len(l.agents(victim)) > 0 || l.ended() })
	for _, pid := range l.agents(victim) {
		_ = syscall.Kill(pid, s) // it may have ended
	}
}

// signalRelay sends a signal to the launcher of the victim, once it is there.
func (l *faultLab) signalRelay(s syscall.Signal) {
	var pid int
	poll(func() bool {
		text, err := os.ReadFile(filepath.Join(l.work, l.host(victim)+".relay"))
		if err == nil {
			pid, err = strconv.Atoi(string(text))
		}
		return err == nil || l.ended()
	})
	if pid > 0 {
		_ = syscall.Kill(pid, s) // it may have ended
	}
}

// onVictim runs ip in the victim's namespace.
func (l *faultLab) onVictim(args ...string) {
	l.t.Helper()
	l.must(append([]string{"ip", "-n", l.host(victim)}, args...)...)
}

// device is the victim's interface, and addr its address.
func (l *faultLab) device() (device, addr string) {
	for _, line := range strings.Split(l.must("ip", "-n", l.host(victim), "-o", "-4", "addr", "show", "scope", "global"),
		"\n") {
		if f := strings.Fields(line); len(f) > 3 {
			return f[1], f[3]
		}
	}
	l.t.Fatal("the victim has no address")
	return "", ""
}

// silence lets every packet to the victim disappear: the address is no longer its own.
func (l *faultLab) silence() {
	device, addr := l.device()
	l.onVictim("addr", "del", addr, "dev", device)
}

// linkDown takes the victim's link down. The returned function takes it up again, and restores the routes as a network
// manager does.
func (l *faultLab) linkDown() (up func()) {
	device, _ := l.device()
	routes := filepath.Join(l.work, "routes")
	if err := os.WriteFile(routes, []byte(l.must("ip", "-n", l.host(victim), "route", "save")), 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.onVictim("link", "set", device, "down")
	return func() {
		l.onVictim("link", "set", device, "up")
		saved, err := os.Open(routes)
		if err != nil {
			l.t.Fatal(err)
		}
		defer saved.Close()
		restore := exec.Command("ip", "-n", l.host(victim), "route", "restore")
		restore.Stdin = saved // ip wants a file
		if out, err := restore.CombinedOutput(); err != nil {
			l.t.Fatalf("restore the routes: %v: %s", err, out)
		}
	}
}

// left lists what still runs on the hosts of the lab, or belongs to the run. What the fault has stopped goes on first:
// a stopped process cannot end.
func (l *faultLab) left() []string {
	var out []string
	for h := range faultHosts {
		for _, pid := range l.agents(h) {
			_ = syscall.Kill(pid, syscall.SIGCONT) // it may have ended
			out = append(out, fmt.Sprintf("on host %d %s", h, doing(pid)))
		}
	}
	return append(out, processesOf(l.work)...)
}

// doing is a process, and what each of its threads waits for in the kernel.
func doing(pid int) string {
	var s strings.Builder
	proc := fmt.Sprintf("/proc/%d", pid)
	command, _ := commandOf(proc) // fails for a process that has just ended, as what follows does
	fmt.Fprintf(&s, "pid %d (%s)", pid, command)
	threads, _ := filepath.Glob(proc + "/task/*") // its pattern is right
	for _, t := range threads {
		stat, _ := os.ReadFile(t + "/stat")
		stack, _ := os.ReadFile(t + "/stack")
		_, state, _ := bytes.Cut(stat, []byte(") "))
		fmt.Fprintf(&s, "\n\tthread %s %.1s: %s", filepath.Base(t), state, bytes.ReplaceAll(stack, []byte{'\n'}, []byte{' '}))
	}
	return s.String()
}
