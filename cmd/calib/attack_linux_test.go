package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"calib/internal/needs"
	"calib/internal/rundir"
	"calib/params"
)

const (
	// maxAttacked is what an agent may take under attack [B].
	maxAttacked = 200 << 20
	// attackTime bounds an attack, and attackGrace what the run beside it may take beyond its budget.
	attackTime  = 60 * time.Second
	attackGrace = 30 * time.Second
)

// TestAttacked: beside a run, somebody on one of its hosts holds a thousand slow connections to every port there, and
// sends garbage to them, over connections and in datagrams. The run names no host, its times are those of undisturbed
// runs before and after within the intervals of all, and the agent's memory stays bounded. The machine drifts by a few
// per cent from run to run, which is in no run's interval: two undisturbed ones show it.
func TestAttacked(t *testing.T) {
	needs.Root(t, "make an emulated cluster")
	needs.Namespaces(t)
	l := newFaultLab(t, 0)
	alone := l.calibrate("alone", nil)
	var memory int64
	beside := l.calibrate("attacked", func() {
		memory = max(memory, peakOf(l.agents(victim)))
	})
	if !strings.Contains(l.said.String(), "without a ticket of this run") {
		t.Errorf("the run does not say that its host was attacked: %s", l.said.String())
	}
	after := l.calibrate("after", nil)
	if memory == 0 || memory > maxAttacked {
		t.Errorf("the agent took %d MiB, want 1 to %d", memory>>20, maxAttacked>>20)
	}
	t.Logf("ATTACK the agent took %d MiB at most", memory>>20)
	compared := 0
	for _, name := range []string{"a", "alpha", "beta", "r_inf", "a_prime_limits", "b_prime_limits"} {
		a, b, c := alone[name], beside[name], after[name]
		if a.CI95 == nil || b.CI95 == nil || c.CI95 == nil || a.Value == nil || b.Value == nil {
			continue
		}
		*a.CI95 = [2]float64{min(a.CI95[0], c.CI95[0]), max(a.CI95[1], c.CI95[1])}
		compared++
		t.Logf("ATTACK %s | %.4g, %.4g to %.4g | %.4g, %.4g to %.4g", name, *a.Value, a.CI95[0], a.CI95[1], *b.Value,
			b.CI95[0], b.CI95[1])
		if a.CI95[0] > b.CI95[1] || b.CI95[0] > a.CI95[1] {
			t.Errorf("%s: alone %v, attacked %v", name, *a.CI95, *b.CI95)
		}
	}
	if compared == 0 {
		t.Error("no parameter has an interval in both runs")
	}
}

// calibrate runs ping-pong and paired, with an attack on the victim beside it where watch is given, which is called now
// and then.
func (l *faultLab) calibrate(name string, watch func()) map[string]params.Parameter {
	l.t.Helper()
	l.out = filepath.Join(l.work, name)
	if watch != nil {
		ctx, cancel := context.WithTimeout(l.t.Context(), attackTime)
		cmd := exec.CommandContext(ctx, "ip", "netns", "exec", l.host(victim), "attack")
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			l.t.Fatal(err)
		}
		defer func() {
			cancel()
			_ = cmd.Wait() // it was killed
			l.t.Logf("ATTACK %s", strings.TrimSpace(said.String()))
		}()
	}
	l.follow(fmt.Sprintf("experiments: [clock, pingpong, paired]\nsizes: 1,64,1400,4000,16000\neffort: 0.2\n"+
		"rounds: {min: 6, max: 12}\nbudget: %v\n", 2*faultBudget))
	for end := time.Now().Add(2*faultBudget + attackGrace); !l.within(100 * time.Millisecond); {
		if watch != nil {
			watch()
		}
		if time.Now().After(end) {
			l.t.Fatalf("%s: the run has not ended; it said:\n%s", name, l.said.String())
		}
	}
	if code := l.run.ProcessState.ExitCode(); code != 0 {
		l.t.Fatalf("%s: exit code %d; it said:\n%s", name, code, l.said.String())
	}
	dir, err := rundir.Open(l.out)
	if err != nil {
		l.t.Fatal(err)
	}
	if f := dir.Run().Failures; len(f) > 0 {
		l.t.Errorf("%s: failures %+v", name, f)
	}
	p, err := dir.ReadParams()
	if err != nil {
		l.t.Fatal(err)
	}
	return p.Parameters
}

// peakOf is the largest peak of the resident memory of calib's processes [B].
func peakOf(pids []int) (most int64) {
	for _, pid := range pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it may have ended
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" && !strings.Contains(string(text), "Name:\tattack\n") {
				kib, _ := strconv.ParseInt(f[1], 10, 64)
				most = max(most, kib<<10)
			}
		}
	}
	return most
}
