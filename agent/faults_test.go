package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset"
)

func TestInputClosedDuringATaskEndsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, ServerOptions{}, ClientOptions{}, forever).prepared()
		result := make(chan error, 1)
		go func() {
			_, err := r.run(task())
			result <- err
		}()
		synctest.Wait()
		from := time.Now()
		r.wire.Close() // the coordinator is killed
		if err := <-r.served; err != nil {
			t.Errorf("server ended with %v", err)
		}
		if d := time.Since(from); d != 0 {
			t.Errorf("server took %v to end; its task ends at once when cancelled", d)
		}
		if !r.plane.closed || r.plane.count(&r.plane.aborted) != 1 {
			t.Error("the data plane was left open")
		}
		mustBe(t, <-result, ErrGone, "node3")
		r.client.Close()
	})
}

func TestSignalEndsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		s := newServer(ServerOptions{}, &fakePlane{})
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error)
		go func() { served <- s.ServeStream(ctx, theirs, theirs) }()
		synctest.Wait()
		cancel()
		mustBe(t, <-served, context.Canceled)
		ours.Close()
	})
}

func TestSilentCoordinatorLosesTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, ServerOptions{}, ClientOptions{}, forever).prepared()
		result := make(chan error, 1)
		go func() {
			_, err := r.run(task())
			result <- err
		}()
		r.client.stop() // no more keepalives
		mustBe(t, <-r.served, errSilence)
		if err := <-result; err == nil {
			t.Error("the task of a lost agent succeeded")
		}
		r.client.Close()
	})
}

// A daemon outlives its coordinators: only the lease goes.
func TestLeaseEndsInSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plane := &fakePlane{}
		s := newServer(ServerOptions{Silence: minute}, plane)
		secret, err := s.prepare(session("r1"), nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Second)
		if err := s.ask(callAlive, "r1", secret); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Second)
		_, err = s.prepare(session("r2"), nil)
		mustBe(t, classify("node3", err), ErrBusy)
		time.Sleep(11 * time.Second)
		mustBe(t, classify("node3", s.ask(callAlive, "r1", secret)), ErrLease, "silent")
		if n := plane.count(&plane.resets); n != 1 {
			t.Errorf("%d resets of the data plane, want 1", n)
		}
		if _, err := s.prepare(session("r2"), nil); err != nil {
			t.Error(err)
		}
		s.Close()
	})
}

func TestSilentAgent(t *testing.T) {
	background := context.Background()
	for name, c := range map[string]struct {
		call  func(r *rig) error
		after time.Duration
	}{
		"hello":   {func(r *rig) error { _, err := r.client.Hello(background, false); return err }, 30 * time.Second},
		"prepare": {func(r *rig) error { return r.client.Prepare(background, session("r1")) }, 5 * time.Second},
		"run":     {func(r *rig) error { _, err := r.run(task()); return err }, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, ServerOptions{}, ClientOptions{}, forever).prepared()
				r.wire.shut.Store(true)
				from := time.Now()
				mustBe(t, c.call(r), ErrSilent, "node3", c.after.String())
				if d := time.Since(from); d != c.after {
					t.Errorf("noticed after %v, want %v", d, c.after)
				}
				from = time.Now()
				r.client.Close()
				if d := time.Since(from); d != 0 {
					t.Errorf("Close waited %v for an agent known to be silent", d)
				}
				<-r.served
			})
		})
	}
}

// Silence in the middle of a task is noticed a while after the last sign of life, not after the start.
func TestAgentFallsSilentDuringATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, ServerOptions{}, ClientOptions{Silence: 3 * time.Second}, forever).prepared()
		from := time.Now()
		time.AfterFunc(10500*time.Millisecond, func() { r.wire.shut.Store(true) })
		_, err := r.run(task())
		mustBe(t, err, ErrSilent, "3s")
		if d := time.Since(from); d != 13*time.Second {
			t.Errorf("noticed after %v, want 10 s of beats and 3 s of silence", d)
		}
		r.client.Close()
		<-r.served
	})
}

// dead is a stream that fails with a reason, as that of a process which died.
type dead struct {
	io.Reader
	io.Writer
}

func (dead) Close() error { return nil }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestWhyTheStreamEnded(t *testing.T) {
	died := errors.New("exit status 2; it said: disk on fire")
	for name, c := range map[string]struct {
		in   io.Reader
		want error
		say  string
	}{
		"exit":      {failing{io.EOF}, ErrGone, "the agent exited"},
		"death":     {failing{died}, died, "disk on fire"},
		"not calib": {bytes.NewReader([]byte("SSH-2.0-OpenSSH_9.2\r\n")), ErrStranger, `"SSH-2.0-O"`},
		"short":     {bytes.NewReader([]byte("no\n")), ErrGone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := NewClient("node3", dead{c.in, io.Discard}, ClientOptions{})
				_, err := client.Hello(context.Background(), false)
				mustBe(t, err, c.want, "node3", c.say)
				mustBe(t, err, ErrGone)
				mustBe(t, client.Prepare(context.Background(), session("r1")), ErrGone)
				client.Close()
			})
		})
	}
}

