package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset"
)

func contains(s, sub string) bool { return strings.Contains(s, sub) }

func TestHelloSaysWhoTheAgentIs(t *testing.T) {
	so := ServerOptions{CPU: "3", Limits: Limits{Task: minute, Bytes: 7, Memory: 9, Peers: 11}}
	bubble(t, so, ClientOptions{DataAddr: "10.0.0.4"}, nil, func(r *rig) {
		h, err := r.client.Hello(context.Background(), false)
		if err != nil {
			t.Fatal(err)
		}
		if h.Addr != "[::]:4100" || !slices.Equal(h.Now.CPUs, []string{"3"}) || h.Arch != "amd64" || len(h.Build) != 64 ||
			h.Version == "" || h.Name == "" || h.MostBytes != 7 {
			t.Errorf("host is %+v", h)
		}
		if h.Now.Load != 2.5 || h.Now.NICs[2] != "eth0" {
			t.Errorf("its present is %+v", h.Now)
		}
		if h.Env["asked"] != "10.0.0.4" {
			t.Errorf("environment asked for %q, want the coordinator's data address", h.Env["asked"])
		}
	})
}

func TestSessionAndSamplesArriveAsTheyWere(t *testing.T) {
	samples := []dataset.Sample{
		{
			Exp: "pingpong", Phase: "warm", Point: bench.Point{"bytes": 64, "pairs": 3}, Ranks: []int{2, 4}, Round: 2, Slot: 17,
			Flags: []string{dataset.FlagRetrans}, Aux: map[string]float64{"bound_ns": 1.5, "other": -1e300},
			NS: []int64{0, -5, 315360000000000000, -3600000000000},
			TCP: &dataset.TCP{SegsOut: 1, SegsIn: 2, DataSegsOut: 3, DataSegsIn: 4, Retrans: 5, RwndLimited: 6, SndbufLimit: 7,
				Busy: 8, Cwnd: 9, MSS: 10, RTT: 11, MinRTT: 12, Involuntary: 13, StealTicks: 14, Congestion: "bbr", SndBuf: 15,
				RcvBuf: 16},
		},
		{Exp: "clock", Point: bench.Point{}, Ranks: []int{4}, Round: 2, Slot: 17, NS: []int64{}},
	}
	var got bench.Task
	f := func(_ context.Context, bt bench.Task, _ func(int)) ([]dataset.Sample, error) {
		got = bt
		return samples, nil
	}
	bubble(t, ServerOptions{}, ClientOptions{}, f, func(r *rig) {
		back, err := r.prepared().run(task())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(samples, back); d != "" {
			t.Error("samples", d)
		}
		want := task()
		want.OneClock, want.Memory = []bool{true, true}, DefaultLimits().Memory // as the session and the agent say
		if d := cmp.Diff(want, got); d != "" {
			t.Error("task", d)
		}
		if d := cmp.Diff(session("r1"), r.plane.session); d != "" {
			t.Error("session", d)
		}
	})
}

func TestProgressEverySecond(t *testing.T) {
	f := func(_ context.Context, _ bench.Task, progress func(int)) ([]dataset.Sample, error) {
		time.Sleep(1500 * time.Millisecond) // of the bubble's time
		progress(1)
		time.Sleep(2 * time.Second)
		return nil, nil
	}
	var seen [][3]int
	o := ClientOptions{Progress: func(slot, done, of int) { seen = append(seen, [3]int{slot, done, of}) }}
	bubble(t, ServerOptions{}, o, f, func(r *rig) {
		if _, err := r.prepared().run(task()); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([][3]int{{17, 0, 2}, {17, 0, 2}, {17, 1, 2}, {17, 1, 2}}, seen); d != "" {
			t.Error(d)
		}
	})
}

