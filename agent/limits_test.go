package agent

import (
	"context"
	"fmt"
	"testing"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport"
)

func TestLimits(t *testing.T) {
	edit := func(f func(*bench.Task)) bench.Task {
		x := task()
		f(&x)
		return x
	}
	for name, c := range map[string]struct {
		task bench.Task
		want error
	}{
		"duration":      {edit(func(x *bench.Task) { x.Deadline = 2 * 60 * units.Second }), ErrLimit},
		"memory":        {edit(func(x *bench.Task) { x.Points = []bench.Point{{"bytes": 256<<10 + 1}} }), ErrLimit},
		"negative size": {edit(func(x *bench.Task) { x.Points = []bench.Point{{"bytes": -1}} }), ErrInvalid},
		"beyond a range": {edit(func(x *bench.Task) {
			x.Exp, x.Points = "flood",
				[]bench.Point{{"packets": 1 << 28, "senders": 1}}
		}), ErrInvalid},
		"unknown factor": {edit(func(x *bench.Task) { x.Points = []bench.Point{{"bytes": 1, "packets": 1 << 28}} }),
			ErrInvalid},
		"no points":      {edit(func(x *bench.Task) { x.Points = nil }), ErrInvalid},
		"effort":         {edit(func(x *bench.Task) { x.Reps = 1e9 }), ErrInvalid},
		"effort below 0": {edit(func(x *bench.Task) { x.Reps = -1 }), ErrInvalid},
		"negative time":  {edit(func(x *bench.Task) { x.Recv = -1 }), ErrInvalid},
		"rank":           {edit(func(x *bench.Task) { x.Rank = 2 }), ErrInvalid},
		"other's rank":   {edit(func(x *bench.Task) { x.Rank = 0 }), ErrInvalid},
		"host twice":     {edit(func(x *bench.Task) { x.Team = []int{4, 4} }), ErrInvalid},
		"team too large": {edit(func(x *bench.Task) { x.Team = []int{2, 4, 5, 6} }), ErrLimit},
		"another run":    {edit(func(x *bench.Task) { x.Run = "r9" }), ErrBusy},
	} {
		t.Run(name, func(t *testing.T) {
			so := ServerOptions{Limits: Limits{Task: minute, Memory: units.MiB, Peers: 2}}
			bubble(t, so, ClientOptions{}, quick, func(r *rig) {
				_, err := r.prepared().run(c.task)
				mustBe(t, err, c.want, "node3")
			})
		})
	}
}

// What an experiment takes beyond the limit ends its task, and is said to be the limit.
func TestMemoryOfTasks(t *testing.T) {
	hungry := func(_ context.Context, x bench.Task, _ func(int)) ([]dataset.Sample, error) {
		return nil, fmt.Errorf("a buffer of %v: %w", x.Memory+1, bench.ErrMemory)
	}
	bubble(t, ServerOptions{Limits: Limits{Memory: units.MiB}}, ClientOptions{}, hungry, func(r *rig) {
		_, err := r.prepared().run(task())
		mustBe(t, err, ErrLimit, "node3", "--max-memory")
	})
}

// A ticket serves in one session; those of the session before are refused, also to the run that holds the agent.
func TestTicketsServeOnce(t *testing.T) {
	bubble(t, ServerOptions{}, ClientOptions{}, quick, func(r *rig) {
		r.prepared()
		mustBe(t, r.client.Prepare(context.Background(), session("r1")), ErrInvalid, "served already")
		if err := r.client.Prepare(context.Background(), renewed("r1", 1)); err != nil {
			t.Error(err)
		}
	})
	var u usedTickets
	for i := range 3 * maxUsedTickets {
		k := plane.Ticket{Key: [32]byte{byte(i), byte(i >> 8), byte(i >> 16)}}
		if err := u.take([]plane.Ticket{k}); err != nil {
			t.Fatal(err)
		}
	}
	if len(u.keys) != maxUsedTickets || len(u.order) != maxUsedTickets {
		t.Errorf("%d keys are remembered", len(u.keys))
	}
}

// What reached the data port from elsewhere is the user's to know.
func TestForeignTrafficIsReported(t *testing.T) {
	var said []string
	bubble(t, ServerOptions{}, ClientOptions{Warn: func(s string) { said = append(said, s) }}, quick, func(r *rig) {
		r.plane.foreign = transport.Foreign{Refused: 99} // before the run
		r.prepared()
		r.plane.foreign = transport.Foreign{Strays: 7, Refused: 2, Why: "for another run"}
		for range 2 {
			if _, err := r.run(task()); err != nil {
				t.Fatal(err)
			}
		}
	})
	if len(said) != 1 || !contains(said[0], "7 foreign datagrams and 2 connections") || !contains(said[0], "another run") {
		t.Errorf("said %q", said)
	}
}

// A limit of rate is none by default, and stays what it is.
func TestRateLimit(t *testing.T) {
	for _, rate := range []units.Bytes{0, 5 * units.MiB} {
		if l := (Limits{Rate: rate}).filled(); l.Rate != rate {
			t.Errorf("a limit of %v/s became %v/s", rate, l.Rate)
		}
	}
}

func TestSessionLimits(t *testing.T) {
	edit := func(f func(*plane.Session)) plane.Session {
		x := session("r1")
		f(&x)
		return x
	}
	for name, c := range map[string]struct {
		session plane.Session
		want    error
	}{
		"bytes":        {edit(func(s *plane.Session) { s.Tickets[0].MaxBytes = 2 * units.MiB }), ErrLimit},
		"negative":     {edit(func(s *plane.Session) { s.Tickets[0].MaxBytes = -1 }), ErrInvalid},
		"lasts long":   {edit(func(s *plane.Session) { s.Tickets[0].Expires = bubbleStart + 8*24*3600 }), ErrLimit},
		"not ours":     {edit(func(s *plane.Session) { s.Self = 7 }), ErrInvalid},
		"peers":        {edit(func(s *plane.Session) { s.Tickets = make([]plane.Ticket, 9) }), ErrLimit},
		"buffers":      {edit(func(s *plane.Session) { s.Socket.SndBuf = 1 << 40 }), ErrLimit},
		"without run":  {edit(func(s *plane.Session) { s.Run = "" }), ErrInvalid},
		"plane's veto": {session("veto"), ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			so := ServerOptions{Limits: Limits{Bytes: units.MiB, Peers: 8}}
			bubble(t, so, ClientOptions{}, quick, func(r *rig) {
				if c.session.Run == "veto" {
					r.plane.refuse = errFake
				}
				mustBe(t, r.client.Prepare(context.Background(), c.session), c.want, "node3")
				r.plane.refuse = nil
				if err := r.client.Prepare(context.Background(), session("r2")); err != nil {
					t.Errorf("a refused session holds the agent: %v", err)
				}
			})
		})
	}
}
