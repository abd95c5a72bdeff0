package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset"
	"calib/internal/hosts"
	"calib/internal/launch"
	"calib/internal/plane"
	"calib/internal/units"
)

// pair is two agents as processes of their own, prepared for a run over loopback.
type pair struct {
	procs   [2]*launch.Process
	clients [2]*Client
	pids    [2]string
}

// startPair starts them with a limit of memory; 0 is the default.
func startPair(t *testing.T, memory units.Bytes) *pair {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	p := &pair{}
	s := plane.Session{Run: "r1"}
	key := plane.Ticket{A: 0, B: 1, Key: [32]byte{7}, MaxBytes: 1 << 40, Expires: time.Now().Add(time.Hour).Unix()}
	for i := range p.procs {
		name := []string{"one", "two"}[i]
		if p.procs[i], err = launch.Local(exe).Launch(ctx, hosts.Host{Name: name}, "role=agent",
			fmt.Sprint(int64(memory))); err != nil {
			t.Fatal(err)
		}
		p.clients[i] = NewClient(name, p.procs[i], ClientOptions{})
		t.Cleanup(func() { p.clients[i].Close() })
		h, err := p.clients[i].Hello(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		p.pids[i] = h.Env["pid"]
		if h.Env["nic.name"] != "lo" {
			t.Errorf("agent %s measures on %q, want the interface of %s", name, h.Env["nic.name"], h.Addr)
		}
		s.Peers = append(s.Peers, plane.Peer{Host: i, Name: name, Addr: h.Addr, Consent: h.Consent})
	}
	s.Tickets = []plane.Ticket{key}
	for i, c := range p.clients {
		s.Self = i
		if err := c.Prepare(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// run has both agents perform their parts of a task at once.
func (p *pair) run(x bench.Task) (samples [2][]dataset.Sample, errs [2]error) {
	var wg sync.WaitGroup
	for i, c := range p.clients {
		wg.Go(func() {
			mine := x
			mine.Rank = i
			samples[i], errs[i] = c.Run(context.Background(), mine)
		})
	}
	wg.Wait()
	return samples, errs
}

func pingpong(t *testing.T) bench.Task {
	t.Helper()
	e, ok := experiments.Lookup("pingpong")
	if !ok {
		t.Fatal("no pingpong")
	}
	points := e.Design(bench.Limits{Hosts: 2, Sizes: []units.Bytes{64, 5000}})
	return bench.Task{
		Run: "r1", Slot: 3, Round: 1, Exp: e.Name, Team: []int{0, 1}, Points: points, Reps: 0.1,
		Deadline: 60 * units.Second, Recv: 10 * units.Second,
	}
}

func TestTwoAgentsMeasure(t *testing.T) {
	p := startPair(t, 0)
	for range 2 { // the second task uses the connections of the first
		samples, errs := p.run(pingpong(t))
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, s := range append(samples[0], samples[1]...) {
			if s.Thread == nil || s.Thread.Host != s.Ranks[0] || s.Thread.CPU < 0 || s.Thread.CPU >= runtime.NumCPU() {
				t.Errorf("%s of %v: timed by %+v, want the first of them", s.Exp, s.Ranks, s.Thread)
			}
			if s.Exp == "pingpong" && len(s.NS) > 0 && s.TCP != nil && s.TCP.DataSegsOut > 0 {
				found++
			}
		}
		if found < 2 {
			t.Errorf("%d samples of pingpong with times and counters, want one for each of two sizes", found)
		}
	}
	for i, c := range p.clients {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if _, err := p.procs[i].Write([]byte{0}); err == nil {
			t.Error("the process takes input after Close")
		}
		if s := p.procs[i].Stderr(); s != "" {
			t.Errorf("an agent that was released said %q", s)
		}
	}
}

// endless is a task that no agent ends before its deadline.
func endless(t *testing.T) bench.Task {
	x := pingpong(t)
	x.Reps = maxReps
	for len(x.Points) < 1000 {
		x.Points = append(x.Points, x.Points...)
	}
	return x
}

// When the input of one agent closes in the middle of a task, that agent ends by itself, and both calls fail, each
// saying what it knows.
func TestAgentLeavesDuringATask(t *testing.T) {
	p := startPair(t, 0)
	var once sync.Once
	left := make(chan struct{})
	p.clients[0].opts.Progress = func(int, int, int) {
		once.Do(func() {
			go func() {
				p.procs[1].Close()
				close(left)
			}()
		})
	}
	_, errs := p.run(endless(t))
	<-left
	mustBe(t, errs[1], ErrGone, "agent two")
	mustBe(t, errs[0], ErrTask, "agent one", "slot 3")
	if _, err := p.procs[1].Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "signal") {
		t.Errorf("the agent ended with %v, want an end of its own will", err)
	}
}