func TestKeepalivesHoldTheAgentThroughALongTask(t *testing.T) {
	f := func(ctx context.Context, _ bench.Task, _ func(int)) ([]dataset.Sample, error) {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(9 * minute):
			return nil, nil
		}
	}
	bubble(t, ServerOptions{}, ClientOptions{}, f, func(r *rig) {
		r.prepared()
		time.Sleep(5 * minute) // idle between slots
		long := task()
		long.Deadline = 0 // the agent's own limit
		if _, err := r.run(long); err != nil {
			t.Fatal(err)
		}
	})
}

// A refusal tells nobody but its holder which run holds the agent, and no other ends it.
func TestOnlyTheSecretHoldsTheAgent(t *testing.T) {
	bubble(t, ServerOptions{}, ClientOptions{}, quick, func(r *rig) {
		r.prepared()
		for _, secret := range [][]byte{nil, make([]byte, secretSize)} {
			for _, run := range []string{"r1", "r2"} {
				_, err := r.server.prepare(renewed(run, 9), secret)
				err = classify("node3", err)
				mustBe(t, err, ErrBusy, "another run holds", "since 2000-01-01")
				if contains(err.Error(), "r1") {
					t.Errorf("a stranger is told the run: %v", err)
				}
				x := task()
				x.Run = run
				_, _, err = r.server.begin(context.Background(), &x, experiments.Before[0], secret)
				mustBe(t, classify("node3", err), ErrBusy)
				mustBe(t, classify("node3", r.server.ask(callAlive, run, secret)), ErrBusy)
				mustBe(t, classify("node3", r.server.ask(callRelease, run, secret)), ErrBusy)
			}
		}
		mustBe(t, r.client.Prepare(context.Background(), session("r2")), ErrBusy, "run r1 holds")
		if err := r.client.Prepare(context.Background(), renewed("r1", 1)); err != nil {
			t.Errorf("the same run starts over: %v", err)
		}
		mine := r.client.lease.Load()
		if err := r.server.ask(callRelease, mine.run, mine.secret); err != nil {
			t.Error(err)
		}
		if err := r.client.Prepare(context.Background(), session("r2")); err != nil {
			t.Errorf("after release: %v", err)
		}
	})
}

func TestOneTaskAtATime(t *testing.T) {
	bubble(t, ServerOptions{}, ClientOptions{}, forever, func(r *rig) {
		r.prepared()
		ctx, cancel := context.WithCancel(context.Background())
		first := make(chan error, 1)
		go func() {
			_, err := r.client.Run(ctx, task())
			first <- err
		}()
		synctest.Wait()
		_, err := r.run(task())
		mustBe(t, err, ErrBusy, "measuring")
		mustBe(t, r.client.Prepare(context.Background(), session("r1")), ErrBusy)
		cancel()
		mustBe(t, <-first, context.Canceled, "node3")
		synctest.Wait()
		if n := r.plane.count(&r.plane.aborted); n != 1 {
			t.Errorf("%d groups aborted, want the cancelled one", n)
		}
		r.server.perform = script(quick).perform
		if _, err := r.run(task()); err != nil {
			t.Errorf("the agent is not free after a cancelled task: %v", err)
		}
	})
}

// A coordinator that cancels a slot tries it again at once: the agent waits for what is still ending.
func TestNextTaskWaitsForTheCancelledOne(t *testing.T) {
	var cancelled atomic.Bool
	ending := func(ctx context.Context, _ bench.Task, _ func(int)) ([]dataset.Sample, error) {
		if cancelled.Swap(true) {
			return nil, nil
		}
		<-ctx.Done()
		time.Sleep(time.Second) // in fake time
		return nil, ctx.Err()
	}
	bubble(t, ServerOptions{}, ClientOptions{}, ending, func(r *rig) {
		r.prepared()
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(5*time.Second, cancel)
		_, err := r.client.Run(ctx, task())
		mustBe(t, err, context.Canceled)
		from := time.Now()
		if _, err := r.run(task()); err != nil || time.Since(from) != time.Second {
			t.Errorf("after %v: %v", time.Since(from), err)
		}
	})
}

