package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"calib/internal/dataset"
	"calib/internal/needs"
	"calib/internal/rundir"
	"calib/params"
)

const (
	// faultBudget is the budget of a cell's run, and faultGrace what a run may take beside it: to start and to end
	// agents, to find out who is missing, and to fit.
	faultBudget = 8 * time.Second
	faultGrace  = 30 * time.Second
	// startGrace is what a host may take that does not start.
	startGrace = 35 * time.Second
	// unseen is how soon after a fault a run may end by itself without having met it.
	unseen = 2 * time.Second
)

// phases are when a fault happens: while agents are started, while an experiment runs, while a run is stopped.
var phases = []string{"start", "clock", "pingpong", "paired", "gather", "flood", "load", "prtt", "stop"}

// fault is something that goes wrong, and what a run makes of it.
type fault struct {
	name   string
	loss   float64
	happen func(l *faultLab)
	codes  []int // exit codes that are right while an experiment runs
	names  bool  // the victim is named, and no other host
}

var faults = []fault{
	{"agent killed", 0, func(l *faultLab) { l.signalAgent(syscall.SIGKILL) }, []int{4}, true},
	{"agent stopped", 0, func(l *faultLab) { l.signalAgent(syscall.SIGSTOP) }, []int{4}, true},
	{"data cut", 0, (*faultLab).silence, []int{4}, true},
	{"control cut", 0, func(l *faultLab) { l.signalRelay(syscall.SIGSTOP) }, []int{4}, true},
	{"both cut", 0, func(l *faultLab) { l.silence(); l.signalRelay(syscall.SIGSTOP) }, []int{4}, true},
	{"link down 1 s", 0, func(l *faultLab) { up := l.linkDown(); time.Sleep(time.Second); up() }, []int{0, 4}, false},
	{"link down", 0, func(l *faultLab) { l.linkDown() }, []int{4}, true},
	{"loss 1%", 0.01, func(*faultLab) {}, []int{0, 4}, false},
	{"loss 10%", 0.1, func(*faultLab) {}, []int{0, 4}, false},
	{"loss 50%", 0.5, func(*faultLab) {}, []int{1, 4}, false},
	{"disk full", 0, nil, []int{1, 4}, false},
	{"coordinator killed", 0, func(l *faultLab) { _ = l.run.Process.Kill() }, []int{-1}, false},
	{"launcher killed", 0, func(l *faultLab) { l.signalRelay(syscall.SIGKILL) }, []int{4}, true},
}

// few are the cells of a plain go test; CALIB_FAULTS chooses others by a regular expression of "fault/phase", as make
// faults does.
const few = `^(data cut/flood|agent stopped/paired|coordinator killed/gather)$`

// TestFaults: whatever goes wrong, and whenever, a run ends in time, with valid files and the right exit code, names
// the host that is at fault and no other, and leaves nothing running.
func TestFaults(t *testing.T) {
	needs.Root(t, "make an emulated cluster with a launcher of its own")
	needs.Namespaces(t)
	choice := few
	if s := os.Getenv("CALIB_FAULTS"); s != "" {
		choice = s
	}
	chosen := regexp.MustCompile(choice)
	for _, f := range faults {
		for _, phase := range phases {
			if cell := f.name + "/" + phase; chosen.MatchString(cell) {
				t.Run(cell, func(t *testing.T) { f.in(t, phase) })
			}
		}
	}
}

// in lets the fault happen in a phase.
func (f *fault) in(t *testing.T, phase string) {
	l := newFaultLab(t, f.loss)
	happen := f.happen
	if happen == nil {
		happen = fullDisk(l)
	}
	exp, codes := phase, f.codes
	if phase == "start" || phase == "stop" {
		exp = "pingpong"
	}
	begun := time.Now()
	l.begin(exp, faultBudget)
	switch {
	case phase == "start":
		poll(func() bool { // there is no run before
			_, err := os.Stat(filepath.Join(l.out, rundir.RunFile))
			return err == nil || l.ended()
		})
		happen(l)
	case f.loss > 0 && phase != "stop": // it has happened
	case !l.measures(exp) && f.loss == 0:
		t.Fatalf("the run measured nothing in %v; it said:\n%s", patience, l.said.String())
	case phase == "stop":
		_ = l.run.Process.Signal(syscall.SIGINT)
		happen(l)
		codes = append(slices.Clone(codes), 130)
	default:
		happen(l)
	}
	happened := time.Now()
	bound := faultBudget + faultBudget/10 + faultGrace
	if phase == "start" {
		bound += startGrace
	}
	if !l.within(bound - time.Since(begun)) {
		t.Fatalf("the run has not ended within %v; it said:\n%s", bound, l.said.String())
	}
	took := time.Since(begun).Round(100 * time.Millisecond)
	unmet := time.Since(happened) < unseen
	if unmet {
		codes = append(slices.Clone(codes), 0)
	}
	code := l.run.ProcessState.ExitCode()
	if phase == "start" && f.loss == 0 {
		codes = append(slices.Clone(codes), 0) // the fault may be over, or may not matter yet
	}
	named, saved := l.check(code)
	if saved == 0 {
		codes = append(slices.Clone(codes), 1)
	}
	if !slices.Contains(codes, code) {
		t.Errorf("exit code %d, want one of %v; it said:\n%s", code, codes, l.said.String())
	}
	right := true
	switch {
	case unmet && len(named) == 0: // nobody knows of it
	case f.names && code == 4:
		right = slices.Equal(named, []string{l.host(victim)})
	case !f.names && phase != "start" && phase != "stop":
		right = len(named) == 0
	}
	if !right {
		t.Errorf("named %v, want %s: %v; it said:\n%s", named, l.host(victim), f.names, l.said.String())
	}
	var left []string
	if !poll(func() bool { left = l.left(); return len(left) == 0 }) {
		t.Errorf("left running after %v: %v", patience, left)
	}
	t.Logf("CELL %s | %s | exit %d | %v | named %v", f.name, phase, code, took, named)
	if code == -1 {
		l.resumes()
	}
}

