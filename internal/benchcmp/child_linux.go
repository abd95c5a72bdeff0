package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"

	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport"
)

const (
	warmRounds = 2000
	quietHeap  = 256 * units.MiB
)

// child is one end of a measurement. The listener first prints its address.
func child() error {
	var s setup
	if err := json.NewDecoder(os.Stdin).Decode(&s); err != nil {
		return fmt.Errorf("read the setup: %w", err)
	}
	m, err := transport.NewMesh(s.Listen)
	if err != nil {
		return err
	}
	defer m.Close()
	session := plane.Session{Run: "benchcmp", Self: s.Self, Socket: s.Options,
		Peers:   []plane.Peer{{Host: 1 - s.Self, Addr: s.Peer}},
		Tickets: []plane.Ticket{{A: 0, B: 1, Key: s.Key, MaxBytes: 1 << 50, Expires: s.Expires}}}
	if err := m.SetSession(session); err != nil {
		return err
	}
	if s.Self == 1 {
		fmt.Println(m.Addr())
	}
	runtime.LockOSThread()
	unpin, err := transport.Pin(s.CPU)
	if err != nil {
		return err
	}
	r, err := measure(m, s)
	if err != nil {
		return err
	}
	if err := unpin(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func measure(m *transport.Mesh, s setup) (result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	g, err := transport.NewGroup(ctx, m, []int{0, 1}, s.Self, recvTimeout)
	if err != nil {
		return result{}, err
	}
	defer g.Close()
	work := map[string]func(*transport.Group, setup) (result, error){
		"pingpong0": ping, "pingpong1": pong, "stream0": send, "stream1": receive,
	}[fmt.Sprint(s.Measure, s.Self)]
	if work == nil {
		return result{}, fmt.Errorf("no such work: %q", s.Measure)
	}
	defer transport.Quiet(quietHeap)()
	if s.Profile != "" && s.Self == 0 {
		f, err := os.Create(s.Profile)
		if err != nil {
			return result{}, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return result{}, err
		}
		defer pprof.StopCPUProfile()
	}
	return work(g, s)
}

func ping(g *transport.Group, s setup) (result, error) {
	b := make([]byte, s.Size)
	ns := make([]int64, s.Rounds)
	for i := -warmRounds; i < s.Rounds; i++ {
		t0 := g.Now()
		if err := g.Send(1, b); err != nil {
			return result{}, err
		}
		if err := g.Recv(1, b); err != nil {
			return result{}, err
		}
		if i >= 0 {
			ns[i] = int64(g.Now()-t0) / 2
		}
	}
	slices.Sort(ns)
	return result{NS: ns[len(ns)/2]}, nil
}

func pong(g *transport.Group, s setup) (result, error) {
	b := make([]byte, s.Size)
	for range warmRounds + s.Rounds {
		if err := g.Recv(0, b); err != nil {
			return result{}, err
		}
		if err := g.Send(0, b); err != nil {
			return result{}, err
		}
	}
	return result{}, nil
}

// The first byte of a message says whether the stream goes on.
const (
	more = 0
	last = 1
)

func send(g *transport.Group, s setup) (result, error) {
	b := make([]byte, s.Size)
	b[0] = more
	end := g.Now() + units.Nanos(s.Warm+s.For) + 200*units.Millisecond
	for g.Now() < end {
		if err := g.Send(1, b); err != nil {
			return result{}, err
		}
	}
	b[0] = last
	if err := g.Send(1, b); err != nil {
		return result{}, err
	}
	if err := g.Recv(1, b[:1]); err != nil { // the receiver has all of it
		return result{}, err
	}
	n, err := g.Counters(1)
	return result{Retrans: n.Retrans}, err
}

func receive(g *transport.Group, s setup) (result, error) {
	b := make([]byte, s.Size)
	var start, stop, began units.Nanos
	var bytes int64
	for {
		if err := g.Recv(0, b); err != nil {
			return result{}, err
		}
		now := g.Now()
		switch {
		case began == 0:
			began = now
		case now-began < units.Nanos(s.Warm):
		case start == 0:
			start = now
		case now-start <= units.Nanos(s.For):
			bytes += int64(len(b))
			stop = now
		}
		if b[0] == last {
			break
		}
	}
	if stop == start {
		return result{}, fmt.Errorf("the stream ended before it was %v old", s.Warm)
	}
	return result{Rate: float64(bytes) / (stop - start).Seconds()}, g.Send(0, b[:1])
}