func TestAnotherVersion(t *testing.T) {
	bubble(t, ServerOptions{}, ClientOptions{}, quick, func(r *rig) {
		r.prepared()
		unknown := task()
		unknown.Exp = "teleport"
		_, err := r.run(unknown)
		mustBe(t, err, ErrVersion, `"teleport"`, "build ", "install")
		err = r.client.explain(context.Background(), minute, sameProtocol(Protocol+1))
		mustBe(t, err, ErrVersion, "node3", fmt.Sprintf("protocol %d, the coordinator %d", Protocol, Protocol+1), "install")
	})
}

func TestTaskEndsByItsDeadline(t *testing.T) {
	bubble(t, ServerOptions{}, ClientOptions{}, forever, func(r *rig) {
		r.prepared()
		from := time.Now()
		_, err := r.run(task())
		mustBe(t, err, ErrDeadline, "slot 17", "20s", "socket shut down")
		if d := time.Since(from); d != 20*time.Second {
			t.Errorf("ended after %v", d)
		}
	})
}

// An experiment that ignores its context keeps the agent busy, but not the coordinator waiting.
func TestTaskThatDoesNotEnd(t *testing.T) {
	free := make(chan struct{})
	stuck := func(context.Context, bench.Task, func(int)) ([]dataset.Sample, error) {
		<-free
		return nil, nil
	}
	synctest.Test(t, func(t *testing.T) {
		free = make(chan struct{})
		r := newRig(t, ServerOptions{}, ClientOptions{}, stuck).prepared()
		_, err := r.run(task())
		mustBe(t, err, ErrDeadline, "does not end")
		_, err = r.run(task())
		mustBe(t, err, ErrBusy)
		from := time.Now()
		r.client.Close()
		if err := <-r.served; err != nil || time.Since(from) > 2*time.Second {
			t.Errorf("server ended after %v with %v, want at most 2 s and nil", time.Since(from), err)
		}
		close(free)
		synctest.Wait()
	})
}

func TestPanicIsAnErrorOfTheTask(t *testing.T) {
	var calls atomic.Int32
	f := func(context.Context, bench.Task, func(int)) ([]dataset.Sample, error) {
		if calls.Add(1) == 1 {
			panic("index out of range")
		}
		return nil, nil
	}
	bubble(t, ServerOptions{}, ClientOptions{}, f, func(r *rig) {
		_, err := r.prepared().run(task())
		mustBe(t, err, ErrTask, "node3", "slot 17", "panic: index out of range")
		if _, err := r.run(task()); err != nil {
			t.Errorf("the agent does not live on: %v", err)
		}
	})
}

func TestRunWithoutALease(t *testing.T) {
	bubble(t, ServerOptions{}, ClientOptions{}, quick, func(r *rig) {
		_, err := r.run(task())
		mustBe(t, err, ErrLease, "node3", "r1 was not prepared")
	})
}

func TestSamplesOfOthersAreRefused(t *testing.T) {
	for name, s := range map[string]dataset.Sample{
		"slot": {Exp: "pingpong", Slot: 18, Round: 2},
		"host": {Exp: "pingpong", Slot: 17, Round: 2, Ranks: []int{5}},
		"exp":  {Slot: 17, Round: 2},
		"thread": {Exp: "pingpong", Slot: 17, Round: 2, Ranks: []int{2}, NS: []int64{1},
			Thread: &dataset.Thread{Host: 2}}, // the agent is host 4
	} {
		t.Run(name, func(t *testing.T) {
			f := func(context.Context, bench.Task, func(int)) ([]dataset.Sample, error) {
				return []dataset.Sample{s}, nil
			}
			bubble(t, ServerOptions{}, ClientOptions{}, f, func(r *rig) {
				_, err := r.prepared().run(task())
				mustBe(t, err, ErrAnswer, "node3")
			})
		})
	}
}
