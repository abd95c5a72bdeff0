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

// child is one end of a measurement. The listener first prints its address and consent.
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
		Peers:   []plane.Peer{{Host: 1 - s.Self, Addr: s.Peer, Consent: s.Consent}},
		Tickets: []plane.Ticket{{A: 0, B: 1, Key: s.Key, MaxBytes: 1 << 50, Expires: s.Expires}}}
	if err := m.SetSession(session); err != nil {
		return err
	}
	if s.Self == 1 {
		fmt.Println(m.Addr(), m.Consent())
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
		"pingpong0": ping, "pingpong1": pong,
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