// fullDisk puts the run on a small file system, and returns what fills it.
func fullDisk(l *faultLab) func(*faultLab) {
	disk := filepath.Join(l.work, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		l.t.Fatal(err)
	}
	l.must("mount", "-t", "tmpfs", "-o", "size=4m", "calib-faults", disk)
	l.t.Cleanup(func() { l.must("umount", disk) })
	l.out = filepath.Join(disk, "run")
	return func(*faultLab) {
		_ = os.WriteFile(filepath.Join(disk, "full"), make([]byte, 8<<20), 0o600) // which fails, and fills it
	}
}

// check holds the files of a run to be valid, and returns the hosts that run.json names, in order, and how many samples
// were saved. A run that was killed, or whose directory was not made, or was removed because nothing had been measured,
// has less to show.
func (l *faultLab) check(code int) (named []string, saved int) {
	l.t.Helper()
	dir, err := rundir.Open(l.out)
	if errors.Is(err, fs.ErrNotExist) && code == 1 {
		return nil, 0
	}
	if err != nil {
		l.t.Errorf("run directory: %v", err)
		return nil, 0
	}
	r := dir.Run()
	if code >= 0 && (r.ExitCode == nil || *r.ExitCode != code) && l.out == filepath.Join(l.work, "run") {
		l.t.Errorf("run.json: status %s, exit code %v, want %d", r.Status, r.ExitCode, code)
	}
	if _, err := os.Stat(dir.File(rundir.SamplesFile)); err == nil {
		d, err := dataset.ReadFile(dir.File(rundir.SamplesFile))
		if err != nil && !errors.Is(err, dataset.ErrTorn) {
			l.t.Errorf("samples: %v", err)
		} else {
			saved = len(d.Samples)
		}
	}
	if b, err := os.ReadFile(dir.File(rundir.ParamsFile)); err == nil {
		if err := json.Unmarshal(b, &params.Params{}); err != nil {
			l.t.Errorf("params: %v", err)
		}
	}
	for _, f := range r.Failures {
		if f.Host != "" && !slices.Contains(named, f.Host) {
			named = append(named, f.Host)
		}
	}
	slices.Sort(named)
	return named, saved
}

// resumes goes on with a run whose coordinator was killed.
func (l *faultLab) resumes() {
	l.t.Helper()
	l.start("--resume", l.out, "--launch", "relay {host}", "--quiet")
	if !l.within(2*faultBudget + faultGrace) {
		l.t.Fatalf("resumed, it has not ended; it said:\n%s", l.said.String())
	}
	// On a busy machine less than half of the slots may fit into the budget: partial, and nobody's fault.
	code := l.run.ProcessState.ExitCode()
	if named, _ := l.check(code); code != 0 && code != 4 || len(named) > 0 {
		l.t.Errorf("resumed: exit code %d, named %v; it said:\n%s", code, named, l.said.String())
	}
	d, err := dataset.ReadFile(filepath.Join(l.out, rundir.SamplesFile))
	if err != nil {
		l.t.Fatal(err)
	}
	lines := map[string]int{}
	for _, s := range d.Samples {
		lines[fmt.Sprint(s.Slot, s.Ranks, s.Phase, s.Point.Key(), s.Part)]++
	}
	for line, n := range lines {
		if n > 1 {
			l.t.Errorf("%s stands %d times", line, n)
		}
	}
	if strings.Contains(l.said.String(), "panic") {
		l.t.Error(l.said.String())
	}
}