func TestStrangerOnTheControlStream(t *testing.T) {
	for name, in := range map[string]string{
		"text":        "GET / HTTP/1.1\r\nHost: agent\r\n\r\n",
		"binary":      string(bytes.Repeat([]byte{0xff}, 1000)),
		"broken HTTP": preface + "\x00\x00\x00\x09\x00\x00\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(ServerOptions{}, &fakePlane{})
			in := io.NopCloser(bytes.NewReader([]byte(in)))
			mustBe(t, s.ServeStream(context.Background(), in, nopWriter{}), ErrStranger)
		})
	}
	s := newServer(ServerOptions{}, &fakePlane{})
	if err := s.ServeStream(context.Background(), io.NopCloser(bytes.NewReader(nil)), nopWriter{}); err != nil {
		t.Errorf("a coordinator that left at once: %v", err)
	}
}

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

type nopWriter struct{}

func (nopWriter) Write(b []byte) (int, error) { return len(b), nil }
func (nopWriter) Close() error                { return nil }

// Whatever arrives, the server ends with its input.
func FuzzControlStream(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("hello"))
	f.Add([]byte(preface))
	f.Add([]byte(preface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"))
	f.Add([]byte(preface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x01\x01\x05\x00\x00\x00\x01\x82"))
	f.Fuzz(func(t *testing.T, in []byte) {
		synctest.Test(t, func(*testing.T) {
			s := newServer(ServerOptions{}, &fakePlane{})
			s.env = noFacts
			// What it returns depends on the input; that it returns is the test.
			_ = s.ServeStream(context.Background(), io.NopCloser(bytes.NewReader(in)), nopWriter{})
		})
	})
}

// Whatever an agent answers, its samples are of the task that was asked for, or an error.
func FuzzAnswers(f *testing.F) {
	b, err := json.Marshal(answer{Sample: &dataset.Sample{
		Exp: "pingpong", Point: bench.Point{"bytes": 1}, Ranks: []int{2, 4}, Round: 2, Slot: 17, NS: []int64{1},
		TCP: &dataset.TCP{},
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var a answer
		if json.Unmarshal(b, &a) != nil {
			return
		}
		if a.Foreign != nil {
			_ = foreignText("node3", a.Foreign)
		}
		s, x := a.Sample, task()
		if s == nil {
			return
		}
		if s.CheckRange() != nil && belongs(s, x) == nil {
			t.Errorf("%+v could not be stored", s)
		}
		if belongs(s, x) == nil && (s.Slot != x.Slot || s.Round != x.Round || s.NS == nil || len(s.Ranks) > 0 &&
			!slices.Contains(x.Team, s.Ranks[0])) {
			t.Errorf("%+v", s)
		}
	})
}

// Whatever a request holds, checking it neither panics nor lets an impossible task through.
func FuzzRequests(f *testing.F) {
	x, s := task(), session("r1")
	for _, q := range []request{{Task: &x}, {Session: &s}} {
		b, err := json.Marshal(q)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	l := DefaultLimits()
	f.Fuzz(func(t *testing.T, b []byte) {
		var q request
		if json.Unmarshal(b, &q) != nil {
			return
		}
		if q.Task != nil {
			x := *q.Task
			for _, e := range slices.Concat(experiments.All, experiments.Before) {
				if l.task(&x, e, 4) != nil {
					continue
				}
				if x.Team[x.Rank] != 4 || x.Deadline <= 0 || x.Recv <= 0 || len(x.Points) == 0 || x.Memory != l.Memory {
					t.Errorf("let through %+v", x)
				}
				for _, p := range x.Points {
					if err := e.Ranges.Check(p); err != nil || p["bytes"] > int64(l.Memory/copies) {
						t.Errorf("%s: let through %v (%v)", e.Name, p, err)
					}
				}
			}
		}
		if q.Session != nil {
			_ = l.session(*q.Session)
		}
	})
}

// stalled is a stream whose other end stands still for a while, and then goes on.
type stalled struct {
	io.ReadWriteCloser
	until atomic.Int64 // Unix nanoseconds
}

func (s *stalled) Read(b []byte) (int, error) {
	n, err := s.ReadWriteCloser.Read(b)
	time.Sleep(time.Until(time.Unix(0, s.until.Load())))
	return n, err
}

// An agent that once gave no sign of life, and then did again, is given back at the end of the run: otherwise a daemon
// is taken until it has waited long enough for a coordinator that has gone.
func TestReleaseAfterASilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, ServerOptions{}, ClientOptions{}, quick)
		wire := &stalled{ReadWriteCloser: r.wire.ReadWriteCloser}
		r.wire.ReadWriteCloser = wire
		r.prepared()
		lease := r.server.lease
		wire.until.Store(time.Now().Add(9 * time.Second).UnixNano())
		time.Sleep(10 * time.Second)
		if _, err := r.run(task()); err != nil {
			t.Fatal(err)
		}
		r.client.Close()
		<-r.served
		if why := context.Cause(lease.ctx); !errors.Is(why, errReleased) {
			t.Errorf("the lease ended because %v", why)
		}
	})
}
